"""Messages that no client should send."""

import json
from collections.abc import Iterable
from typing import Any

from hypothesis import strategies as st

from tests.mcp.process import HELLO, META, Message, call, request

HUGE = 20_000_000  # bytes: more than a server takes
LARGE = 3_000_000  # more than any memory may have, less than a message may
DEEP = 100_000
LONG = "x" * 70_000  # more than a pipe holds
VERSIONS: tuple[Any, ...] = ("1.0", "3.0", 2, 2.0, None, [])
IDS: tuple[Any, ...] = (None, True, 1.5, -1, 2**70, "", LONG, [], {})
METHODS: tuple[Any, ...] = (None, 1, [], {}, "", "\n", LONG, "tools/dream")
PARAMETERS: tuple[Any, ...] = (None, 1, "x", [], [1], True)
NUMBERS = ("9" * 5000, "1e999", "NaN", "-Infinity")  # the first is more than Python reads as a number
ADDRESSES = (None, 1, "", "x", "memory://", "memory://\x00", "file:///etc/passwd", "memory://session/../..", LONG)


def line(value: Any) -> bytes:
    return json.dumps(value).encode()


def shapes() -> dict[str, list[bytes]]:
    """What is no message at all, by what is wrong with it."""
    ping = request(1, "ping")
    return {
        "nothing": [b"", b"   ", b"\r", b"\t\r"],
        "not JSON": [b"hello", b"{", b"}", b'{"jsonrpc":', b"\x00", b"Content-Length: 20", b"\xef\xbb\xbf{}"],
        "not UTF-8": [b"\xff\xfe", b'{"jsonrpc":"2.0","id":1,"method":"\xff"}', b"\xc3\x28", b"\xed\xa0\x80"],
        "not an object": [b"null", b"true", b"0", b'"ping"', b"[]", b"[[]]", line([ping, ping])],
        "no message": [b"{}", b'{"jsonrpc":"2.0"}', b'{"id":1}', b'{"method":"ping"}', b'{"jsonrpc":"2.0","id":1}'],
        "another version": [line({**ping, "jsonrpc": each}) for each in VERSIONS],
        "deep": [b"[" * DEEP, b"[" * DEEP + b"]" * DEEP, b'{"a":' * DEEP, b'{"a":' * DEEP + b"1" + b"}" * DEEP],
        "huge": [b"x" * HUGE, b" " * HUGE, line(call(1, "memory_add", {"content": "x" * HUGE}))],
    }


def requests(era: str) -> dict[str, list[bytes]]:
    """What is one, but not one that can be done."""
    listing = request(1, "tools/list", era=era)
    deep = ["[" * each + "]" * each for each in (100, 190, 196, DEEP)]
    return {
        "wrong ids": _each({**listing, "id": each} for each in IDS),
        "wrong methods": _each({**listing, "method": each} for each in METHODS),
        "wrong parameters": _each({**listing, "params": each} for each in PARAMETERS),
        "wrong names": _asked(era, "tools/call", "name", (None, 1, [], {}, "", LONG, "\x00", "memory_dream")),
        "wrong arguments": _each(call(1, "memory_add", each, era) for each in PARAMETERS[1:]),
        "wrong addresses": _asked(era, "resources/read", "uri", ADDRESSES),
        "wrong prompts": _asked(era, "prompts/get", "name", (None, 1, "", LONG, "\x00")),
        "wrong cursors": _asked(era, "tools/list", "cursor", (1, [], LONG)),
        "wrong extras": _asked("", "tools/list", "_meta", (1, [], {"progressToken": {}}, *_envelopes())),
        "half a pair": _each(({**listing, "id": "\ud800"}, call(1, "memory_add", {"content": "\udfff"}, era))),
        "ids without end": [_spliced({**listing, "id": "@"}, each) for each in NUMBERS],
        "numbers without end": [_spliced(call(1, "memory_search", {"limit": "@"}, era), each) for each in NUMBERS],
        "the same key twice": [_spliced({**listing, "id": "@"}, '1,"id":2,"method":"ping"')],
        "the same id twice": _each([listing] * 5),
        "as deep as a parser goes": [_spliced(call(1, "memory_add", {"content": "@"}, era), each) for each in deep],
        "large": _each(
            (call(1, "memory_add", {"content": "x" * LARGE}, era), call(2, "note", {"text": [LONG] * 9}, era))
        ),
        "a greeting in between": _each((request(1, "initialize", {}), request(2, "initialize", {**HELLO}))),
    }


