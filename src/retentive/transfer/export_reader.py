"""Reads an export line by line (`export_format.py`), plain or compressed: the first bytes tell which.

A line that cannot be used is reported with its number, and reading goes on. `Invalid` is raised at once if the whole
file is unusable: no header, or a header of a newer format.
"""

import gzip
import io
import json
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any, NamedTuple, cast

from retentive.errors import Invalid
from retentive.fs.paths import parse_path
from retentive.fs.regular_files import open_regular
from retentive.transfer.export_format import EXPORT_FORMAT, FORMAT_VERSION, LINE_TYPES, Row

MAX_LINE_BYTES = 1 << 29  # the longest memory that is allowed, changed fifty times
MAX_EXPORT_BYTES = 1 << 37  # ten million memories with their vectors take a tenth of it
_GZIP = b"\x1f\x8b"
MAX_HEADER_BYTES = 64_000


class ExportLine(NamedTuple):
    """A line with its values as columns have them."""

    number: int
    type: str
    row: Row
    size: int

    @property
    def namespace(self) -> str:
        name: str = self.row["name" if self.type == "namespace" else "namespace"]
        return name


class BadLine(NamedTuple):
    """A line that cannot be used."""

    number: int
    reason: str
    is_end: bool = False
    """Whether the file ends here, before the end of the export."""


class EndLine(NamedTuple):
    """The last line of an export: how many lines there are before it."""

    lines: int


def is_export(beginning: bytes) -> bool:
    """Whether a file that begins so is an export, plain or compressed."""
    try:
        if beginning.startswith(_GZIP):
            beginning = zlib.decompressobj(wbits=31).decompress(beginning, MAX_HEADER_BYTES)
        first = json.loads(beginning.partition(b"\n")[0].decode("utf-8-sig"))
    except (ValueError, RecursionError, zlib.error):
        return False
    return isinstance(first, dict) and first.get("type") == "header" and first.get("format") == EXPORT_FORMAT


@contextmanager
def open_export(source: Any, name: str = "") -> Iterator[Iterator[ExportLine | BadLine]]:
    """The lines of an export. `source` is a path, or a stream of bytes, which stays open; errors call it `name`."""
    if hasattr(source, "read"):
        yield _read_lines(_decompress(source), name or "the stream")
        return
    path = parse_path(source)
    try:
        file = open_regular(path, MAX_EXPORT_BYTES)
    except FileNotFoundError as error:
        raise Invalid(f"there is no file {path}", "Give the path of an existing file.") from error
    except OSError as error:
        raise Invalid(
            f"{path} cannot be read: {error.strerror or error}", "Check that it exists and is readable."
        ) from error
    with file:
        yield _read_lines(_decompress(file), name or path.name)


def _decompress(file: Any) -> IO[bytes]:
    """The plain bytes of a file that may be compressed. The file need not be seekable."""
    buffered = file if hasattr(file, "peek") else io.BufferedReader(_RawReader(file))
    is_compressed = buffered.peek(2)[:2] == _GZIP
    return cast("IO[bytes]", gzip.GzipFile(fileobj=buffered) if is_compressed else buffered)


class _RawReader(io.RawIOBase):
    """Makes any object with `read` usable for `io.BufferedReader`."""

    def __init__(self, file: Any) -> None:
        self._file = file

    def readable(self) -> bool:
        return True

    def readinto(self, room: Any) -> int:
        read: bytes = self._file.read(len(room))
        room[: len(read)] = read
        return len(read)


def _read_lines(file: IO[bytes], name: str) -> Iterator[ExportLine | BadLine]:
    has_header, number, count = False, 0, 0
    found: ExportLine | BadLine | EndLine | None = None
    for number, line in enumerate(_split_lines(file, name), start=1):
        if isinstance(line, BadLine):
            if not has_header:
                raise Invalid(f"{name}: {line.reason}")
            found = line._replace(number=number)
            yield found
        elif not line.strip():
            continue
        elif not has_header:
            _require_header(line, name)
            has_header, found = True, BadLine(number, "")
        else:
            found = _parse_line(number, line)
            if isinstance(found, EndLine):
                if count < found.lines:
                    yield BadLine(number, f"there were {found.lines} lines before this one, and {count} are left")
                count = 0
            else:
                count += 1
                yield found
    if not has_header:
        raise Invalid(f"{name} is empty", "Give a file written by `export()`.")
    if not isinstance(found, EndLine) and not (isinstance(found, BadLine) and found.is_end):
        yield BadLine(number, "the file ends without its last line: it may be cut off", is_end=True)


def _split_lines(file: IO[bytes], name: str) -> Iterator[bytes | BadLine]:
    try:
        while line := file.readline(MAX_LINE_BYTES):
            if len(line) < MAX_LINE_BYTES or line.endswith(b"\n"):
                yield line
                continue
            while (rest := file.readline(MAX_LINE_BYTES)) and not rest.endswith(b"\n"):
                pass
            yield BadLine(0, f"longer than {MAX_LINE_BYTES:,} bytes")
    except (OSError, EOFError, zlib.error) as error:
        yield BadLine(0, f"{name} cannot be read further: {error}", is_end=True)


def _require_header(line: bytes, name: str) -> None:
    if not is_export(line):
        raise Invalid(f"{name} is not an export of Retentive", "Give a file written by `export()`.")
    version = json.loads(line.decode("utf-8-sig")).get("version")
    if not isinstance(version, int) or isinstance(version, bool) or not 1 <= version <= FORMAT_VERSION:
        hint = "Update Retentive, and import it with the newer version."
        supported = f"this version reads formats up to {FORMAT_VERSION}"
        raise Invalid(f"{name} is an export of format {version}; {supported}", hint)


def _parse_line(number: int, line: bytes) -> ExportLine | BadLine | EndLine:
    try:
        given = _parse_object(line)
        type = given.get("type")
        if type == "end":
            return _parse_end(given)
        if type == "header":
            _require_header(line, "what follows")
            return BadLine(number, "a second header: several exports in one file")
        if not isinstance(type, str) or type not in LINE_TYPES:
            return BadLine(number, f"unknown type of line {str(type)[:40]!r}")
        return ExportLine(number, type, LINE_TYPES[type].decode(given), len(line))
    except Invalid as error:
        return BadLine(number, str(error))


def _parse_end(given: Row) -> EndLine:
    counts = given.get("lines")
    known = [each for each in counts.values() if isinstance(each, int)] if isinstance(counts, dict) else []
    return EndLine(sum(known))


def _parse_object(line: bytes) -> Row:
    try:
        given = json.loads(line, parse_constant=_refuse_constant)
    except RecursionError as error:
        raise Invalid("nested too deeply") from error
    except ValueError as error:
        raise Invalid(f"not JSON: {error}") from error
    if not isinstance(given, dict):
        raise Invalid("not an object")
    if b"\\u" in line:
        _require_storable_text(given)
    return given


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a number")


def _require_storable_text(given: Row) -> None:
    """Refuse escapes that make text which no engine can hold: half characters and NUL."""
    try:
        whole = json.dumps(given, ensure_ascii=False)
        whole.encode()
    except UnicodeEncodeError as error:
        raise Invalid("it has half of a surrogate pair, which is not valid text") from error
    if "\\u0000" in whole:
        raise Invalid("it has a NUL character, which databases cannot store")
