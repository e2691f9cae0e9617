"""What is known in fields: one store for all types (`store.py`), and what each can do beside it."""
