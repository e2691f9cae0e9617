"""From when to when a statement holds, by its own words.

A wrong end loses a fact, a missing one only leaves it stale; so an end needs a sign that the statement is about a
state that lasts so long: "I'm in Rome for two weeks", not "I ran for an hour" or "I'm moving next week".
"""

import re
from dataclasses import dataclass
from datetime import datetime

from retentive.text.dates.lexer import Token
from retentive.text.dates.spans import FINE, Span
from retentive.text.dates.tense import looks_back

Bounds = tuple[datetime | None, datetime | None]
_NEVER: Bounds = (None, None)

_BREAK = re.compile(r"[.;!?\n]|\b(?:and|but|because|so|although|though|that)\b", re.IGNORECASE)
_MOST = 20  # times: a statement has few, and a whole book has no one end
_REACH = 200  # characters of a sentence that are looked at on either side
_FOR = re.compile(r"\bfor\s+(?:(?:another|about|around|roughly|at least|only|just|up to|the)\s+)*$", re.IGNORECASE)
_ANOTHER = re.compile(r"\b(?:another|an additional|at least another)\s+$", re.IGNORECASE)
_WITHIN = re.compile(r"\b(?:in|within)\s+(?:the\s+)?$|^within\b", re.IGNORECASE)
_BE = r"(?:am|is|are|be|'m|'re|(?:he|she|it|who)'s)"
_HOLDS = re.compile(
    rf"\b{_BE}\b|'(?:m|re|ll)\b|\b\w+'s\s+(?:on|in|at|off|away|out|\w+ing)\b|"
    r"\b(?:will|shall|won't|can't|cannot|must|should|going to|gonna|have to|has to|need to|needs to|plan to)\b|"
    r"^\s*(?:no|not|on|off|out|away|avoid\w*|stay\w*|visit\w*|work\w*|travel\w*|house-sitting|covering|temporarily)\b|"
    r"\b(?:i|we|you|they)\s+(?:only\s+|mostly\s+)?(?:work|live|stay|eat|teach|study|train|avoid|have|need|want|take|"
    r"share|sleep|commute)\b|\b(?:he|she)\s+(?:works|lives|stays|teaches|studies|has|needs|wants)\b",
    re.IGNORECASE,
)
_STATE = re.compile(
    rf"\bwhile\b|(?:\b|(?<=\w)){_BE}\s+(?:not\s+|all\s+|fully\s+)?(?:in|at|on|off|away|out|with|visiting|staying|"
    r"travel+ing|working|attending|covering|house-sitting|hosting|free|busy|unavailable|available|abroad|here|there|"
    r"back in|home)\b",
    re.IGNORECASE,
)
_STILL = re.compile(r"(?:\b|(?<=\w))(?:am|is|are|be|'m|'re)\s+(?!\w+ing\b)", re.IGNORECASE)
_PERFECT = re.compile(r"\b(?:have|has|had)\b(?! (?:to|a|an|the|my|our|no|some|\d+)\b)|'ve\b", re.IGNORECASE)
_HABIT = re.compile(
    r"\b(?:every|each|daily|weekly|usually|always|often|sometimes|normally|typically|per|once|twice|times|takes|lasts)\b",
    re.IGNORECASE,
)
# What happens once and stays true: the day of it does not end it.
_EVENT = re.compile(
    r"\b(?:birthday|anniversary|born|died|wedding|moving|getting|starting|leaving|joining|buying|selling|becoming|"
    r"quitting|switching|changing|graduat\w+|retir\w+|marr\w+|turn(?:s|ing|ed)?)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Clause:
    text: str
    before: str
    """What stands before the time in it."""
    asks: bool

    @property
    def past(self) -> bool:
        return looks_back(self.text) is True or _PERFECT.search(self.text) is not None

    def has(self, pattern: re.Pattern[str]) -> bool:
        return pattern.search(self.text) is not None


def clause(text: str, token: Token) -> Clause:
    first, last = max(token.start - _REACH, 0), min(token.end + _REACH, len(text))
    start = max((match.end() for match in _BREAK.finditer(text, first, token.start)), default=first)
    after = _BREAK.search(text, token.end, last)
    asks = after is not None and after[0] == "?"
    return Clause(text[start : after.start() if after else last], text[start : token.start], asks)


def bounds(text: str, tokens: list[Token], now: datetime) -> Bounds:
    """The first beginning and the first end that the words give."""
    begin: datetime | None = None
    finish: datetime | None = None
    times = [token for token in tokens if token.name in {"span", "length"}]
    for token in times[:_MOST]:
        first, last = _given(text, token, times[:_MOST], now)
        begin = begin or first
        finish = finish or last
        if finish:
            break
    return (begin, finish) if begin is None or finish is None or begin < finish else _NEVER


def _given(text: str, token: Token, tokens: list[Token], now: datetime) -> Bounds:
    around = clause(text, token)
    if token.name == "length":
        return _for(around, token, tokens, now)
    return _bounded(around, token.value, text[token.start : token.end], now)


def _bounded(around: Clause, span: Span, said: str, now: datetime) -> Bounds:
    if span.grain in {*FINE, "now"} or (span.finish is not None and span.finish <= now):
        return _NEVER
    match span.how:
        case "until" | "through":
            return None, span.finish
        case "range" | "lasting":
            return (span.begin, span.finish) if not around.past else _NEVER
        case "since":
            return _since(around, span)
        case "next":
            deadline = _WITHIN.search(around.before) or _WITHIN.match(said)
            return (None, None if deadline or around.past else span.finish)
    return _NEVER if span.how else _period(around, span, now)


def _since(around: Clause, span: Span) -> Bounds:
    """Since 2019, starting Monday. What was true since then need not be now."""
    simple = looks_back(around.text.replace("been", "")) is True and not around.has(_PERFECT)
    return _NEVER if simple else (span.begin, None)


def _for(around: Clause, token: Token, tokens: list[Token], now: datetime) -> Bounds:
    if not (_FOR.search(around.before) or _ANOTHER.search(around.before)):
        return _NEVER
    if around.past or around.has(_HABIT) or not around.has(_HOLDS):
        return _NEVER
    if token.value.unit in FINE and not around.has(_STILL):
        return _NEVER
    start = _start(tokens, token, now)
    if start is None or start.begin is None or start.finish is None:
        return None, token.value.after(now)
    return start.begin, max(token.value.after(start.begin), start.finish)  # two weeks in May: some time in it


def _start(tokens: list[Token], length: Token, now: datetime) -> Span | None:
    """A day to come beside the length is where it begins: "on Monday for five days"."""
    for token in tokens:
        near = token.name == "span" and abs(token.start - length.start) < _REACH
        span: Span = token.value
        if near and span.begin and span.begin > now and not span.how:
            return span
    return None


def _period(around: Clause, span: Span, now: datetime) -> Bounds:
    if span.begin is None or around.asks or around.past or around.has(_EVENT) or around.has(_HABIT):
        return _NEVER
    if span.begin <= now:
        return (None, span.finish) if around.has(_HOLDS) and not span.bare and span.grain != "open" else _NEVER
    return (span.begin, span.finish) if around.has(_STATE) else _NEVER
