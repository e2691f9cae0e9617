"""Messages and counters of all kinds, for the tests of what a model reads."""

import zlib
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from hypothesis import strategies as st

from retentive.model import Event, Role
from retentive.text.token_counters import TokenCounter
from retentive.text.token_estimate import estimate_tokens

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def event(number: int, content: str = "", role: str = "user", payload: Any = None, speaker: str | None = None) -> Event:
    return Event("default", "s", number, Role(role), speaker, content, payload, NOON)


def talk(*lines: str) -> list[Event]:
    """Messages written as `role: text`."""
    parts = (line.partition(": ") for line in lines)
    return [event(number, text, role) for number, (role, _, text) in enumerate(parts, 1)]


def call(*ids: str) -> Any:
    return {"tool_calls": [{"id": id, "function": {"name": "look", "arguments": '{"at": 1}'}} for id in ids]}


def answer(id: str) -> Any:
    return {"tool_call_id": id}


def blocks(*answered: str) -> Any:
    return {"content": [{"type": "tool_result", "tool_use_id": id, "content": "seen"} for id in answered]}


def _words(text: str) -> int:
    return len(text.split())


def _padded(text: str) -> int:
    """Each text costs something by itself: parts count more than the whole."""
    return len(text) + 7 if text else 0


def _greedy(text: str) -> int:
    """Parts count less than the whole."""
    return len(text) ** 2 // 20


def _moody(text: str) -> int:
    """More text may count less."""
    return zlib.crc32(text.encode(errors="surrogatepass")) % 300


COUNTERS: Sequence[TokenCounter] = (len, estimate_tokens, _words, _padded, _greedy, _moody)
MONOTONE: Sequence[TokenCounter] = (len, estimate_tokens, _words, _padded, _greedy)

counters = st.sampled_from(COUNTERS)
budgets = st.integers(0, 400)

_sentences = st.sampled_from(
    [
        "We decided to go with Hetzner. It costs 8 euros",
        "hello",
        "Thanks!",
        "My dog is called Rex.",
        "我们决定使用新系统。预算是50000元。",
        "👨\u200d👩\u200d👧 family 🇩🇪",
        "- one\n- two\n```py\nprint(1)\n```",
        "cafe\u0301 · e\u0301tage: no. 5. Then Dr. Who.",
        "word " * 80,
    ]
)
texts = st.text(max_size=60) | _sentences
_ids = st.sampled_from(["a", "b", "c", "d"])
_payloads = st.one_of(
    st.none(),
    _ids.map(call),
    _ids.map(answer),
    st.lists(_ids, max_size=3).map(lambda ids: blocks(*ids)),
    st.just({"function_call": {"name": "old", "arguments": "{}"}}),
    st.just({"items": [{"type": "function_call", "call_id": "e", "name": "own", "arguments": "{}"}, {**answer("e")}]}),
    st.sampled_from([[], {"tool_calls": None}, "text", 7, {"content": ["x", None]}]),
)
_speakers = st.none() | st.sampled_from(["Dana", "Dr. Anna Maria Schmidt", "a: b", " \n"])


@st.composite
def conversations(draw: st.DrawFn) -> list[Event]:
    made = draw(st.lists(st.tuples(st.sampled_from(list(Role)), texts, _payloads, _speakers), max_size=14))
    return [event(number, text, role, payload, who) for number, (role, text, payload, who) in enumerate(made, 1)]
