"""Functions on text that every other folder uses: sentences, words, chunks, tokens, dates, secrets, prompts.

Only `caches` keeps state, and only `token_counters` reads a file. Start with `terms`, the words as the index sees them.
"""
