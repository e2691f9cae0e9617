"""Formats of chat logs: `source.py` reads files, `detect.py` recognises the format, one parser each does the rest.

Everything here is pure: files in, conversations out. Nothing knows of a store.
"""
