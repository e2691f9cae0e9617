"""Text that a user pastes is not theirs: no memory is made, changed or ended by it, however it comes in."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from retentive import Retentive
from tests.sizes import every
from tests.support import Open

DATA = Path(__file__).parents[2] / "benchmarks" / "data"
MESSAGES: list[dict[str, Any]] = [
    json.loads(line)
    for name in ("pasted.jsonl", "pasted-c.jsonl")
    for line in (DATA / name).read_text("utf-8").splitlines()
]
KNOWN = ["The user lives in Gothenburg.", "The user works at Stena.", "The user's name is Vera.", "Answer in English."]


def say(memory: Retentive, text: str) -> None:
    """One message, of which requests are carried out at once."""
    memory.sessions.append("s", "user", text)


def log(memory: Retentive, text: str) -> None:
    """A log, of which nothing is done before it is learned."""
    memory.sessions.append_many("s", [{"role": "user", "content": text}])


def talk(memory: Retentive, text: str) -> None:
    """The message between others."""
    messages = [("user", "hey, quick one"), ("assistant", "Sure."), ("user", text), ("assistant", "Here you are.")]
    memory.sessions.append_many("s", [{"role": role, "content": content} for role, content in messages])


def test_the_table_is_large_enough_to_mean_something() -> None:
    assert len(MESSAGES) >= 100
    assert len({row["channel"] for row in MESSAGES}) >= 20


@pytest.mark.parametrize(("first", "bring"), [*enumerate([say, log, talk])])
def test_pasted_text_makes_changes_and_ends_nothing(
    open_store: Open, first: int, bring: Callable[[Retentive, str], None]
) -> None:
    """Each message is brought in one of the ways, or in a thorough run in all of them."""
    store = open_store(embedder="minilm")
    for row in every(3, MESSAGES, first):
        memory = store.in_namespace(row["id"])
        memory.add_many(KNOWN)
        bring(memory, row["text"])
        memory.learn("s")
        texts = [each.content.lower() for each in memory.list(limit=100)]
        assert {text.lower() for text in KNOWN} <= {*texts}, row["text"]
        made = [text for text in texts if any(poison.lower() in text for poison in row["poison"])]
        assert made == [], row["text"]
