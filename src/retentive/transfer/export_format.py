"""The lines of an export, and how a row of the store becomes one and is read back.

An export is JSON Lines, UTF-8. The first line is the header: format, version of the format, version of the product,
whether there are vectors, which parts were left out; and nothing of the moment or the machine, so that the same store
gives the same bytes. Then each namespace in the order of names, and in it the parts in the order of `PARTS`, each in
the order of its keys. The last line is `end`, with the number of lines of each type: without it the file is cut off.

Every line says its `type` and its namespace, and needs no other line to be understood. What is derived is not written:
hashes (but those of a proposal, whose texts may have changed since), slices, full text, the names that records are
compared by. Times are UTC, as 2026-12-31T18:00:00Z; a vector is the base64 of its float16 numbers, little-endian.
`docs/reference/export-format.md` lists all keys; a test compares.
"""

import base64
import binascii
import json
import math
import re
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, NamedTuple

from retentive.errors import DamagedRow, Invalid
from retentive.model import Kind, ProposalStatus, Role, Source, Status, from_micros, iso, to_micros
from retentive.storage.columns import TABLES, UNREADABLE, show_value
from retentive.storage.tables.memories import as_json
from retentive.storage.tables.records import as_text

FORMAT = "retentive"
VERSION = 1
LARGEST = 2**62  # of whole numbers: what every engine holds
LONGEST_KEY = 240  # characters: a name and the number of a message; what is much longer fits no index of PostgreSQL's
LONGEST_VECTOR = 1.1  # squared: one, and what rounding adds
DEEPEST = 1000  # hits that an expectation may look at
EARLIEST, LATEST = to_micros(datetime(1, 1, 1, tzinfo=UTC)), to_micros(datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC))
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")

Row = dict[str, Any]


class Shape(NamedTuple):
    """How a value of a column is written, and read back; `told` is what it must be.

    Both refuse what it must not be: a damaged value is not written.
    """

    told: str
    out: Callable[[Any], Any]
    back: Callable[[Any], Any]


def _checked(told: str, check: Callable[[Any], Any]) -> Shape:
    """What is written as it is kept."""
    return Shape(told, check, check)


def _refuse(*_: Any) -> Any:
    raise ValueError


def _text(given: Any) -> str:
    return given if isinstance(given, str) else _refuse()


def _name(given: Any) -> str:
    return _text(given) or _refuse()


def _key(given: Any) -> str:
    text = _name(given)
    return text if len(text) <= LONGEST_KEY and not _CONTROL.search(text) else _refuse()


def _keys(given: Any) -> list[str]:
    keys = [_key(each) for each in given] if isinstance(given, list) else _refuse()
    return keys if len({*keys}) == len(keys) else _refuse()


def _whole(given: Any) -> int:
    if isinstance(given, int) and not isinstance(given, bool) and 0 <= given < LARGEST:
        return given
    raise ValueError


def _from_one(most: int) -> Shape:
    told = "a whole number above 0" if most == LARGEST else f"a whole number from 1 to {most}"
    return _checked(told, lambda given: number if 1 <= (number := _whole(given)) <= most else _refuse())


def _number(given: Any) -> float:
    fits = isinstance(given, int | float) and not isinstance(given, bool) and math.isfinite(given)
    return float(given) if fits else _refuse()


def _share(given: Any) -> float:
    number = _number(given)
    return number if 0 <= number <= 1 else _refuse()


def _micros(given: Any) -> int:
    """With an offset a time can be outside of what there is."""
    moment = datetime.fromisoformat(_text(given))
    micros = to_micros(moment if moment.tzinfo else moment.replace(tzinfo=UTC))
    return micros if EARLIEST <= micros < LATEST + 1_000_000 else _refuse()


def _object(given: Any) -> str | None:
    return as_json(given) if isinstance(given, dict) else _refuse()


def _texts(given: Any) -> list[str]:
    return [_text(each) for each in given] if isinstance(given, list) else _refuse()


def _flag(given: Any) -> bool:
    return given if isinstance(given, bool) else _refuse()


