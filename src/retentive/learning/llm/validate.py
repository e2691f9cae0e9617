"""Validate the answer of a language model: which of its claims follow the rules, and how far each is believed.

The model was asked for JSON of `SCHEMA`. An answer of another shape is `Unusable`, and so is one without a single
believable claim; the reason is worded so that the model can repair it. Otherwise a claim that breaks a rule, or its bad
part, is left out: asking again for one claim costs as much as for all.

A conversation may contain text that was written to mislead the model, and weak models mislead themselves. So an answer
can only state claims, few and short ones, and:

a. Each claim must cite a message of the user and say what the user says there (`support.py`). With less than half of
   its words there, it is a guess, which ends nothing. With none, or if the assistant said it, it is left out.
b. A slot must be one of ours, or one that the model was shown, and the claim must be able to fill it.
c. A memory that the model calls replaced is ended only if the claim and its messages have more than half of its words.
   Otherwise its end is only proposed.
"""

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from enum import StrEnum
from math import isfinite
from typing import Any, NamedTuple

from retentive.errors import Unusable
from retentive.judgement.corrections.slots import can_fill, is_slot
from retentive.judgement.corrections.statement import parse_statement
from retentive.learning.llm.support import Support, SupportLevel, says_same
from retentive.model import DEFAULT_CONFIDENCE, DEFAULT_IMPORTANCE, Claim, Event, Kind, Memory, Role, Source
from retentive.text.model_output import has_json, shares_word_run
from retentive.text.normalize import normalise_text

MAX_CLAIMS = 20  # of one answer: a batch is a few dozen messages, and most say nothing worth keeping
MAX_CLAIM_CHARS = 500  # two long sentences. What is longer is a copied text
MAX_REPLACED = 2  # memories that one claim makes untrue: a model that names many was misled
MAX_REASONS = 5  # reported for one answer: more of them repeat the same mistakes
GUESS_CONFIDENCE = 0.3  # confidence of what the words of the messages do not bear out
MAX_CLAIM_CONFIDENCE = DEFAULT_CONFIDENCE[Source.EXPLICIT]  # no claim is surer than what people ask to be kept
CLAIM_KINDS = tuple(kind for kind in Kind if kind not in (Kind.NOTE, Kind.FILE))  # those are not found in talk

KnownStatement = Memory | Claim
"""A memory, or a claim of an earlier part of the same conversation, that a model is shown."""

_FIRST_PERSON = re.compile(r"(I|My|We|Our)\b(?![.&])")
_FENCE = re.compile(r"<think>.*?</think>|```(?:json)?", re.DOTALL)


class Relation(StrEnum):
    """How a claim stands to what is known."""

    NEW = "new"
    REPEATS = "repeats"
    REPLACES = "replaces"
    UNSURE = "unsure"


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
                    "kind": {"type": "string", "enum": [*CLAIM_KINDS]},
                    "events": {"type": "array", "items": {"type": "integer"}},
                    "relation": {"type": "string", "enum": [*Relation]},
                    "known": {"type": "array", "items": {"type": "integer"}},
                },
                "required": [*_FIELDS, "relation", "known"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["claims"],
    "additionalProperties": False,
}


class ValidatedAnswer(NamedTuple):
    """The valid part of an answer."""

    claims: tuple[Claim, ...]
    """The claims that are not known word for word."""
    stated_count: int
    """How many claims the answer had."""
    rejected: tuple[str, ...]
    """Why claims were left out, one reason for each."""


class _RejectedClaim(Exception):
    """A claim that breaks a rule; the message says which."""


class ModelInput(NamedTuple):
    """The material that the model was given."""

    batch: Sequence[Event]
    known: Sequence[KnownStatement] = ()
    """The known memories, in the order of their numbers from 1 on."""
    instructions: str = ""


