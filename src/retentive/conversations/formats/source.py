"""Read files of chat logs: plain text, or JSON values with their places.

A file is read once, from its beginning. A stream, such as standard input, is copied into one first. It is UTF-8 with or
without a byte order mark, or UTF-16 with one. The first line distinguishes three shapes of JSON:
  a. it is JSON and more lines follow: JSON Lines, read line by line;
  b. it is JSON and nothing follows: a value, or a list of values;
  c. it is not: JSON over several lines, read whole.
In a zip, the members that account exports and WhatsApp are known to send are read, without unpacking to disk.

Read leniently, a damaged line (not JSON, bytes that are not UTF-8) does not end the reading: it is reported in its
place, and the next ones follow.
"""

import codecs
import io
import json
import re
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import IO, Any, cast

from retentive.conversations.formats.values import Record, clean_value
from retentive.errors import Invalid
from retentive.fs.regular_files import open_regular, too_large

MAX_FILE_BYTES = 2_000_000_000  # of a file, and of a zip once unpacked; exports of years have some hundred million
COPY_BYTES = 1 << 20  # bytes of a stream that are copied at a time

_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
# What to read in a zip, the first that there is. ChatGPT sends large accounts in numbered parts.
_MEMBER_PATTERNS = (r"conversations\.json", r"conversations-\d+\.json", r"_chat\.txt|WhatsApp Chat.*\.txt")
_JSON = re.compile(r'\s*(?:\{|\[\s*(?:[\[{\]"]|$))')  # and not `[01/05/2024, 10:32] Anna: text`
_DAMAGED_HINT = "The file may be cut off or damaged there; download it again if you can."
_ESCAPED_BYTES = re.compile("[\udc80-\udcff]")  # how bytes that are not UTF-8 are carried along


class Document:
    """One text, read once. If it is lenient, records may be errors, and lines may have bytes that are not UTF-8."""

    def __init__(self, name: str, stream: io.BufferedReader, *, lenient: bool = False) -> None:
        self.name = name
        self._lenient = lenient
        self._lines = _read_lines(name, stream, lenient=lenient)
        self._line, self._first = next(self._filled_lines(), (0, ""))
        if not self._first:
            raise Invalid(f"{name} is empty", "Give a file that is not empty.")

    @property
    def is_json(self) -> bool:
        return _JSON.match(self._first) is not None

    def text(self) -> str:
        """Return the text from the first line that is not blank."""
        whole: str = clean_value("".join(line for _, line in self.lines()))
        return whole

    def lines(self) -> Iterator[tuple[int, str]]:
        """Return the lines from the first that is not blank, with their numbers. Line ends are kept."""
        return chain([(self._line, self._first)], self._lines)

    def records(self) -> Iterator[Record]:
        try:
            value = self._value(self._first, self._line)
        except Invalid:
            yield from self._multiline_records()
            return
        second = next(self._filled_lines(), None)
        if second is None:
            yield from self._items(value)
            return
        yield Record(f"{self.name}, line {self._line}", value)
        yield from (self._record(number, line) for number, line in chain([second], self._filled_lines()))

    def _multiline_records(self) -> Iterator[Record]:
        """Yield JSON over several lines, or JSON Lines of which the first is damaged."""
        lines = [*self.lines()]
        try:
            yield from self._items(self._value("".join(line for _, line in lines), self._line))
        except Invalid:
            rest = [(number, line) for number, line in lines[1:] if line.strip()]
            if not (self._lenient and any(isinstance(self._record(*each).value, dict) for each in rest[:2])):
                raise
            yield from (self._record(*each) for each in [lines[0], *rest])

    def _record(self, number: int, line: str) -> Record:
        place = f"{self.name}, line {number}"
        try:
            return Record(place, self._value(line.rstrip(), number))
        except Invalid as error:
            if not self._lenient:
                raise
            return Record(place, error)

    def _filled_lines(self) -> Iterator[tuple[int, str]]:
        return ((number, line) for number, line in self._lines if line.strip())

    def _items(self, value: Any) -> Iterator[Record]:
        if not isinstance(value, list):
            yield Record(self.name, value)
            return
        yield from (Record(f"{self.name}, item {number}", each) for number, each in enumerate(value, 1))

    def _value(self, text: str, line: int) -> Any:
        """Parse a JSON text that begins on this line."""
        if self._lenient and _ESCAPED_BYTES.search(text):
            raise Invalid(f"{self.name}, line {line}: not UTF-8", "Save the file as UTF-8.")
        try:
            return clean_value(json.loads(text, strict=False))
        except json.JSONDecodeError as error:
            place = f"{self.name}, line {line + error.lineno - 1}, column {error.colno}"
            raise Invalid(f"{place}: not JSON: {error.msg}", _DAMAGED_HINT) from error
        except RecursionError as error:
            raise Invalid(f"{self.name}, line {line}: nested too deeply") from error
        except ValueError as error:
            raise Invalid(f"{self.name}, line {line}: {error}") from error


