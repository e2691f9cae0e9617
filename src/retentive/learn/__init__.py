"""What is worth keeping, and what replaces what? Pure functions on texts and vectors."""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from retentive.model import Claim, Event, Kind, Memory

if TYPE_CHECKING:
    from retentive.learn.corrections.compare import Verdict
    from retentive.learn.corrections.statement import Statement
    from retentive.learn.talk.candidates import Candidate
    from retentive.learn.talk.requests import Request
    from retentive.llm import Writer


class Correction(NamedTuple):
    """A message that corrects an earlier one: "no, I meant 14 May"."""

    sequence: int
    value: str


class Rules(NamedTuple):
    """What can be told from words and by the judges."""

    parse: "Callable[[str], Statement]"
    compare: "Callable[[Statement, Statement], Verdict | None]"
    """Why the newer of two statements surely replaces the older."""
    score_replacements: "Callable[[Sequence[Statement], Statement, Sequence[Any], Any], list[float]]"
    """How likely a newer statement replaces each of several older ones, by all of them and their vectors."""
    is_restatement: "Callable[[Statement, Statement], bool]"
    """Whether the newer of two statements says no more than the older."""
    find_slot: "Callable[[Statement], str | None]"
    find_slot_value: "Callable[[Statement], str]"
    find_question_words: Callable[[str], str | None]
    """The words in which people ask for what is in a slot."""
    correct_value: Callable[[str, str], str | None]
    """An earlier statement with the value that a correction gives."""
    is_vital: Callable[[str], bool]
    """Whether a statement bears on somebody's safety, whatever is asked."""
    ends: Callable[[str, datetime], tuple[datetime | None, datetime | None]]
    """From when and until when a statement of that moment holds, if its words say so."""
    find_requests: "Callable[[str], tuple[Request, ...]]"
    """What a message asks to be kept, forgotten or corrected."""
    make_dates_absolute: Callable[[str, Kind, datetime], str]
    find_candidates: "Callable[[Sequence[Event]], list[Candidate]]"
    """The sentences of a conversation that may be worth keeping."""
    choose_claims: "Callable[[Sequence[Candidate], Sequence[Any] | None, Iterable[Correction]], list[Claim]]"
    """Those that are, by the judges; with the vectors of all, if there are any, and what later messages correct."""
    score_personal: Callable[[str, Any], float]
    """How likely a statement in the first person, with its vector, is about the person rather than the project."""
    batches: Callable[[Sequence[Event]], list[tuple[Event, ...]]]
    """A conversation in parts that a language model is shown one at a time."""
    ask: "Callable[[Writer, Sequence[Event], Sequence[Memory | Claim]], tuple[Claim, ...]]"
    """What is worth keeping of a part, by a language model."""


def open_rules() -> Rules:
    """Loaded when first needed: compiling the patterns takes some time."""
    from retentive.learn.asked.model import batches
    from retentive.learn.asked.model import extract as ask
    from retentive.learn.corrections.compare import compare, is_restatement
    from retentive.learn.corrections.judge import score_replacements
    from retentive.learn.corrections.slots import find_question_words, find_slot, find_slot_value
    from retentive.learn.corrections.statement import parse_statement
    from retentive.learn.corrections.values import correct_value
    from retentive.learn.talk.about_person import score_personal
    from retentive.learn.talk.candidates import find_candidates
    from retentive.learn.talk.choose import choose_claims
    from retentive.learn.talk.dated import make_dates_absolute
    from retentive.learn.talk.kinds import is_vital
    from retentive.learn.talk.requests import find_requests
    from retentive.text.dates import ends

    return Rules(
        parse=parse_statement,
        compare=compare,
        score_replacements=score_replacements,
        is_restatement=is_restatement,
        find_slot=find_slot,
        find_slot_value=find_slot_value,
        find_question_words=find_question_words,
        correct_value=correct_value,
        is_vital=is_vital,
        ends=ends,
        find_requests=find_requests,
        make_dates_absolute=make_dates_absolute,
        find_candidates=find_candidates,
        choose_claims=choose_claims,
        score_personal=score_personal,
        batches=batches,
        ask=ask,
    )
