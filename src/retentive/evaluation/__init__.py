"""How good are the answers? Collections with questions whose answers are known, and figures of how they were found.

`locomo.py` and `lines.py` read collections, `figures.py` computes. Files in, values out; nothing here opens a store or
asks it anything.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from retentive.errors import Invalid

FORMATS = ("locomo", "jsonl")
MAX_COLLECTION_BYTES = 2_000_000_000  # the largest that is published has a tenth of it


@dataclass(frozen=True, slots=True)
class Told:
    """A memory of a collection, with the options of `add`."""

    ref: str
    text: str
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Said:
    """A message of a collection."""

    ref: str
    session: str
    text: str
    speaker: str | None = None
    role: str = "user"
    time: datetime | str | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, and which memories or messages answer it: none, if it cannot be answered."""

    text: str
    expected: tuple[str, ...]
    category: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Of `search`: when it is asked, what it may see."""


@dataclass(frozen=True, slots=True)
class Trial:
    """What one namespace is told, in order, and then asked."""

    name: str
    told: Sequence[Told]
    said: Sequence[Said]
    questions: Sequence[Question]


def trials(path: Path, format: str) -> list[Trial]:
    """The collections of a file."""
    from retentive.evaluation import lines, locomo

    match format:
        case "locomo":
            return locomo.trials(path)
        case "jsonl":
            return lines.trials(path)
        case other:
            raise Invalid(f"cannot read collections as {other!r}", f"One of: {', '.join(FORMATS)}.")
