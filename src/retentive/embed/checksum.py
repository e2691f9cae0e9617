"""Is a model's file the one it should be? It is asked each time a file is loaded: 15 ms for 23 MB, with SHA-NI."""

from __future__ import annotations

import hashlib
from contextlib import contextmanager
from typing import TYPE_CHECKING

from retentive.errors import ModelMissing, ModelUnfit

if TYPE_CHECKING:
    from collections.abc import Iterator
    from os import stat_result
    from pathlib import Path


def hash_file(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def verify_file(path: Path, sha256: str, hint: str = "") -> Iterator[None]:
    """Let a file be read by its path only if it has this hash, and is the same file when it has been read."""
    try:
        before = path.stat()
        found = hash_file(path)
        if found != sha256:
            raise ModelUnfit(f"{path} is not the model: its sha256 is {found}, not {sha256}.", hint)
        yield
        is_same = _identify(path.stat()) == _identify(before)
    except FileNotFoundError as error:
        raise ModelMissing(f"There is no model at {path}.", hint) from error
    if not is_same:
        raise ModelUnfit(f"{path} was changed while it was loaded.", hint)


def _identify(found: stat_result) -> tuple[int, ...]:
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
