"""The daily log: what was learned on a day, as a Markdown file that people can read.

    # 2026-11-16, Monday

    - 14:03+01:00 fact (explicit): Anna lives in Linz. <!-- 01a1e26e-f9a9-7293-9fd0-351348fdaae8 default -->

A file for each day, by the clock and the time zone of whoever writes; the offset stands on each line, because another
may write from another zone, and because clocks are put back. The comment, which Markdown does not show, has the id and
the namespace: what a purge looks for.

It is a copy for reading, never the truth. Several processes write the same file, so each takes a lock for a moment and
adds its lines by one write, or takes back what a full disk let through of them. A kill may cut a long write in two;
then whoever comes next takes away the part of a line that is left. A purge rewrites a file beside it and renames it
into place under the same lock; appending without one would write into the file that is on its way out.
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
from retentive.fs.lock import exclusive
from retentive.fs.regular_files import read_regular

LONGEST = 200  # characters of a text that are shown
FAR = 4000  # characters of a text that are looked at: most of a long one may be blanks, but no more than that
PATIENCE = 0.5  # seconds that a line waits for its turn, which takes microseconds
IMPATIENCE = 0.01  # the same, after one that waited in vain
MAX_DAY_BYTES = 1_000_000_000  # of a file: five million memories of one day
LONG_PATIENCE = 5.0  # the same for a purge, which has a promise to keep
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")  # in English everywhere
_OBEYED = re.compile(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""By a terminal or an editor: control characters, marks that turn the direction; and halves of signs."""
_PERHAPS = re.compile(r"[`*\[\]<~\\_&]")  # most texts have none of them, and need no closer look
_MARKUP = re.compile(
    r"[`*\[\]<]|~(?=~)|(?<=~)~"
    r"|\\(?=[!-/:-@\[-`{-~])"  # one that would be taken for an escape
    r"|(?<![^\W_])_|_(?![^\W_])"  # not inside of a name
    r"|&(?=#?\w+;)"
)
_JOINING = ("Mn", "Mc", "Me", "Cf", "Sk")  # accents, joiners, tones of skin: what stands on the sign before
_JOINER = "\u200d"
_NAME = re.compile(r"[\w./-]+", re.ASCII)
_LINE = re.compile(rb"- \d\d:\d\d\S* .*<!-- (\S+) (\S+) -->\s*")
_BEGUN = re.compile(rb"- \d\d:\d\d[+-]\d\d:\d\d ")
_BEGINNING = b"- 00:00+00:00 "
_TAIL = 16_384  # bytes at the end that hold the last line, whatever it says


class Entry(NamedTuple):
    """A memory, as far as the log tells of it."""

    id: str
    namespace: str
    created: datetime
    kind: str
    source: str
    text: str


class Named(NamedTuple):
    """A memory whose line is looked for."""

    id: str
    namespace: str
    created: datetime


class Struck(NamedTuple):
    lines: int
    """How many were there, and are not any more."""
    left: tuple[str, ...] = ()
    """The files that could not be changed."""


class DailyLog:
    def __init__(self, folder: Path, *, on: bool) -> None:
        self.folder = folder
        self.on = on
        """Does this process add to it?"""
        self._patience = PATIENCE

    def append(self, entries: Iterable[Entry]) -> None:
        """One write for each day. OSError: no room, no permission, no folder, or somebody who holds the lock."""
        days = defaultdict[date, list[str]](list)
        for entry in entries:
            local = entry.created.astimezone()
            days[local.date()].append(_line(entry, local))
        if not days:
            return
        with self._locked(self._patience):
            for day, lines in days.items():
                _add(self._file(day), heading(day), "".join(lines).encode())

    def strike(self, memories: Iterable[Named], *, dry_run: bool = False) -> Struck:
        """Take the lines of these memories out, in whatever time zone they were written."""
        days = defaultdict[date, set[tuple[bytes, bytes]]](set)
        for each in memories:
            around = each.created.astimezone(UTC).date()
            for days_off in (-1, 0, 1):
                days[around + timedelta(days_off)].add(_mark(each.id, each.namespace))
        count, left = 0, list[str]()
        for day in sorted(days):
            try:
                count += self._strike(self._file(day), days[day], dry_run=dry_run)
            except OSError:
                left.append(self._file(day).name)
        return Struck(count, tuple(left))

    def problem(self) -> str:
        """What keeps it from being written, as far as can be told without writing."""
        try:
            there = next(each for each in (self.folder, *self.folder.parents) if each.exists())
        except OSError as error:
            return str(error)
        if not there.is_dir():
            return f"{there} is not a folder"
        return "" if os.access(there, os.W_OK | os.X_OK) else f"{there} cannot be written"

    def _file(self, day: date) -> Path:
        return self.folder / f"{day}.md"

    @contextmanager
    def _locked(self, patience: float) -> Iterator[None]:
        """Whoever waited in vain once does not wait as long again until it was let in."""
        try:
            if not self.folder.is_dir():
                make_private(self.folder)
            with exclusive(self.folder / ".lock", patience):
                self._patience = PATIENCE
                yield
        except TimeoutError:
            self._patience = IMPATIENCE
            raise

    def _strike(self, file: Path, marks: set[tuple[bytes, bytes]], *, dry_run: bool) -> int:
        """And what a kill left of a line, which may be one of them."""
        there = _content(file)
        count, rest = _without(there, marks)
        if dry_run or rest == there:
            return count
        with self._locked(LONG_PATIENCE):
            there = _content(file)
            count, rest = _without(there, marks)
            if rest != there:
                _replace(file, rest)
        return count


