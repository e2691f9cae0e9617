"""Memories: add, edit, forget and restore them, one or many; notes, proposals, expectations, the daily log.

Read `add.py` first. It compares a new memory with those that exist (`corrections.py`) and calls `write.py`, through
which every memory is written. `trust.py` limits what a source may end, `plan.py` decides what becomes of each draft.

`edit.py` changes one memory, `forget.py` forgets several, and `hide.py` hides the messages that say the same.
`provenance.py` explains where a memory came from. `daily_log.py` appends to the Markdown files of `daily_files.py`.
"""
