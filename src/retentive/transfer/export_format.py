"""The format of an export: its types of lines, and how each value is written and read back.

An export is JSON Lines in UTF-8. The first line is the header: the format and its version, the version of this program,
whether there are vectors, and which parts were left out. It has no time and no machine, so the same store gives the
same bytes. Then come the namespaces in the order of their names. In each, the parts are in the order of `PARTS`, and
the lines of a part in the order of their keys. The last line is `end`, with the number of lines of each type: a file
without it is cut off.

Every line has its `type` and its namespace, and can be read without any other line. Derived values are left out:
hashes (except those of a proposal, whose texts may have changed since), chunks, full text, the folded names of records.
Times are UTC, as 2026-12-31T18:00:00Z. A vector is the base64 of its float16 numbers, little-endian.
`docs/reference/export-format.md` lists all keys; a test compares.
"""

import base64
import binascii
import json
import math
import re
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, NamedTuple

from retentive.errors import DamagedRow, Invalid
from retentive.frozen_dataclass import dataclass
from retentive.model import Kind, ProposalStatus, Role, Source, Status, from_micros, iso, to_micros
from retentive.storage.columns import TABLES, UNREADABLE, show_value
from retentive.storage.tables.memories import json_or_none
from retentive.storage.tables.records import encode_body

EXPORT_FORMAT = "retentive"
FORMAT_VERSION = 1
MAX_INTEGER = 2**62  # every engine can store smaller numbers
MAX_KEY_CHARS = 240  # a name and the number of a message; much longer keys fit no index of PostgreSQL
MAX_SQUARED_LENGTH = 1.1  # of a vector: one, and what rounding adds
MAX_EXPECTATION_DEPTH = 1000  # hits that an expectation may look at
MIN_TIME, MAX_TIME = to_micros(datetime(1, 1, 1, tzinfo=UTC)), to_micros(datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC))
_CONTROL_CHARS = re.compile(r"[\x00-\x1f\x7f-\x9f]")

Row = dict[str, Any]
"""A line as the columns of the database have it: times in microseconds, JSON as text."""
Line = dict[str, Any]
"""A line as the file has it: times in ISO 8601, JSON as values."""


class ValueFormat(NamedTuple):
    """How the value of a column is written into a line and read back. Both refuse a value that does not fit."""

    description: str
    """What the value must be, for error messages."""
    encode: Callable[[Any], Any]
    decode: Callable[[Any], Any]


def _make_plain_format(description: str, check: Callable[[Any], Any]) -> ValueFormat:
    """Return the format of a value that is written as it is stored."""
    return ValueFormat(description, check, check)


def _refuse(*_: Any) -> Any:
    raise ValueError


def _require_text(given: Any) -> str:
    return given if isinstance(given, str) else _refuse()


def _require_name(given: Any) -> str:
    return _require_text(given) or _refuse()


def _require_key(given: Any) -> str:
    text = _require_name(given)
    return text if len(text) <= MAX_KEY_CHARS and not _CONTROL_CHARS.search(text) else _refuse()


def _require_keys(given: Any) -> list[str]:
    keys = [_require_key(each) for each in given] if isinstance(given, list) else _refuse()
    return keys if len({*keys}) == len(keys) else _refuse()


def _require_whole(given: Any) -> int:
    if isinstance(given, int) and not isinstance(given, bool) and 0 <= given < MAX_INTEGER:
        return given
    raise ValueError


def _count_up_to(largest: int) -> ValueFormat:
    """Return the format of a whole number from 1 to `largest`."""

    def check(given: Any) -> int:
        number = _require_whole(given)
        return number if 1 <= number <= largest else _refuse()

    description = "a whole number above 0" if largest == MAX_INTEGER else f"a whole number from 1 to {largest}"
    return _make_plain_format(description, check)


def _require_number(given: Any) -> float:
    fits = isinstance(given, int | float) and not isinstance(given, bool) and math.isfinite(given)
    return float(given) if fits else _refuse()


