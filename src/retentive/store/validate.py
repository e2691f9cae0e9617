"""Validation of the arguments of callers. Each function returns the checked value, or raises `Invalid`."""

import json
import math
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta
from enum import StrEnum
from typing import Any, TypedDict, TypeVar

from retentive import clock
from retentive.errors import Conflict, Invalid
from retentive.model import (
    ROLES,
    Draft,
    Message,
    Role,
    Traits,
    from_micros,
)
from retentive.surface.field import MAX_NAME_CHARS
from retentive.surface.memory import MAX_TAGS
from retentive.text.instants import Side, parse_instant
from retentive.text.messages import extract_text, join_text_blocks
from retentive.text.normalize import hash_content

E = TypeVar("E", bound=StrEnum)
TimeInput = datetime | date | timedelta | str

MAX_METADATA_CHARS = 64_000  # characters of JSON
MAX_JSON_DEPTH = 100  # nested lists and objects: functions that walk them are recursive
MAX_SEQUENCE = 2**53 - 1  # the largest whole number that every JSON reader reads exactly
MAX_BUDGET_TOKENS = 10**9
MAX_SECONDS = 10**6  # of an interval: eleven days
MAX_LIMIT = 1_000_000  # of any limit: for more there is the export


class Unset:
    """The type of an argument that was not given, where None is a value."""


UNSET = Unset()


class MemoryOptions(TypedDict, total=False):
    """The options of a memory, beside its text."""

    kind: str
    tags: Iterable[str]
    importance: float
    confidence: float | None
    source: str
    context: str | None
    session: str | None
    slot: str | None
    expires: TimeInput | None
    valid_from: TimeInput | None
    metadata: Mapping[str, Any] | None
    origin: Mapping[str, Any] | None
    replaces: str | Iterable[str]


class ImportOptions(TypedDict, total=False):
    """The options of all memories of an import. Their own values come first."""

    kind: str
    tags: Iterable[str]
    importance: float
    confidence: float | None
    context: str | None
    session: str | None
    expires: TimeInput | None
    valid_from: TimeInput | None
    metadata: Mapping[str, Any] | None


def reject_unknown(given: Iterable[str], choices: type, verb: str) -> None:
    """Raise if there is an option that the verb does not have."""
    if unknown := set(given) - set(choices.__annotations__):
        raise Invalid(f"{verb} has no option {min(unknown)!r}", f"It has: {', '.join(choices.__annotations__)}.")


def make_draft(text: Any, common: Traits, max_content: int) -> Draft:
    content = require_content(text, "text", max_content)
    return Draft(content, hash_content(content), common, None)


def require_content(text: Any, name: str, limit: int) -> str:
    content = require_text(text, name).strip()
    if not content:
        raise Invalid(f"{name} is empty", "Give a text.")
    if len(content) > limit:
        hint = "Split it, or keep it as a file; the limit is the setting max_content."
        raise Invalid(f"{name} has {len(content):,} characters; a memory holds up to {limit:,}", hint)
    return content


def require_text(text: Any, name: str) -> str:
    """Return the text if every engine can store it: valid Unicode without NUL."""
    if not isinstance(text, str):
        raise Invalid(f"{name} must be text, not {type(text).__name__}")
    if "\0" in text:
        raise Invalid(f"{name} contains a NUL character", "Remove it; databases cannot store it in text.")
    try:
        text.isascii() or text.encode()
    except UnicodeEncodeError as error:
        raise Invalid(f"{name} is not valid Unicode: {error.reason}", "Decode the bytes as UTF-8 first.") from error
    return text


def check_reason(reason: Any, actor: Any) -> None:
    """Check the reason and the actor of a change, which go to the history."""
    require_text(actor, "actor")
    if reason is not None:
        require_text(reason, "reason")


def clean_question(text: Any) -> str:
    """The question with invalid Unicode replaced: any text can be asked."""
    if not isinstance(text, str):
        raise Invalid(f"the question must be text, not {type(text).__name__}", "Give the words to search for.")
    return text.encode("utf-8", "replace").decode()


def parse_choice(choices: type[E], given: Any, name: str) -> E:
    try:
        return choices(given)
    except ValueError:
        raise Invalid(f"unknown {name} {str(given)[:40]!r}", f"Choose one of: {', '.join(choices)}.") from None


def parse_fraction(given: Any, name: str, default: Any) -> Any:
    if given is None:
        return default
    value = parse_number(given, name)
    if not 0 <= value <= 1:
        raise Invalid(f"{name} is {given}", "Give a number from 0 to 1.")
    return value


