"""Reads rows from the pages of a SQLite file that SQLite itself cannot read: a tree with a damaged page.

Layout (https://www.sqlite.org/fileformat2.html). A file is a list of pages, numbered from 1. A table is a tree of
them: interior pages have the numbers of their children, leaves have the rows. A table WITHOUT ROWID is a tree of
another kind, in which interior pages have rows, too. A page begins with its kind (1 byte), the number of its cells
(2 bytes at 3) and, if interior, its last child (4 bytes at 8); then come the offsets of its cells. A cell is the length
of its row, the row's number unless WITHOUT ROWID, and the row; the rest of a long row is in a chain of overflow pages.
A row is a list of types, then the values.

SQLite stops at the first invalid page. Here an invalid page or row is left out, its page is counted, and the rest is
read: one bad row does not cost the others of its page. The children of a damaged interior page have no parent any more;
`read_strays` finds their leaves among all pages of the file, and the caller decides by the values to which table they
belong. Check every row that is read here: a page may be damaged and still be valid.
"""

import mmap
import struct
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from retentive.storage.non_utf8_text import NonUtf8Text

INTERIOR_INDEX, INTERIOR_TABLE, LEAF_INDEX, LEAF_TABLE = 0x02, 0x05, 0x0A, 0x0D
_HEADER = 100  # bytes before the first page's own
_MAX_VARINT = 9  # bytes
_INTS = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}  # bytes of each type of whole number
_FIRST_BLOB = 12  # from this type on, the type says the length
_UNREADABLE_PAGE = (struct.error, IndexError, ValueError)


class Row(NamedTuple):
    """`number` is None in a table WITHOUT ROWID."""

    number: int | None
    values: tuple[Any, ...]


class _Page(NamedTuple):
    rows: list[Row]
    children: list[int]
    """The numbers of the pages below it."""
    is_whole: bool
    """Whether all its rows could be read."""