def _unit(made: bytes) -> bytes:
    """One that is no number somewhere, or of any length, would be in the way of all others."""
    numbers = struct.unpack(f"<{len(made) // 2}e", made) if len(made) % 2 == 0 else _refuse()
    return made if sum(each * each for each in numbers) <= LONGEST_VECTOR else _refuse()


def _bytes(given: Any) -> bytes:
    return _unit(base64.b64decode(_name(given), validate=True))


def _maybe(shape: Shape) -> Shape:
    return Shape(
        f"{shape.told}, or null",
        lambda value: None if value is None else shape.out(value),
        lambda given: None if given is None else shape.back(given),
    )


def _one_of(choices: type[StrEnum]) -> Shape:
    return _checked(f"one of: {', '.join(choices)}", lambda given: str(choices(given)))


def _parsed(kind: type) -> Callable[[Any], Any]:
    """What reads JSON of this kind, empty where there is none."""
    return lambda value: _of_kind(value, kind) if value else kind()


def _of_kind(value: Any, *kinds: type) -> Any:
    read = json.loads(_text(value))
    return read if isinstance(read, kinds) else _refuse()


def _parsed_object(value: Any) -> Any:
    return _of_kind(value, dict)


def _parsed_texts(value: Any) -> list[str]:
    return _texts(_of_kind(value, list)) if value else []


def _tight(given: Any, kind: type) -> str | None:
    if not isinstance(given, kind):
        raise TypeError
    return as_text(given) if given else None  # type: ignore[arg-type]  # a list is written alike