def validate_answer(text: str, shown: ModelInput, known: Iterable[KnownStatement] = ()) -> ValidatedAnswer:
    """The claims of an answer that follow the rules. `known` must not be learned again word for word.

    Raises `Unusable` if the answer has another shape, or has claims of which none can be believed.
    """
    stated = read_claims(text)
    checker = _Checker(shown)
    seen = {_fold(each.content) for each in (*known, *shown.known)}
    found: list[Claim] = []
    rejected: list[str] = []
    is_useful = not stated
    for place, raw in enumerate(stated):
        try:
            claim = checker.check(raw)
        except _RejectedClaim as reason:
            rejected.append(f"claims[{place}]: {reason}")
            continue
        is_useful = is_useful or not claim.is_guess
        if (folded := _fold(claim.content)) not in seen and not checker.repeats_claim(raw):
            seen.add(folded)
            found.append(claim)
    if not is_useful:
        raise Unusable(f"none of the claims can be verified: {'; '.join(rejected[:MAX_REASONS]) or _GUESSES_ONLY}")
    return ValidatedAnswer(tuple(found[:MAX_CLAIMS]), len(stated), tuple(rejected))


_GUESSES_ONLY = SupportLevel.GUESS.value


def read_claims(text: str) -> list[Mapping[str, Any]]:
    """The claims as the model wrote them. Raises `Unusable` if the answer has another shape than `SCHEMA`."""
    stated = _parse(text)
    for place, claim in enumerate(stated):
        _check_shape(claim, f"claims[{place}]")
    return stated


def _parse(text: str) -> list[Any]:
    """The list of claims in an answer, without what models write around JSON."""
    bare = _FENCE.sub("", text)
    try:
        answer = json.loads(bare[bare.find("{") : bare.rfind("}") + 1])
    except (ValueError, RecursionError) as error:
        raise Unusable(f"the answer is not JSON: {error}") from None
    found = answer.get("claims") if isinstance(answer, dict) else None
    if not isinstance(found, list):
        raise Unusable('the answer is not an object with a list "claims"')
    return found


def _check_shape(claim: Any, where: str) -> None:
    if not isinstance(claim, dict):
        raise Unusable(f"{where} is not an object")
    for name, (kind, types) in _FIELDS.items():
        if name not in claim:
            raise Unusable(f'{where} has no "{name}"')
        if not isinstance(claim[name], types) or isinstance(claim[name], bool):
            raise Unusable(f'{where}: "{name}" must be of type {kind}')
    if claim["kind"] not in CLAIM_KINDS:
        raise Unusable(f'{where}: "kind" must be one of {", ".join(CLAIM_KINDS)}')
    if not all(type(number) is int for number in claim["events"]):
        raise Unusable(f'{where}: "events" must hold integers')


