"""Open and read regular files only, so that reading always ends.

A path that a user gives may lead to a pipe, a terminal, a device, or a file that the kernel makes up (`/proc`). Opening
or reading one of these may wait for ever. So every given path is read here:

  a. It is opened without waiting (`O_NONBLOCK`). What was opened is examined, not what had the name a moment before.
  b. It must be a regular file of at most `max_bytes`. A file that grows meanwhile is read up to that size.
  c. Files of the kernel claim to be regular. Their file system shows what they are, or their bytes without a size.
  d. Opening, and each piece that is read, may take `READ_SECONDS`: a disk across a network may never answer. A thread
     cannot be interrupted there, so a thread of its own does it, and is left behind if need be.

A file of the wrong kind is `Invalid`; an error of the system (no such file, no permission) stays an `OSError`.
"""

import errno
import io
import os
import queue
import stat
import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TypeVar, cast

from retentive.errors import Invalid

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

READ_SECONDS = 30.0  # for a piece of a file; a disk that sleeps needs ten, one across a network seconds
PIECE_BYTES = 1 << 20  # bytes read at a time: handing one to a thread takes 60 µs, reading it 200
KERNEL_FOLDERS = ("/proc", "/sys")
CANNOT_BE_OPENED = (errno.ENXIO, errno.ENODEV, errno.EOPNOTSUPP)  # what the system says of sockets and some devices
HINT = "Copy its content into a file and give that. Commands that accept `-` read a pipe."

T = TypeVar("T")
Name = str | os.PathLike[str]


def require_regular(path: Name) -> None:
    """Refuse a path that exists and is no regular file. For paths that another program opens, such as SQLite.

    A path that does not exist, or cannot be examined, is left to that program.
    """
    try:
        status = _in_time(str(path), READ_SECONDS, Path(path).stat)
    except (OSError, ValueError):
        return
    _require_regular(str(path), status)


def read_regular(path: Name, max_bytes: int, name: str = "") -> bytes:
    """Return the bytes of a regular file."""
    return use_regular(path, max_bytes, lambda file: file.read(), name)


def use_regular(path: Name, max_bytes: int, use: Callable[[BinaryIO], T], name: str = "") -> T:
    """Call `use` with an open regular file, within `READ_SECONDS` in all: one thread instead of several."""

    def open_and_use() -> T:
        with _open_reader(path, max_bytes, name or str(path), None) as file:
            return use(file)

    return _in_time(name or str(path), READ_SECONDS, open_and_use)


def open_regular(path: Name, max_bytes: int, name: str = "") -> BinaryIO:
    """Open a regular file of at most so many bytes. Errors name its path, or `name` if given."""
    called = name or str(path)
    return _in_time(called, READ_SECONDS, lambda: _open_reader(path, max_bytes, called, READ_SECONDS))


def is_kernel_file(status: os.stat_result) -> bool:
    """Return whether a file or folder is made up by the kernel, as those of `/proc` are."""
    return status.st_dev in _kernel_devices()


def _open_reader(path: Name, max_bytes: int, name: str, seconds: float | None) -> BinaryIO:
    handle = _open(path, name)
    try:
        _require_size(name, os.fstat(handle), max_bytes)
    except BaseException:
        os.close(handle)
        raise
    reader = io.BufferedReader(RegularFile(handle, name, max_bytes, seconds), PIECE_BYTES)
    return cast("BinaryIO", reader)


def _open(path: Name, name: str) -> int:
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOCTTY", 0)
    try:
        return os.open(path, flags)
    except BlockingIOError:
        hint = "Close the program that has it open, and try again."
        raise Invalid(f"{name} is in use by another program", hint) from None
    except OSError as error:
        if error.errno in CANNOT_BE_OPENED:
            _require_regular(name, Path(path).stat())
        raise


def too_large(name: str, max_bytes: int) -> Invalid:
    return Invalid(f"{name} has more than {max_bytes:,} bytes", "Give a smaller file, or cut this one into parts.")


