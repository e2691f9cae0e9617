"""Removes the content of a purged message, and keeps what holds the conversation together.

The message keeps its number, role, speaker and time, and its text is `[purged]`. The payload keeps the names and ids of
tool calls, because chat interfaces refuse a call without its result. Everything else is removed.
"""

from collections.abc import Mapping
from typing import Any

PURGED = "[purged]"
_KEPT_KEYS = frozenset("id call_id tool_call_id tool_use_id type role name".split())
_NESTED_KEYS = frozenset("tool_calls function custom function_call items content output".split())
_REPLACEMENTS: Mapping[str, Any] = {"arguments": "{}", "input": {}, "content": PURGED, "output": PURGED, "text": PURGED}


def purge_payload(payload: Any) -> Any:
    """Remove the content of a payload; None if nothing of it is kept."""
    if isinstance(payload, list):
        items = [purge_payload(each) for each in payload]
        return [item for item in items if item]
    if not isinstance(payload, dict):
        return None
    fields = {name: _purge_value(name, value) for name, value in payload.items()}
    return {name: value for name, value in fields.items() if value is not None} or None


def _purge_value(name: str, value: Any) -> Any:
    if name in _KEPT_KEYS:
        return value if isinstance(value, str) else None
    if name in _NESTED_KEYS and isinstance(value, list | dict):
        return purge_payload(value)
    return _REPLACEMENTS.get(name)
