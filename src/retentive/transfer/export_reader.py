"""An export, read line by line (`lines.py`).

A line that cannot be used is told with its number, and the next ones follow. What makes all of it unusable is `Invalid`
at once: no header, or one of a newer format. Plain or compressed is told from the first bytes.
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
from retentive.transfer.export_format import FORMAT, LINES, VERSION, Row

LONGEST = 1 << 29  # bytes of a line: the longest memory there may be, changed fifty times
MAX_EXPORT_BYTES = 1 << 37  # of a file: ten million memories with their vectors have a tenth of it
_GZIP = b"\x1f\x8b"
HEAD = 64_000  # bytes in which a header has room


class Entry(NamedTuple):
    """A line of a type, as columns have it."""

    number: int
    type: str
    row: Row
    size: int

    @property
    def namespace(self) -> str:
        name: str = self.row["name" if self.type == "namespace" else "namespace"]
        return name


class Bad(NamedTuple):
    """A line that cannot be used."""

    number: int
    reason: str
    is_end: bool = False
    """Whether nothing can be read after it, though the export is not over."""


class End(NamedTuple):
    """The last line: how many there should be before it."""

    lines: int


def is_export(beginning: bytes) -> bool:
    """Whether a file that begins so is an export, plain or compressed."""
    try:
        if beginning.startswith(_GZIP):
            beginning = zlib.decompressobj(wbits=31).decompress(beginning, HEAD)
        first = json.loads(beginning.partition(b"\n")[0].decode("utf-8-sig"))
    except (ValueError, RecursionError, zlib.error):
        return False
    return isinstance(first, dict) and first.get("type") == "header" and first.get("format") == FORMAT


@contextmanager
def inlet(source: Any, name: str = "") -> Iterator[Iterator[Entry | Bad]]:
    """`source` is a path, or a stream of bytes, which stays open; `name` is what it is called."""
    if hasattr(source, "read"):
        yield _entries(_unpacked(source), name or "the stream")
        return
    path = parse_path(source)
    try:
        file = open_regular(path, MAX_EXPORT_BYTES)
    except FileNotFoundError as error:
        raise Invalid(f"there is no file {path}", "Give the path of a file that is there.") from error
    except OSError as error:
        raise Invalid(
            f"{path} cannot be read: {error.strerror or error}", "See whether it is there and may be read."
        ) from error
    with file:
        yield _entries(_unpacked(file), name or path.name)


def _unpacked(file: Any) -> IO[bytes]:
    """`file` reads bytes, and need not be able to go back."""
    buffered = file if hasattr(file, "peek") else io.BufferedReader(_Raw(file))
    packed = buffered.peek(2)[:2] == _GZIP
    return cast("IO[bytes]", gzip.GzipFile(fileobj=buffered) if packed else buffered)


class _Raw(io.RawIOBase):
    """Whatever reads bytes, as what can be buffered."""

    def __init__(self, file: Any) -> None:
        self._file = file

    def readable(self) -> bool:
        return True

    def readinto(self, room: Any) -> int:
        read: bytes = self._file.read(len(room))
        room[: len(read)] = read
        return len(read)


def _entries(file: IO[bytes], name: str) -> Iterator[Entry | Bad]:
    begun, number, count = False, 0, 0
    found: Entry | Bad | End | None = None
    for number, line in enumerate(_lines(file, name), start=1):
        if isinstance(line, Bad):
            if not begun:
                raise Invalid(f"{name}: {line.reason}")
            found = line._replace(number=number)
            yield found
        elif not line.strip():
            continue
        elif not begun:
            _expect_header(line, name)
            begun, found = True, Bad(number, "")
        else:
            found = _entry(number, line)
            if isinstance(found, End):
                if count < found.lines:
                    yield Bad(number, f"there were {found.lines} lines before this one, and {count} are left")
                count = 0
            else:
                count += 1
                yield found
    if not begun:
        raise Invalid(f"{name} is empty", "Give a file that `retentive export` wrote.")
    if not isinstance(found, End) and not (isinstance(found, Bad) and found.is_end):
        yield Bad(number, "the file ends here without its last line: it may be cut off", is_end=True)


def _lines(file: IO[bytes], name: str) -> Iterator[bytes | Bad]:
    try:
        while line := file.readline(LONGEST):
            if len(line) < LONGEST or line.endswith(b"\n"):
                yield line
                continue
            while (rest := file.readline(LONGEST)) and not rest.endswith(b"\n"):
                pass
            yield Bad(0, f"longer than {LONGEST:,} bytes")
    except (OSError, EOFError, zlib.error) as error:
        yield Bad(0, f"{name} cannot be read on: {error}", is_end=True)


def _expect_header(line: bytes, name: str) -> None:
    if not is_export(line):
        raise Invalid(f"{name} is no export of Retentive", "Give a file that `retentive export` wrote.")
    version = json.loads(line.decode("utf-8-sig")).get("version")
    if not isinstance(version, int) or isinstance(version, bool) or not 1 <= version <= VERSION:
        hint = "Update Retentive, and import it with the newer version."
        raise Invalid(f"{name} is an export of format {version}; this version reads formats up to {VERSION}", hint)


def _entry(number: int, line: bytes) -> Entry | Bad | End:
    try:
        given = _parsed(line)
        type = given.get("type")
        if type == "end":
            return _end(given)
        if type == "header":
            _expect_header(line, "what follows")
            return Bad(number, "a second header: several exports in one file")
        if not isinstance(type, str) or type not in LINES:
            return Bad(number, f"unknown type of line {str(type)[:40]!r}")
        return Entry(number, type, LINES[type].decode(given), len(line))
    except Invalid as error:
        return Bad(number, str(error))


def _end(given: Row) -> End:
    counts = given.get("lines")
    known = [each for each in counts.values() if isinstance(each, int)] if isinstance(counts, dict) else []
    return End(sum(known))


def _parsed(line: bytes) -> Row:
    try:
        given = json.loads(line, parse_constant=_refused)
    except RecursionError as error:
        raise Invalid("nested too deeply") from error
    except ValueError as error:
        raise Invalid(f"not JSON: {error}") from error
    if not isinstance(given, dict):
        raise Invalid("not an object")
    if b"\\u" in line:
        _check_text(given)
    return given


def _refused(name: str) -> Any:
    raise ValueError(f"{name} is no number")


def _check_text(given: Row) -> None:
    """What an escape made must be text that every engine can hold."""
    try:
        whole = json.dumps(given, ensure_ascii=False)
        whole.encode()
    except UnicodeEncodeError as error:
        raise Invalid("it has half of a character, which is no text") from error
    if "\\u0000" in whole:
        raise Invalid("it has a NUL character, which databases cannot store")
