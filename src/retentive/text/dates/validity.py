"""Finds the period in which a statement holds, by its own words.

A wrong end loses a fact, a missing one only leaves it stale. So an end needs a sign that the statement is about a state
of that length: "I'm in Rome for two weeks", not "I ran for an hour" or "I'm moving next week".
"""

import re
from datetime import datetime

from retentive.frozen_dataclass import dataclass
from retentive.text.dates.lexer import TimeToken
from retentive.text.dates.spans import CLOCK_UNITS, Period
from retentive.text.dates.tense import looks_back

Bounds = tuple[datetime | None, datetime | None]
_NO_BOUNDS: Bounds = (None, None)

_CLAUSE_END = re.compile(r"[.;!?\n]|\b(?:and|but|because|so|although|though|that)\b", re.IGNORECASE)
_MAX_TIMES = 20  # a statement has few times, and a whole book has no single end
_MAX_CLAUSE_CHARS = 200  # on either side of the time
_FOR_LENGTH = re.compile(
    r"\bfor\s+(?:(?:another|about|around|roughly|at least|only|just|up to|the)\s+)*$", re.IGNORECASE
)
_ANOTHER_LENGTH = re.compile(r"\b(?:another|an additional|at least another)\s+$", re.IGNORECASE)
_WITHIN_LENGTH = re.compile(r"\b(?:in|within)\s+(?:the\s+)?$|^within\b", re.IGNORECASE)
_BE_FORMS = r"(?:am|is|are|be|'m|'re|(?:he|she|it|who)'s)"
_HOLDING_VERB = re.compile(
    rf"\b{_BE_FORMS}\b|'(?:m|re|ll)\b|\b\w+'s\s+(?:on|in|at|off|away|out|\w+ing)\b|"
    r"\b(?:will|shall|won't|can't|cannot|must|should|going to|gonna|have to|has to|need to|needs to|plan to)\b|"
    r"^\s*(?:no|not|on|off|out|away|avoid\w*|stay\w*|visit\w*|work\w*|travel\w*|house-sitting|covering|temporarily)\b|"
    r"\b(?:i|we|you|they)\s+(?:only\s+|mostly\s+)?(?:work|live|stay|eat|teach|study|train|avoid|have|need|want|take|"
    r"share|sleep|commute)\b|\b(?:he|she)\s+(?:works|lives|stays|teaches|studies|has|needs|wants)\b",
    re.IGNORECASE,
)
_STATE_WORDS = re.compile(
    rf"\bwhile\b|(?:\b|(?<=\w)){_BE_FORMS}\s+(?:not\s+|all\s+|fully\s+)?(?:in|at|on|off|away|out|with|visiting|staying|"
    r"travel+ing|working|attending|covering|house-sitting|hosting|free|busy|unavailable|available|abroad|here|there|"
    r"back in|home)\b",
    re.IGNORECASE,
)
_STATIVE_BE = re.compile(r"(?:\b|(?<=\w))(?:am|is|are|be|'m|'re)\s+(?!\w+ing\b)", re.IGNORECASE)
_PERFECT_FORM = re.compile(r"\b(?:have|has|had)\b(?! (?:to|a|an|the|my|our|no|some|\d+)\b)|'ve\b", re.IGNORECASE)
_HABIT_WORDS = re.compile(
    r"\b(?:every|each|daily|weekly|usually|always|often|sometimes|normally|typically|per|once|twice|times|takes|lasts)\b",
    re.IGNORECASE,
)
# Events that stay true afterwards: their day is not the end of the statement.
_LASTING_EVENT = re.compile(
    r"\b(?:birthday|anniversary|born|died|wedding|moving|getting|starting|leaving|joining|buying|selling|becoming|"
    r"quitting|switching|changing|graduat\w+|retir\w+|marr\w+|turn(?:s|ing|ed)?)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class DatedClause:
    text: str
    before: str
    """The text before the time."""
    is_question: bool

    @property
    def is_past(self) -> bool:
        return looks_back(self.text) is True or _PERFECT_FORM.search(self.text) is not None

    def has(self, pattern: re.Pattern[str]) -> bool:
        return pattern.search(self.text) is not None


def find_clause(text: str, token: TimeToken) -> DatedClause:
    first, last = max(token.start - _MAX_CLAUSE_CHARS, 0), min(token.end + _MAX_CLAUSE_CHARS, len(text))
    start = max((match.end() for match in _CLAUSE_END.finditer(text, first, token.start)), default=first)
    after = _CLAUSE_END.search(text, token.end, last)
    is_question = after is not None and after[0] == "?"
    return DatedClause(text[start : after.start() if after else last], text[start : token.start], is_question)


def find_bounds(text: str, tokens: list[TimeToken], now: datetime) -> Bounds:
    """Find the first beginning and the first end that the words give."""
    begin: datetime | None = None
    finish: datetime | None = None
    times = [token for token in tokens if token.name in {"span", "length"}]
    for token in times[:_MAX_TIMES]:
        first, last = _find_token_bounds(text, token, times[:_MAX_TIMES], now)
        begin = begin or first
        finish = finish or last
        if finish:
            break
    return (begin, finish) if begin is None or finish is None or begin < finish else _NO_BOUNDS


def _find_token_bounds(text: str, token: TimeToken, tokens: list[TimeToken], now: datetime) -> Bounds:
    clause = find_clause(text, token)
    if token.name == "length":
        return _find_length_bounds(clause, token, tokens, now)
    return _find_span_bounds(clause, token.value, text[token.start : token.end], now)


def _find_span_bounds(clause: DatedClause, span: Period, words: str, now: datetime) -> Bounds:
    if span.grain in {*CLOCK_UNITS, "now"} or (span.finish is not None and span.finish <= now):
        return _NO_BOUNDS
    match span.relation:
        case "until" | "through":
            return None, span.finish
        case "range" | "lasting":
            return (span.begin, span.finish) if not clause.is_past else _NO_BOUNDS
        case "since":
            return _find_since_bounds(clause, span)
        case "next":
            deadline = _WITHIN_LENGTH.search(clause.before) or _WITHIN_LENGTH.match(words)
            return (None, None if deadline or clause.is_past else span.finish)
    return _NO_BOUNDS if span.relation else _find_period_bounds(clause, span, now)


def _find_since_bounds(clause: DatedClause, span: Period) -> Bounds:
    """Find the bounds of "since 2019", "starting Monday". In the simple past, it may have ended since."""
    simple = looks_back(clause.text.replace("been", "")) is True and not clause.has(_PERFECT_FORM)
    return _NO_BOUNDS if simple else (span.begin, None)


def _find_length_bounds(clause: DatedClause, token: TimeToken, tokens: list[TimeToken], now: datetime) -> Bounds:
    if not (_FOR_LENGTH.search(clause.before) or _ANOTHER_LENGTH.search(clause.before)):
        return _NO_BOUNDS
    if clause.is_past or clause.has(_HABIT_WORDS) or not clause.has(_HOLDING_VERB):
        return _NO_BOUNDS
    if token.value.unit in CLOCK_UNITS and not clause.has(_STATIVE_BE):
        return _NO_BOUNDS
    start = _find_start(tokens, token, now)
    if start is None or start.begin is None or start.finish is None:
        return None, token.value.after(now)
    return start.begin, max(token.value.after(start.begin), start.finish)  # "two weeks in May" may be anywhere in May


def _find_start(tokens: list[TimeToken], length: TimeToken, now: datetime) -> Period | None:
    """Find the future day at which the length begins: "on Monday for five days"."""
    for token in tokens:
        near = token.name == "span" and abs(token.start - length.start) < _MAX_CLAUSE_CHARS
        span: Period = token.value
        if near and span.begin and span.begin > now and not span.relation:
            return span
    return None


def _find_period_bounds(clause: DatedClause, span: Period, now: datetime) -> Bounds:
    if (
        span.begin is None
        or clause.is_question
        or clause.is_past
        or clause.has(_LASTING_EVENT)
        or clause.has(_HABIT_WORDS)
    ):
        return _NO_BOUNDS
    if span.begin <= now:
        return (
            (None, span.finish)
            if clause.has(_HOLDING_VERB) and not span.is_bare and span.grain != "open"
            else _NO_BOUNDS
        )
    return (span.begin, span.finish) if clause.has(_STATE_WORDS) else _NO_BOUNDS
