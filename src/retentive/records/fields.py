"""Which fields each type of record has, what may be in them, and how they read back."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Generic, NamedTuple, TypeVar

from retentive.errors import Invalid
from retentive.model import (
    Acquaintance,
    Contact,
    Priority,
    Profile,
    Project,
    Record,
    Skill,
    Stage,
    Status,
    Type,
    from_micros,
)
from retentive.records import json_patch, schedule
from retentive.storage.columns import UNREADABLE
from retentive.storage.damage import damaged_row
from retentive.storage.scopes import IGNORED
from retentive.storage.tables.records import Row
from retentive.store import validate

R = TypeVar("R", bound=Record)

MOST = 200  # entries of a list
LONGEST = 20_000  # characters of a text
MOST_STEPS = 10_000
_EMAIL = re.compile(r"[^\s@<>()\[\]\\,;:\"]+@[^\s@<>()\[\]\\,;:\"]+")
_PHONE = re.compile(r"[+(]?\d[\d ()./-]*(?: ?(?:x|ext\.?) ?\d+)?", re.IGNORECASE)


class Field(NamedTuple):
    """`check` makes what is kept of what is given (value, name); `read` makes the value of what is kept."""

    check: Callable[[Any, str], Any]
    read: Callable[[Any], Any] = lambda kept: kept
    many: bool = False
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Shape(Generic[R]):
    type: Type
    plural: str
    make: Callable[..., R]
    fields: Mapping[str, Field]
    links: tuple[str, ...] = ()
    """Fields that name contacts by id."""
    unique: bool = False
    """Whether there is one of a name."""

    def read(self, row: Row) -> R:
        """The record of a row; `DamagedRow` if its fields are not those of this type."""
        try:
            return self._read(row)
        except UNREADABLE as error:
            values = {"type": row.type, "id": row.id}
            raise damaged_row("records", values, ValueError(f"its fields cannot be read: {error}")) from error

    def _read(self, row: Row) -> R:
        known = {name: field.read(row.body[name]) for name, field in self.fields.items() if name in row.body}
        common = {"id": row.id, "namespace": row.namespace, "version": row.version}
        times = {"created": from_micros(row.created), "updated": from_micros(row.updated)}
        return self.make(**common, **times, **known)

    def checked(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """What was given, as it is kept; None where a field is to be empty."""
        if unknown := given.keys() - self.fields.keys():
            raise Invalid(f"a {self.type} has no field {min(unknown)[:40]!r}", f"It has: {', '.join(self.fields)}.")
        return {name: self._checked(name, value) for name, value in given.items()}

    def _checked(self, name: str, value: Any) -> Any:
        if value is None or value in ("", [], ()):
            if name == "name":
                raise Invalid(f"a {self.type} needs a name")
            return None
        return self.fields[name].check(value, name)

    def targets(self, body: Mapping[str, Any]) -> list[str]:
        """The contacts that it names."""
        named = (body.get(name) for name in self.links)
        return [*dict.fromkeys(id for each in named for id in validate.each_of(each, "links"))]


def _text(given: Any, name: str) -> str:
    text = validate.plain(given, name).strip()
    if len(text) > LONGEST:
        raise Invalid(f"{name} has {len(text):,} characters; it holds up to {LONGEST:,}", "Keep the rest as a memory.")
    return text


def _texts(given: Any, name: str) -> list[str]:
    found = [*dict.fromkeys(_text(each, name) for each in validate.each_of(given, name))]
    if len(found) > MOST:
        raise Invalid(f"{name} has {len(found)} entries; it holds up to {MOST}")
    return [each for each in found if each]


def _names(given: Any, name: str) -> list[str]:
    return _texts([validate.required(each, name) for each in validate.each_of(given, name)], name)


def _flag(given: Any, name: str) -> bool:
    if not isinstance(given, bool):
        raise Invalid(f"{name} is {str(given)[:40]!r}", "Give true or false.")
    return given


def _email(given: Any, name: str) -> str:
    text = validate.required(given, name)
    if not _EMAIL.fullmatch(text):
        raise Invalid(f"{name} {text[:60]!r} is not an address", "As in anna@example.org.")
    return text


def _phone(given: Any, name: str) -> str:
    text = validate.required(given, name)
    if not _PHONE.fullmatch(text):
        raise Invalid(f"{name} {text[:60]!r} is not a number", "As in +47 555 0 199.")
    return text


def _steps(given: Any, name: str) -> int:
    return validate.limit_of(given, name, MOST_STEPS)


def _trigger(given: Any, name: str) -> dict[str, Any]:
    made = validate.json_object(given, name) or {}
    match made.get("type"):
        case "manual":
            pass
        case "schedule":
            if not isinstance(made.get("cron"), str):
                raise Invalid("a schedule needs a cron expression", 'As {"type": "schedule", "cron": "0 8 * * 1"}.')
            zone = made.get("timezone")
            schedule.checked(made["cron"], None if zone is None else validate.required(zone, "timezone"))
        case "event":
            validate.required(made.get("event") or "", "the event of a trigger")
        case other:
            raise Invalid(f"unknown trigger {str(other)[:40]!r}", "Its type is one of: manual, schedule, event.")
    return made


def _choice(choices: type[StrEnum]) -> Field:
    return Field(lambda given, name: validate.one_of(choices, given, name), choices, choices=tuple(choices))


_TEXT = Field(_text)
_NAME = Field(validate.required)
_TEXTS = Field(_texts, tuple, many=True)
_NAMES = Field(_names, tuple, many=True)

CONTACT = Shape(
    Type.CONTACT,
    "contacts",
    Contact,
    {
        "name": _NAME, "aliases": _NAMES, "email": Field(_email), "phone": Field(_phone), "company": _NAME,
        "role": _NAME, "type": _choice(Acquaintance), "notes": _TEXT,
    },
)  # fmt: skip
PROJECT = Shape(
    Type.PROJECT,
    "projects",
    Project,
    {
        "name": _NAME, "status": _choice(Stage), "type": _NAME, "description": _TEXT, "primary_contact": _NAME,
        "participants": _NAMES, "company": _NAME, "priority": _choice(Priority),
    },
    links=("primary_contact", "participants"),
    unique=True,
)  # fmt: skip
SKILL = Shape(
    Type.SKILL,
    "skills",
    Skill,
    {
        "name": _NAME, "description": _TEXT, "enabled": Field(_flag), "trigger": Field(_trigger),
        "instructions": _TEXT, "required_tools": _NAMES, "execution_plan": _TEXTS, "max_steps": Field(_steps),
    },
    unique=True,
)  # fmt: skip


def _as_it_is(given: Any, _: str) -> Any:
    return given


def _profile(*, document: Any, flowed: Mapping[str, Any] | None = None, **rest: Any) -> Profile:
    """With where its values came from, as far as they are still those that facts brought."""
    sources = {
        each["at"]: {"memory": each["memory"], "slot": slot}
        for slot, each in (flowed or {}).items()
        if json_patch.same(json_patch.at(document, each["at"]), each["value"])
    }
    return Profile(document=document, sources=sources, **rest)


PROFILE = Shape(
    Type.PROFILE,
    "profiles",
    _profile,
    {"document": Field(_as_it_is), "flowed": Field(_as_it_is), "schema": Field(_as_it_is)},
)


def is_ignored(row: Row) -> bool:
    """Whether a record is a contact of type `ignored`, which searches leave out."""
    return row.type == Type.CONTACT and row.body.get("type") == Acquaintance.IGNORED


def chunk_status(row: Row) -> str:
    """The status of the chunks of a record."""
    return IGNORED if is_ignored(row) else Status.ACTIVE


SHAPES: dict[str, Shape[Any]] = {shape.type: shape for shape in (PROFILE, CONTACT, PROJECT, SKILL)}


def read_record(row: Row) -> Record:
    """The record of a row, of whatever type."""
    if row.type not in SHAPES:
        raise damaged_row("records", {"type": row.type, "id": row.id})
    record: Record = SHAPES[row.type].read(row)
    return record
