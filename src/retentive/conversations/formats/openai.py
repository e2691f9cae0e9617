"""Parse messages as chat APIs take them: `{"role", "content"}`, alone, in lists, or in `{"messages": [...]}`.

Items of OpenAI's Responses and Agents are messages, too: those without a role are calls of the assistant or answers of
tools. The payload has everything besides role, text, name and time, so calls keep their ids. Content in blocks is
stored in it whole.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from retentive.conversations.formats.values import (
    ParsedConversation,
    Record,
    build_payload,
    clean_name,
    iterate_messages,
    json_type_name,
    parse_role,
    parse_time,
    require_object,
)
from retentive.errors import Invalid
from retentive.model import Message, Role
from retentive.text.messages import join_text_blocks

_TIME_KEYS = ("time", "timestamp", "created_at", "create_time", "created")
_ID_KEYS = ("id", "conversation_id", "session_id", "uuid")
_MESSAGE_KEYS = {"role", "content", "name", *_TIME_KEYS}
_ASSISTANT_ITEMS = {"reasoning", "mcp_list_tools", "mcp_approval_request"}  # items that are no calls, yet the model's


def is_message(value: Any) -> bool:
    return isinstance(value, dict) and ("role" in value or _role_of_item(value) is not None)


def parse_conversations(records: Iterable[Record]) -> Iterator[ParsedConversation]:
    """Yield a conversation for each list of messages, and one for all messages outside of lists."""
    alone = []
    for place, value in records:
        if isinstance(value, list):
            yield ParsedConversation(None, None, None, _parse_messages(value, place))
        elif "messages" in require_object(value, place):
            yield _parse_conversation(value, place)
        else:
            alone.append(_parse_message(value, place))
    yield ParsedConversation(None, None, None, alone)


def _parse_conversation(value: Mapping[str, Any], place: str) -> ParsedConversation:
    id = next((found for name in _ID_KEYS if (found := clean_name(value.get(name)))), None)
    title = clean_name(value.get("title") or value.get("name"))
    return ParsedConversation(id, title, _parse_time(value, place), _parse_messages(value["messages"], place))


def _parse_messages(value: Any, place: str) -> list[Message]:
    return [_parse_message(each, where) for where, each in iterate_messages(value, place)]


def _parse_message(value: Mapping[str, Any], place: str) -> Message:
    item = None if "role" in value else _role_of_item(value)
    if item is not None:
        payload = build_payload({name: each for name, each in value.items() if name not in _TIME_KEYS})
        return Message(item, "", None, _parse_time(value, place), None, payload)
    who, content = parse_role(value.get("role"), place), _read_content(value, place)
    payload = build_payload(
        {name: each for name, each in value.items() if _belongs_in_payload(name, each)} | _content_blocks(content)
    )
    return Message(
        who, join_text_blocks(content), clean_name(value.get("name")), _parse_time(value, place), None, payload
    )


def _role_of_item(value: Mapping[str, Any]) -> Role | None:
    """Return the role of an item of the Responses API that names none."""
    type = value.get("type")
    if not isinstance(type, str):
        return None
    if type.endswith("_output"):
        return Role.TOOL
    return Role.ASSISTANT if type.endswith("_call") or type in _ASSISTANT_ITEMS else None


def _read_content(value: Mapping[str, Any], place: str) -> Any:
    """Return text or blocks, which Gemini calls parts. Null is an empty text: it stands beside tool calls."""
    content = value.get("content", value.get("parts"))
    if content is None:
        return ""
    if not isinstance(content, str | list):
        raise Invalid(f"{place}: content is {json_type_name(content)}, not text or a list of blocks")
    return content


def _belongs_in_payload(name: str, each: Any) -> bool:
    return (
        name not in _MESSAGE_KEYS
        and (name, each) != ("type", "message")
        and not (name == "parts" and isinstance(each, list))
    )


def _content_blocks(content: Any) -> dict[str, Any]:
    return {"content": content} if isinstance(content, list) else {}


def _parse_time(value: Mapping[str, Any], place: str) -> Any:
    return next((found for name in _TIME_KEYS if (found := parse_time(value.get(name), place))), None)
