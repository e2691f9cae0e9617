"""The databases a store can live in, each an `Engine`: SQLite (one file), libSQL (a server), PostgreSQL with pgvector.

`retentive.storage.open_engine` imports only the engine that the address of the store names.
"""
