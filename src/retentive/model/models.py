"""Embedding models: their properties, the result of a test, and the check of their files."""

from pathlib import Path

from retentive.frozen_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A file of a model."""

    path: Path
    """The path of the file, whether it is there or not."""
    size: int
    sha256: str
    source: str
    """Its download path below the address of the hub; empty for the user's own file."""
    state: str
    """`here`, `missing`; after `verify` also `right` or `wrong`."""


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """An embedding model, and which of its files are on this machine."""

    name: str
    aliases: tuple[str, ...]
    summary: str
    licence: str
    languages: str
    space: str
    """The name of its vector space in a store."""
    dimension: int
    precision: str
    pooling: str
    query_prefix: str
    document_prefix: str
    max_tokens: int
    """The number of tokens that it reads of a text; 0 if it has no tokens."""
    min_similarity: float
    spread: float
    files: tuple[ModelFile, ...]
    is_here: bool
    """Whether it can be loaded without a download."""
    is_used: bool
    """Whether the settings name it."""
    origin: str
    """The graph that is used, or the file that is missing."""


@dataclass(frozen=True, slots=True)
class ModelTest:
    """The result of testing a model on this machine."""

    name: str
    space: str
    dimension: int
    origin: str
    load_ms: float
    text_ms: float
    """Milliseconds for one short text."""
    texts_per_second: float
    """The speed with short texts in one call."""
    found: int
    """The number of test questions whose nearest text is their answer."""
    questions: int


@dataclass(frozen=True, slots=True)
class ModelCheck:
    """The result of comparing a model's files with pinned hashes and its vectors with known ones."""

    name: str
    files: tuple[ModelFile, ...]
    problem: str
    """The problem that was found; empty if there is none."""
