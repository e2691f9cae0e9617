"""The fields of each type of record: how a given value is validated, and how a stored one is read."""

import re
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any, Generic, NamedTuple, TypeVar

from retentive.errors import Invalid
from retentive.frozen_dataclass import dataclass
from retentive.model import (
    Contact,
    ContactType,
    ItemType,
    Priority,
    Profile,
    Project,
    ProjectStatus,
    Record,
    Skill,
    Status,
    from_micros,
)
from retentive.records import json_patch, schedule
from retentive.storage.columns import UNREADABLE
from retentive.storage.damage import damaged_row_error
from retentive.storage.scopes import IGNORED_STATUS
from retentive.storage.tables.records import RecordRow
from retentive.store import validate

R = TypeVar("R", bound=Record)

MAX_LIST_ENTRIES = 200
MAX_FIELD_CHARS = 20_000
MAX_STEPS = 10_000
_EMAIL_PATTERN = re.compile(r"[^\s@<>()\[\]\\,;:\"]+@[^\s@<>()\[\]\\,;:\"]+")
_PHONE_PATTERN = re.compile(r"[+(]?\d[\d ()./-]*(?: ?(?:x|ext\.?) ?\d+)?", re.IGNORECASE)


class RecordField(NamedTuple):
    """A field of a record. `check(value, name)` returns the value to be stored; `read` turns it back into the value."""

    check: Callable[[Any, str], Any]
    read: Callable[[Any], Any] = lambda stored: stored
    many: bool = False
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RecordType(Generic[R]):
    """A type of record: its name, its fields, and the class that a row is read as."""

    type: ItemType
    plural: str
    make: Callable[..., R]
    fields: Mapping[str, RecordField]
    links: tuple[str, ...] = ()
    """Fields that name contacts by id."""
    unique: bool = False
    """Whether a name belongs to one record only."""

    def read(self, row: RecordRow) -> R:
        """Return the record of a row; `DamagedRow` if its fields are not those of this type."""
        try:
            return self._read(row)
        except UNREADABLE as error:
            values = {"type": row.type, "id": row.id}
            raise damaged_row_error("records", values, ValueError(f"its fields cannot be read: {error}")) from error

    def _read(self, row: RecordRow) -> R:
        values = {name: field.read(row.body[name]) for name, field in self.fields.items() if name in row.body}
        return self.make(
            id=row.id,
            namespace=row.namespace,
            version=row.version,
            created=from_micros(row.created),
            updated=from_micros(row.updated),
            **values,
        )

    def validate_fields(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the given fields as they are stored; None where a field is to be emptied."""
        if unknown := given.keys() - self.fields.keys():
            raise Invalid(f"a {self.type} has no field {min(unknown)[:40]!r}", f"It has: {', '.join(self.fields)}.")
        return {name: self._check(name, value) for name, value in given.items()}

    def _check(self, name: str, value: Any) -> Any:
        if value is None or value in ("", [], ()):
            if name == "name":
                raise Invalid(f"a {self.type} needs a name")
            return None
        return self.fields[name].check(value, name)

    def list_linked_ids(self, body: Mapping[str, Any]) -> list[str]:
        """Return the ids of the contacts that a body links to."""
        values = (body.get(name) for name in self.links)
        return [*dict.fromkeys(id for each in values for id in validate.as_list(each, "links"))]


def _check_text(given: Any, name: str) -> str:
    text = validate.require_text(given, name).strip()
    if len(text) > MAX_FIELD_CHARS:
        raise Invalid(
            f"{name} has {len(text):,} characters; it holds up to {MAX_FIELD_CHARS:,}", "Keep the rest as a memory."
        )
    return text


def _check_texts(given: Any, name: str) -> list[str]:
    texts = [*dict.fromkeys(_check_text(each, name) for each in validate.as_list(given, name))]
    if len(texts) > MAX_LIST_ENTRIES:
        raise Invalid(f"{name} has {len(texts)} entries; it holds up to {MAX_LIST_ENTRIES}")
    return [each for each in texts if each]


def _check_names(given: Any, name: str) -> list[str]:
    return _check_texts([validate.require_name(each, name) for each in validate.as_list(given, name)], name)


def _check_flag(given: Any, name: str) -> bool:
    if not isinstance(given, bool):
        raise Invalid(f"{name} is {str(given)[:40]!r}", "Give true or false.")
    return given


def _check_email(given: Any, name: str) -> str:
    text = validate.require_name(given, name)
    if not _EMAIL_PATTERN.fullmatch(text):
        raise Invalid(f"{name} {text[:60]!r} is not an email address", "Give one such as anna@example.org.")
    return text


def _check_phone(given: Any, name: str) -> str:
    text = validate.require_name(given, name)
    if not _PHONE_PATTERN.fullmatch(text):
        raise Invalid(f"{name} {text[:60]!r} is not a phone number", "Give one such as +47 555 0 199.")
    return text


def _check_steps(given: Any, name: str) -> int:
    return validate.positive_int(given, name, MAX_STEPS)


def _check_trigger(given: Any, name: str) -> dict[str, Any]:
    trigger = validate.require_json_object(given, name) or {}
    match trigger.get("type"):
        case "manual":
            pass
        case "schedule":
            if not isinstance(trigger.get("cron"), str):
                raise Invalid("a schedule needs a cron expression", 'Give {"type": "schedule", "cron": "0 8 * * 1"}.')
            zone = trigger.get("timezone")
            schedule.check_schedule(trigger["cron"], None if zone is None else validate.require_name(zone, "timezone"))
        case "event":
            validate.require_name(trigger.get("event") or "", "the event of a trigger")
        case other:
            raise Invalid(f"unknown trigger {str(other)[:40]!r}", "Its type is one of: manual, schedule, event.")
    return trigger


def _choice_field(choices: type[StrEnum]) -> RecordField:
    return RecordField(lambda given, name: validate.parse_choice(choices, given, name), choices, choices=tuple(choices))


_TEXT_FIELD = RecordField(_check_text)
_NAME_FIELD = RecordField(validate.require_name)
_TEXTS_FIELD = RecordField(_check_texts, tuple, many=True)
_NAMES_FIELD = RecordField(_check_names, tuple, many=True)

CONTACT = RecordType(
    ItemType.CONTACT,
    "contacts",
    Contact,
    {
        "name": _NAME_FIELD, "aliases": _NAMES_FIELD, "email": RecordField(_check_email),
        "phone": RecordField(_check_phone), "company": _NAME_FIELD, "role": _NAME_FIELD,
        "type": _choice_field(ContactType), "notes": _TEXT_FIELD,
    },
)  # fmt: skip
PROJECT = RecordType(
    ItemType.PROJECT,
    "projects",
    Project,
    {
        "name": _NAME_FIELD, "status": _choice_field(ProjectStatus), "type": _NAME_FIELD, "description": _TEXT_FIELD,
        "primary_contact": _NAME_FIELD, "participants": _NAMES_FIELD, "company": _NAME_FIELD,
        "priority": _choice_field(Priority),
    },
    links=("primary_contact", "participants"),
    unique=True,
)  # fmt: skip
SKILL = RecordType(
    ItemType.SKILL,
    "skills",
    Skill,
    {
        "name": _NAME_FIELD, "description": _TEXT_FIELD, "enabled": RecordField(_check_flag),
        "trigger": RecordField(_check_trigger), "instructions": _TEXT_FIELD, "required_tools": _NAMES_FIELD,
        "execution_plan": _TEXTS_FIELD, "max_steps": RecordField(_check_steps),
    },
    unique=True,
)  # fmt: skip


def _accept_any(given: Any, _: str) -> Any:
    return given


def _make_profile(*, document: Any, flowed: Mapping[str, Any] | None = None, **rest: Any) -> Profile:
    """Return a profile with the sources of those values that are still the ones from facts."""
    sources = {
        each["at"]: {"memory": each["memory"], "slot": slot}
        for slot, each in (flowed or {}).items()
        if json_patch.is_same_json(json_patch.get_value(document, each["at"]), each["value"])
    }
    return Profile(document=document, sources=sources, **rest)


PROFILE = RecordType(
    ItemType.PROFILE,
    "profiles",
    _make_profile,
    {"document": RecordField(_accept_any), "flowed": RecordField(_accept_any), "schema": RecordField(_accept_any)},
)


def is_ignored(row: RecordRow) -> bool:
    """Return whether a record is a contact of type `ignored`, which searches leave out."""
    return row.type == ItemType.CONTACT and row.body.get("type") == ContactType.IGNORED


def chunk_status(row: RecordRow) -> str:
    """Return the status of a record's chunks. Only ignored contacts have one of their own."""
    return IGNORED_STATUS if is_ignored(row) else Status.ACTIVE


RECORD_TYPES: dict[str, RecordType[Any]] = {each.type: each for each in (PROFILE, CONTACT, PROJECT, SKILL)}


def read_record(row: RecordRow) -> Record:
    """Return the record of a row of any type."""
    if row.type not in RECORD_TYPES:
        raise damaged_row_error("records", {"type": row.type, "id": row.id})
    record: Record = RECORD_TYPES[row.type].read(row)
    return record
