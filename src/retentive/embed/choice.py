"""What the setting `embedder` says. This is the only place that reads it.

    none                   no vectors
    NAME                   a model of the catalogue, by its name or an alias: minilm, bge-small-en-v1.5, hashing ...
    PROVIDER:MODEL         a model that a provider serves: ollama:nomic-embed-text, openai:text-embedding-3-small ...
    PATH                   a folder or .onnx file of one's own: has a slash, or begins with ~ or .

A provider is named by at least two letters, so that `C:/models` is a path, and comes before a path, for models may have
slashes in their names: `openai-compatible:BAAI/bge-m3`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from retentive.embed.catalogue import CATALOGUE, find_entry
from retentive.errors import BadConfig

if TYPE_CHECKING:
    from retentive.embed.catalogue import Entry

NONE = "none"
_PROVIDER = re.compile(r"([a-z][a-z0-9-]+):(.+)")


@dataclass(frozen=True, slots=True)
class Named:
    """A model of the catalogue."""

    entry: Entry


@dataclass(frozen=True, slots=True)
class Provided:
    """A model that somebody serves over the network."""

    provider: str
    model: str


@dataclass(frozen=True, slots=True)
class Placed:
    """A model of one's own, in a folder or an .onnx file."""

    path: Path


Choice: TypeAlias = Named | Provided | Placed | None


def parse_choice(text: str) -> Choice:
    """What is chosen; None for `none`. `BadConfig`: it is none of these."""
    text = text.strip()
    if text == NONE:
        return None
    if entry := find_entry(text):
        return Named(entry)
    if served := _PROVIDER.fullmatch(text):
        return Provided(served[1], served[2])
    if re.match(r"[~.]|.*[/\\]", text):
        return Placed(_expand(text))
    names = ", ".join((entry.aliases or (entry.name,))[0] for entry in CATALOGUE)
    raise BadConfig(
        f"There is no embedder {text!r}.",
        f"Choose one of: {names}, {NONE}; PROVIDER:MODEL; or a path such as ./{text or 'folder'}.",
    )


def _expand(text: str) -> Path:
    try:
        return Path(text).expanduser().absolute()
    except RuntimeError as error:  # ~somebody who is not there
        raise BadConfig(f"The embedder {text!r} is no path: {error}") from error