def parse_seconds(given: Any, name: str) -> float:
    value = parse_number(given, name)
    if not 0 < value <= MAX_SECONDS:
        raise Invalid(f"{name} is {given}", "Give a number of seconds above 0.")
    return value


def parse_days(given: Any, name: str, maximum: int) -> float:
    value = parse_number(given, name)
    if not 0 <= value <= maximum:
        raise Invalid(f"{name} is {given}", f"Give a number of days from 0 to {maximum:,}.")
    return value


def parse_number(given: Any, name: str) -> float:
    if isinstance(given, int) and not isinstance(given, bool) and abs(given) > MAX_LIMIT:
        raise Invalid(f"{name} is out of range")
    if isinstance(given, bool) or not isinstance(given, int | float) or not math.isfinite(given):
        raise Invalid(f"{name} is {str(given)[:40]!r}, not a number")
    return float(given)


def parse_tags(given: Any) -> tuple[str, ...]:
    tags = dict.fromkeys(require_name(tag, "tag") for tag in as_list(given, "tags"))
    if len(tags) > MAX_TAGS:
        raise Invalid(f"{len(tags)} tags; a memory carries up to {MAX_TAGS}")
    return tuple(tags)


def optional_name(given: str | None, name: str) -> str | None:
    return None if given is None else require_name(given, name)


def require_name(given: str, name: str) -> str:
    text = unicodedata.normalize("NFC", require_text(given, name).strip())
    if any(unicodedata.category(letter) == "Cc" for letter in text):
        raise Invalid(f"{name} contains a control character", "A name is a single line of visible characters.")
    if not text or len(text) > MAX_NAME_CHARS:
        raise Invalid(f"{name} must have 1 to {MAX_NAME_CHARS} characters, not {len(text)}")
    return text


def require_namespace(given: Any) -> str:
    name = unicodedata.normalize("NFC", require_text(given, "namespace"))
    if len(name) > MAX_NAME_CHARS or not all(part and all(map(_is_name_character, part)) for part in name.split("/")):
        hint = "Use letters, digits and . _ @ + - with / between the parts, as in alice/coder."
        raise Invalid(f"{name[:60]!r} is not a namespace", hint)
    return name


def _is_name_character(character: str) -> bool:
    return character.isalnum() or character in "._@+-" or unicodedata.category(character).startswith("M")


def as_list(given: Any, name: str) -> list[Any]:
    """A list of one, several or none."""
    if given is None or isinstance(given, str):
        return [given] if given is not None else []
    if not isinstance(given, Iterable):
        raise Invalid(f"{name} must be a list, not {type(given).__name__}")
    return [*given]


def parse_time(
    given: Any, name: str, *, past: bool = False, side: Side = "first", now: datetime | None = None
) -> datetime | None:
    """Parse a time, which may be in words. They count from `now`, by default the present moment."""
    if given is None:
        return None
    if not isinstance(given, datetime | date | timedelta | str):
        raise Invalid(f"{name} must be a time, not {type(given).__name__}")
    return parse_instant(given, now or from_micros(clock.now()), name, past=past, side=side)


def require_json_object(given: Any, name: str) -> dict[str, Any] | None:
    if given is not None and not isinstance(given, Mapping):
        raise Invalid(f"{name} must be an object of plain JSON values with text keys")
    read: dict[str, Any] | None = require_json(given, name, MAX_METADATA_CHARS)
    return read


def require_json(given: Any, name: str, limit: int, hint: str = "") -> Any:
    """Return a JSON value as it will be read back. Raise if JSON would change it."""
    if given is None:
        return None
    try:
        text = json.dumps(given, allow_nan=False, ensure_ascii=False)
        read: Any = json.loads(text)
    except (TypeError, ValueError, RecursionError) as error:
        raise Invalid(f"{name} cannot be written as JSON: {error}") from error
    if read != given:
        raise Invalid(f"{name} must be an object of plain JSON values with text keys")
    require_text(text, name)
    if len(text) > limit:
        raise Invalid(f"{name} has {len(text):,} characters of JSON; up to {limit:,} are kept", hint)
    if _is_deep(read):
        raise Invalid(f"{name}: more than {MAX_JSON_DEPTH} lists and objects are nested", hint)
    return read


