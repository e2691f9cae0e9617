"""The tables of a store: their columns in the order in which whole rows are read, and what each column may hold.

No engine enforces all of this: SQLite keeps any bytes in any column. Comparing rows each time they are read would be
slow. `doctor` compares them, and so does the error about a row that cannot be decoded.
"""

import json
import math
from collections.abc import Callable, Container, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from retentive.model import (
    MESSAGE,
    RECORDS,
    REPLY,
    ItemType,
    Kind,
    ProposalStatus,
    Role,
    Source,
    SpaceState,
    Status,
    to_micros,
)
from retentive.storage.non_utf8_text import NonUtf8Text

EARLIEST = to_micros(datetime(1, 1, 1, tzinfo=UTC))
LATEST = to_micros(datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC))
MAX_SHOWN = 60  # characters of a damaged value in a message

UNREADABLE = (ValueError, TypeError, KeyError, AttributeError, IndexError, OverflowError, RecursionError)
"""The errors that decoding a damaged value may raise."""


class Shape(NamedTuple):
    """The values that a column may hold: a description for people, and a test."""

    name: str
    fits: Callable[[Any], bool]


def _is_text(value: Any) -> bool:
    return type(value) is str


def _is_whole(value: Any) -> bool:
    return type(value) is int and 0 <= value < 1 << 63


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value)


def _is_time(value: Any) -> bool:
    return type(value) is int and EARLIEST <= value <= LATEST


def _is_json(value: Any, *kinds: type) -> bool:
    if type(value) is not str:
        return False
    try:
        read = json.loads(value)
    except (ValueError, RecursionError):
        return False
    return not kinds or isinstance(read, kinds)


def _is_texts(value: Any) -> bool:
    return _is_json(value, list) and all(type(each) is str for each in json.loads(value))


def _choice(choices: Container[str], named: Sequence[str]) -> Shape:
    return Shape(f"one of: {', '.join(named)}", lambda value: type(value) is str and value in choices)


def _one_of(*choices: str) -> Shape:
    return _choice(frozenset(choices), choices)


def _range(least: int, most: int) -> Shape:
    return Shape(f"a whole number from {least} to {most}", lambda value: type(value) is int and least <= value <= most)


def _maybe(shape: Shape) -> Shape:
    return Shape(f"{shape.name}, or nothing", lambda value: value is None or shape.fits(value))


TEXT = Shape("text", _is_text)
NAME = Shape("text that is not empty", lambda value: _is_text(value) and bool(value))
WHOLE = Shape("a whole number", _is_whole)
INTEGER = Shape("a whole number", lambda value: type(value) is int)
NUMBER = Shape("a number", _is_number)
SHARE = Shape("a number from 0 to 1", lambda value: _is_number(value) and 0 <= value <= 1)
TIME = Shape("a time", _is_time)
FLAG = Shape("true or false", lambda value: value in (0, 1))
TEXTS = Shape("a list of texts, as JSON", _is_texts)
OBJECT = Shape("an object, as JSON", lambda value: _is_json(value, dict))
JSON = Shape("JSON", _is_json)
HASH = Shape("a SHA-256", lambda value: _is_text(value) and len(value) == 64)  # noqa: PLR2004 - hexadecimal digits
BYTES = Shape("bytes", lambda value: isinstance(value, bytes | memoryview))
CLAIMS = Shape("a list, as JSON", lambda value: value in ("", "import") or _is_json(value, list))

_KIND, _SOURCE, _STATUS = _one_of(*Kind), _one_of(*Source), _one_of(*Status)
_RECORD = _one_of(*RECORDS)
_IGNORED = "ignored"  # the status of the chunks of a contact that searches leave out


class Table(NamedTuple):
    name: str
    columns: Mapping[str, Shape]
    key: Mapping[str, Any]
    """The columns of the key, each with a value that sorts before all others."""
    noun: str
    """The word for a row in messages."""
    is_moved: bool = True
    """Whether a move into another store copies the table."""

    def after(self, row: Sequence[Any] | None) -> dict[str, Any]:
        """The parameters `k1`, `k2` ... of a query for the rows after this one; None: for the first rows."""
        by_column = {} if row is None else dict(zip(self.columns, row, strict=False))
        values = [by_column.get(name, first) for name, first in self.key.items()]
        return {f"k{number}": value for number, value in enumerate(values, start=1)}

    def find_damage(self, values: Mapping[str, Any]) -> str:
        """Describe the damage of the first damaged column; empty if there is none."""
        for name, value in values.items():
            shape = self.columns.get(name)
            if isinstance(value, NonUtf8Text):
                return f"{name} is not UTF-8: {show_value(value)}"
            if shape and not shape.fits(value):
                return f"{name} is {show_value(value)}, not {shape.name}"
        return ""

    def name_row(self, values: Mapping[str, Any]) -> str:
        """The name of a row in messages: its key, without the namespace."""
        parts = [values[name] for name in self.key if name in values and name != "namespace"]
        return "#".join(show_text(part) for part in parts)


