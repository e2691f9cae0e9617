"""Drawings for people at a terminal: each function makes a rich renderable of a value. It reads no store.

rich is imported here and nowhere else in the package; `cli/output.py` imports these modules when it draws.
Texts of a store become a `Text` through `plain`: rich's markup is never read in them.
"""
