"""Input as callers give it, checked. What passes here can be kept; what does not changes nothing."""

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
    DEFAULT_CONFIDENCE,
    DEFAULT_IMPORTANCE,
    ROLES,
    Draft,
    Kind,
    Message,
    Role,
    Source,
    Traits,
    from_micros,
)
from retentive.text.instants import Side, instant
from retentive.text.messages import readable, written
from retentive.text.normalize import content_hash

E = TypeVar("E", bound=StrEnum)
When = datetime | date | timedelta | str

MAX_NAME = 200  # characters of a namespace, session, slot or tag: names, not texts
MAX_TAGS = 64
MAX_METADATA = 64_000  # characters of JSON
DEEPEST = 100  # lists and objects inside of each other: what goes into them calls itself, and the stack has an end
LAST = 2**53 - 1  # the highest sequence: what every JSON reader takes for a whole number
MOST_TOKENS = 10**9
MOST_SECONDS = 10**6  # between two looks: eleven days
LARGEST = 1_000_000  # of any limit; more at once is not an answer but an export


class Unset:
    """Not given; None may be a value."""


UNSET = Unset()


class Options(TypedDict, total=False):
    """What may be said of a memory beside its text."""

    kind: str
    tags: Iterable[str]
    importance: float
    confidence: float | None
    source: str
    context: str | None
    session: str | None
    slot: str | None
    expires: When | None
    valid_from: When | None
    metadata: Mapping[str, Any] | None
    origin: Mapping[str, Any] | None
    replaces: str | Iterable[str]


class Common(TypedDict, total=False):
    """What may be said of all the memories of an import; what they say themselves goes before."""

    kind: str
    tags: Iterable[str]
    importance: float
    confidence: float | None
    context: str | None
    session: str | None
    expires: When | None
    valid_from: When | None
    metadata: Mapping[str, Any] | None


def known(given: Iterable[str], choices: type, verb: str) -> None:
    """A misspelt option is the caller's mistake, told in the verb's own words."""
    if unknown := set(given) - set(choices.__annotations__):
        raise Invalid(f"{verb} has no option {min(unknown)!r}", f"It has: {', '.join(choices.__annotations__)}.")


def traits(
    *,
    max_content: int,
    kind: str = Kind.FACT,
    tags: Iterable[str] = (),
    importance: float = DEFAULT_IMPORTANCE,
    confidence: float | None = None,
    source: str = Source.EXPLICIT,
    context: str | None = None,
    session: str | None = None,
    slot: str | None = None,
    expires: When | None = None,
    valid_from: When | None = None,
    metadata: Mapping[str, Any] | None = None,
    origin: Mapping[str, Any] | None = None,
) -> Traits:
    known_source = one_of(Source, source, "source")
    return Traits(
        kind=one_of(Kind, kind, "kind"),
        tags=tag_list(tags),
        importance=importance_of(importance),
        confidence=DEFAULT_CONFIDENCE[known_source] if confidence is None else confidence_of(confidence),
        source=known_source,
        context=body(context, "context", max_content) if context else None,
        session=name_of(session, "session"),
        slot=name_of(slot, "slot"),
        expires=moment(expires, "expires", side="after"),
        valid_from=moment(valid_from, "valid_from", past=True),
        metadata=json_object(metadata, "metadata") or {},
        origin=json_object(origin, "origin"),
    )


def draft(text: Any, common: Traits, max_content: int) -> Draft:
    content = body(text, "text", max_content)
    return Draft(content, content_hash(content), common, None)


def body(text: Any, name: str, limit: int) -> str:
    content = plain(text, name).strip()
    if not content:
        raise Invalid(f"{name} is empty", "Give the words to remember.")
    if len(content) > limit:
        hint = "Split it, or keep it as a file; the limit is the setting max_content."
        raise Invalid(f"{name} has {len(content):,} characters; a memory holds up to {limit:,}", hint)
    return content


def plain(text: Any, name: str) -> str:
    """Text that every engine can store: real characters, no NUL."""
    if not isinstance(text, str):
        raise Invalid(f"{name} must be text, not {type(text).__name__}")
    if "\0" in text:
        raise Invalid(f"{name} contains a NUL character", "Remove it; databases cannot store it in text.")
    try:
        text.isascii() or text.encode()
    except UnicodeEncodeError as error:
        raise Invalid(f"{name} is not valid Unicode: {error.reason}", "Decode the bytes as UTF-8 first.") from error
    return text


def why(reason: Any, actor: Any) -> None:
    """What goes to the history."""
    plain(actor, "actor")
    if reason is not None:
        plain(reason, "reason")


