"""The float model from the Hugging Face hub, when asked for: resumed, checked, one process at a time."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from retentive.embed.checksum import hash_file
from retentive.errors import EmbedError
from retentive.folders import make_private
from retentive.lock import exclusive

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import httpx

    Progress: TypeAlias = Callable[[int, int | None], None]
    """Bytes here, and bytes in all where the server says."""

NAME = "all-MiniLM-L6-v2.onnx"
_REVISION = "1110a243fdf4706b3f48f1d95db1a4f5529b4d41"
_FILE = f"sentence-transformers/all-MiniLM-L6-v2/resolve/{_REVISION}/onnx/model.onnx"


@dataclass(frozen=True, slots=True)
class Hub:
    """Whom to ask, and what must come."""

    url: str = "https://huggingface.co"
    sha256: str = "6fd5d72fe4589f189f8ebc006442dbb529bb7ce38f8082112682524616046452"


HUB = Hub()


_AGAIN = "Try again, or put the model's folder in the setting for its path; full-text search works meanwhile."
_TIMEOUT = 30.0
_PIECE = 1 << 20
_PARTIAL, _PAST_THE_END = 206, 416


def fetch(cache: Path, hub: Hub, progress: Progress | None = None) -> Path:
    """The file's path. What was received before an interruption is kept and continued; a wrong file is not."""
    target = cache / NAME
    try:
        make_private(cache)
        with exclusive(cache / "fetch.lock"):
            if not target.is_file() or hash_file(target) != hub.sha256:
                _receive(f"{hub.url}/{_FILE}", target, hub.sha256, progress)
    except OSError as error:
        raise EmbedError(f"The model cannot be written to {cache}: {error}") from error
    return target


def _receive(url: str, target: Path, sha256: str, progress: Progress | None) -> None:
    import httpx

    part = target.with_suffix(".part")
    try:
        with httpx.Client(timeout=_TIMEOUT, follow_redirects=True) as client:
            _continue(client, url, part, progress)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise EmbedError(f"The model could not be fetched from {url}: {error}", _AGAIN) from error
    if (found := hash_file(part)) != sha256:
        part.unlink()
        raise EmbedError(f"What came from {url} is not the model: its sha256 is {found}.", _AGAIN)
    part.replace(target)


def _continue(client: httpx.Client, url: str, part: Path, progress: Progress | None) -> None:
    here = part.stat().st_size if part.exists() else 0
    with client.stream("GET", url, headers={"Range": f"bytes={here}-"} if here else {}) as answer:
        if here and answer.status_code == _PAST_THE_END:
            return  # all of it is here already, or too much; the checksum tells
        answer.raise_for_status()
        if answer.status_code != _PARTIAL:
            here = 0
        _write(answer, part, here, progress)


def _write(answer: httpx.Response, part: Path, here: int, progress: Progress | None) -> None:
    length = answer.headers.get("Content-Length")
    total = here + int(length) if length else None
    handle = os.open(part, os.O_WRONLY | os.O_CREAT | (os.O_APPEND if here else os.O_TRUNC), 0o600)
    with os.fdopen(handle, "ab" if here else "wb") as file:
        for piece in answer.iter_bytes(_PIECE):
            file.write(piece)
            here += len(piece)
            if progress:
                progress(here, total)