def _require_share(given: Any) -> float:
    number = _require_number(given)
    return number if 0 <= number <= 1 else _refuse()


def _parse_time(given: Any) -> int:
    """Return the time in microseconds. A UTC offset can move it outside of the years that Python knows."""
    moment = datetime.fromisoformat(_require_text(given))
    micros = to_micros(moment if moment.tzinfo else moment.replace(tzinfo=UTC))
    return micros if MIN_TIME <= micros < MAX_TIME + 1_000_000 else _refuse()


def _require_object(given: Any) -> dict[str, Any]:
    return given if isinstance(given, dict) else _refuse()


def _write_list(given: Any) -> str:
    if not isinstance(given, list):
        raise ValueError  # noqa: TRY004 - as all others here, which `_decode_value` turns into a message
    return json_or_none(given) or ""


def _write_vector(value: Any) -> str:
    return base64.b64encode(_require_unit_vector(bytes(value))).decode()


def _require_texts(given: Any) -> list[str]:
    return [_require_text(each) for each in given] if isinstance(given, list) else _refuse()


def _require_flag(given: Any) -> bool:
    return given if isinstance(given, bool) else _refuse()


def _require_unit_vector(packed: bytes) -> bytes:
    """Refuse a vector with a NaN or of a greater length: it would come first in every vector search."""
    if len(packed) % 2:
        raise ValueError
    numbers = struct.unpack(f"<{len(packed) // 2}e", packed)
    squared_length = sum(number * number for number in numbers)
    return packed if squared_length <= MAX_SQUARED_LENGTH else _refuse()


def _parse_vector(given: Any) -> bytes:
    return _require_unit_vector(base64.b64decode(_require_name(given), validate=True))


def _optional(value_format: ValueFormat) -> ValueFormat:
    return ValueFormat(
        f"{value_format.description}, or null",
        lambda value: None if value is None else value_format.encode(value),
        lambda given: None if given is None else value_format.decode(given),
    )


def _one_of(choices: type[StrEnum]) -> ValueFormat:
    return _make_plain_format(f"one of: {', '.join(choices)}", lambda given: str(choices(given)))


def _make_json_parser(kind: type) -> Callable[[Any], Any]:
    """Return a function that parses JSON of this kind. An empty text gives an empty value."""
    return lambda value: _parse_json(value, kind) if value else kind()


def _parse_json(value: Any, *kinds: type) -> Any:
    parsed = json.loads(_require_text(value))
    return parsed if isinstance(parsed, kinds) else _refuse()


def _parse_object(value: Any) -> Any:
    return _parse_json(value, dict)


def _parse_texts(value: Any) -> list[str]:
    return _require_texts(_parse_json(value, list)) if value else []


def _write_compact(given: Any, kind: type) -> str | None:
    if not isinstance(given, kind):
        raise TypeError
    return encode_body(given) if given else None  # type: ignore[arg-type]  # a list is written alike


def _write_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


ANY_TEXT = _make_plain_format("text", _require_text)
NONEMPTY = _make_plain_format("text that is not empty", _require_name)
ID_TEXT = _make_plain_format(f"text of 1 to {MAX_KEY_CHARS} characters on one line", _require_key)
INTEGER = _make_plain_format("a whole number", _require_whole)
NUMBER = _make_plain_format("a number", _require_number)
FRACTION = _make_plain_format("a number from 0 to 1", _require_share)
ISO_TIME = ValueFormat("a time", lambda value: iso(from_micros(value)), _parse_time)
TAG_LIST = ValueFormat("a list of texts", _parse_texts, lambda given: json_or_none(_require_texts(given)))
TEXT_LIST = ValueFormat("a list of texts", _parse_texts, lambda given: _write_json(_require_texts(given)))
ID_LIST = _make_plain_format("a list of ids, each once", _require_keys)
JSON_LIST = ValueFormat("a list", _make_json_parser(list), _write_list)
JSON_OBJECT = ValueFormat("an object", _make_json_parser(dict), lambda given: json_or_none(_require_object(given)))
SNAPSHOT = ValueFormat("an object", _parse_object, lambda given: _write_json(_require_object(given)))
RECORD_BODY = ValueFormat("an object", _parse_object, lambda given: encode_body(_require_object(given)))
COMPACT_OBJECT = ValueFormat("an object", _make_json_parser(dict), lambda given: _write_compact(given, dict))
COMPACT_LIST = ValueFormat("a list of texts", _parse_texts, lambda given: _write_compact(_require_texts(given), list))
JSON_VALUE = ValueFormat("a value", lambda value: json.loads(_require_text(value)), _write_json)
BOOLEAN = ValueFormat("true or false", bool, _require_flag)
UNIT_VECTOR = ValueFormat("base64 of float16 numbers, of length one", _write_vector, _parse_vector)


