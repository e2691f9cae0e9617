"""Every field, filter and verb that a caller meets, declared once.

`memory.py` has the fields of a memory and the filters by which memories are chosen. From a declaration come the
checks of `store/validate.py`, the options of the command line, the schemas of the MCP tools and the tables of the
reference pages. The modules here are plain data. They import nothing, because `--help` reads them.
"""
