"""Embedding models: what is known of one, how it did in a test, whether its files are right."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A file that a model is made of."""

    path: Path
    """Where it is, or would be."""
    size: int
    sha256: str
    source: str
    """Where it is fetched from, below the address of the hub; empty for a file of one's own."""
    state: str
    """`here`, `missing`; after `verify` also `right` or `wrong`."""


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """An embedding model, and what of it is on this machine."""

    name: str
    aliases: tuple[str, ...]
    summary: str
    licence: str
    languages: str
    space: str
    """The name that its vectors have in a store."""
    dimension: int
    precision: str
    pooling: str
    query_prefix: str
    document_prefix: str
    max_tokens: int
    """Tokens of a text that it reads; 0 if it has none."""
    min_similarity: float
    spread: float
    files: tuple[ModelFile, ...]
    is_here: bool
    """Whether it can be loaded without fetching anything."""
    is_used: bool
    """Whether the settings name it."""
    origin: str
    """Which graph is used, or what is missing."""


@dataclass(frozen=True, slots=True)
class ModelTest:
    """How a model did on this machine."""

    name: str
    space: str
    dimension: int
    origin: str
    load_ms: float
    text_ms: float
    """For one short text."""
    texts_per_second: float
    """Of short texts in one call."""
    found: int
    """How many of the test's questions are nearest to their answers."""
    questions: int


@dataclass(frozen=True, slots=True)
class ModelCheck:
    """Whether a model's files are those that are pinned, and its vectors those that are known."""

    name: str
    files: tuple[ModelFile, ...]
    problem: str
    """What is wrong; empty if nothing is."""