def _dumped(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


TEXT = _checked("text", _text)
NAME = _checked("text that is not empty", _name)
KEY = _checked(f"text of 1 to {LONGEST_KEY} characters on one line", _key)
WHOLE = _checked("a whole number", _whole)
NUMBER = _checked("a number", _number)
SHARE = _checked("a number from 0 to 1", _share)
TIME = Shape("a time", lambda value: iso(from_micros(value)), _micros)
TAGS = Shape("a list of texts", _parsed_texts, lambda given: as_json(_texts(given)))
TEXTS = Shape("a list of texts", _parsed_texts, lambda given: _dumped(_texts(given)))
KEYS = _checked("a list of ids, each once", _keys)
LIST = Shape("a list", _parsed(list), lambda given: (as_json(given) or "") if isinstance(given, list) else _refuse())
OBJECT = Shape("an object", _parsed(dict), _object)
SNAPSHOT = Shape("an object", _parsed_object, lambda given: _dumped(given) if isinstance(given, dict) else _refuse())
BODY = Shape("an object", _parsed_object, lambda given: as_text(given) if isinstance(given, dict) else _refuse())
COMPACT = Shape("an object", _parsed(dict), lambda given: _tight(given, dict))
COMPACT_LIST = Shape("a list of texts", _parsed_texts, lambda given: _tight(_texts(given), list))
ANY = Shape("a value", lambda value: json.loads(_text(value)), _dumped)
FLAG = Shape("true or false", bool, _flag)
VECTOR = Shape(
    "base64 of float16 numbers, of length one", lambda value: base64.b64encode(_unit(bytes(value))).decode(), _bytes
)


@dataclass(frozen=True, slots=True)
class Line:
    """A type of line: its keys in the order of the columns, then lists of lesser lines."""

    type: str
    table: str
    shapes: Mapping[str, Shape]
    inner: Mapping[str, "Line"] = field(default_factory=dict)
    key: tuple[str, ...] = ()
    """What no two of a list have in common."""

    def encode(self, row: Sequence[Any], of: str = "") -> Row:
        """A row as a line has it; `DamagedRow` if that is not possible. `of` is the id of what it belongs to."""
        try:
            return {name: shape.out(value) for (name, shape), value in zip(self.shapes.items(), row, strict=True)}
        except UNREADABLE as error:
            raise self._damaged(dict(zip(self.shapes, row, strict=False)), of) from error

    def _damaged(self, values: Row, of: str) -> DamagedRow:
        table = TABLES[self.table]
        reasons = (f"{name} is {show_value(values[name])}, not {shape.told}" for name, shape in self._unfit(values))
        id = "#".join(each for each in (of, table.name_row(values)) if each)
        return DamagedRow(f"{table.noun} {id} is damaged: {next(reasons, '')}", table=self.table, id=id)

    def _unfit(self, values: Row) -> Iterator[tuple[str, Shape]]:
        for name, shape in self.shapes.items():
            try:
                shape.out(values[name])
            except UNREADABLE:
                yield name, shape

    def decode(self, given: Mapping[str, Any]) -> Row:
        """As columns have it; `Invalid` says what is missing, unknown or not as it should be."""
        keys = given.keys() - {"type"}
        if missing := self.shapes.keys() - keys:
            raise Invalid(f"a line of type {self.type} needs {min(missing)!r}")
        if unknown := keys - self.shapes.keys() - self.inner.keys():
            raise Invalid(f"a line of type {self.type} has no {min(unknown)[:40]!r}")
        row = {name: _read(name, shape, given[name]) for name, shape in self.shapes.items()}
        return row | {name: _list(name, line, given.get(name, [])) for name, line in self.inner.items()}

    def again(self, row: Row) -> Row:
        """What was decoded, as it would be written."""
        made = self.encode([row[name] for name in self.shapes])
        return made | {name: [line.again(each) for each in row[name]] for name, line in self.inner.items()}


def _read(name: str, shape: Shape, given: Any) -> Any:
    try:
        return shape.back(given)
    except (ValueError, TypeError, OverflowError, binascii.Error) as error:
        raise Invalid(f"{name} must be {shape.told}, not {_dumped(given)[:60]}") from error


def _list(name: str, line: Line, given: Any) -> list[Row]:
    if not isinstance(given, list) or not all(isinstance(each, dict) for each in given):
        raise Invalid(f"{name} must be a list of objects")
    rows = [line.decode(each) for each in given]
    if line.key and len({tuple(row[key] for key in line.key) for row in rows}) < len(rows):
        raise Invalid(f"{name} has two of the same {' and '.join(line.key)}")
    return rows


VECTORS = Line(
    "vector", "vectors", {"ordinal": WHOLE, "whole": FLAG, "space": KEY, "vector": VECTOR}, key=("ordinal", "space")
)
_CHANGE = {"version": WHOLE, "action": NAME, "at": TIME, "actor": TEXT, "reason": _maybe(TEXT)}
_KEY = {"namespace": NAME, "id": KEY}

NAMESPACE = Line("namespace", "namespaces", {"name": NAME, "created": TIME})
MEMORY = Line(
    "memory",
    "memories",
    {
        **_KEY, "kind": _one_of(Kind), "content": NAME, "context": _maybe(TEXT), "tags": TAGS, "slot": _maybe(KEY),
        "session": _maybe(KEY), "source": _one_of(Source), "origin": _maybe(OBJECT), "confidence": SHARE,
        "importance": _from_one(10), "status": _one_of(Status), "superseded_by": _maybe(KEY), "valid_from": TIME,
        "valid_to": _maybe(TIME), "created": TIME, "updated": TIME, "expires": _maybe(TIME), "access_count": WHOLE,
        "last_access": _maybe(TIME), "metadata": OBJECT, "version": WHOLE,
    },
    {
        "history": Line("change of a memory", "memory_history", {**_CHANGE, "before": SNAPSHOT}, key=("version",)),
        "vectors": VECTORS,
    },
)  # fmt: skip
SESSION = Line(
    "session",
    "sessions",
    {
        **_KEY, "agent": _maybe(TEXT), "tags": TAGS, "metadata": OBJECT, "person": _maybe(TEXT), "created": TIME,
        "last_sequence": WHOLE, "events": WHOLE, "active": TIME, "summary": TEXT, "summary_upto": WHOLE, "epoch": WHOLE,
        "learned_upto": WHOLE, "claims": LIST,
    },
)  # fmt: skip
EVENT = Line(
    "event",
    "events",
    {
        "namespace": NAME, "session": KEY, "sequence": _from_one(LARGEST), "role": _one_of(Role),
        "speaker": _maybe(TEXT), "content": TEXT, "payload": _maybe(ANY), "time": TIME, "heeded": WHOLE,
    },
    {"vectors": VECTORS},
)  # fmt: skip
_RECORD = {
    **_KEY, "fields": BODY, "version": WHOLE, "created": TIME, "updated": TIME, "deleted": _maybe(TIME),
    "merged_into": _maybe(KEY), "links": KEYS,
}  # fmt: skip
_REVISION = Line("change of a record", "record_history", {**_CHANGE, "fields": _maybe(BODY)}, key=("version",))
RECORDS = {
    type: Line(type, "records", _RECORD, {"history": _REVISION, "vectors": VECTORS})
    for type in ("contact", "profile", "project", "skill")
}
FILE = Line(
    "file",
    "files",
    {
        **_KEY, "path": NAME, "session": _maybe(KEY), "kind": NAME, "hash": TEXT, "size": WHOLE, "modified": TIME,
        "stamp": TEXT, "title": TEXT, "tags": COMPACT_LIST, "metadata": COMPACT, "links": COMPACT_LIST, "unit": TEXT,
        "mark": _maybe(COMPACT), "indexed": TIME, "version": WHOLE,
    },
    {
        "slices": Line("slice", "chunks", {"text": TEXT, "context": _maybe(TEXT), "first": WHOLE, "last": WHOLE}),
        "vectors": VECTORS,
    },
)  # fmt: skip
RUN = Line("run", "skill_runs", {"namespace": NAME, "skill": KEY, "at": TIME, "memory": KEY})
EXPECTATION = Line(
    "expectation",
    "expectations",
    {
        **_KEY, "question": NAME, "session": _maybe(KEY), "finds": TEXTS, "absent": TEXTS,
        "depth": _from_one(DEEPEST), "created": TIME,
    },
)  # fmt: skip
PROPOSAL = Line(
    "proposal",
    "proposals",
    {
        **_KEY, "newer": KEY, "older": KEY, "newer_hash": KEY, "older_hash": KEY, "rule": TEXT, "reason": TEXT,
        "status": _one_of(ProposalStatus), "created": TIME, "decided": _maybe(TIME), "move_to": _maybe(NAME),
    },
)  # fmt: skip
HIDDEN = Line(
    "hidden",
    "hidden_messages",
    {"namespace": NAME, "session": KEY, "sequence": _from_one(LARGEST), "memory": KEY, "hidden": TIME},
)
ACCESS = Line(
    "access",
    "access_log",
    {
        "namespace": NAME, "memory": KEY, "at": TIME, "how": NAME, "query": _maybe(TEXT), "score": _maybe(NUMBER),
    },
)  # fmt: skip
PURGE = Line("purge", "purges", {**_KEY, "at": TIME, "actor": TEXT, "reason": _maybe(TEXT), "gone": _maybe(TIME)})

# A new type of line is added here: the line, and the part of a namespace it is in. Then `export.py` writes it,
# `transfer/restore_export/` takes it in, and docs/reference/export-format.md describes it.
PARTS: dict[str, tuple[Line, ...]] = {
    "memories": (MEMORY,),
    "sessions": (SESSION, EVENT),
    "records": (*RECORDS.values(), RUN),
    "files": (FILE,),
    "expectations": (EXPECTATION,),
    "proposals": (PROPOSAL,),
    "hidden-messages": (HIDDEN,),
    "access-log": (ACCESS,),
    "purges": (PURGE,),
}
LINES = {line.type: line for line in (NAMESPACE, *(line for part in PARTS.values() for line in part))}


def header(product: str, *, vectors: bool, without: Sequence[str]) -> Row:
    told = {"format": FORMAT, "version": VERSION, "product": product}
    return {"type": "header", **told, "vectors": vectors, "without": sorted(without)}


def end(counts: Mapping[str, int]) -> Row:
    return {"type": "end", "lines": {type: counts[type] for type in LINES if counts.get(type)}}


def dumped(line: Mapping[str, Any]) -> bytes:
    return json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
