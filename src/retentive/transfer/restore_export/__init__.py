"""Restores an export: compares each line with what is in the store, and writes what is new or newer."""
