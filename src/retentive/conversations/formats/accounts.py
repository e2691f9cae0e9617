"""The exports of accounts: what Claude and ChatGPT send as `conversations.json`.

Claude's is a list of messages for each conversation; abandoned branches, if it has any, are in it in order of time.
ChatGPT's is a tree for each: an edited question or an answer made anew begins a branch. The branch that the person saw
leads from `current_node` to the root; it is the one read, without the messages that were hidden from them.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from retentive.conversations.formats.values import Found, Record, each_message, label, moment, object_of, role, told
from retentive.errors import Invalid
from retentive.model import Message
from retentive.text.messages import written

_TEXTS = ("parts", "text", "result")  # where the kinds of ChatGPT's content have their text
_PLAIN = ("text", "multimodal_text")


def claude(records: Iterable[Record]) -> Iterator[Found]:
    for place, value in records:
        messages = _required(value, "chat_messages", place)
        yield Found(
            id=label(value.get("uuid")),
            title=label(value.get("name")),
            created=moment(value.get("created_at"), place),
            messages=[_claude_message(each, where) for where, each in each_message(messages, place)],
        )


def _claude_message(value: Mapping[str, Any], place: str) -> Message:
    blocks = value.get("content")
    blocks = blocks if isinstance(blocks, list) else []
    text = written(blocks or value.get("text") or "")
    more = {"content": blocks if any(map(_says_more, blocks)) else None}
    payload = told(more | {name: value.get(name) for name in ("attachments", "files")})
    return Message(role(value.get("sender"), place), text, None, moment(value.get("created_at"), place), None, payload)


def _says_more(block: Any) -> bool:
    """More than its text: most blocks have nothing else, and would keep every text twice."""
    return not isinstance(block, dict) or block.get("type") != "text" or bool(block.get("citations"))


def chatgpt(records: Iterable[Record]) -> Iterator[Found]:
    for place, value in records:
        nodes = object_of(_required(value, "mapping", place) or {}, place)
        seen = (
            (f"{place}, node {id}", _inside(nodes[id], "message")) for id in _branch(nodes, value.get("current_node"))
        )
        yield Found(
            id=label(value.get("conversation_id")) or label(value.get("id")),
            title=label(value.get("title")),
            created=moment(value.get("create_time"), place),
            messages=[_chatgpt_message(each, where) for where, each in seen if each and not _is_hidden(each)],
        )


def _branch(nodes: Mapping[str, Any], current: Any) -> list[str]:
    """From the root to the current node, or to the newest leaf. A ring is followed once."""
    branch: dict[str, None] = {}
    node = current if isinstance(current, str) and current in nodes else _newest_leaf(nodes)
    while isinstance(node, str) and node in nodes and node not in branch:
        branch[node] = None
        node = nodes[node].get("parent") if isinstance(nodes[node], dict) else None
    return [*reversed(branch)]


def _newest_leaf(nodes: Mapping[str, Any]) -> str | None:
    leaves = [id for id, node in nodes.items() if isinstance(node, dict) and not node.get("children")]
    return max(leaves or nodes, key=lambda id: _age(nodes[id]), default=None)


def _age(node: Any) -> float:
    time = _inside(node, "message").get("create_time")
    return time if isinstance(time, int | float) else 0


def _is_hidden(message: Mapping[str, Any]) -> bool:
    return _inside(message, "metadata").get("is_visually_hidden_from_conversation") is True


def _chatgpt_message(value: Mapping[str, Any], place: str) -> Message:
    author, content = _inside(value, "author"), _inside(value, "content")
    text = next((said for name in _TEXTS if (said := written(content.get(name)))), "")
    time = moment(value.get("create_time"), place)
    return Message(role(author.get("role"), place), text, label(author.get("name")), time, None, _more(value, content))


def _more(value: Mapping[str, Any], content: Mapping[str, Any]) -> dict[str, Any] | None:
    """Parts that are not text, what else the content has, uploads, and the tool it was said to."""
    parts = content.get("parts")
    more = {name: each for name, each in content.items() if name not in (*_TEXTS, "content_type")}
    if isinstance(parts, list) and not all(isinstance(part, str) for part in parts):
        more["content"] = parts
    more["attachments"] = _inside(value, "metadata").get("attachments")
    more["recipient"] = None if value.get("recipient") == "all" else value.get("recipient")
    said = told(more)
    return said | {"content_type": content.get("content_type")} if said and _is_special(content) else said


def _is_special(content: Mapping[str, Any]) -> bool:
    return content.get("content_type") not in (None, *_PLAIN)


def _inside(value: Any, name: str) -> dict[str, Any]:
    """The object of that name, or an empty one."""
    found = value.get(name) if isinstance(value, dict) else None
    return found if isinstance(found, dict) else {}


def _required(value: Any, name: str, place: str) -> Any:
    if name not in object_of(value, place):
        raise Invalid(
            f"{place}: it has no {name!r}", "Is it of another format? Leave out --format to have it recognised."
        )
    return value[name]
