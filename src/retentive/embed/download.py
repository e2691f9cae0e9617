"""Files of models from the Hugging Face hub, or a mirror, when asked for: resumed, checked, one process at a time.

A file is filled as `NAME.part` and gets its name when its hash is right. What was received before an interruption is
kept and continued. `httpx` reads the proxies that the environment names.
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from retentive.embed.checksum import hash_file
from retentive.errors import EmbedError
from retentive.fs.folders import make_private
from retentive.fs.lock import exclusive

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import httpx

    from retentive.embed.catalogue import HubFile

Progress: TypeAlias = Callable[[int, int], None]
"""Hears the bytes that are here, and those in all."""

_OFFLINE = (
    "See whether this machine has a network (proxies: HTTPS_PROXY; a mirror: HF_ENDPOINT), then try again: what came "
    "is kept. Or copy the file to {target} from a machine that has it; full-text search works meanwhile."
)
_NO_ROOM = "Make room, or set another cache folder, then try again: what came is kept."
_WRONG = "Try again. If it stays so, the mirror or a proxy changes files; full-text search works meanwhile."
_TIMEOUT = 30.0
_ATTEMPTS = 5  # connections for one file, as long as each brings something
_PARTIAL, _PAST_THE_END = 206, 416
_FULL = (errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC))


def fetch(files: Sequence[HubFile], cache: Path, hub: str, progress: Progress | None = None) -> None:
    """Have all of these files in the cache folder, those that are there and right as they are."""
    try:
        make_private(cache)
        with exclusive(cache / "fetch.lock"):
            missing = [file for file in files if not is_right(cache / file.name, file)]
            _require_room(missing, cache)
            tally = Tally(sum(file.size for file in missing), progress)
            for file in missing:
                _receive(f"{hub.rstrip('/')}/{file.address}", cache / file.name, file, tally)
    except OSError as error:
        hint = _NO_ROOM if error.errno in _FULL else "Set another cache folder, or see to the permissions."
        raise EmbedError(f"The model cannot be written to {cache}: {error}", hint) from error


def is_right(path: Path, file: HubFile) -> bool:
    return path.is_file() and path.stat().st_size == file.size and hash_file(path) == file.sha256


class Tally:
    """How much of everything is here."""

    def __init__(self, total: int, progress: Progress | None) -> None:
        self._total, self._progress, self._finished = total, progress, 0

    def report(self, here: int) -> None:
        """Say how many bytes of the file at hand are here."""
        if self._progress:
            self._progress(self._finished + here, self._total)

    def finish(self, size: int) -> None:
        self._finished += size
        self.report(0)


def _require_room(files: Sequence[HubFile], cache: Path) -> None:
    needed = sum(max(0, file.size - _size(_part_of(cache / file.name))) for file in files)
    free = shutil.disk_usage(cache).free
    if needed > free:
        raise EmbedError(f"{cache} has room for {free >> 20} MB, and the model needs {needed >> 20} MB.", _NO_ROOM)


def _receive(url: str, target: Path, file: HubFile, tally: Tally) -> None:
    import httpx

    part = _part_of(target)
    # Compressed on the way, a file could not be continued: its bytes there are not its bytes here.
    headers = {"Accept-Encoding": "identity"}
    try:
        with httpx.Client(timeout=_TIMEOUT, follow_redirects=True, headers=headers) as client:
            _continue_until_done(client, url, part, file, tally)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        hint = _OFFLINE.format(target=target)
        raise EmbedError(f"The model could not be fetched from {url}: {_describe(error)}.", hint) from error
    if (found := hash_file(part)) != file.sha256:
        part.unlink()
        raise EmbedError(f"What came from {url} is not the model: its sha256 is {found}, not {file.sha256}.", _WRONG)
    part.replace(target)
    tally.finish(file.size)


def _continue_until_done(client: httpx.Client, url: str, part: Path, file: HubFile, tally: Tally) -> None:
    """Connect again when a connection breaks off, unless the last one brought nothing."""
    import httpx

    for attempt in range(_ATTEMPTS):
        before = _size(part)
        try:
            _continue(client, url, part, file, tally)
        except httpx.TransportError:
            if attempt == _ATTEMPTS - 1 or _size(part) <= before:
                raise
        else:
            return


def _continue(client: httpx.Client, url: str, part: Path, file: HubFile, tally: Tally) -> None:
    here = _size(part)
    with client.stream("GET", url, headers={"Range": f"bytes={here}-"} if here else {}) as answer:
        if here and answer.status_code == _PAST_THE_END:
            return  # all of it is here already, or too much; the checksum tells
        answer.raise_for_status()
        _write(answer, part, here if answer.status_code == _PARTIAL else 0, file, tally)


def _write(answer: httpx.Response, part: Path, here: int, file: HubFile, tally: Tally) -> None:
    handle = os.open(part, os.O_WRONLY | os.O_CREAT | (os.O_APPEND if here else os.O_TRUNC), 0o600)
    with os.fdopen(handle, "ab" if here else "wb") as target:
        for piece in answer.iter_raw():
            target.write(piece)
            here += len(piece)
            tally.report(min(here, file.size))
            if here > file.size:
                return  # not the file, and perhaps without an end; the checksum tells


def _describe(error: Exception) -> str:
    """What httpx says, or for the errors that say nothing their name."""
    return str(error).splitlines()[0].rstrip(".") if str(error) else type(error).__name__


def _part_of(target: Path) -> Path:
    return target.with_name(f"{target.name}.part")


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
