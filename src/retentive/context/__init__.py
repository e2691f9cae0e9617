"""Build contexts: the text that a model reads next, within a token budget.

`build.py` gathers the material from an open store. `distinct.py` finds repeats and `assemble.py` chooses
what fits; neither knows the store.
"""
