"""Every field, filter and verb that a caller meets, declared once.

`memory.py` has the fields of a memory and the filters by which memories are chosen; `records.py`, `search.py` and
`conversations.py` those of other things; `verbs/` the commands, one module for each heading of the help. From a
declaration come the checks of `store/traits.py`, the options of the command line, its help and its completion. Tests
compare it with the reference pages. The modules here are plain data. They import nothing, because `--help` reads them.
"""
