"""Decide whether a newer statement replaces an older one: sure rules first, a learned judge for the rest.

Read `statement.py`, then `compare.py`, then `judge.py`.
"""