def show_value(value: Any) -> str:
    """A value in a message: short, and whatever its bytes are."""
    text = repr(value) if isinstance(value, str) else show_text(value)
    return text if len(text) <= MAX_SHOWN else f"{text[: MAX_SHOWN - 1]}…"


def show_text(value: Any) -> str:
    """A value as text. Bytes that are no text are shown as in a Python literal."""
    return value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else str(value)


_KEY = {"namespace": NAME, "id": NAME}
_CHANGE = {"action": NAME, "at": TIME, "actor": TEXT, "reason": _maybe(TEXT)}

_MEMORY = {
    **_KEY, "session": _maybe(TEXT), "kind": _KIND, "content": TEXT, "context": _maybe(TEXT), "tags": _maybe(TEXTS),
    "slot": _maybe(TEXT), "source": _SOURCE, "origin": _maybe(OBJECT), "confidence": SHARE, "importance": _range(1, 10),
    "status": _STATUS, "superseded_by": _maybe(TEXT), "content_hash": HASH, "valid_from": TIME,
    "valid_to": _maybe(TIME), "created": TIME, "updated": TIME, "expires": _maybe(TIME), "access_count": WHOLE,
    "last_access": _maybe(TIME), "metadata": _maybe(OBJECT), "version": WHOLE,
}  # fmt: skip
_CHUNK = {
    "n": WHOLE, "namespace": NAME, "owner_type": _one_of(*ItemType), "owner": NAME, "ordinal": WHOLE,
    "text": _maybe(TEXT), "session": _maybe(TEXT), "kind": _one_of(*Kind, *ItemType, MESSAGE, REPLY),
    "source": _SOURCE, "tags": _maybe(TEXTS),
    "confidence": SHARE, "importance": _range(1, 10), "status": _one_of(*Status, _IGNORED), "valid_from": TIME,
    "expires": _maybe(TIME), "first_sequence": _maybe(WHOLE), "last_sequence": _maybe(WHOLE), "hash": _maybe(TEXT),
    "context": _maybe(TEXT), "f_content": _maybe(TEXT), "f_context": _maybe(TEXT), "f_tags": _maybe(TEXT),
    "f_before": _maybe(TEXT), "f_after": _maybe(TEXT), "f_speaker": _maybe(TEXT), "f_date": _maybe(TEXT),
}  # fmt: skip
_STATE = {
    "namespace": NAME, "session": NAME, "last_sequence": WHOLE, "events": WHOLE, "active": TIME, "summary": TEXT,
    "summary_upto": WHOLE, "epoch": WHOLE, "learned_upto": WHOLE, "claims": CLAIMS, "claims_left": WHOLE,
}  # fmt: skip
_EVENT = {
    "namespace": NAME, "session": NAME, "sequence": WHOLE, "role": _one_of(*Role), "speaker": _maybe(TEXT),
    "content": TEXT, "payload": _maybe(JSON), "time": TIME, "tokens": WHOLE, "heeded": WHOLE, "tags": _maybe(TEXTS),
}  # fmt: skip
_FILE = {
    **_KEY, "path": NAME, "session": _maybe(TEXT), "kind": NAME, "hash": TEXT, "size": WHOLE, "modified": TIME,
    "stamp": TEXT, "title": TEXT, "tags": _maybe(TEXTS), "metadata": _maybe(OBJECT), "links": _maybe(TEXTS),
    "unit": TEXT, "sections": WHOLE, "mark": _maybe(OBJECT), "indexed": TIME, "version": WHOLE,
}  # fmt: skip
_PROPOSAL = {
    **_KEY, "newer": NAME, "older": NAME, "newer_hash": TEXT, "older_hash": TEXT, "rule": TEXT, "reason": TEXT,
    "status": _one_of(*ProposalStatus), "created": TIME, "decided": _maybe(TIME), "move_to": _maybe(TEXT),
}  # fmt: skip
_TOKEN = {
    "id": NAME, "hash": HASH, "name": _maybe(TEXT), "namespace": NAME, "subtree": FLAG, "read_only": FLAG,
    "created": TIME, "expires": _maybe(TIME), "last_used": _maybe(TIME), "revoked": _maybe(TIME),
}  # fmt: skip

