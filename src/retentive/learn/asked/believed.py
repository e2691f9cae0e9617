"""What may be believed of a language model's answer.

It was asked for JSON of `SCHEMA`. An answer of another shape is `Unusable`, and the reason is put so that the model can
mend it. A claim that breaks a rule is left out, or what is wrong with it is: asking again for one claim costs as much
as all of them.

A conversation may hold text that was written to mislead the model. So its answer has no way to do anything but to
state claims, few and short ones, and each must cite a message of the user's. A claim that shares no word with what
it cites is kept as a guess and without its slot: it takes the place of nothing that was known.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from math import isfinite
from typing import Any

from retentive.errors import Unusable
from retentive.model import DEFAULT_CONFIDENCE, Claim, Event, Kind, Memory, Role, Source
from retentive.text.normal import normalise
from retentive.text.sentences import own
from retentive.text.terms import words

MOST_CLAIMS = 20  # of one answer: a batch is a few dozen messages, and most say nothing worth keeping
LONGEST = 500  # characters of a claim: two long sentences. What is longer is a copied text
MAX_REPLACED = 2  # memories that one claim makes untrue: whoever names many was misled
GUESS = 0.3  # confidence of what the words of the messages do not bear out
SURE = DEFAULT_CONFIDENCE[Source.EXPLICIT]  # no claim is surer than what people ask to be kept
STEM = 5  # letters that "moving" and "moved" to a place share, near enough
KINDS = tuple(kind for kind in Kind if kind not in (Kind.NOTE, Kind.FILE))  # those are not found in talk

_SLOT = re.compile(r"[a-z][a-z0-9_]*(\.[a-z0-9][a-z0-9_]*){1,5}")
_FIRST_PERSON = re.compile(r"(I|My|We|Our)\b(?![.&])")
_FENCE = re.compile(r"<think>.*?</think>|```(?:json)?", re.DOTALL)

_FIELDS: Mapping[str, tuple[str, type | tuple[type, ...]]] = {
    "content": ("string", str),
    "kind": ("string", str),
    "slot": ("string", str),
    "events": ("array", list),
    "confidence": ("number", (int, float)),
    "importance": ("integer", (int, float)),
    "valid_from": ("string", str),
    "expires": ("string", str),
}

# No bounds, no formats, no unions: servers differ in which of them they know, and refuse a schema with others.
SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "claims": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {name: {"type": kind} for name, (kind, _) in _FIELDS.items()}
                | {
                    "kind": {"type": "string", "enum": [*KINDS]},
                    "events": {"type": "array", "items": {"type": "integer"}},
                    "replaces": {"type": "array", "items": {"type": "integer"}},
                },
                "required": [*_FIELDS, "replaces"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["claims"],
    "additionalProperties": False,
}


def claims(
    text: str, batch: Sequence[Event], known: Iterable[Memory | Claim] = (), shown: Sequence[Memory | Claim] = ()
) -> list[Claim]:
    """The claims that hold to the rules, of those that are not known word for word. `Unusable` if it is no answer.

    `shown` is what the model was shown of what is known; it names what a claim replaces by its number, from 1 on.
    """
    told = _told(text)
    for place, claim in enumerate(told):
        _check(claim, f"claims[{place}]")
    seen = {_folded(each.content) for each in known}
    found = []
    for claim in _kept(told, {event.sequence: event for event in batch}, shown):
        if (folded := _folded(claim.content)) not in seen:
            seen.add(folded)
            found.append(claim)
    return found[:MOST_CLAIMS]


def _told(text: str) -> list[Any]:
    """The list in the answer; what models write around JSON is passed over."""
    bare = _FENCE.sub("", text)
    try:
        answer = json.loads(bare[bare.find("{") : bare.rfind("}") + 1])
    except (ValueError, RecursionError) as error:
        raise Unusable(f"the answer is not JSON: {error}") from None
    found = answer.get("claims") if isinstance(answer, dict) else None
    if not isinstance(found, list):
        raise Unusable('the answer is not an object with a list "claims"')
    return found


def _check(claim: Any, where: str) -> None:
    if not isinstance(claim, dict):
        raise Unusable(f"{where} is not an object")
    for name, (kind, types) in _FIELDS.items():
        if name not in claim:
            raise Unusable(f'{where} has no "{name}"')
        if not isinstance(claim[name], types) or isinstance(claim[name], bool):
            raise Unusable(f'{where}: "{name}" must be of type {kind}')
    if claim["kind"] not in KINDS:
        raise Unusable(f'{where}: "kind" must be one of {", ".join(KINDS)}')
    if not all(type(number) is int for number in claim["events"]):
        raise Unusable(f'{where}: "events" must hold integers')


def _kept(
    told: Sequence[Mapping[str, Any]], batch: Mapping[int, Event], shown: Sequence[Memory | Claim]
) -> Iterator[Claim]:
    for claim in told:
        content = _clean(claim["content"])
        cited = [batch[number] for number in dict.fromkeys(claim["events"]) if number in batch]
        said = max((event.time for event in cited if event.role is Role.USER), default=None)
        is_whole = len(cited) == len(set(claim["events"]))
        if said is None or not is_whole or not 0 < len(content) <= LONGEST or _FIRST_PERSON.match(content):
            continue
        found = _claim(claim, content, said, tuple(sorted(event.sequence for event in cited)))
        borne_out = _stems(content) & _stems(" ".join(own(event.content) for event in cited))
        if borne_out:
            yield replace(found, replaces=_find_replaced(claim, shown))
        else:
            yield replace(found, slot=None, confidence=min(GUESS, found.confidence))


def _find_replaced(told: Mapping[str, Any], shown: Sequence[Memory | Claim]) -> tuple[str, ...]:
    """The ids of the memories that a claim names by their numbers; more than a few are not believed."""
    numbers = told.get("replaces", [])
    known = [shown[number - 1] for number in numbers if type(number) is int and 0 < number <= len(shown)]
    ids = tuple(each.id for each in known if isinstance(each, Memory))
    return ids if len(ids) <= MAX_REPLACED else ()


def _claim(told: Mapping[str, Any], content: str, said: datetime, events: tuple[int, ...]) -> Claim:
    slot, expires = told["slot"].strip(), _instant(told["expires"])
    return Claim(
        content=content,
        kind=Kind(told["kind"]),
        said=said,
        events=events,
        slot=slot if _SLOT.fullmatch(slot) else None,
        confidence=_within(told["confidence"], 0.0, SURE),
        importance=round(_within(told["importance"], 1, 10)),
        valid_from=_instant(told["valid_from"]),
        expires=expires if expires and expires > said else None,
    )


def _clean(text: str) -> str:
    """One line that can be stored: half a pair of surrogates cannot."""
    return normalise(text.encode("utf-8", "replace").decode().replace("\0", " "))


def _folded(text: str) -> str:
    return normalise(text).casefold().rstrip(".")


def _stems(text: str) -> set[str]:
    return {word[:STEM] for word in words(text, len(text)) if word != "user"}


def _within(value: float, low: float, high: float) -> float:
    bounded = min(max(value, low), high)
    return bounded if isfinite(bounded) else low


def _instant(text: str) -> datetime | None:
    """A date, or a date with a time; nothing if it is something else."""
    try:
        found = datetime.fromisoformat(text.strip())
        return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None