@dataclass(frozen=True, slots=True)
class LineType:
    """A type of line: its keys in the order of the columns, then keys with lists of inner lines."""

    type: str
    table: str
    formats: Mapping[str, ValueFormat]
    inner: Mapping[str, "LineType"] = field(default_factory=dict)
    key: tuple[str, ...] = ()
    """For an inner line: the keys whose values must be unique in a list."""
    later: Mapping[str, Any] = field(default_factory=dict)
    """Keys that earlier exports do not have, and what that means."""

    def encode(self, row: Sequence[Any], owner_id: str = "") -> Line:
        """Return the values of a row as a line has them. `DamagedRow` names the row and the id of its owner."""
        try:
            return {
                name: value_format.encode(value)
                for (name, value_format), value in zip(self.formats.items(), row, strict=True)
            }
        except UNREADABLE as error:
            raise self._make_error(dict(zip(self.formats, row, strict=False)), owner_id) from error

    def _make_error(self, values: Row, owner_id: str) -> DamagedRow:
        table = TABLES[self.table]
        reasons = (
            f"{name} is {show_value(values[name])}, not {value_format.description}"
            for name, value_format in self._find_unfit(values)
        )
        id = "#".join(each for each in (owner_id, table.name_row(values)) if each)
        return DamagedRow(f"{table.noun} {id} is damaged: {next(reasons, '')}", table=self.table, id=id)

    def _find_unfit(self, values: Row) -> Iterator[tuple[str, ValueFormat]]:
        for name, value_format in self.formats.items():
            try:
                value_format.encode(values[name])
            except UNREADABLE:
                yield name, value_format

    def decode(self, given: Mapping[str, Any]) -> Row:
        """Return the values of a line as columns have them. `Invalid` names a key that is missing, unknown or wrong."""
        given = {**self.later, **given}
        keys = given.keys() - {"type"}
        if missing := self.formats.keys() - keys:
            raise Invalid(f"a line of type {self.type} needs {min(missing)!r}")
        if unknown := keys - self.formats.keys() - self.inner.keys():
            raise Invalid(f"a line of type {self.type} has no {min(unknown)[:40]!r}")
        row = {name: _decode_value(name, value_format, given[name]) for name, value_format in self.formats.items()}
        return row | {name: _decode_list(name, line, given.get(name, [])) for name, line in self.inner.items()}

    def reencode(self, row: Row) -> Line:
        """Return the line that an export would write for a decoded row. Two rows are equal if their lines are."""
        line = self.encode([row[name] for name in self.formats])
        return line | {name: [inner.reencode(each) for each in row[name]] for name, inner in self.inner.items()}


def _decode_value(name: str, value_format: ValueFormat, given: Any) -> Any:
    try:
        return value_format.decode(given)
    except (ValueError, TypeError, OverflowError, binascii.Error) as error:
        raise Invalid(f"{name} must be {value_format.description}, not {_write_json(given)[:60]}") from error


def _decode_list(name: str, line: LineType, given: Any) -> list[Row]:
    if not isinstance(given, list) or not all(isinstance(each, dict) for each in given):
        raise Invalid(f"{name} must be a list of objects")
    rows = [line.decode(each) for each in given]
    if line.key and len({tuple(row[key] for key in line.key) for row in rows}) < len(rows):
        raise Invalid(f"{name} has two of the same {' and '.join(line.key)}")
    return rows


