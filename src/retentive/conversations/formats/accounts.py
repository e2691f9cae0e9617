"""Parse account exports: the `conversations.json` of Claude and ChatGPT.

Claude's has a list of messages for each conversation; abandoned branches, if any, are in it in order of time.
ChatGPT's has a tree for each: an edited question or a regenerated answer begins a branch. The branch that the person
saw leads from `current_node` to the root. That one is read, without the messages that were hidden from the person.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from retentive.conversations.formats.values import (
    ParsedConversation,
    Record,
    build_payload,
    clean_name,
    iterate_messages,
    parse_role,
    parse_time,
    require_object,
)
from retentive.errors import Invalid
from retentive.model import Message
from retentive.text.messages import join_text_blocks

_TEXTS = ("parts", "text", "result")  # where the kinds of ChatGPT's content have their text
_PLAIN = ("text", "multimodal_text")


def parse_claude(records: Iterable[Record]) -> Iterator[ParsedConversation]:
    for place, value in records:
        messages = _require_field(value, "chat_messages", place)
        yield ParsedConversation(
            id=clean_name(value.get("uuid")),
            title=clean_name(value.get("name")),
            created=parse_time(value.get("created_at"), place),
            messages=[_parse_claude_message(each, where) for where, each in iterate_messages(messages, place)],
        )


def _parse_claude_message(value: Mapping[str, Any], place: str) -> Message:
    blocks = value.get("content")
    blocks = blocks if isinstance(blocks, list) else []
    text = join_text_blocks(blocks or value.get("text") or "")
    more = {"content": blocks if any(map(_has_more_than_text, blocks)) else None}
    payload = build_payload(more | {name: value.get(name) for name in ("attachments", "files")})
    return Message(
        parse_role(value.get("sender"), place), text, None, parse_time(value.get("created_at"), place), None, payload
    )


def _has_more_than_text(block: Any) -> bool:
    """Return whether a block has more than its text. Most have not, and would store every text twice."""
    return not isinstance(block, dict) or block.get("type") != "text" or bool(block.get("citations"))


def parse_chatgpt(records: Iterable[Record]) -> Iterator[ParsedConversation]:
    for place, value in records:
        nodes = require_object(_require_field(value, "mapping", place) or {}, place)
        seen = (
            (f"{place}, node {id}", _get_object(nodes[id], "message"))
            for id in _visible_branch(nodes, value.get("current_node"))
        )
        yield ParsedConversation(
            id=clean_name(value.get("conversation_id")) or clean_name(value.get("id")),
            title=clean_name(value.get("title")),
            created=parse_time(value.get("create_time"), place),
            messages=[_parse_chatgpt_message(each, where) for where, each in seen if each and not _is_hidden(each)],
        )


def _visible_branch(nodes: Mapping[str, Any], current: Any) -> list[str]:
    """Return the ids from the root to the current node, or to the newest leaf. A cycle is followed once."""
    branch: dict[str, None] = {}
    node = current if isinstance(current, str) and current in nodes else _newest_leaf(nodes)
    while isinstance(node, str) and node in nodes and node not in branch:
        branch[node] = None
        node = nodes[node].get("parent") if isinstance(nodes[node], dict) else None
    return [*reversed(branch)]


def _newest_leaf(nodes: Mapping[str, Any]) -> str | None:
    leaves = [id for id, node in nodes.items() if isinstance(node, dict) and not node.get("children")]
    return max(leaves or nodes, key=lambda id: _created_at(nodes[id]), default=None)


def _created_at(node: Any) -> float:
    time = _get_object(node, "message").get("create_time")
    return time if isinstance(time, int | float) else 0


def _is_hidden(message: Mapping[str, Any]) -> bool:
    return _get_object(message, "metadata").get("is_visually_hidden_from_conversation") is True


def _parse_chatgpt_message(value: Mapping[str, Any], place: str) -> Message:
    author, content = _get_object(value, "author"), _get_object(value, "content")
    text = next(filter(None, (join_text_blocks(content.get(name)) for name in _TEXTS)), "")
    time = parse_time(value.get("create_time"), place)
    return Message(
        parse_role(author.get("role"), place),
        text,
        clean_name(author.get("name")),
        time,
        None,
        _build_payload(value, content),
    )


def _build_payload(value: Mapping[str, Any], content: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the parts that are not text, other fields of the content, uploads, and the tool that was addressed."""
    parts = content.get("parts")
    more = {name: each for name, each in content.items() if name not in (*_TEXTS, "content_type")}
    if isinstance(parts, list) and not all(isinstance(part, str) for part in parts):
        more["content"] = parts
    more["attachments"] = _get_object(value, "metadata").get("attachments")
    more["recipient"] = None if value.get("recipient") == "all" else value.get("recipient")
    payload = build_payload(more)
    if payload and _is_special(content):
        payload["content_type"] = content.get("content_type")
    return payload


def _is_special(content: Mapping[str, Any]) -> bool:
    return content.get("content_type") not in (None, *_PLAIN)


def _get_object(value: Any, name: str) -> dict[str, Any]:
    """Return the object with that name, or an empty one."""
    found = value.get(name) if isinstance(value, dict) else None
    return found if isinstance(found, dict) else {}


def _require_field(value: Any, name: str, place: str) -> Any:
    if name not in require_object(value, place):
        raise Invalid(f"{place}: it has no {name!r}", "Is it in another format? Leave out `format=NAME` to detect it.")
    return value[name]
