"""Reads the payload of a message: tool calls, their results and attachments, in the formats of chat interfaces.

A payload is the JSON that came with a message. Three formats are read; anything else is stored but not searched:
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


class ToolCall(NamedTuple):
    id: str
    text: str
    """The name of the tool and its arguments."""


class ToolResult(NamedTuple):
    call: str
    """The id of the call it answers."""
    text: str


def join_text_blocks(content: Any) -> str:
    """Join the text of content blocks. A plain string is returned as it is."""
    if isinstance(content, str):
        return content
    return "\n".join(_iterate_texts(content)) if isinstance(content, Sequence) else ""


def extract_text(content: str, payload: Any) -> str:
    """Extract all text that is searched: the message itself, tool calls and their results, and attached files."""
    if payload is None:
        text = content.replace("\0", " ").strip()
        return text if text.isascii() else unicodedata.normalize("NFC", text)
    calls = [call.text for call in find_tool_calls(payload)]
    results = [result.text for result in find_tool_results(payload)]
    return _join_texts([content, *calls, *results, *_find_refusal(payload), *_find_attachments(payload)])


def extract_sender_text(content: str, payload: Any) -> str:
    """Extract the text of the sender: without tool results and attached files."""
    if payload is None:
        return extract_text(content, None)
    calls = [call.text for call in find_tool_calls(payload)]
    return _join_texts([content, *calls, *_find_refusal(payload)])


def extract_forwarded_text(payload: Any) -> str:
    """Extract the text that the sender only forwards: tool results and attached files."""
    if payload is None:
        return ""
    results = [result.text for result in find_tool_results(payload)]
    return _join_texts([*results, *_find_attachments(payload)])


def is_tool_result(payload: Any) -> bool:
    """Whether the whole message is the result of a tool call."""
    return isinstance(payload, Mapping) and bool(_find_answered_id(payload))


def _join_texts(texts: Sequence[str]) -> str:
    """Join texts by line breaks, without empty ones and repetitions."""
    clean = [text.replace("\0", " ").strip() for text in texts]
    joined = "\n".join(dict.fromkeys(text for text in clean if text))
    return joined if joined.isascii() else unicodedata.normalize("NFC", joined)


def find_tool_calls(payload: Any) -> list[ToolCall]:
    found = []
    for item in _iterate_items(payload):
        function = item.get("function", item.get("custom"))
        function = function if isinstance(function, Mapping) else item
        is_call = "name" in function and ("arguments" in function or "input" in function)
        if is_call and not _find_answered_id(item):
            id = _string_or_empty(item.get("call_id") or item.get("id"))
            arguments = _render_value(function.get("arguments", function.get("input")))
            found.append(ToolCall(id, f"{_string_or_empty(function['name'])} {arguments}"))
    return found


def find_tool_results(payload: Any) -> list[ToolResult]:
    found = []
    for item in _iterate_items(payload):
        if call := _find_answered_id(item):
            text = _render_value(item["output"]) if "output" in item else join_text_blocks(item.get("content"))
            found.append(ToolResult(call, text))
    return found


def _iterate_items(payload: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the payload itself, and the calls and content blocks in it."""
    if not isinstance(payload, Mapping):
        yield from _iterate_mappings(payload)
        return
    yield payload
    for name in ("tool_calls", "content", "output", "items"):
        yield from _iterate_mappings(payload.get(name))
    if isinstance(payload.get("function_call"), Mapping):
        yield payload["function_call"]


def _find_refusal(payload: Any) -> Iterator[str]:
    """Yield the refusal, for which OpenAI's models have a field of their own."""
    if isinstance(payload, Mapping) and isinstance(payload.get("refusal"), str):
        yield payload["refusal"]


def _find_attachments(payload: Any) -> Iterator[str]:
    """Yield the texts of attached files, as in Claude's exports."""
    for each in _iterate_mappings(payload.get("attachments") if isinstance(payload, Mapping) else None):
        if isinstance(each.get("extracted_content"), str):
            yield each["extracted_content"]


def _iterate_mappings(value: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(value, Sequence) and not isinstance(value, str):
        yield from (each for each in value if isinstance(each, Mapping))


def _iterate_texts(blocks: Sequence[Any]) -> Iterator[str]:
    for block in blocks:
        text = block.get("text") if isinstance(block, Mapping) else block
        if isinstance(text, str):
            yield text


def _find_answered_id(item: Mapping[str, Any]) -> str:
    """Return the id of the call that an item is the result of; "" if it is no result."""
    if _string_or_empty(item.get("type")).endswith("_call_output"):
        return _string_or_empty(item.get("call_id"))
    return _string_or_empty(item.get("tool_call_id") or item.get("tool_use_id"))


def _string_or_empty(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _render_value(value: Any) -> str:
    """Render arguments or a result as text: strings as they are, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