VECTOR_LINE = LineType(
    "vector",
    "vectors",
    {"ordinal": INTEGER, "whole": BOOLEAN, "space": ID_TEXT, "vector": UNIT_VECTOR},
    key=("ordinal", "space"),
)
_CHANGE_KEYS = {
    "version": INTEGER, "action": NONEMPTY, "at": ISO_TIME, "actor": ANY_TEXT, "reason": _optional(ANY_TEXT),
}  # fmt: skip
_ID_KEYS = {"namespace": NONEMPTY, "id": ID_TEXT}

NAMESPACE_LINE = LineType("namespace", "namespaces", {"name": NONEMPTY, "created": ISO_TIME})
_MEMORY_CHANGE_LINE = LineType(
    "change of a memory", "memory_history", {**_CHANGE_KEYS, "before": SNAPSHOT}, key=("version",)
)
MEMORY_LINE = LineType(
    "memory",
    "memories",
    {
        **_ID_KEYS, "kind": _one_of(Kind), "content": NONEMPTY, "context": _optional(ANY_TEXT), "tags": TAG_LIST,
        "slot": _optional(ID_TEXT), "session": _optional(ID_TEXT), "source": _one_of(Source),
        "origin": _optional(JSON_OBJECT), "confidence": FRACTION, "importance": _count_up_to(10),
        "status": _one_of(Status), "superseded_by": _optional(ID_TEXT), "valid_from": ISO_TIME,
        "valid_to": _optional(ISO_TIME), "created": ISO_TIME, "updated": ISO_TIME, "expires": _optional(ISO_TIME),
        "access_count": INTEGER, "last_access": _optional(ISO_TIME), "metadata": JSON_OBJECT, "version": INTEGER,
    },
    {
        "history": _MEMORY_CHANGE_LINE, "vectors": VECTOR_LINE,
    },
)  # fmt: skip
SESSION_LINE = LineType(
    "session",
    "sessions",
    {
        **_ID_KEYS, "agent": _optional(ANY_TEXT), "tags": TAG_LIST, "metadata": JSON_OBJECT,
        "person": _optional(ANY_TEXT), "created": ISO_TIME, "last_sequence": INTEGER, "events": INTEGER,
        "active": ISO_TIME, "summary": ANY_TEXT, "summary_upto": INTEGER, "epoch": INTEGER, "learned_upto": INTEGER,
        "claims": JSON_LIST,
    },
)  # fmt: skip
EVENT_LINE = LineType(
    "event",
    "events",
    {
        "namespace": NONEMPTY, "session": ID_TEXT, "sequence": _count_up_to(MAX_INTEGER), "role": _one_of(Role),
        "speaker": _optional(ANY_TEXT), "content": ANY_TEXT, "payload": _optional(JSON_VALUE), "time": ISO_TIME,
        "heeded": INTEGER, "tags": TAG_LIST,
    },
    {"vectors": VECTOR_LINE},
    later={"tags": []},
)  # fmt: skip
_RECORD_KEYS = {
    **_ID_KEYS, "fields": RECORD_BODY, "version": INTEGER, "created": ISO_TIME, "updated": ISO_TIME,
    "deleted": _optional(ISO_TIME), "merged_into": _optional(ID_TEXT), "links": ID_LIST,
}  # fmt: skip
_REVISION_LINE = LineType(
    "change of a record", "record_history", {**_CHANGE_KEYS, "fields": _optional(RECORD_BODY)}, key=("version",)
)
RECORD_LINES = {
    type: LineType(type, "records", _RECORD_KEYS, {"history": _REVISION_LINE, "vectors": VECTOR_LINE})
    for type in ("contact", "profile", "project", "skill")
}
FILE_LINE = LineType(
    "file",
    "files",
    {
        **_ID_KEYS, "path": NONEMPTY, "session": _optional(ID_TEXT), "kind": NONEMPTY, "hash": ANY_TEXT,
        "size": INTEGER, "modified": ISO_TIME, "stamp": ANY_TEXT, "title": ANY_TEXT, "tags": COMPACT_LIST,
        "metadata": COMPACT_OBJECT, "links": COMPACT_LIST, "unit": ANY_TEXT, "mark": _optional(COMPACT_OBJECT),
        "indexed": ISO_TIME, "version": INTEGER,
    },
    {
        "slices": LineType(
            "slice", "chunks", {"text": ANY_TEXT, "context": _optional(ANY_TEXT), "first": INTEGER, "last": INTEGER}
        ),
        "vectors": VECTOR_LINE,
    },
)  # fmt: skip
RUN_LINE = LineType("run", "skill_runs", {"namespace": NONEMPTY, "skill": ID_TEXT, "at": ISO_TIME, "memory": ID_TEXT})
EXPECTATION_LINE = LineType(
    "expectation",
    "expectations",
    {
        **_ID_KEYS, "question": NONEMPTY, "session": _optional(ID_TEXT), "finds": TEXT_LIST, "absent": TEXT_LIST,
        "depth": _count_up_to(MAX_EXPECTATION_DEPTH), "created": ISO_TIME,
    },
)  # fmt: skip
PROPOSAL_LINE = LineType(
    "proposal",
    "proposals",
    {
        **_ID_KEYS, "newer": ID_TEXT, "older": ID_TEXT, "newer_hash": ID_TEXT, "older_hash": ID_TEXT, "rule": ANY_TEXT,
        "reason": ANY_TEXT, "status": _one_of(ProposalStatus), "created": ISO_TIME, "decided": _optional(ISO_TIME),
        "move_to": _optional(NONEMPTY),
    },
)  # fmt: skip
HIDDEN_LINE = LineType(
    "hidden",
    "hidden_messages",
    {
        "namespace": NONEMPTY,
        "session": ID_TEXT,
        "sequence": _count_up_to(MAX_INTEGER),
        "memory": ID_TEXT,
        "hidden": ISO_TIME,
    },
)
ACCESS_LINE = LineType(
    "access",
    "access_log",
    {
        "namespace": NONEMPTY, "memory": ID_TEXT, "at": ISO_TIME, "how": NONEMPTY, "query": _optional(ANY_TEXT),
        "score": _optional(NUMBER),
    },
)  # fmt: skip
PURGE_LINE = LineType(
    "purge",
    "purges",
    {**_ID_KEYS, "at": ISO_TIME, "actor": ANY_TEXT, "reason": _optional(ANY_TEXT), "gone": _optional(ISO_TIME)},
)

