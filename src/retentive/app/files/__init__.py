"""The verbs of files: indexing them, and following what becomes of them."""
