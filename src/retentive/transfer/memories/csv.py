"""CSV: a row is a memory, the header says what its columns mean.

The delimiter is told from the header. Columns that are not known go to the metadata under their own names. Cells may
be quoted, and have line ends then.
"""

import csv
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from retentive.conversations.formats.source import Document
from retentive.conversations.formats.values import clean, label, moment
from retentive.errors import Invalid
from retentive.model import Kind, Refusal
from retentive.transfer.memories.items import Item, Told, attempt, kind_of, tags_of, text_of, told
from retentive.transfer.memories.source import Given, json_object

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
_DEGREES = {"low": 3, "medium": 5, "normal": 5, "high": 8, "critical": 10}
_SAID = re.compile(r"sep=(.)\s*")
_BYTES = re.compile("[\udc80-\udcff]")


class _Header(NamedTuple):
    delimiter: str
    names: list[str]
    meanings: list[str | None]
    """What each column means; None goes to the metadata."""


def recognise(given: Given) -> bool:
    """Text whose first line names a column of texts; alone only where the file is called so."""
    if given.is_folder or not given.is_text or given.first is not None:
        return False
    try:
        with given.document() as document:
            header, _ = _opened(document)
    except Invalid:
        return False
    return len(header.names) > 1 or given.name.lower().endswith((".csv", ".tsv"))


def read(given: Given) -> Iterator[Told]:
    with given.document() as document:
        header, rows = _opened(document)
        for line, row in rows:
            if isinstance(row, Refusal):
                yield row
            elif any(cell.strip() for cell in row):
                yield attempt(_item, f"{given.name}, line {line}", header, row)


def _opened(document: Document) -> tuple[_Header, Iterator[tuple[int, list[str] | Refusal]]]:
    """The header, and the rows that follow with the numbers of the lines they begin on."""
    lines = document.lines()
    line, first = next(lines)
    delimiter = ""
    if said := _SAID.fullmatch(first.strip("\r\n")):  # as Excel writes
        delimiter = said[1]
        line, first = next(lines, (line, ""))
    header = _header(document.name, first, delimiter)
    return header, _rows(document.name, lines, header.delimiter, line)


def _header(name: str, first: str, delimiter: str) -> _Header:
    found = [_split(first, each) for each in delimiter or _DELIMITERS]
    best = max(found, key=lambda each: (sum(1 for name in each.meanings if name), len(each.names)))
    if "text" not in best.meanings:
        hint = f"Name the column of the texts one of: {', '.join(_COLUMNS['text'].split())}."
        raise Invalid(f"{name}: no column of its header is known to hold the texts", hint)
    return best


def _split(first: str, delimiter: str) -> _Header:
    try:
        names = [clean(each).strip() for each in next(csv.reader([first], delimiter=delimiter), [])]
    except csv.Error:
        names = []
    meanings = [_MEANINGS.get(re.sub(r"[\s-]+", "_", each.lower())) for each in names]
    first_at = {name: at for at, name in reversed([*enumerate(meanings)])}
    return _Header(delimiter, names, [name if first_at[name] == at else None for at, name in enumerate(meanings)])


def _rows(
    name: str, lines: Iterator[tuple[int, str]], delimiter: str, before: int
) -> Iterator[tuple[int, list[str] | Refusal]]:
    reader = csv.reader((line for _, line in lines), delimiter=delimiter)
    while True:
        line = before + reader.line_num + 1
        try:
            yield line, next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield line, Refusal(f"{name}, line {line}", str(error))


def _item(place: str, header: _Header, row: list[str]) -> Item:
    if len(row) > len(header.names) and any(cell.strip() for cell in row[len(header.names) :]):
        raise Invalid(f"it has {len(row)} cells; the header has {len(header.names)}")
    if _BYTES.search("".join(row)):
        raise Invalid("it is not UTF-8")
    cells = [clean(cell).strip() for cell in row]
    value = {name: cell for name, cell in zip(header.meanings, cells, strict=False) if name}
    columns = zip(header.names, header.meanings, cells, strict=False)
    more: dict[str, Any] = {name: cell for name, meaning, cell in columns if not meaning}
    return Item(
        place,
        text_of(value.get("text"), "text"),
        label(value.get("id")),
        {
            **_kind(value.get("kind", ""), more),
            **_tags(value.get("tags", "")),
            **told(
                importance=_number(_degree(value.get("importance")), "importance"),
                confidence=_number(value.get("confidence"), "confidence"),
                expires=moment(value.get("expires"), place),
                metadata=told(**{**more, **json_object(value.get("metadata") or "null")}),
                **{name: value.get(name) for name in ("context", "slot", "session")},
            ),
        },
        moment(value.get("created"), place),
        moment(value.get("updated"), place),
    )


def _kind(word: str, more: dict[str, Any]) -> dict[str, str]:
    """One of ours, or what is called so elsewhere; a word that says neither stays with the metadata."""
    if word.lower() in {*Kind}:
        return {"kind": word.lower()}
    found = kind_of(word)
    if word and not found:
        more["kind"] = word
    return found


def _tags(cell: str) -> dict[str, list[str]]:
    if cell.startswith("[") and cell.endswith("]"):
        listed = json_object(cell)["metadata"]
        return tags_of(listed if isinstance(listed, list) else cell.strip("[]"))
    return tags_of(cell)


def _degree(cell: str | None) -> str | int | None:
    return _DEGREES.get((cell or "").lower(), cell)


def _number(cell: Any, what: str) -> float | None:
    if cell in (None, ""):
        return None
    try:
        value = float(cell)
    except ValueError as error:
        raise Invalid(f"{what} is {str(cell)[:40]!r}, not a number") from error
    return int(value) if value.is_integer() else value
