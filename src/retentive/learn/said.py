"""What of a message are its speaker's own words?"""

import re

# How the parts of a context begin, and a replayed conversation: what callers put before a message of their user's.
_HEADING = r"## (?:Relevant Memories|Earlier Conversation|Recent Messages)[ \t]*$|Rolling session summary: .*"
_BLOCK = re.compile(rf"^(?:{_HEADING})(?:\n.+)*\n*", re.MULTILINE)


def own(text: str) -> str:
    """Without the parts of a context, which end at an empty line: what was recalled is not said again."""
    return _BLOCK.sub("", text.replace("\r\n", "\n")).strip()
