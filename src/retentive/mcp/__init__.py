"""The Model Context Protocol: tools, resources and prompts over an open store.

A tool (`tool.py`) is a plain function over a `Caller`: the store, limited to the namespaces that the caller may use.
The modules `*_tools.py` define the tools, and list them in `list_default_tools` or `list_further_tools`.
`catalogue.py` chooses the sets. `server.py` puts them behind the protocol, the same for standard input (`stdio.py`) and
HTTP (`http.py`).
"""
