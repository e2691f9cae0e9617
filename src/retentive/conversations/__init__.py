"""Conversations: sessions of messages, their searchable chunks, rolling summaries, replay, and the import of chat logs.

`sessions.py` has the verbs. `append.py` is the only way to write a message, and `chunks.py` makes it searchable.
`summaries.py` decides when a session is summarised, `condense.py` which messages and how (`llm_summary.py`: by a
language model). `replay.py` rebuilds a conversation within a token budget, in whole turns (`turns.py`).
"""
