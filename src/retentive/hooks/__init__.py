"""The hooks of Claude Code: they show memories to the model and record the conversation.

A model seldom searches by itself. So the start of a conversation (`start.py`) and each prompt (`recall.py`) get the
memories that matter, rendered by `blocks.py`. When the model stops, the conversation is stored (`record.py`, parsed by
`transcript.py`). Read `run.py` first; `request.py` parses a call, `state.py` keeps what two calls share.
"""
