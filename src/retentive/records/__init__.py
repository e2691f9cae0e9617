"""Structured records: the profile, contacts, projects and skills, each with its history.

Read `collection.py` first: it has the verbs that all types share. `fields.py` declares the fields of each type.
"""
