"""A message whose words were purged: what is left of it, so that the conversation stays whole.

It keeps its number, role, speaker and time, and says `[purged]`. Of its payload stay the names and ids of tool calls:
a call is never parted from its result, and no chat interface takes one without the other. Everything else goes.
"""

from collections.abc import Mapping
from typing import Any

PURGED = "[purged]"
_NAMES = frozenset("id call_id tool_call_id tool_use_id type role name".split())
_PARTS = frozenset("tool_calls function custom function_call items content output".split())
_EMPTY: Mapping[str, Any] = {"arguments": "{}", "input": {}, "content": PURGED, "output": PURGED, "text": PURGED}


def blanked(payload: Any) -> Any:
    """None where nothing is worth keeping."""
    if isinstance(payload, list):
        return [kept for each in payload if (kept := blanked(each))]
    if not isinstance(payload, dict):
        return None
    kept = {name: _kept(name, value) for name, value in payload.items()}
    return {name: value for name, value in kept.items() if value is not None} or None


def _kept(name: str, value: Any) -> Any:
    if name in _NAMES:
        return value if isinstance(value, str) else None
    if name in _PARTS and isinstance(value, list | dict):
        return blanked(value)
    return _EMPTY.get(name)
