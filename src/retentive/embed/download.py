"""Downloads models from the Hugging Face hub, or a mirror: resumed, verified, one process at a time.

A file is written as `NAME.part` and renamed when its hash is right. After an interruption the partial file is kept, and
the next download continues it. `httpx` reads the proxies that the environment names.
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
from retentive.fs.lock import hold_lock

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import httpx

    from retentive.embed.catalogue import HubFile

ReportProgress: TypeAlias = Callable[[int, int], None]
"""Called with the bytes that are here, and the bytes of all files."""

_OFFLINE_HINT = (
    "Check the network of this machine (proxies: HTTPS_PROXY; a mirror: HF_ENDPOINT), then try again: the download "
    "continues. Or copy the file to {target} from a machine that has it; full-text search works meanwhile."
)
_NO_ROOM_HINT = "Free some space, or set another cache folder, then try again: the download continues."
_WRONG_HASH_HINT = (
    "Try again. If the error stays, the mirror or a proxy changes files; full-text search works meanwhile."
)
_TIMEOUT_SECONDS = 30.0
_MAX_CONNECTIONS = 5  # for one file, as long as each brings something
_HTTP_PARTIAL, _HTTP_PAST_THE_END = 206, 416
_DISK_FULL_ERRORS = (errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC))


def download_files(files: Sequence[HubFile], cache: Path, hub: str, report: ReportProgress | None = None) -> None:
    """Download the files that are missing from the cache folder, or have another hash."""
    try:
        make_private(cache)
        with hold_lock(cache / "fetch.lock"):
            missing = [file for file in files if not _is_downloaded(cache / file.name, file)]
            _require_room(missing, cache)
            progress = DownloadProgress(sum(file.size for file in missing), report)
            for file in missing:
                _download_file(f"{hub.rstrip('/')}/{file.address}", cache / file.name, file, progress)
    except OSError as error:
        is_full = error.errno in _DISK_FULL_ERRORS
        hint = _NO_ROOM_HINT if is_full else "Set another cache folder, or correct its permissions."
        raise EmbedError(f"The model cannot be written to {cache}: {error}", hint) from error


def _is_downloaded(path: Path, file: HubFile) -> bool:
    return path.is_file() and path.stat().st_size == file.size and hash_file(path) == file.sha256


class DownloadProgress:
    """The bytes of all files that are here so far."""

    def __init__(self, total: int, report: ReportProgress | None) -> None:
        self._total, self._report, self._finished = total, report, 0

    def update(self, size: int) -> None:
        """Report the size that the current file has so far."""
        if self._report:
            self._report(self._finished + size, self._total)

    def finish_file(self, size: int) -> None:
        self._finished += size
        self.update(0)


def _require_room(files: Sequence[HubFile], cache: Path) -> None:
    needed = sum(max(0, file.size - _find_size(_name_partial(cache / file.name))) for file in files)
    free = shutil.disk_usage(cache).free
    if needed > free:
        raise EmbedError(f"{cache} has room for {free >> 20} MB, and the model needs {needed >> 20} MB.", _NO_ROOM_HINT)


def _download_file(url: str, target: Path, file: HubFile, progress: DownloadProgress) -> None:
    import httpx

    partial = _name_partial(target)
    # A compressed transfer could not be continued: its positions are not those of the file.
    headers = {"Accept-Encoding": "identity"}
    try:
        with httpx.Client(timeout=_TIMEOUT_SECONDS, follow_redirects=True, headers=headers) as client:
            _continue_until_complete(client, url, partial, file, progress)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        hint = _OFFLINE_HINT.format(target=target)
        raise EmbedError(f"The model could not be downloaded from {url}: {_describe_error(error)}.", hint) from error
    actual = hash_file(partial)
    if actual != file.sha256:
        partial.unlink()
        raise EmbedError(
            f"The file from {url} is not the model: its sha256 is {actual}, not {file.sha256}.", _WRONG_HASH_HINT
        )
    partial.replace(target)
    progress.finish_file(file.size)


def _continue_until_complete(
    client: httpx.Client, url: str, partial: Path, file: HubFile, progress: DownloadProgress
) -> None:
    """Connect again when a connection breaks off, unless the last one brought nothing."""
    import httpx

    for attempt in range(_MAX_CONNECTIONS):
        size_before = _find_size(partial)
        try:
            _continue(client, url, partial, file, progress)
        except httpx.TransportError:
            if attempt == _MAX_CONNECTIONS - 1 or _find_size(partial) <= size_before:
                raise
        else:
            return


def _continue(client: httpx.Client, url: str, partial: Path, file: HubFile, progress: DownloadProgress) -> None:
    size = _find_size(partial)
    with client.stream("GET", url, headers={"Range": f"bytes={size}-"} if size else {}) as response:
        if size and response.status_code == _HTTP_PAST_THE_END:
            return  # all of it is here already, or too much; the checksum decides
        response.raise_for_status()
        is_continued = response.status_code == _HTTP_PARTIAL
        _write_body(response, partial, size if is_continued else 0, file, progress)


def _write_body(response: httpx.Response, partial: Path, size: int, file: HubFile, progress: DownloadProgress) -> None:
    """Append to the partial file, whose size is given; 0 writes it from its beginning."""
    handle = os.open(partial, os.O_WRONLY | os.O_CREAT | (os.O_APPEND if size else os.O_TRUNC), 0o600)
    with os.fdopen(handle, "ab" if size else "wb") as target:
        for piece in response.iter_raw():
            target.write(piece)
            size += len(piece)
            progress.update(min(size, file.size))
            if size > file.size:
                return  # not the file, and perhaps without an end; the checksum decides


def _describe_error(error: Exception) -> str:
    """Return the first line of the message, or the name of an error without one."""
    return str(error).splitlines()[0].rstrip(".") if str(error) else type(error).__name__


def _name_partial(target: Path) -> Path:
    return target.with_name(f"{target.name}.part")


def _find_size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
