"""What the formats have in common: roles, times, names, and values that every store can keep."""

import math
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from retentive.errors import Invalid
from retentive.model import ROLES, Message, Role

LONGEST_NAME = 200  # characters, as for every name in a store
MILLISECONDS = 1e11  # seconds from here on are the year 5138: it is milliseconds, as JavaScript counts

_UNKEEPABLE = re.compile("[\0\ud800-\udfff]")
_EPOCH = re.compile(r"\d{9,13}(\.\d+)?")


class Record(NamedTuple):
    """One JSON value of a file, and where it stands."""

    place: str
    value: Any


class Found(NamedTuple):
    """A conversation as a format has it: perhaps without an id, its messages not yet numbered."""

    id: str | None
    title: str | None
    created: datetime | None
    messages: Sequence[Message]


def clean(value: Any) -> Any:
    """The same without what databases and JSON refuse: NUL, lone surrogates, numbers that are not finite."""
    match value:
        case str():
            return _UNKEEPABLE.sub("\ufffd", value)
        case dict():
            return {clean(key): clean(each) for key, each in value.items()}
        case list():
            return [clean(each) for each in value]
        case float() if not math.isfinite(value):
            return None
    return value


def label(given: Any) -> str | None:
    """A name fit for a session or a speaker: one line of at most 200 characters. None if there is nothing in it."""
    text = str(given) if isinstance(given, str | int) and not isinstance(given, bool) else ""
    shown = "".join(" " if unicodedata.category(each) == "Cc" else each for each in clean(text))
    return unicodedata.normalize("NFC", shown).strip()[:LONGEST_NAME].strip() or None


def role(given: Any, place: str) -> Role:
    known = ROLES.get(given.strip().lower()) if isinstance(given, str) else None
    if known is None:
        said = f"unknown role {given[:40]!r}" if isinstance(given, str) else "no role"
        raise Invalid(f"{place}: {said}", f"A role is one of: {', '.join(ROLES)}.")
    return known


def moment(given: Any, place: str) -> datetime | None:
    """ISO text or seconds since 1970. Without a zone it is UTC; null, 0 and an empty text are no time."""
    if not given:
        return None
    try:
        return _moment(given)
    except (TypeError, ValueError, OverflowError, OSError) as error:
        hint = "Write it as 2026-12-31T18:00:00Z or as seconds since 1970."
        raise Invalid(f"{place}: cannot read {str(given)[:40]!r} as a time", hint) from error


def _moment(given: Any) -> datetime:
    if isinstance(given, str) and not _EPOCH.fullmatch(given.strip()):
        read = datetime.fromisoformat(given.strip())
        return read.astimezone(UTC) if read.tzinfo else read.replace(tzinfo=UTC)
    if isinstance(given, bool):
        raise TypeError
    seconds = float(given)
    return datetime.fromtimestamp(seconds / 1000 if seconds > MILLISECONDS else seconds, UTC)


def told(parts: Mapping[str, Any]) -> dict[str, Any] | None:
    """A payload: what of these says anything. None if nothing does."""
    return {name: part for name, part in parts.items() if part is not None and part not in ("", [], {})} or None


def object_of(value: Any, place: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise Invalid(f"{place}: an object was expected, not {kind(value)}")
    return value


def each_message(value: Any, place: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The messages of a list, each with its place. Null is an empty list."""
    if value is not None and not isinstance(value, list):
        raise Invalid(f"{place}: a list of messages was expected, not {kind(value)}")
    for number, each in enumerate(value or (), 1):
        where = f"{place}, message {number}"
        yield where, object_of(each, where)


def kind(value: Any) -> str:
    """What JSON calls it."""
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