class RegularFile(io.RawIOBase):
    """An open descriptor, each read of which has a time limit. Any readable one will do; the tests use a pipe."""

    def __init__(self, handle: int, name: str, max_bytes: int, seconds: float | None) -> None:
        """Without `seconds`, a read has no time limit of its own."""
        super().__init__()
        self._handle, self._name, self._max_bytes, self._seconds = handle, name, max_bytes, seconds
        self._is_stuck = False

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._handle

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        return os.lseek(self._handle, offset, whence)

    def readinto(self, room: "WriteableBuffer") -> int:
        into = memoryview(room).cast("B")
        data = self._read(min(len(into), PIECE_BYTES))
        into[: len(data)] = data
        return len(data)

    def readall(self) -> bytes:
        pieces = list[bytes]()
        while data := self._read(PIECE_BYTES):
            pieces.append(data)
        return b"".join(pieces)

    def close(self) -> None:
        """A descriptor in which a thread still waits stays open: its number must not become another file's."""
        if not self.closed and not self._is_stuck:
            os.close(self._handle)
        super().close()

    def _read(self, size: int) -> bytes:
        try:
            data = self._wait(lambda: os.read(self._handle, size))
        except BlockingIOError:
            raise Invalid(f"{self._name} has no content yet, as files of the kernel may", HINT) from None
        if data:
            self._check(os.fstat(self._handle))
        return data

    def _wait(self, read: Callable[[], bytes]) -> bytes:
        if self._seconds is None:
            return read()
        try:
            return _in_time(self._name, self._seconds, read)
        except Invalid:
            self._is_stuck = True
            raise

    def _check(self, status: os.stat_result) -> None:
        if stat.S_ISREG(status.st_mode):
            if not status.st_size:
                raise Invalid(f"{self._name} is a virtual file of the system, without a size", HINT)
            if os.lseek(self._handle, 0, os.SEEK_CUR) > self._max_bytes:
                raise too_large(self._name, self._max_bytes)


def wait_for(do: Callable[[], T], seconds: float) -> T:
    """Return or raise what `do` does; `TimeoutError` if it takes longer. Its thread is then left behind."""
    answers: queue.SimpleQueue[tuple[T | None, BaseException | None]] = queue.SimpleQueue()

    def run() -> None:
        try:
            answers.put((do(), None))
        except BaseException as error:  # noqa: BLE001 - raised again where it is waited for
            answers.put((None, error))

    threading.Thread(target=run, name="retentive-read", daemon=True).start()
    try:
        answer, error = answers.get(timeout=seconds)
    except queue.Empty:
        raise TimeoutError from None
    if error is not None:
        raise error
    return cast("T", answer)


def _in_time(name: str, seconds: float, do: Callable[[], T]) -> T:
    try:
        return wait_for(do, seconds)
    except TimeoutError:
        hint = "Check that its disk or server can be reached, or copy it to a disk of this machine."
        raise Invalid(f"{name} could not be read within {seconds:.0f} s", hint) from None


def _require_regular(name: str, status: os.stat_result) -> None:
    if is_kernel_file(status):
        raise Invalid(f"{name} is a virtual file of the system, not on a disk", HINT)
    if stat.S_ISDIR(status.st_mode):
        raise Invalid(f"{name} is a folder, not a regular file", "Give a file in it.")
    if not stat.S_ISREG(status.st_mode):
        raise Invalid(f"{name} is {_kind_of(status.st_mode)}, not a regular file", HINT)


def _require_size(name: str, status: os.stat_result, max_bytes: int) -> None:
    _require_regular(name, status)
    if status.st_size > max_bytes:
        raise too_large(name, max_bytes)


def _kind_of(mode: int) -> str:
    kinds = {
        stat.S_IFIFO: "a pipe",
        stat.S_IFSOCK: "a socket",
        stat.S_IFCHR: "a device",
        stat.S_IFBLK: "a device",
    }
    return kinds.get(stat.S_IFMT(mode), "a special file")


@cache
def _kernel_devices() -> frozenset[int]:
    """Return the device numbers of the file systems that the kernel makes up, if the system has any."""
    mounted = [Path(folder) for folder in KERNEL_FOLDERS if os.path.ismount(folder)]
    return frozenset(folder.stat().st_dev for folder in mounted)