def read_documents(path: Path) -> Iterator[Document]:
    """Yield the text of a file, or those of a zip. Each must be read before the next is requested."""
    if path.is_dir():
        raise Invalid(f"{path} is a folder", "Give the file itself, or the zip file as it was sent.")
    with _open_file(path) as file:
        if path.suffix.lower() == ".zip" or file.peek(4).startswith(_ZIP):
            yield from _zip_documents(path.name, file)
        else:
            yield Document(path.name, file)


@contextmanager
def as_file(source: Path | IO[bytes], max_bytes: int) -> Iterator[Path]:
    """Yield the path of a file, or of a copy of a stream: recognising the format reads it twice."""
    if isinstance(source, Path):
        yield source
        return
    import tempfile  # takes 5 ms, and most give a file

    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, _stream_name(source))
        try:
            _copy_stream(source, copy, max_bytes)
        except OSError as error:
            hint = "Free some space in the folder for temporary files, or give a file instead."
            raise Invalid(f"{copy.name} could not be copied: {error.strerror or error}", hint) from error
        yield copy


def _copy_stream(stream: IO[bytes], target: Path, max_bytes: int) -> None:
    left = max_bytes
    with target.open("wb") as file:
        while piece := stream.read(COPY_BYTES):
            left -= len(piece)
            if left < 0:
                raise too_large(target.name, max_bytes)
            file.write(piece)


def _stream_name(stream: IO[bytes]) -> str:
    """Return the name of a stream: `stdin`, or the file that it was opened from."""
    name = getattr(stream, "name", None)
    return (Path(name).name.strip("<>") if isinstance(name, str) else "") or "input"


@contextmanager
def open_lenient(path: Path) -> Iterator[Document]:
    """Open the text of a file for lenient reading."""
    with _open_file(path) as file:
        yield Document(path.name, file, lenient=True)


def read_beginning(path: Path, size: int, max_bytes: int) -> bytes:
    """Return the first bytes of a file."""
    with _open_file(path, max_bytes) as file:
        return file.read(size)


@contextmanager
def _open_file(path: Path, max_bytes: int = MAX_FILE_BYTES) -> Iterator[io.BufferedReader]:
    with _translate_errors(str(path)), open_regular(path, max_bytes) as file:
        yield cast("io.BufferedReader", file)


def _zip_documents(name: str, file: IO[bytes]) -> Iterator[Document]:
    with zipfile.ZipFile(file) as archive:
        for member in _choose_members(name, archive.infolist()):
            with archive.open(member) as stream:  # it has what a BufferedReader has
                yield Document(f"{name}/{member.filename}", cast("io.BufferedReader", stream))


def _choose_members(name: str, members: Sequence[zipfile.ZipInfo]) -> list[zipfile.ZipInfo]:
    chosen = next(filter(None, (_match_members(pattern, members) for pattern in _MEMBER_PATTERNS)), [])
    if not chosen:
        hint = "Unpack it and give the file that holds the messages."
        raise Invalid(f"{name} holds no conversations.json", hint)
    if sum(member.file_size for member in chosen) > MAX_FILE_BYTES:
        raise Invalid(
            f"{name} would unpack to more than {MAX_FILE_BYTES:,} bytes", "Unpack it and give the parts one by one."
        )
    if any(member.flag_bits & 1 for member in chosen):
        raise Invalid(f"{name} is encrypted", "Unpack it with its password and give the file inside.")
    return chosen


def _match_members(pattern: str, members: Sequence[zipfile.ZipInfo]) -> list[zipfile.ZipInfo]:
    """Return the matching members ordered by name, without the shadow files that macOS adds."""
    found = [each for each in members if re.fullmatch(pattern, PurePosixPath(each.filename).name) and not each.is_dir()]
    return sorted((each for each in found if not each.filename.startswith("__MACOSX/")), key=lambda each: each.filename)


def _read_lines(name: str, stream: io.BufferedReader, *, lenient: bool) -> Iterator[tuple[int, str]]:
    """Yield the lines with their numbers."""
    number = 0
    with _translate_errors(name), _decode(stream, lenient=lenient) as text:
        try:
            for number, line in enumerate(text, 1):
                yield number, line
        except UnicodeDecodeError as error:
            hint = "Give a text file; if it is one, save it as UTF-8."
            raise Invalid(f"{name} is not UTF-8 text, from line {number + 1} on", hint) from error


def _decode(stream: io.BufferedReader, *, lenient: bool) -> IO[str]:
    if stream.peek(2).startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return io.TextIOWrapper(stream, encoding="utf-16", newline="" if lenient else None)
    if lenient:
        return io.TextIOWrapper(stream, encoding="utf-8-sig", errors="surrogateescape", newline="")
    return io.TextIOWrapper(stream, encoding="utf-8-sig")


@contextmanager
def _translate_errors(name: str) -> Iterator[None]:
    """Turn errors of files and archives into `Invalid`."""
    try:
        yield
    except FileNotFoundError as error:
        raise Invalid(f"there is no file {name}", "Give the path of an existing file.") from error
    except OSError as error:
        raise Invalid(
            f"{name} cannot be read: {error.strerror or error}", "Check that it exists and is readable."
        ) from error
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        raise Invalid(f"{name} cannot be read: {error}", "It seems to be damaged; download it again.") from error