def _is_deep(value: Any) -> bool:
    """Whether a value is nested more deeply than `MAX_JSON_DEPTH`. Goes level by level, without recursion."""
    inside = [value]
    for _ in range(MAX_JSON_DEPTH + 1):
        of = (each.values() if isinstance(each, dict) else each for each in inside if isinstance(each, dict | list))
        inside = [each for several in of for each in several]
        if not inside:
            return False
    return True


def parse_messages(given: Iterable[Any], limit: int, done: int = 0, last: int = 0) -> list[Message]:
    """Parse messages and check that their sequences rise.

    `done` is the number of messages before these, `last` the last sequence before them.
    """
    found = []
    for place, each in enumerate(given, start=done + 1):
        try:
            found.append(parse_message(each, limit))
        except Invalid as error:
            raise Invalid(f"message {place}: {error}", error.hint) from error
        sequence = found[-1].sequence
        if sequence is not None and sequence <= last:
            hint = "Give messages in the order they were said, with increasing numbers or none."
            raise Conflict(f"message {place}: its sequence {sequence} is not above the last, {last}", hint)
        last = last + 1 if sequence is None else sequence
    return found


def parse_message(given: Any, limit: int) -> Message:
    """Parse a mapping with role, content and other fields of a message. Unknown keys go to its payload."""
    if isinstance(given, Message):
        given = given._asdict()
    if not isinstance(given, Mapping):
        raise Invalid(
            f"a message must be a mapping, not {type(given).__name__}", 'As {"role": "user", "content": "…"}.'
        )
    own = {name: given[name] for name in Message._fields if name in given}
    rest = {name: value for name, value in given.items() if name not in own}
    if "speaker" not in own and not rest.keys() & {"arguments", "input", "type"} and isinstance(rest.get("name"), str):
        own["speaker"] = rest.pop("name").strip() or None
    if rest:
        own["payload"] = _merge_payload(own.get("payload"), rest)
        if not own.get("content") and not extract_text("", own["payload"]):
            hint = f"Its keys are: {', '.join(Message._fields)}; or give tool calls in the format of chat APIs."
            raise Invalid(f"a message without content, but with {', '.join(map(str, rest))[:80]}", hint)
    return _build_message(limit=limit, **own)


def _build_message(
    *,
    limit: int,
    role: Any = None,
    content: Any = None,
    speaker: str | None = None,
    time: TimeInput | None = None,
    sequence: int | None = None,
    payload: Any = None,
    tags: Iterable[str] | None = None,
) -> Message:
    if isinstance(content, Sequence) and not isinstance(content, str):
        content, payload = join_text_blocks(content), _merge_payload(payload, {"content": [*content]})
    text = require_text("" if content is None else content, "content")
    kept = require_json(payload, "payload", limit, "The limit is the setting max_message.")
    if not text.strip() and not kept:
        raise Invalid("a message needs a text or a payload", "Give what was said.")
    if len(text) > limit:
        hint = "Split it; the limit is the setting max_message."
        raise Invalid(f"content has {len(text):,} characters; a message holds up to {limit:,}", hint)
    when = parse_time(time, "time", past=True)
    number = None if sequence is None else positive_int(sequence, "sequence", MAX_SEQUENCE)
    if role is None:
        raise Invalid("a message needs a role", f"Choose one of: {', '.join(Role)}.")
    who = ROLES.get(role.lower()) if isinstance(role, str) else None
    said_by = who or parse_choice(Role, role, "role")
    return Message(said_by, text, optional_name(speaker, "speaker"), when, number, kept, parse_tags(tags))


def _merge_payload(payload: Any, more: Mapping[str, Any]) -> dict[str, Any]:
    if payload is not None and not isinstance(payload, Mapping):
        raise Invalid(f"payload is a {type(payload).__name__}; with {', '.join(more)} beside it, it must be an object")
    if twice := {*(payload or {})} & {*more}:
        raise Invalid(f"{min(twice)} is given twice, in the payload and beside it")
    return {**(payload or {}), **more}


def positive_int(given: Any, name: str = "limit", maximum: int = MAX_LIMIT) -> int:
    if isinstance(given, bool) or not isinstance(given, int) or not 1 <= given <= maximum:
        raise Invalid(f"{name} is {str(given)[:40]}", f"Give a whole number from 1 to {maximum:,}.")
    return given


def parse_sequence(given: Any, name: str) -> int:
    """A sequence, or 0 for the place before the first."""
    return 0 if given == 0 and not isinstance(given, bool) else positive_int(given, name, MAX_SEQUENCE)


def parse_budget(given: Any) -> int:
    return positive_int(given, "budget", MAX_BUDGET_TOKENS)