class _Checker:
    """Checks each claim of an answer against the material that the model was given."""

    def __init__(self, shown: ModelInput) -> None:
        self._shown = shown
        self._batch = {event.sequence: event for event in shown.batch}
        self._support = Support(shown.batch, [each.content for each in shown.known])

    def check(self, raw: Mapping[str, Any]) -> Claim:
        """The claim as far as it is believed. Raises `_RejectedClaim` if it breaks a rule."""
        content = _clean(raw["content"])
        self._check_text(content)
        cited = self._find_cited(raw)
        said = max((event.time for event in cited if event.role is Role.USER), default=None)
        if said is None:
            raise _RejectedClaim("it cites no message of the user's")
        numbers = tuple(sorted(event.sequence for event in cited))
        finding = self._support.judge(content, numbers)
        if finding not in (SupportLevel.BELIEVED, SupportLevel.GUESS):
            raise _RejectedClaim(finding.value)
        claim = _read_claim(raw, content, said, numbers)
        if finding is SupportLevel.BELIEVED:
            claim = replace(claim, slot=self._find_slot(raw, content))
            return self._set_relation(claim, raw)
        if claim.kind is Kind.INSTRUCTION:
            raise _RejectedClaim(f"an instruction: {finding.value}")
        return self._set_relation(_as_guess(claim), raw)

    def repeats_claim(self, raw: Mapping[str, Any]) -> bool:
        """Whether a claim repeats one of an earlier part of the conversation."""
        content = _clean(raw["content"])
        named = self._find_related(raw) if raw.get("relation") == Relation.REPEATS else []
        return any(isinstance(each, Claim) and says_same(content, each.content) for each in named)

    def _check_text(self, content: str) -> None:
        if not 0 < len(content) <= MAX_CLAIM_CHARS:
            raise _RejectedClaim(f"the content must have 1 to {MAX_CLAIM_CHARS} characters")
        if _FIRST_PERSON.match(content):
            raise _RejectedClaim('the content must be in the third person: "The user ..."')
        if content.endswith("?"):
            raise _RejectedClaim("the content must be a statement")
        if has_json(content) or shares_word_run(content, self._shown.instructions):
            raise _RejectedClaim("the content repeats what you were given")

    def _find_cited(self, raw: Mapping[str, Any]) -> list[Event]:
        numbers = dict.fromkeys(raw["events"])
        if missing := [number for number in numbers if number not in self._batch]:
            raise _RejectedClaim(f"there is no message {str(missing[0])[:20]}")
        return [self._batch[number] for number in numbers]

    def _find_slot(self, raw: Mapping[str, Any], content: str) -> str | None:
        slot = raw["slot"].strip()
        is_known = is_slot(slot) or slot in {each.slot for each in self._shown.known}
        return slot if slot and is_known and can_fill(parse_statement(content), slot) else None

    def _find_related(self, raw: Mapping[str, Any]) -> list[KnownStatement]:
        """The known memories that a claim names by their numbers."""
        numbers = raw.get("known")
        shown = self._shown.known
        given: Collection[Any] = numbers if isinstance(numbers, list) else ()
        return [shown[number - 1] for number in given if type(number) is int and 0 < number <= len(shown)]

    def _set_relation(self, claim: Claim, raw: Mapping[str, Any]) -> Claim:
        """Set the memories that a claim repeats, replaces or may replace. More than a few are not believed."""
        named = [each for each in self._find_related(raw) if isinstance(each, Memory)]
        relation = raw.get("relation")
        if relation == Relation.NEW or not named or len(named) > MAX_REPLACED:
            return claim
        if relation == Relation.REPEATS:
            same = next((each.id for each in named if says_same(claim.content, each.content)), "")
            return replace(claim, repeats=same)
        is_sure = relation == Relation.REPLACES and not claim.is_guess
        ended = [
            each for each in named if is_sure and self._support.names_most(each.content, claim.content, claim.events)
        ]
        return replace(
            claim,
            replaces=tuple(each.id for each in ended),
            proposes=tuple(each.id for each in named if each not in ended),
        )


def _read_claim(raw: Mapping[str, Any], content: str, said: datetime, events: tuple[int, ...]) -> Claim:
    expires = _parse_time(raw["expires"])
    return Claim(
        content=content,
        kind=Kind(raw["kind"]),
        said=said,
        events=events,
        confidence=_clamp(raw["confidence"], 0.0, MAX_CLAIM_CONFIDENCE),
        importance=round(_clamp(raw["importance"], 1, 10)),
        valid_from=_parse_time(raw["valid_from"]),
        expires=expires if expires and expires > said else None,
    )


def _as_guess(claim: Claim) -> Claim:
    importance = min(claim.importance, DEFAULT_IMPORTANCE)
    return replace(claim, is_guess=True, confidence=min(GUESS_CONFIDENCE, claim.confidence), importance=importance)


def _clean(text: str) -> str:
    """Make a text one line that can be stored: lone surrogates cannot."""
    return normalise_text(text.encode("utf-8", "replace").decode().replace("\0", " "))


def _fold(text: str) -> str:
    return normalise_text(text).casefold().rstrip(".")


def _clamp(value: float, low: float, high: float) -> float:
    bounded = min(max(value, low), high)
    return bounded if isfinite(bounded) else low


def _parse_time(text: str) -> datetime | None:
    """Parse a date, or a date with a time; None for anything else."""
    try:
        found = datetime.fromisoformat(text.strip())
        return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None
