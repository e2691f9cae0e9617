"""Parse roles, times, names and JSON values of all formats, so that every store can hold them."""

import math
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from retentive.errors import Invalid
from retentive.model import ROLES, Message, Role
from retentive.text.normalize import replace_unstorable

MAX_NAME_CHARS = 200  # as for every name in a store
MIN_MILLISECONDS = 1e11  # seconds from here on are the year 5138: it is milliseconds, as JavaScript counts

_EPOCH = re.compile(r"\d{9,13}(\.\d+)?")


class Record(NamedTuple):
    """One JSON value of a file, and where it stands."""

    place: str
    value: Any


class ParsedConversation(NamedTuple):
    """A conversation as a format has it: perhaps without an id, its messages not yet numbered."""

    id: str | None
    title: str | None
    created: datetime | None
    messages: Sequence[Message]


def clean_value(value: Any) -> Any:
    """Return the value without what databases and JSON refuse: NUL, lone surrogates, numbers that are not finite."""
    match value:
        case str():
            return replace_unstorable(value)
        case dict():
            return {clean_value(key): clean_value(each) for key, each in value.items()}
        case list():
            return [clean_value(each) for each in value]
        case float() if not math.isfinite(value):
            return None
    return value


def clean_name(given: Any) -> str | None:
    """Return a name for a session or a speaker: one line of at most 200 characters; None if it is empty."""
    text = str(given) if isinstance(given, str | int) and not isinstance(given, bool) else ""
    shown = "".join(" " if unicodedata.category(each) == "Cc" else each for each in clean_value(text))
    return unicodedata.normalize("NFC", shown).strip()[:MAX_NAME_CHARS].strip() or None


def parse_role(given: Any, place: str) -> Role:
    known = ROLES.get(given.strip().lower()) if isinstance(given, str) else None
    if known is None:
        fault = f"unknown role {given[:40]!r}" if isinstance(given, str) else "no role"
        raise Invalid(f"{place}: {fault}", f"A role is one of: {', '.join(ROLES)}.")
    return known


def parse_time(given: Any, place: str) -> datetime | None:
    """Parse ISO text or seconds since 1970. Without a zone it is UTC; null, 0 and an empty text are no time."""
    if not given:
        return None
    try:
        return _parse_time(given)
    except (TypeError, ValueError, OverflowError, OSError) as error:
        hint = "Write it as 2026-12-31T18:00:00Z or as seconds since 1970."
        raise Invalid(f"{place}: cannot read {str(given)[:40]!r} as a time", hint) from error


def _parse_time(given: Any) -> datetime:
    if isinstance(given, str) and not _EPOCH.fullmatch(given.strip()):
        read = datetime.fromisoformat(given.strip())
        return read.astimezone(UTC) if read.tzinfo else read.replace(tzinfo=UTC)
    if isinstance(given, bool):
        raise TypeError
    seconds = float(given)
    return datetime.fromtimestamp(seconds / 1000 if seconds > MIN_MILLISECONDS else seconds, UTC)


def build_payload(parts: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return a payload of the parts that are not empty; None if all are."""
    return {name: part for name, part in parts.items() if part is not None and part not in ("", [], {})} or None


def require_object(value: Any, place: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise Invalid(f"{place}: an object was expected, not {json_type_name(value)}")
    return value


def iterate_messages(value: Any, place: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the messages of a list, each with its place. Null is an empty list."""
    if value is not None and not isinstance(value, list):
        raise Invalid(f"{place}: a list of messages was expected, not {json_type_name(value)}")
    for number, each in enumerate(value or (), 1):
        where = f"{place}, message {number}"
        yield where, require_object(each, where)


def json_type_name(value: Any) -> str:
    """Return the name that JSON has for the type of a value."""
    match value:
        case None:
            return "null"
        case bool():
            return "true or false"
        case str():
            return "text"
        case int() | float():
            return "a number"
        case list():
            return "a list"
    return "an object"