# A new type of line is added here: the line, and the part of a namespace it is in. Then `export_rows.py` writes it,
# `restore_export/` restores it, and docs/reference/export-format.md describes it.
PARTS: dict[str, tuple[LineType, ...]] = {
    "memories": (MEMORY_LINE,),
    "sessions": (SESSION_LINE, EVENT_LINE),
    "records": (*RECORD_LINES.values(), RUN_LINE),
    "files": (FILE_LINE,),
    "expectations": (EXPECTATION_LINE,),
    "proposals": (PROPOSAL_LINE,),
    "hidden-messages": (HIDDEN_LINE,),
    "access-log": (ACCESS_LINE,),
    "purges": (PURGE_LINE,),
}
LINE_TYPES = {line.type: line for line in (NAMESPACE_LINE, *(line for part in PARTS.values() for line in part))}


def make_header(product: str, *, vectors: bool, without: Sequence[str]) -> Row:
    return {
        "type": "header",
        "format": EXPORT_FORMAT,
        "version": FORMAT_VERSION,
        "product": product,
        "vectors": vectors,
        "without": sorted(without),
    }


def make_end(counts: Mapping[str, int]) -> Row:
    return {"type": "end", "lines": {type: counts[type] for type in LINE_TYPES if counts.get(type)}}


def write_line(line: Mapping[str, Any]) -> bytes:
    return json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
