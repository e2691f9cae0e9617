"""What a message says besides its text: tool calls and their results, in the shapes that chat interfaces use.

A payload is whatever JSON came with a message. Three shapes are read; anything else is kept and not searched:
  a. OpenAI: `{"tool_calls": [{"id", "function": {"name", "arguments"}}]}` (or `custom` with `name` and `input`; and the
     older `function_call`), answered by a message with `tool_call_id`;
  b. OpenAI's Responses: items `{"type": "function_call", "call_id", "name", "arguments"}` and `function_call_output`;
  c. Anthropic: `{"content": [blocks]}` with blocks of type `text`, `tool_use` (`id`, `name`, `input`) and
     `tool_result` (`tool_use_id`, `content`); and `attachments` with their `extracted_content`.
"""

import json
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple


class Call(NamedTuple):
    id: str
    text: str
    """The tool's name and what it was called with."""


class Answer(NamedTuple):
    call: str
    """The id of the call it answers."""
    text: str


def written(content: Any) -> str:
    """The text among content blocks; a text is its own."""
    if isinstance(content, str):
        return content
    return "\n".join(_texts(content)) if isinstance(content, Sequence) else ""


def readable(content: str, payload: Any) -> str:
    """Everything in a message that is worth searching: its text, the arguments and the results of tool calls."""
    if payload is None:
        text = content.replace("\0", " ").strip()
        return text if text.isascii() else unicodedata.normalize("NFC", text)
    said = [content, *(call.text for call in calls(payload)), *(answer.text for answer in answers(payload))]
    return _join([*said, *_refusal(payload), *_attachments(payload)])


def spoken(content: str, payload: Any) -> str:
    """The part of a message that is its sender's: without the results of tools and the texts of files."""
    if payload is None:
        return readable(content, None)
    return _join([content, *(call.text for call in calls(payload)), *_refusal(payload)])


def passed_on(payload: Any) -> str:
    """The part of a message that its sender only passes on: the results of tools and the texts of files."""
    if payload is None:
        return ""
    return _join([*(answer.text for answer in answers(payload)), *_attachments(payload)])


def is_answer(payload: Any) -> bool:
    """Whether a message is, as a whole, the result of a tool."""
    return isinstance(payload, Mapping) and bool(_answered(payload))


def _join(texts: Sequence[str]) -> str:
    """The texts that are not empty, each once."""
    whole = "\n".join(dict.fromkeys(text for text in (each.replace("\0", " ").strip() for each in texts) if text))
    return whole if whole.isascii() else unicodedata.normalize("NFC", whole)


def calls(payload: Any) -> list[Call]:
    found = []
    for each in _items(payload):
        asked = each.get("function", each.get("custom"))
        asked = asked if isinstance(asked, Mapping) else each
        if "name" in asked and ("arguments" in asked or "input" in asked) and not _answered(each):
            told = asked.get("arguments", asked.get("input"))
            found.append(Call(_name(each.get("call_id") or each.get("id")), f"{_name(asked['name'])} {_said(told)}"))
    return found


def answers(payload: Any) -> list[Answer]:
    return [
        Answer(call, _said(each.get("output", "")) if "output" in each else written(each.get("content")))
        for each in _items(payload)
        if (call := _answered(each))
    ]


def _items(payload: Any) -> Iterator[Mapping[str, Any]]:
    """The payload itself, and the calls and blocks in it."""
    if not isinstance(payload, Mapping):
        yield from _blocks(payload)
        return
    yield payload
    for name in ("tool_calls", "content", "output", "items"):
        yield from _blocks(payload.get(name))
    if isinstance(payload.get("function_call"), Mapping):
        yield payload["function_call"]


def _refusal(payload: Any) -> Iterator[str]:
    """A refusal, which OpenAI's models have a field for."""
    if isinstance(payload, Mapping) and isinstance(payload.get("refusal"), str):
        yield payload["refusal"]


def _attachments(payload: Any) -> Iterator[str]:
    """The texts of files, as Claude's exports have them."""
    for each in _blocks(payload.get("attachments") if isinstance(payload, Mapping) else None):
        if isinstance(each.get("extracted_content"), str):
            yield each["extracted_content"]


def _blocks(value: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(value, Sequence) and not isinstance(value, str):
        yield from (each for each in value if isinstance(each, Mapping))


def _texts(blocks: Sequence[Any]) -> Iterator[str]:
    for block in blocks:
        text = block.get("text") if isinstance(block, Mapping) else block
        if isinstance(text, str):
            yield text


def _answered(item: Mapping[str, Any]) -> str:
    """The id of the call that this is an answer to, if it is one."""
    if _name(item.get("type")).endswith("_call_output"):
        return _name(item.get("call_id"))
    return _name(item.get("tool_call_id") or item.get("tool_use_id"))


def _name(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _said(value: Any) -> str:
    """Arguments and results as text: strings as they are, the rest as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