def others() -> dict[str, list[bytes]]:
    """Notifications and answers out of place."""
    strange: tuple[Message, ...] = (
        {},
        {"requestId": 99},
        {"requestId": None},
        {"requestId": []},
        {"requestId": {"a": 1}},
    )
    progress = {"progressToken": "x", "progress": 1}
    return {
        "notifications that do not exist": _each(_told(each) for each in ("notifications/dreamt", "tools/list", "")),
        "cancelling what is not there": _each(_told("notifications/cancelled", each) for each in strange),
        "progress of nothing": _each([_told("notifications/progress", progress), _told("notifications/progress")]),
        "readiness said again": _each([_told("notifications/initialized")] * 3),
        "answers that nobody asked for": [
            *_each({"jsonrpc": "2.0", "id": id, "result": {}} for id in (0, 1, "asked-0")),
            *_each({"jsonrpc": "2.0", "id": id, "error": {"code": 1, "message": "x"}} for id in (1, None)),
        ],
    }


def _each(messages: Iterable[Message]) -> list[bytes]:
    return [line(each) for each in messages]


def _asked(era: str, method: str, name: str, values: Iterable[Any]) -> list[bytes]:
    return _each(request(1, method, {name: each}, era) for each in values)


def _told(method: str, params: Message | None = None) -> Message:
    return {"jsonrpc": "2.0", "method": method, "params": params or {}}


def _spliced(message: Message, text: str) -> bytes:
    """With a text in the place of `"@"` that no value gives."""
    return json.dumps(message).replace('"@"', text).encode()


def _envelopes() -> list[Message]:
    """Of the newer era, not as they should be."""
    version, able = f"{META}/protocolVersion", f"{META}/clientCapabilities"
    return [{version: 7}, {version: "2026-07-28"}, {version: "1999-01-01", able: {}}, {version: "2026-07-28", able: []}]


_plain = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=40)
_value = st.recursive(_plain, lambda each: st.lists(each) | st.dictionaries(st.text(max_size=10), each), max_leaves=8)
_method = st.sampled_from(
    "initialize ping tools/list tools/call resources/list resources/read prompts/list prompts/get server/discover "
    "subscriptions/listen completion/complete logging/setLevel notifications/cancelled notifications/initialized "
    "notifications/progress".split()
)
_tool = st.sampled_from(("memory_add", "memory_search", "memory_get", "memory_update", "memory_context", "note"))
_envelope = {f"{META}/protocolVersion": "2026-07-28", f"{META}/clientCapabilities": {}}
_params = st.fixed_dictionaries(
    {},
    optional={
        "name": _tool | _value,
        "arguments": _value | st.dictionaries(st.sampled_from(("content", "query", "ids", "id", "limit")), _value),
        "uri": st.text(max_size=40) | _value,
        "requestId": _value,
        "protocolVersion": st.sampled_from(("2025-11-25", "2024-11-05", "1")) | _value,
        "capabilities": _value,
        "_meta": st.just(_envelope) | _value,
    },
)
_message = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.just("2.0") | _value,
        "id": st.integers(0, 3) | _value,
        "method": _method | _value,
        "params": _params | _value,
        "result": _value,
        "error": _value,
    },
)
messages = (_message | _value).map(line) | st.binary(max_size=200).map(lambda each: each.replace(b"\n", b" "))
"""Lines of any kind, most of them nearly right."""
