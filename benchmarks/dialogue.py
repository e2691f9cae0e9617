"""A long conversation in the words of the corpus: two speakers, now and then a tool. The same on every machine."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import count, islice
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.corpus import OPENINGS, text, vocabulary, words_of, zipfian

Message = dict[str, Any]
"""As OpenAI has it: role, content, name, and calls or the id of the call that is answered."""

SEED = 8
SHORTEST, LONGEST = 8, 60  # words of a message
SENTENCE = 20  # words of a sentence at most
TOOL_EVERY = 12  # exchanges: one message in thirteen is a call or its answer
MEMORIES = 10  # messages for each memory in the same store: what is worth keeping of a conversation is far less of it
USER, ASSISTANT = "Dana", "Robin"
BEGUN, APART = datetime(2026, 1, 5, 8, tzinfo=UTC), timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Dialogue:
    messages: list[Message]
    extra: list[Message]
    """Not in the session at first: for the single appends and the summaries. Without tools."""
    memories: list[str]
    questions: list[str]


def make(size: int, *, questions: int, extra: int) -> Dialogue:
    generator = np.random.default_rng(SEED)
    known = vocabulary(generator)
    words = zipfian(generator, known)
    said = [*_timed(_exchanges(generator, words, TOOL_EVERY), 0, size)]
    more = [*_timed(_exchanges(generator, words, None), size, extra)]
    memories = [_sentence(generator, words, SENTENCE) for _ in range(size // MEMORIES)]
    spoken = [message["content"] for message in said if "name" in message and message["content"]]
    about = generator.choice(len(spoken), questions, replace=False).tolist()
    asked = [words_of(generator, spoken[place], frozenset(known)) for place in about]
    return Dialogue(said, more, memories, asked)


def write(messages: list[Message], path: Path) -> None:
    """A line of JSON for each."""
    path.write_text("".join(f"{json.dumps(message)}\n" for message in messages), "utf-8")


def _timed(messages: Iterator[Message], first: int, number: int) -> Iterator[Message]:
    for place, message in enumerate(islice(messages, number), first):
        yield {**message, "timestamp": (BEGUN + place * APART).isoformat()}


def _exchanges(generator: np.random.Generator, words: Iterator[str], tool_every: int | None) -> Iterator[Message]:
    for number in count(1):
        yield {"role": "user", "name": USER, "content": _said(generator, words)}
        if tool_every and number % tool_every == 0:
            yield from _looked_up(generator, words, f"call_{number}")
        yield {"role": "assistant", "name": ASSISTANT, "content": _said(generator, words)}


def _looked_up(generator: np.random.Generator, words: Iterator[str], id: str) -> Iterator[Message]:
    asked = {"name": "look_up", "arguments": json.dumps({"about": " ".join(islice(words, 3))})}
    calls = [{"id": id, "type": "function", "function": asked}]
    yield {"role": "assistant", "name": ASSISTANT, "content": None, "tool_calls": calls}
    yield {"role": "tool", "tool_call_id": id, "content": _said(generator, words)}


def _said(generator: np.random.Generator, words: Iterator[str]) -> str:
    """Sentences of like length."""
    length = int(generator.integers(SHORTEST, LONGEST + 1))
    sentences = -(-length // SENTENCE)
    lengths = [length // sentences + (place < length % sentences) for place in range(sentences)]
    return " ".join(_sentence(generator, words, each) for each in lengths)


def _sentence(generator: np.random.Generator, words: Iterator[str], length: int) -> str:
    said = text(OPENINGS[int(generator.integers(len(OPENINGS)))], words, length)
    return f"{said[0].upper()}{said[1:]}."
