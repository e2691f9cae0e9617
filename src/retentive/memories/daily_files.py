"""The daily log: what was learned on a day, as a Markdown file that people can read.

    # 2026-11-16, Monday

    - 14:03+01:00 fact (explicit): Anna lives in Linz. <!-- 01a1e26e-f9a9-7293-9fd0-351348fdaae8 default -->

There is one file for each day, in the time zone of the writing process. Each line has the offset from UTC, because
other processes may write from other zones, and because clocks are put back. Markdown does not show the comment. It has
the id and the namespace, by which a purge finds the line.

The log is a copy for reading, never the truth. Several processes write the same file. Each takes a lock for a moment
and appends its lines by one write; if the disk is full, it removes the part that was written. A kill may cut a line in
two; the next writer removes the rest of it. A purge writes a new file and renames it into place under the same lock:
without the lock, lines could be appended to the old file meanwhile, and be lost.
"""

import errno
import os
import re
import stat
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from retentive.errors import Invalid
from retentive.fs.folders import make_private
from retentive.fs.lock import hold_lock
from retentive.fs.regular_files import read_regular

MAX_SHOWN_CHARS = 200  # of a text
MAX_READ_CHARS = 4000  # of a text: the first characters may be blanks, but hardly more than that
LOCK_SECONDS = 0.5  # that an append waits for the lock, which is held for microseconds
SHORT_LOCK_SECONDS = 0.01  # the same, after an append that waited in vain
PURGE_LOCK_SECONDS = 5.0  # that a purge waits for the lock: it has a promise to keep
MAX_DAY_BYTES = 1_000_000_000  # of a file: five million memories of one day
MAX_LINE_BYTES = 16_384  # of the last line, whatever it says
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")  # in English everywhere
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Characters that control a terminal or turn the direction of text, and halves of surrogate pairs."""
_MARKUP_CHARS = re.compile(r"[`*\[\]<~\\_&]")  # most texts have none of them, so the pattern below is rarely needed
_MARKUP = re.compile(
    r"[`*\[\]<]|~(?=~)|(?<=~)~"
    r"|\\(?=[!-/:-@\[-`{-~])"  # a backslash that would escape the next character
    r"|(?<![^\W_])_|_(?![^\W_])"  # not inside a name
    r"|&(?=#?\w+;)"
)
_COMBINING = ("Mn", "Mc", "Me", "Cf", "Sk")  # Unicode categories of accents, joiners, skin tones
_JOINER = "\u200d"
_PLAIN_NAME = re.compile(r"[\w./-]+", re.ASCII)
_LINE = re.compile(rb"- \d\d:\d\d\S* .*<!-- (\S+) (\S+) -->\s*")
_LINE_START = re.compile(rb"- \d\d:\d\d[+-]\d\d:\d\d ")
_EXAMPLE_START = b"- 00:00+00:00 "

LineKey = tuple[bytes, bytes]
"""Id and namespace of a memory, as the comment of its line has them."""


class LogEntry(NamedTuple):
    """A memory as the log shows it."""

    id: str
    namespace: str
    created: datetime
    kind: str
    source: str
    text: str


class LoggedMemory(NamedTuple):
    """A memory whose line is to be found."""

    id: str
    namespace: str
    created: datetime


class RemovedLines(NamedTuple):
    """How many lines were removed, and the files that could not be changed."""

    lines: int
    failed_files: tuple[str, ...] = ()


class DailyLog:
    """The log files in one folder."""

    def __init__(self, folder: Path, *, on: bool) -> None:
        self.folder = folder
        self.on = on
        """Whether this process appends to it."""
        self._lock_seconds = LOCK_SECONDS

    def append(self, entries: Iterable[LogEntry]) -> None:
        """Append entries, by one write for each day. Raise `OSError` if that fails or the lock stays taken."""
        days = defaultdict[date, list[str]](list)
        for entry in entries:
            local = entry.created.astimezone()
            days[local.date()].append(_render_line(entry, local))
        if not days:
            return
        with self._locked(self._lock_seconds):
            for day, lines in days.items():
                _append_lines(self._path(day), render_heading(day), "".join(lines).encode())

    def remove(self, memories: Iterable[LoggedMemory], *, dry_run: bool = False) -> RemovedLines:
        """Remove the lines of memories, in whatever time zone they were written."""
        days = defaultdict[date, set[LineKey]](set)
        for each in memories:
            day = each.created.astimezone(UTC).date()
            for offset in (-1, 0, 1):
                days[day + timedelta(offset)].add(_make_key(each.id, each.namespace))
        count, failed = 0, list[str]()
        for day in sorted(days):
            try:
                count += self._remove_of_day(self._path(day), days[day], dry_run=dry_run)
            except OSError:
                failed.append(self._path(day).name)
        return RemovedLines(count, tuple(failed))

    def find_problem(self) -> str:
        """Say why the log cannot be written, as far as that is known without writing; else an empty text."""
        try:
            existing = next(each for each in (self.folder, *self.folder.parents) if each.exists())
        except OSError as error:
            return str(error)
        if not existing.is_dir():
            return f"{existing} is not a folder"
        return "" if os.access(existing, os.W_OK | os.X_OK) else f"{existing} cannot be written"

    def _path(self, day: date) -> Path:
        return self.folder / f"{day}.md"

    @contextmanager
    def _locked(self, seconds: float) -> Iterator[None]:
        """Hold the lock. After a wait in vain, appends wait for a short time only, until one succeeds."""
        try:
            if not self.folder.is_dir():
                make_private(self.folder)
            with hold_lock(self.folder / ".lock", seconds):
                self._lock_seconds = LOCK_SECONDS
                yield
        except TimeoutError:
            self._lock_seconds = SHORT_LOCK_SECONDS
            raise

    def _remove_of_day(self, path: Path, keys: set[LineKey], *, dry_run: bool) -> int:
        """Remove lines from one file, and the rest of a line that a kill cut: it may be one of them."""
        content = _read_file(path)
        count, rest = _remove_lines(content, keys)
        if dry_run or rest == content:
            return count
        with self._locked(PURGE_LOCK_SECONDS):
            content = _read_file(path)
            count, rest = _remove_lines(content, keys)
            if rest != content:
                _replace_file(path, rest)
        return count


def render_heading(day: date) -> str:
    return f"# {day}, {_DAYS[day.weekday()]}\n\n"


def render_text(text: str) -> str:
    """The text on one line, shortened, with Markdown escaped."""
    line = " ".join(_CONTROLS.sub(" ", text[:MAX_READ_CHARS]).split())
    if len(line) > MAX_SHOWN_CHARS or len(text) > MAX_READ_CHARS:
        line = _shorten(line)
    return _MARKUP.sub(r"\\\g<0>", line) if _MARKUP_CHARS.search(line) else line


def _render_line(entry: LogEntry, local: datetime) -> str:
    time = local.isoformat(timespec="minutes").partition("T")[2]
    id, namespace = _make_key(entry.id, entry.namespace)
    about = f"{entry.kind} ({entry.source})"
    return f"- {time} {about}: {render_text(entry.text)} <!-- {id.decode()} {namespace.decode()} -->\n"


def _shorten(line: str) -> str:
    """Cut after the last word that fits. If words are long or not divided, cut after the last whole character."""
    end = line.rfind(" ", MAX_SHOWN_CHARS // 2, MAX_SHOWN_CHARS)
    if end < 0:
        end = min(MAX_SHOWN_CHARS - 1, len(line))
        while end > 1 and end < len(line) and _is_inside_character(line, end):
            end -= 1
    return f"{line[:end].rstrip()}…"


def _is_inside_character(text: str, at: int) -> bool:
    return unicodedata.category(text[at]) in _COMBINING or text[at - 1] == _JOINER


def _make_key(id: str, namespace: str) -> LineKey:
    return _escape_name(id), _escape_name(namespace)


def _escape_name(name: str) -> bytes:
    """Escape an id or namespace for the comment. Ids of notes are chosen by people and may have anything in them."""
    if _PLAIN_NAME.fullmatch(name):
        return name.encode()
    letters = (each if each.isprintable() and each not in " %<>" else f"%{ord(each):x}" for each in name)
    return "".join(letters).encode()


def _append_lines(path: Path, heading: str, lines: bytes) -> None:
    """Append lines, all or none. A new file begins with the heading."""
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0)
    file = os.open(path, flags, 0o600)
    try:
        status = os.fstat(file)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "not a file", str(path))
        size = _repair_end(file, status.st_size)
        _write_all(file, lines if size else heading.encode() + lines, size)
    finally:
        os.close(file)


def _repair_end(file: int, size: int) -> int:
    """Remove a line of ours that was cut, end a line of somebody else's, and return the new size."""
    os.lseek(file, max(0, size - MAX_LINE_BYTES), os.SEEK_SET)
    tail = os.read(file, MAX_LINE_BYTES)
    whole = _drop_cut_line(tail)
    size -= len(tail) - len(whole)
    os.ftruncate(file, size)
    needs_newline = whole and not whole.endswith(b"\n")
    return size + (os.write(file, b"\n") if needs_newline else 0)


