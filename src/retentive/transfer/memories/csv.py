"""CSV: each row is a memory, and the header says what the columns mean.

The delimiter is guessed from the header. Unknown columns go to the metadata under their own names. Quoted cells may
have line breaks.
"""

import csv
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from retentive.conversations.formats.source import Document
from retentive.conversations.formats.values import clean_name, clean_value, parse_time
from retentive.errors import Invalid
from retentive.model import Kind, RefusedItem
from retentive.transfer.memories.items import (
    ImportItem,
    ReadResult,
    clean_text,
    drop_empty,
    guess_kind,
    make_tags,
    try_make,
)
from retentive.transfer.memories.source import ImportSource, parse_json_object

_COLUMNS: Mapping[str, str] = {
    "text": "text content memory fact statement observation",
    "kind": "kind type category memory_type",
    "tags": "tags tag labels label keywords categories",
    "importance": "importance priority",
    "confidence": "confidence certainty",
    "context": "context topic title",
    "slot": "slot",
    "session": "session session_id",
    "created": "created created_at date time timestamp valid_from since",
    "updated": "updated updated_at modified modified_at",
    "expires": "expires expires_at expiry expiration_date valid_until",
    "id": "id uuid memory_id content_hash",
    "metadata": "metadata",
}
_MEANINGS = {word: name for name, words in _COLUMNS.items() for word in words.split()}
_DELIMITERS = ",;\t|"
_IMPORTANCE_WORDS = {"low": 3, "medium": 5, "normal": 5, "high": 8, "critical": 10}
_DELIMITER_LINE = re.compile(r"sep=(.)\s*")
_UNDECODED = re.compile("[\udc80-\udcff]")


class _Header(NamedTuple):
    delimiter: str
    names: list[str]
    meanings: list[str | None]
    """The meaning of each column. Columns without one (None) go to the metadata."""


def recognise(source: ImportSource) -> bool:
    """A text whose first line names a column of texts. A single column counts only in a file named .csv or .tsv."""
    if source.is_folder or not source.is_text or source.first_value is not None:
        return False
    try:
        with source.document() as document:
            header, _ = _read_header(document)
    except Invalid:
        return False
    return len(header.names) > 1 or source.name.lower().endswith((".csv", ".tsv"))


def read(source: ImportSource) -> Iterator[ReadResult]:
    with source.document() as document:
        header, rows = _read_header(document)
        for line, row in rows:
            if isinstance(row, RefusedItem):
                yield row
            elif any(cell.strip() for cell in row):
                yield try_make(_make_item, f"{source.name}, line {line}", header, row)


def _read_header(document: Document) -> tuple[_Header, Iterator[tuple[int, list[str] | RefusedItem]]]:
    """The header, and the rows after it, each with the number of its first line."""
    lines = document.lines()
    line, first = next(lines)
    delimiter = ""
    if declared := _DELIMITER_LINE.fullmatch(first.strip("\r\n")):  # as Excel writes
        delimiter = declared[1]
        line, first = next(lines, (line, ""))
    header = _choose_header(document.name, first, delimiter)
    return header, _read_rows(document.name, lines, header.delimiter, line)


def _choose_header(name: str, first: str, delimiter: str) -> _Header:
    headers = [_parse_header(first, each) for each in delimiter or _DELIMITERS]
    best = max(headers, key=lambda header: (sum(1 for name in header.meanings if name), len(header.names)))
    if "text" not in best.meanings:
        hint = f"Give the column of the texts one of these names: {', '.join(_COLUMNS['text'].split())}."
        raise Invalid(f"{name}: no column of its header is known to hold texts", hint)
    return best


def _parse_header(first: str, delimiter: str) -> _Header:
    try:
        names = [clean_value(each).strip() for each in next(csv.reader([first], delimiter=delimiter), [])]
    except csv.Error:
        names = []
    meanings = [_MEANINGS.get(re.sub(r"[\s-]+", "_", each.lower())) for each in names]
    first_at = {name: at for at, name in reversed([*enumerate(meanings)])}
    return _Header(delimiter, names, [name if first_at[name] == at else None for at, name in enumerate(meanings)])


def _read_rows(
    name: str, lines: Iterator[tuple[int, str]], delimiter: str, before: int
) -> Iterator[tuple[int, list[str] | RefusedItem]]:
    reader = csv.reader((line for _, line in lines), delimiter=delimiter)
    while True:
        line = before + reader.line_num + 1
        try:
            yield line, next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield line, RefusedItem(f"{name}, line {line}", str(error))


def _make_item(place: str, header: _Header, row: list[str]) -> ImportItem:
    if len(row) > len(header.names) and any(cell.strip() for cell in row[len(header.names) :]):
        raise Invalid(f"it has {len(row)} cells; the header has {len(header.names)}")
    if _UNDECODED.search("".join(row)):
        raise Invalid("it is not UTF-8")
    cells = [clean_value(cell).strip() for cell in row]
    value = {name: cell for name, cell in zip(header.meanings, cells, strict=False) if name}
    columns = zip(header.names, header.meanings, cells, strict=False)
    more: dict[str, Any] = {name: cell for name, meaning, cell in columns if not meaning}
    return ImportItem(
        place,
        clean_text(value.get("text"), "text"),
        clean_name(value.get("id")),
        {
            **_choose_kind(value.get("kind", ""), more),
            **_parse_tags(value.get("tags", "")),
            **drop_empty(
                importance=_parse_number(_parse_importance(value.get("importance")), "importance"),
                confidence=_parse_number(value.get("confidence"), "confidence"),
                expires=parse_time(value.get("expires"), place),
                metadata=drop_empty(**{**more, **parse_json_object(value.get("metadata") or "null")}),
                **{name: value.get(name) for name in ("context", "slot", "session")},
            ),
        },
        parse_time(value.get("created"), place),
        parse_time(value.get("updated"), place),
    )


def _choose_kind(word: str, more: dict[str, Any]) -> dict[str, str]:
    """The option `kind`. A word that implies no kind is added to the metadata in `more`."""
    if word.lower() in {*Kind}:
        return {"kind": word.lower()}
    found = guess_kind(word)
    if word and not found:
        more["kind"] = word
    return found


def _parse_tags(cell: str) -> dict[str, list[str]]:
    if cell.startswith("[") and cell.endswith("]"):
        listed = parse_json_object(cell)["metadata"]
        return make_tags(listed if isinstance(listed, list) else cell.strip("[]"))
    return make_tags(cell)


def _parse_importance(cell: str | None) -> str | int | None:
    return _IMPORTANCE_WORDS.get((cell or "").lower(), cell)


def _parse_number(cell: Any, name: str) -> float | None:
    if cell in (None, ""):
        return None
    try:
        value = float(cell)
    except ValueError as error:
        raise Invalid(f"{name} is {str(cell)[:40]!r}, not a number") from error
    return int(value) if value.is_integer() else value