def heading(day: date) -> str:
    return f"# {day}, {_DAYS[day.weekday()]}\n\n"


def shown(text: str) -> str:
    """On one line, cut at a word, and with a backslash before what Markdown would take for its own."""
    flat = " ".join(_OBEYED.sub(" ", text[:FAR]).split())
    if len(flat) > LONGEST or len(text) > FAR:
        flat = _cut(flat)
    return _MARKUP.sub(r"\\\g<0>", flat) if _PERHAPS.search(flat) else flat


def _line(entry: Entry, local: datetime) -> str:
    time = local.isoformat(timespec="minutes").partition("T")[2]
    id, namespace = _mark(entry.id, entry.namespace)
    about = f"{entry.kind} ({entry.source})"
    return f"- {time} {about}: {shown(entry.text)} <!-- {id.decode()} {namespace.decode()} -->\n"


def _cut(flat: str) -> str:
    """After the last word that fits; where words are long or not divided, after the last sign that does."""
    end = flat.rfind(" ", LONGEST // 2, LONGEST)
    if end < 0:
        end = min(LONGEST - 1, len(flat))
        while end > 1 and end < len(flat) and _is_joined(flat, end):
            end -= 1
    return f"{flat[:end].rstrip()}…"


def _is_joined(text: str, at: int) -> bool:
    return unicodedata.category(text[at]) in _JOINING or text[at - 1] == _JOINER


def _mark(id: str, namespace: str) -> tuple[bytes, bytes]:
    """As they stand in the comment. Notes have ids of people's own, with anything in them."""
    return _plain(id), _plain(namespace)


def _plain(name: str) -> bytes:
    if _NAME.fullmatch(name):
        return name.encode()
    letters = (each if each.isprintable() and each not in " %<>" else f"%{ord(each):x}" for each in name)
    return "".join(letters).encode()


def _add(path: Path, title: str, lines: bytes) -> None:
    """At the end, whole or not at all."""
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0)
    file = os.open(path, flags, 0o600)
    try:
        status = os.fstat(file)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "not a file", str(path))
        size = _mended(file, status.st_size)
        _write(file, lines if size else title.encode() + lines, size)
    finally:
        os.close(file)


def _mended(file: int, size: int) -> int:
    """Its size when its last line is ended: by whoever edited it, or killed on the way, it may have been left open."""
    os.lseek(file, max(0, size - _TAIL), os.SEEK_SET)
    tail = os.read(file, _TAIL)
    whole = _whole(tail)
    size -= len(tail) - len(whole)
    os.ftruncate(file, size)
    return size + (os.write(file, b"\n") if whole and not whole.endswith(b"\n") else 0)


def _whole(content: bytes) -> bytes:
    """Without a line of ours that has no end."""
    ended, newline, last = content.rpartition(b"\n")
    ours = len(last) > len(b"- ") and _BEGUN.match(last + _BEGINNING[len(last) :])
    return ended + newline if ours and not _LINE.fullmatch(last) else content


def _write(file: int, data: bytes, size: int) -> None:
    try:
        while data:
            data = data[os.write(file, data) :]
    except OSError:
        os.ftruncate(file, size)
        raise


def _content(path: Path) -> bytes:
    try:
        return read_regular(path, MAX_DAY_BYTES)
    except (FileNotFoundError, NotADirectoryError):
        return b""
    except Invalid as error:
        raise OSError(errno.EINVAL, str(error), str(path)) from error


def _without(content: bytes, marks: set[tuple[bytes, bytes]]) -> tuple[int, bytes]:
    """How many lines have one of the marks, and all the others."""
    lines = _whole(content).splitlines(keepends=True)
    rest = [line for line in lines if not ((found := _LINE.fullmatch(line)) and found.groups() in marks)]
    return len(lines) - len(rest), b"".join(rest)


def _replace(path: Path, content: bytes) -> None:
    """One name for all, under the lock: what a killed one left is overwritten by the next."""
    new = path.parent / ".rewritten"
    with open(new, "wb", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    new.chmod(stat.S_IMODE(path.stat().st_mode))
    new.replace(path)