def _drop_cut_line(content: bytes) -> bytes:
    """The content without a last line of ours that has no end."""
    ended, newline, last = content.rpartition(b"\n")
    is_ours = len(last) > len(b"- ") and _LINE_START.match(last + _EXAMPLE_START[len(last) :])
    return ended + newline if is_ours and not _LINE.fullmatch(last) else content


def _write_all(file: int, data: bytes, size: int) -> None:
    """Write all of it, or cut the file back to its size."""
    try:
        while data:
            data = data[os.write(file, data) :]
    except OSError:
        os.ftruncate(file, size)
        raise


def _read_file(path: Path) -> bytes:
    try:
        return read_regular(path, MAX_DAY_BYTES)
    except (FileNotFoundError, NotADirectoryError):
        return b""
    except Invalid as error:
        raise OSError(errno.EINVAL, str(error), str(path)) from error


def _remove_lines(content: bytes, keys: set[LineKey]) -> tuple[int, bytes]:
    """How many lines have one of the keys, and all other lines."""
    lines = _drop_cut_line(content).splitlines(keepends=True)
    rest = [line for line in lines if not ((match := _LINE.fullmatch(line)) and match.groups() in keys)]
    return len(lines) - len(rest), b"".join(rest)


def _replace_file(path: Path, content: bytes) -> None:
    """Replace a file atomically. All use one temporary name, under the lock: leftovers of a kill are overwritten."""
    new = path.parent / ".rewritten"
    with open(new, "wb", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    new.chmod(stat.S_IMODE(path.stat().st_mode))
    new.replace(path)
