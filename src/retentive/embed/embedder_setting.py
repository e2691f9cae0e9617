"""Parses the setting `embedder`.

    none                   no vectors
    NAME                   a model of the catalogue, by its name or an alias: minilm, bge-small-en-v1.5, hashing ...
    PROVIDER:MODEL         a model that a provider serves: ollama:nomic-embed-text, openai:text-embedding-3-small ...
    PATH                   the user's own folder or .onnx file: has a slash, or begins with ~ or .

A provider has a name of at least two letters, so `C:/models` is a path. Providers are tried before paths, because names
of models may have slashes: `openai-compatible:BAAI/bge-m3`.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from retentive.embed.catalogue import CATALOGUE, find_entry
from retentive.errors import BadConfig
from retentive.frozen_dataclass import dataclass

if TYPE_CHECKING:
    from retentive.embed.catalogue import CatalogueEntry

NONE = "none"
_PROVIDER_SPEC = re.compile(r"([a-z][a-z0-9-]+):(.+)")


@dataclass(frozen=True, slots=True)
class CatalogueChoice:
    """A model of the catalogue."""

    entry: CatalogueEntry


@dataclass(frozen=True, slots=True)
class ProviderChoice:
    """A model that a provider serves over the network."""

    provider: str
    model: str


@dataclass(frozen=True, slots=True)
class FolderChoice:
    """The user's own model, in a folder or an .onnx file."""

    path: Path


EmbedderChoice: TypeAlias = CatalogueChoice | ProviderChoice | FolderChoice | None


def parse_embedder_setting(text: str) -> EmbedderChoice:
    """Parse the setting; None for `none`. Raises `BadConfig` if it is none of these."""
    text = text.strip()
    if text == NONE:
        return None
    if entry := find_entry(text):
        return CatalogueChoice(entry)
    if spec := _PROVIDER_SPEC.fullmatch(text):
        return ProviderChoice(spec[1], spec[2])
    if re.match(r"[~.]|.*[/\\]", text):
        return FolderChoice(_expand_path(text))
    names = ", ".join((entry.aliases or (entry.name,))[0] for entry in CATALOGUE)
    raise BadConfig(
        f"There is no embedder {text!r}.",
        f"Choose one of: {names}, {NONE}; PROVIDER:MODEL; or a path such as ./{text or 'folder'}.",
    )


def _expand_path(text: str) -> Path:
    try:
        return Path(text).expanduser().absolute()
    except RuntimeError as error:  # the home of an unknown user
        raise BadConfig(f"The embedder {text!r} is not a path: {error}") from error
