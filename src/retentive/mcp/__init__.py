"""The Model Context Protocol: tools, resources and prompts over an open store.

`tool.py` says what a tool is; the tools themselves are in `memories.py`, `talk.py` and `care.py`, and `catalogue.py`
has the sets in which they are offered. A tool is a plain function over a `Reached`: the store as far as whoever asks
may reach it. `server.py` puts them behind the protocol, the same for standard input and HTTP; `stdio.py` is the life
of a server that a client started.
"""