class PageFile:
    """A file of SQLite's without a log, which nobody writes to."""

    def __init__(self, path: Path) -> None:
        with path.open("rb") as file:
            self._data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        size, reserved = struct.unpack(">H", self._data[16:18])[0], self._data[20]
        self.page_size = 65536 if size == 1 else size
        self._usable = self.page_size - reserved
        self.count = len(self._data) // self.page_size
        self.reached: set[int] = set()
        """Pages that are known to belong to something."""

    def close(self) -> None:
        self._data.close()

    def read_tree(self, root: int, unreadable: list[int]) -> Iterator[Row]:
        """The rows of a table. Pages that cannot be read in full are added to `unreadable`."""
        waiting = [root]
        while waiting:
            number = waiting.pop()
            if number in self.reached or not 1 <= number <= self.count:
                unreadable.append(number)
                continue
            self.reached.add(number)
            try:
                page = self._read_page(number)
            except _UNREADABLE_PAGE:
                unreadable.append(number)
                continue
            if not page.is_whole:
                unreadable.append(number)
            yield from page.rows
            waiting += reversed(page.children)

    def read_strays(self) -> Iterator[list[Row]]:
        """The rows of each page that nothing reached."""
        for number in range(1, self.count + 1):
            if number not in self.reached and self._page(number)[0] in (LEAF_INDEX, LEAF_TABLE, INTERIOR_INDEX):
                with suppress(*_UNREADABLE_PAGE):
                    page = self._read_page(number)
                    if page.rows:
                        yield page.rows

    def reach_free_pages(self) -> None:
        """Count the pages that hold nothing as reached."""
        trunk = struct.unpack(">I", self._data[32:36])[0]
        while 1 <= trunk <= self.count and trunk not in self.reached:
            self.reached.add(trunk)
            page = self._page(trunk)
            following, leaves = struct.unpack(">II", page[:8])
            most = min(leaves, self.page_size // 4 - 2)
            self.reached.update(struct.unpack(f">{most}I", page[8 : 8 + 4 * most]))
            trunk = following

    def _page(self, number: int) -> bytes:
        start = (number - 1) * self.page_size
        return self._data[start : start + self.page_size]

    def _read_page(self, number: int) -> _Page:
        """Raises one of `_UNREADABLE_PAGE` if it is no page of a tree."""
        page, begin = self._page(number), _HEADER if number == 1 else 0
        kind, cells = page[begin], struct.unpack(">H", page[begin + 3 : begin + 5])[0]
        if kind not in (INTERIOR_INDEX, INTERIOR_TABLE, LEAF_INDEX, LEAF_TABLE):
            raise ValueError
        is_interior = kind in (INTERIOR_INDEX, INTERIOR_TABLE)
        first = begin + (12 if is_interior else 8)
        places = struct.unpack(f">{cells}H", page[first : first + 2 * cells])
        rows: list[Row] = []
        children: list[int] = []
        is_whole = True
        for place in places:
            at = place
            if is_interior:
                children.append(struct.unpack(">I", page[at : at + 4])[0])
                at += 4
            if kind != INTERIOR_TABLE:
                try:
                    rows.append(self._read_cell(page, at, is_table=kind == LEAF_TABLE))
                except _UNREADABLE_PAGE:
                    is_whole = False
        if is_interior:
            children.append(struct.unpack(">I", page[begin + 8 : begin + 12])[0])
        return _Page(rows, children, is_whole)

    def _read_cell(self, page: bytes, at: int, *, is_table: bool) -> Row:
        length, at = _varint(page, at)
        number = None
        if is_table:
            number, at = _varint(page, at)
            number -= (number >> 63) << 64
        return Row(number, _record(self._payload(page, at, length, is_table=is_table)))

    def _payload(self, page: bytes, at: int, length: int, *, is_table: bool) -> bytes:
        """All bytes of a row, with those on overflow pages."""
        usable = self._usable
        least = (usable - 12) * 32 // 255 - 23
        most = usable - 35 if is_table else (usable - 12) * 64 // 255 - 23
        if length <= most:
            return _cut(page, at, length)
        local = least + (length - least) % (usable - 4)
        local = local if local <= most else least
        parts, left = [_cut(page, at, local)], length - local
        following = struct.unpack(">I", page[at + local : at + local + 4])[0]
        seen: set[int] = set()
        while left > 0:
            if not 1 <= following <= self.count or following in seen:
                raise ValueError
            seen.add(following)
            overflow = self._page(following)
            parts.append(overflow[4 : 4 + min(left, usable - 4)])
            left -= len(parts[-1])
            following = struct.unpack(">I", overflow[:4])[0]
        self.reached |= seen
        return b"".join(parts)


def _cut(data: bytes, at: int, length: int) -> bytes:
    found = data[at : at + length]
    if len(found) != length:
        raise ValueError
    return found


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """The number that begins at a place, and the place behind it."""
    value = 0
    for place in range(at, at + _MAX_VARINT - 1):
        value = value << 7 | data[place] & 0x7F
        if data[place] < 0x80:  # noqa: PLR2004 - the highest bit says that there is more
            return value, place + 1
    return value << 8 | data[at + _MAX_VARINT - 1], at + _MAX_VARINT


def _record(payload: bytes) -> tuple[Any, ...]:
    header, at = _varint(payload, 0)
    if not at <= header <= len(payload):
        raise ValueError
    values, place = [], header
    while at < header:
        kind, at = _varint(payload, at)
        value, place = _value(payload, place, kind)
        values.append(value)
    return tuple(values)


def _value(payload: bytes, at: int, kind: int) -> tuple[Any, int]:
    if kind in (0, 8, 9):
        return {0: None, 8: 0, 9: 1}[kind], at
    if kind in _INTS:
        end = at + _INTS[kind]
        return int.from_bytes(_cut(payload, at, _INTS[kind]), "big", signed=True), end
    if kind == 7:  # noqa: PLR2004 - a floating-point number
        return struct.unpack(">d", _cut(payload, at, 8))[0], at + 8
    if kind < _FIRST_BLOB:
        raise ValueError
    length = (kind - _FIRST_BLOB) // 2
    raw = _cut(payload, at, length)
    return (_text(raw) if kind % 2 else raw), at + length


def _text(raw: bytes) -> str | NonUtf8Text:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return NonUtf8Text(raw)