_ALL = (
    Table("namespaces", {"name": NAME, "created": TIME}, {"name": ""}, "namespace"),
    Table(
        "spaces",
        {
            "name": NAME, "dimension": _range(1, 1 << 16), "model": _maybe(TEXT), "state": _one_of(*SpaceState),
            "changed": TIME,
        },
        {"name": ""},
        "space",
    ),
    Table("memories", _MEMORY, {"namespace": "", "id": ""}, "memory"),
    Table(
        "memory_history",
        {"namespace": NAME, "memory": NAME, "version": WHOLE, **_CHANGE, "before": OBJECT},
        {"namespace": "", "memory": "", "version": -1},
        "change of memory",
    ),
    Table(
        "sessions",
        {
            **_KEY, "agent": _maybe(TEXT), "tags": _maybe(TEXTS), "metadata": _maybe(OBJECT), "created": TIME,
            "person": _maybe(TEXT),
        },
        {"namespace": "", "id": ""},
        "session",
    ),
    Table("session_state", _STATE, {"namespace": "", "session": ""}, "state of session"),
    Table("events", _EVENT, {"namespace": "", "session": "", "sequence": -1}, "message"),
    Table("chunks", _CHUNK, {"n": 0}, "chunk"),
    Table(
        "vectors",
        {"namespace": NAME, "chunk": WHOLE, "space": NAME, "dimension": WHOLE, "vector": BYTES},
        {"chunk": 0, "space": ""},
        "vector of chunk",
    ),
    Table(
        "records",
        {
            "namespace": NAME, "type": _RECORD, "id": NAME, "key": TEXT, "body": OBJECT, "version": WHOLE,
            "created": TIME, "updated": TIME, "deleted": _maybe(TIME), "merged_into": _maybe(TEXT),
        },
        {"namespace": "", "type": "", "id": ""},
        "record",
    ),
    Table(
        "record_history",
        {"namespace": NAME, "type": _RECORD, "id": NAME, "version": WHOLE, **_CHANGE, "body": _maybe(OBJECT)},
        {"namespace": "", "type": "", "id": "", "version": -1},
        "change of record",
    ),
    Table(
        "record_links",
        {"namespace": NAME, "target": NAME, "type": _RECORD, "id": NAME},
        {"namespace": "", "target": "", "type": "", "id": ""},
        "link",
    ),
    Table(
        "skill_runs",
        {"namespace": NAME, "skill": NAME, "at": TIME, "memory": NAME},
        {"namespace": "", "skill": "", "at": -1, "memory": ""},
        "run of skill",
    ),
    Table("files", _FILE, {"namespace": "", "id": ""}, "file"),
    Table(
        "access_log",
        {
            "n": WHOLE, "namespace": NAME, "memory": NAME, "at": TIME, "how": NAME, "query": _maybe(TEXT),
            "score": _maybe(NUMBER),
        },
        {"namespace": "", "n": 0},
        "access",
    ),
    Table(
        "purges",
        {**_KEY, "at": TIME, "actor": TEXT, "reason": _maybe(TEXT), "gone": _maybe(TIME)},
        {"namespace": "", "id": "", "at": -1},
        "purge",
    ),
    Table(
        "expectations",
        {
            **_KEY, "question": NAME, "session": _maybe(TEXT), "finds": TEXTS, "absent": TEXTS, "depth": WHOLE,
            "created": TIME,
        },
        {"namespace": "", "id": ""},
        "expectation",
    ),
    Table("proposals", _PROPOSAL, {"namespace": "", "id": ""}, "proposal"),
    Table(
        "hidden_messages",
        {"namespace": NAME, "session": NAME, "sequence": WHOLE, "memory": NAME, "hidden": TIME},
        {"namespace": "", "session": "", "sequence": -1, "memory": ""},
        "hidden message",
    ),
    Table("tokens", _TOKEN, {"id": ""}, "token"),
    Table(
        "measures",
        {"namespace": TEXT, "measure": NAME, "tier": TEXT, "bucket": INTEGER, "count": INTEGER},
        {"namespace": "", "measure": "", "tier": "", "bucket": -1},
        "measure",
    ),
    Table(
        "quarantine",
        {"namespace": TEXT, "id": NAME, "source": NAME, "row_key": TEXT, "reason": TEXT, "at": TIME, "row": OBJECT},
        {"namespace": "", "id": ""},
        "row in quarantine",
    ),
    Table(
        "leases",
        {"namespace": TEXT, "name": NAME, "holder": NAME, "expires": TIME, "span": WHOLE},
        {"namespace": "", "name": ""},
        "lease",
        is_moved=False,
    ),
    Table("meta", {"key": NAME, "value": TEXT}, {"key": ""}, "entry of meta", is_moved=False),
)  # fmt: skip
TABLES = {table.name: table for table in _ALL}
