"""Messages as chat interfaces take them: `{"role", "content"}`, alone, in lists, or in `{"messages": [...]}`.

The items of OpenAI's Responses and Agents are messages too: those without a role are calls of the assistant or the
tools' answers. A payload is all that a message has besides role, text, name and time, so calls stay with their ids;
content that came in blocks is in it whole.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from retentive.conversations.formats.values import (
    Found,
    Record,
    each_message,
    kind,
    label,
    moment,
    object_of,
    role,
    told,
)
from retentive.errors import Invalid
from retentive.model import Message, Role
from retentive.text.messages import written

_TIMES = ("time", "timestamp", "created_at", "create_time", "created")
_IDS = ("id", "conversation_id", "session_id", "uuid")
_OWN = {"role", "content", "name", *_TIMES}
_ASSISTANTS = {"reasoning", "mcp_list_tools", "mcp_approval_request"}  # items that are no calls, yet the model's


def is_message(value: Any) -> bool:
    return isinstance(value, dict) and ("role" in value or _role_of_item(value) is not None)


def conversations(records: Iterable[Record]) -> Iterator[Found]:
    """One for each list of messages; messages that stand alone are one together."""
    alone = []
    for place, value in records:
        if isinstance(value, list):
            yield Found(None, None, None, _messages(value, place))
        elif "messages" in object_of(value, place):
            yield _conversation(value, place)
        else:
            alone.append(_message(value, place))
    yield Found(None, None, None, alone)


def _conversation(value: Mapping[str, Any], place: str) -> Found:
    id = next((found for name in _IDS if (found := label(value.get(name)))), None)
    title = label(value.get("title") or value.get("name"))
    return Found(id, title, _time(value, place), _messages(value["messages"], place))


def _messages(value: Any, place: str) -> list[Message]:
    return [_message(each, where) for where, each in each_message(value, place)]


def _message(value: Mapping[str, Any], place: str) -> Message:
    item = None if "role" in value else _role_of_item(value)
    if item is not None:
        payload = told({name: each for name, each in value.items() if name not in _TIMES})
        return Message(item, "", None, _time(value, place), None, payload)
    who, content = role(value.get("role"), place), _content(value, place)
    payload = told({name: each for name, each in value.items() if _says_more(name, each)} | _blocks(content))
    return Message(who, written(content), label(value.get("name")), _time(value, place), None, payload)


def _role_of_item(value: Mapping[str, Any]) -> Role | None:
    """Whose an item of the Responses is that has no role."""
    type = value.get("type")
    if not isinstance(type, str):
        return None
    if type.endswith("_output"):
        return Role.TOOL
    return Role.ASSISTANT if type.endswith("_call") or type in _ASSISTANTS else None


def _content(value: Mapping[str, Any], place: str) -> Any:
    """Text or blocks, which Gemini calls parts. Null stands beside tool calls."""
    content = value.get("content", value.get("parts"))
    if content is None:
        return ""
    if not isinstance(content, str | list):
        raise Invalid(f"{place}: content is {kind(content)}, not text or a list of blocks")
    return content


def _says_more(name: str, each: Any) -> bool:
    return name not in _OWN and (name, each) != ("type", "message") and not (name == "parts" and isinstance(each, list))


def _blocks(content: Any) -> dict[str, Any]:
    return {"content": content} if isinstance(content, list) else {}


def _time(value: Mapping[str, Any], place: str) -> Any:
    return next((found for name in _TIMES if (found := moment(value.get(name), place))), None)