def question(text: Any) -> str:
    """Any text can be asked; what is no text in it is replaced."""
    if not isinstance(text, str):
        raise Invalid(f"the question must be text, not {type(text).__name__}", "Give the words to look for.")
    return text.encode("utf-8", "replace").decode()


def one_of(choices: type[E], given: Any, name: str) -> E:
    try:
        return choices(given)
    except ValueError:
        raise Invalid(f"unknown {name} {str(given)[:40]!r}", f"Choose one of: {', '.join(choices)}.") from None


def importance_of(given: Any) -> int:
    value = _number(given, "importance")
    if value != int(value) or not 1 <= value <= 10:  # noqa: PLR2004
        raise Invalid(f"importance is {given}", "Give a whole number from 1 (trivial) to 10 (vital); 5 is usual.")
    return int(value)


def confidence_of(given: Any) -> float:
    value = _number(given, "confidence")
    if not 0 <= value <= 1:
        raise Invalid(f"confidence is {given}", "Give a number from 0 (a guess) to 1 (certain).")
    return value


def fraction(given: Any, name: str, default: Any) -> Any:
    if given is None:
        return default
    value = _number(given, name)
    if not 0 <= value <= 1:
        raise Invalid(f"{name} is {given}", "Give a number from 0 to 1.")
    return value


def seconds(given: Any, name: str) -> float:
    value = _number(given, name)
    if not 0 < value <= MOST_SECONDS:
        raise Invalid(f"{name} is {given}", "Give a number of seconds above 0.")
    return value


def days(given: Any, name: str, largest: int) -> float:
    value = _number(given, name)
    if not 0 <= value <= largest:
        raise Invalid(f"{name} is {given}", f"Give a number of days from 0 to {largest:,}.")
    return value


def _number(given: Any, name: str) -> float:
    if isinstance(given, int) and not isinstance(given, bool) and abs(given) > LARGEST:
        raise Invalid(f"{name} is out of all bounds")
    if isinstance(given, bool) or not isinstance(given, int | float) or not math.isfinite(given):
        raise Invalid(f"{name} is {str(given)[:40]!r}, not a number")
    return float(given)


def tag_list(given: Any) -> tuple[str, ...]:
    tags = dict.fromkeys(required(tag, "tag") for tag in each_of(given, "tags"))
    if len(tags) > MAX_TAGS:
        raise Invalid(f"{len(tags)} tags; a memory carries up to {MAX_TAGS}")
    return tuple(tags)


def name_of(given: str | None, name: str) -> str | None:
    return None if given is None else required(given, name)


def required(given: str, name: str) -> str:
    text = unicodedata.normalize("NFC", plain(given, name).strip())
    if any(unicodedata.category(letter) == "Cc" for letter in text):
        raise Invalid(f"{name} contains a control character", "A name is a single line of visible characters.")
    if not text or len(text) > MAX_NAME:
        raise Invalid(f"{name} must have 1 to {MAX_NAME} characters, not {len(text)}")
    return text


def namespace_of(given: Any) -> str:
    name = unicodedata.normalize("NFC", plain(given, "namespace"))
    if len(name) > MAX_NAME or not all(part and all(map(_is_of_a_name, part)) for part in name.split("/")):
        hint = "Use letters, digits and . _ @ + - with / between the parts, as in alice/coder."
        raise Invalid(f"{name[:60]!r} is not a namespace", hint)
    return name


def _is_of_a_name(character: str) -> bool:
    return character.isalnum() or character in "._@+-" or unicodedata.category(character).startswith("M")


def each_of(given: Any, name: str) -> list[Any]:
    """One, several or none."""
    if given is None or isinstance(given, str):
        return [given] if given is not None else []
    if not isinstance(given, Iterable):
        raise Invalid(f"{name} must be a list, not {type(given).__name__}")
    return [*given]


def moment(
    given: Any, name: str, *, past: bool = False, side: Side = "first", now: datetime | None = None
) -> datetime | None:
    """A time that was given as such or in words, which count from `now`: without one, from this moment."""
    if given is None:
        return None
    if not isinstance(given, datetime | date | timedelta | str):
        raise Invalid(f"{name} must be a time, not {type(given).__name__}")
    return instant(given, now or from_micros(clock.now()), name, past=past, side=side)


def json_object(given: Any, name: str) -> dict[str, Any] | None:
    if given is not None and not isinstance(given, Mapping):
        raise Invalid(f"{name} must be an object of plain JSON values with text keys")
    read: dict[str, Any] | None = json_value(given, name, MAX_METADATA)
    return read


