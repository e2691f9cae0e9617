"""What do the hooks of Claude Code do? They put memories before the model, and keep what was said.

A model seldom looks something up by itself. So at the start of a conversation, and with each prompt, what bears on it
is laid before the model (`show.py`, written by `blocks.py`); when the model stops, the conversation is kept (`keep.py`,
read by `transcript.py`). `call.py` is how a hook is called, `run.py` what it answers, `marks.py` what is remembered
between two.
"""
