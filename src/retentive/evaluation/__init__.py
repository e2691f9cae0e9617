"""Evaluate search with collections: memories, messages and questions whose answers are known.

`locomo.py` and `lines.py` read collections, `figures.py` computes recall and more. This package opens no store.
"""

from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import datetime
from pathlib import Path
from typing import Any

from retentive.errors import Invalid
from retentive.frozen_dataclass import dataclass

COLLECTION_FORMATS = ("locomo", "jsonl")
MAX_COLLECTION_BYTES = 2_000_000_000  # ten times the largest published collection


@dataclass(frozen=True, slots=True)
class CollectionMemory:
    """A memory of a collection, with the options of `add`."""

    ref: str
    text: str
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CollectionMessage:
    """A message of a collection."""

    ref: str
    session: str
    text: str
    speaker: str | None = None
    role: str = "user"
    time: datetime | str | None = None


@dataclass(frozen=True, slots=True)
class EvaluationQuestion:
    """A question and the memories or messages that answer it; none if it cannot be answered."""

    text: str
    expected: tuple[str, ...]
    category: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Options of `search`, such as the time of the question and its filters."""


@dataclass(frozen=True, slots=True)
class Trial:
    """The memories and messages of one namespace, in order, and the questions asked afterwards."""

    name: str
    memories: Sequence[CollectionMemory]
    messages: Sequence[CollectionMessage]
    questions: Sequence[EvaluationQuestion]


def read_trials(path: Path, format: str) -> list[Trial]:
    """Read the collections of a file."""
    from retentive.evaluation import lines, locomo

    match format:
        case "locomo":
            return locomo.read_trials(path)
        case "jsonl":
            return lines.read_trials(path)
        case other:
            raise Invalid(f"cannot read collections as {other!r}", f"One of: {', '.join(COLLECTION_FORMATS)}.")