def json_value(given: Any, name: str, limit: int, hint: str = "") -> Any:
    """As it will read back: what JSON cannot say is refused, not changed on the way."""
    if given is None:
        return None
    try:
        text = json.dumps(given, allow_nan=False, ensure_ascii=False)
        read: Any = json.loads(text)
    except (TypeError, ValueError, RecursionError) as error:
        raise Invalid(f"{name} cannot be written as JSON: {error}") from error
    if read != given:
        raise Invalid(f"{name} must be an object of plain JSON values with text keys")
    plain(text, name)
    if len(text) > limit:
        raise Invalid(f"{name} has {len(text):,} characters of JSON; up to {limit:,} are kept", hint)
    if _is_deep(read):
        raise Invalid(f"{name}: more than {DEEPEST} lists and objects are inside of each other", hint)
    return read


def _is_deep(value: Any) -> bool:
    """Level by level, not by a function that calls itself."""
    inside = [value]
    for _ in range(DEEPEST + 1):
        of = (each.values() if isinstance(each, dict) else each for each in inside if isinstance(each, dict | list))
        inside = [each for several in of for each in several]
        if not inside:
            return False
    return True


def messages(given: Iterable[Any], limit: int, done: int = 0, last: int = 0) -> list[Message]:
    """Their numbers in order. `done` is how many came before these, `last` the number of the one before."""
    found = []
    for place, each in enumerate(given, start=done + 1):
        try:
            found.append(message(each, limit))
        except Invalid as error:
            raise Invalid(f"message {place}: {error}", error.hint) from error
        sequence = found[-1].sequence
        if sequence is not None and sequence <= last:
            hint = "Give them in the order they were said, with rising numbers or none."
            raise Conflict(f"message {place}: its sequence {sequence} is not above the last, {last}", hint)
        last = last + 1 if sequence is None else sequence
    return found


def message(given: Any, limit: int) -> Message:
    """A mapping with role and content, and what else there is to say; what is not ours goes to the payload."""
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
        own["payload"] = _joined(own.get("payload"), rest)
        if not own.get("content") and not readable("", own["payload"]):
            hint = f"Its keys are: {', '.join(Message._fields)}; or give tool calls as chat interfaces write them."
            raise Invalid(f"a message without content, but with {', '.join(map(str, rest))[:80]}", hint)
    return _message(limit=limit, **own)


def _message(
    *,
    limit: int,
    role: Any = None,
    content: Any = None,
    speaker: str | None = None,
    time: When | None = None,
    sequence: int | None = None,
    payload: Any = None,
) -> Message:
    if isinstance(content, Sequence) and not isinstance(content, str):
        content, payload = written(content), _joined(payload, {"content": [*content]})
    text = plain("" if content is None else content, "content")
    kept = json_value(payload, "payload", limit, "The limit is the setting max_message.")
    if not text.strip() and not kept:
        raise Invalid("a message needs a text or a payload", "Give the words that were said.")
    if len(text) > limit:
        hint = "Split it; the limit is the setting max_message."
        raise Invalid(f"content has {len(text):,} characters; a message holds up to {limit:,}", hint)
    when = moment(time, "time", past=True)
    number = None if sequence is None else limit_of(sequence, "sequence", LAST)
    if role is None:
        raise Invalid("a message needs a role", f"Choose one of: {', '.join(Role)}.")
    who = ROLES.get(role.lower()) if isinstance(role, str) else None
    return Message(who or one_of(Role, role, "role"), text, name_of(speaker, "speaker"), when, number, kept)


def _joined(payload: Any, more: Mapping[str, Any]) -> dict[str, Any]:
    if payload is not None and not isinstance(payload, Mapping):
        raise Invalid(f"payload is a {type(payload).__name__}; with {', '.join(more)} beside it, it must be an object")
    if twice := {*(payload or {})} & {*more}:
        raise Invalid(f"{min(twice)} is given twice, in the payload and beside it")
    return {**(payload or {}), **more}


def limit_of(given: Any, name: str = "limit", largest: int = LARGEST) -> int:
    if isinstance(given, bool) or not isinstance(given, int) or not 1 <= given <= largest:
        raise Invalid(f"{name} is {str(given)[:40]}", f"Give a whole number from 1 to {largest:,}.")
    return given


def sequence_of(given: Any, name: str) -> int:
    """0 stands before the first."""
    return 0 if given == 0 and not isinstance(given, bool) else limit_of(given, name, LAST)


def tokens_of(given: Any) -> int:
    return limit_of(given, "budget", MOST_TOKENS)
