"""Times in questions: "last week", "before 2019", "recently", "before the move".

`read_question_times` finds them; `time_match.py` compares the times of an item with them.

No time is a filter. People tell of a trip in March when it is April, and a fact that holds since 2019 holds in March,
too: an item outside of the time is only not lifted. A span is lifted the more, the surer it is what was meant:

    during  "in March 2023", "last week"    items that were said or began then, or mention it
    about   "two years ago", "around May"   the same, with edges as wide as the words
    before  "before 2019", "by Friday"      one side of a moment: half of all there is, so it says little
    after   "since May"
    newest  "recently", "latest", "now"     the newer, the better; decides between likes

If a question has nothing but a time ("what did I do last week?"), items inside come first. A time that depends on an
occasion ("before the move") is returned with it, for the caller to look up. A time that cannot be read at all
("that weekend") is returned to be reported. A question that asks *for* a time ("when did ...") has none.

Days begin at midnight of the zone of `now`, UTC in this program.
"""

import re
from collections.abc import Container, Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from enum import StrEnum

from retentive.frozen_dataclass import dataclass
from retentive.text import dates
from retentive.text.dates import TimeExpression
from retentive.text.lazy_pattern import LazyPattern
from retentive.text.terms import STOP_WORDS, split_words


class Sense(StrEnum):
    """How a time of a question is meant."""

    DURING = "during"
    ABOUT = "about"
    BEFORE = "before"
    AFTER = "after"


MAX_QUESTION_CHARS = 1000  # that are read: a longer text is a document with many dates
MAX_TIMES = 4  # spans, or occasions: a text with more of them does not ask about a time

DAY = timedelta(days=1)

_DAYS = {"week": 7, "weekend": 2, "month": 30, "season": 91, "quarter": 91, "year": 365, "decade": 3650}
_SHORT_GRAINS = frozenset(("minute", "hour", "now"))


@dataclass(frozen=True, slots=True)
class TimeSpan:
    """A time that was read. One end may be open."""

    sense: Sense
    since: datetime | None
    until: datetime | None
    """The first moment after it."""
    grain: str
    words: str
    sure: bool = True
    """Whether the question names it. False if it was worked out from an occasion."""


@dataclass(frozen=True, slots=True)
class UnresolvedTime:
    """A time that could not be read: it depends on `occasion`, if the question names one."""

    words: str
    sense: Sense
    occasion: str = ""
    yearly: bool = False
    """Whether the occasion comes round every year, as a birthday does."""
    state: bool = False
    """Whether it lasts ("when I was young"): the day on which somebody mentions it says nothing."""


@dataclass(frozen=True, slots=True)
class QuestionTimes:
    """The times of a question."""

    spans: tuple[TimeSpan, ...] = ()
    newest: str = ""
    """The words that ask for newer items."""
    unresolved: tuple[UnresolvedTime, ...] = ()
    rest: str = ""
    """The question without the words of its spans."""
    is_only_time: bool = False
    """Whether the question has nothing but a time."""

    def __bool__(self) -> bool:
        return bool(self.spans or self.newest or self.unresolved)


NO_TIMES = QuestionTimes()

_WORD = re.compile(r"[a-z]+")
_HINTS = frozenset(
    "before after since until till during while when birthday anniversary wedding graduation holidays latest newest "
    "current recent moment last then ago later earlier time ramadan eid diwali hanukkah passover fiscal father mother "
    "labor memorial pentecost".split()
)
_NEWEST = LazyPattern(
    r"\b(?:most recent(?:ly)?|latest|newest|current|recently|lately|currently|nowadays|these days|"
    r"right now|now|at the moment|at present|not (?:so |very )?long ago|(?:the )?last time)\b",
    re.IGNORECASE,
)
_LEADING = LazyPattern(
    r"(?:,?\s*\bas (?:of|mentioned|said|told)(?: (?:on|in))?|\b(?:back |ever |so far )?"
    r"(?:in|on|during|over|at|from|for|around|about|throughout|within|of)(?: the)?|\bthe|\bso far)\s+$",
    re.IGNORECASE,
)
# Words before a time that the grammar of dates does not join with it.
_BEFORE = LazyPattern(
    r"\b(?P<verb>talk|talked|talking|speak|spoke|say|said|tell|told|know|hear|heard)?\s*"
    r"\b(?:(?P<about>around|about|circa|approximately|roughly|near)|(?P<upto>up (?:un)?to|no later than|not later than)"
    r"|(?P<pre>pre-?|earlier than)|(?P<post>post-?|later than))\s*(?:the\s+)?$",
    re.IGNORECASE,
)
# An hour, or a part of a day, of no day in particular.
_NO_DAY = LazyPattern(
    r"(?:(?:at|by|from|until|before|after)\s+)?(?:\d{1,2}(?:[:.]\d\d)?\s*(?:[ap]\.?m\.?|o'clock)?|noon|midday|midnight)"
    r"(?:\s*(?:-|to|and|until)\s*\d{1,2}(?:[:.]\d\d)?\s*(?:[ap]\.?m\.?)?)?|in the (?:morning|afternoon|evening|night)",
    re.IGNORECASE,
)
# "On a Tuesday" is any Tuesday.
_ANY = LazyPattern(r"\b(?:an?|any|each|every|most|some)\s+$", re.IGNORECASE)
_WEEKDAY = LazyPattern(r"(?:mon|tues|wednes|thurs|fri|satur|sun)day", re.IGNORECASE)
_IN = LazyPattern(r"\b(?:in|during)\s+$", re.IGNORECASE)
_WHAT = r"(?:the|my|our|his|her|their|your|its|a|an|that|this|i|we|he|she|they|you|it|[a-z]+ing|[A-Z]\w*(?:'s)?)"
_UP_TO = r"[^,.;:?!\[\]]{0,80}"
_OCCASION = LazyPattern(
    rf"\b(?P<word>(?i:before|after|since|until|till|during))\s+(?P<occasion>{_WHAT}\b{_UP_TO})"
    r"|\b(?P<while>(?i:while|when))\s+(?P<doing>(?:I|we|he|she|they|you|[A-Z]\w+)\s+"
    rf"(?:was|were|lived|stayed|worked|studied)\b{_UP_TO})"
    r"|\b(?P<on>on|for|around)\s+(?P<feast>(?:my|our|his|her|their|your|the|[A-Z]\w*'s?)\s+(?:[\w'-]+\s+){0,2}?"
    r"(?:birthday|anniversary|wedding(?: day)?|graduation(?: day)?))(?=\s*(?:[,.;:?!\[]|$|in\b|last\b|this\b))"
)
# Who looks after, is named after; "after dinner" is a habit, "after all" no time.
_NO_OCCASION = LazyPattern(
    r"\b(?:look(?:s|ed|ing)?|nam(?:e|ed|ing)|call(?:ed)?|tak(?:e|es|en|ing)|runs?|goes?|ask(?:s|ed)?)\s+$"
)
_YEARLY = LazyPattern(r"\b(?:birthday|anniversary)$", re.IGNORECASE)
_HABIT = LazyPattern(r"(?:it all|this all|a (?:meal|workout|run|shower))\s*$", re.IGNORECASE)
_UNITS = "second minute hour day week month year".split()
_PARTS = "day night morning evening afternoon week weekend month year summer winter spring autumn time".split()
_FEASTS = (
    "ramadan|eid|diwali|hanukkah|passover|pentecost|lunar new year|chinese new year|mother's day|father's day|"
    "labor day|memorial day"
)
_LOOKS = LazyPattern(
    rf"\b(?:over the holidays|back then|(?:that|the same) (?:{'|'.join(_PARTS)})|those (?:days|weeks|months|years)"
    rf"|(?:the )?(?:{'|'.join(_UNITS)}) (?:before|after)(?=\W*$)|(?:\w+ )?(?:{'|'.join(_UNITS)})s? (?:later|earlier)"
    r"|(?:a )?(?:very )?long (?:time )?ago|a while (?:ago|back)|some time ago"
    rf"|(?:many )?(?:years|months|weeks|days|ages) ago|(?:calendar )?week \d{{1,2}}|(?:(?:last|this|next) )?fiscal year"
    rf"|{_FEASTS})\b",
    re.IGNORECASE,
)
_SENSES = {
    "before": Sense.BEFORE,
    "until": Sense.BEFORE,
    "till": Sense.BEFORE,
    "after": Sense.AFTER,
    "since": Sense.AFTER,
}
# Words that say nothing about what is asked for, beside its time.
_IDLE = STOP_WORDS | frozenset(
    "do done happen happened happening happens new tell told talk talked talking discuss discussed say said mention "
    "mentioned go going went remember know event events note notes memory memories thing things anything something "
    "everything stuff summary summarise summarize recap list show give conversation conversations chat chats session "
    "sessions us like let last time been get got make made".split()
)


def read_question_times(question: str, now: datetime, names: Container[str] = ()) -> QuestionTimes:
    """Read the times of a question asked at `now`. Without any this takes microseconds.

    `names` are of people, in lower case: where somebody is called April, only "in April" is a month.
    """
    text = question[:MAX_QUESTION_CHARS]
    has_hint = not _HINTS.isdisjoint(_WORD.findall(text.lower()))
    if not has_hint and not dates.may_mention_time(text):
        return NO_TIMES
    found = [
        pair
        for each in dates.find_times(text, now, past=True)
        if not _is_name(text, each, names) and (pair := _read_span(text, each))
    ]
    if len(found) > MAX_TIMES:
        return NO_TIMES
    places = [place for _, place in found]
    newest = next((match for match in _NEWEST.finditer(text) if not _overlaps_any(match.span(), places)), None)
    unresolved = _find_unresolved(_mask(text, [*places, *([newest.span()] if newest else [])]), text)
    rest = _cut_places(question, places)
    return QuestionTimes(
        tuple(span for span, _ in found),
        newest[0].removeprefix("the ") if newest else "",
        unresolved,
        rest if found else question if newest or unresolved else "",
        bool(found) and _is_idle(rest if rest != question.strip() else ""),
    )


Place = tuple[int, int]


def _read_span(text: str, found: TimeExpression) -> tuple[TimeSpan, Place] | None:
    """The span of an expression and the place of its words; None if it is no time to look in."""
    begin, finish = found.begin, found.finish
    words = text[found.start : found.end]
    if found.kind == "vague" and not words.lower().startswith("the other"):  # recently, soon: no bounds worth the name
        return None
    if found.grain == "now" or (begin is None and finish is None) or has_no_day(words):
        return None
    if _WEEKDAY.fullmatch(words) and _ANY.search(text[: found.start]):
        return None
    start, sense = found.start, _choose_sense(found)
    match = _BEFORE.search(text[:start])
    if match and not match["verb"]:  # "what did we talk about yesterday?" is not about yesterday
        start = match.start()
        sense, begin, finish = _apply_word_before(match, sense, found)
    if sense is Sense.ABOUT:
        begin, finish = _widen_by_grain(begin, finish, found.grain)
    while match := _LEADING.search(text[:start]):
        start = match.start()
    return TimeSpan(sense, begin, finish, found.grain, words), (start, found.end)


def _is_name(text: str, found: TimeExpression, names: Container[str]) -> bool:
    return text[found.start : found.end].lower() in names and not _IN.search(text[: found.start])


def has_no_day(words: str) -> bool:
    """Whether words name an hour or a part of a day of no day in particular: "at 17:00", "in the morning"."""
    return _NO_DAY.fullmatch(words) is not None


def _choose_sense(found: TimeExpression) -> Sense:
    if found.begin is None or found.finish is None:
        return Sense.BEFORE if found.begin is None else Sense.AFTER
    meant = _DAYS.get(found.grain, 0) * DAY if found.kind == "date" else timedelta()
    return Sense.ABOUT if found.kind == "vague" or found.finish - found.begin < meant else Sense.DURING


def _apply_word_before(
    match: re.Match[str], sense: Sense, found: TimeExpression
) -> tuple[Sense, datetime | None, datetime | None]:
    """The sense and the ends of an expression after such words as "around" or "pre-"."""
    if sense not in {Sense.DURING, Sense.ABOUT}:
        return sense, found.begin, found.finish
    if match["about"]:
        return Sense.ABOUT, found.begin, found.finish
    if match["post"]:
        return Sense.AFTER, found.finish, None
    return Sense.BEFORE, None, found.begin if match["pre"] else found.finish


def _widen_by_grain(
    begin: datetime | None, finish: datetime | None, grain: str
) -> tuple[datetime | None, datetime | None]:
    """Widen a vague time by half of its grain; a day by a week to both sides."""
    if begin is None or finish is None:
        return begin, finish
    if grain in _SHORT_GRAINS or grain == "part":
        return _widen(begin, finish, DAY / 8)
    if grain == "day":
        return _widen(begin, finish, 7 * DAY)
    meant = _DAYS.get(grain, 0) * DAY
    length = finish - begin
    return _widen(begin, finish, (meant - length) / 2 if length < meant else length / 2)


def _widen(begin: datetime, finish: datetime, by: timedelta) -> tuple[datetime, datetime]:
    try:
        return begin - by, finish + by
    except OverflowError:  # at the ends of the calendar
        return begin, finish


def _overlaps_any(place: Place, places: Iterable[Place]) -> bool:
    return any(place[0] < end and start < place[1] for start, end in places)


def _mask(text: str, places: Iterable[Place]) -> str:
    """Blank out words that were read, so that they are not read again. Other places stay the same."""
    for start, end in places:
        text = text[:start] + "[" * (end - start) + text[end:]
    return text


def _find_unresolved(masked: str, text: str) -> tuple[UnresolvedTime, ...]:
    found: list[tuple[int, UnresolvedTime]] = []
    places: list[Place] = []
    for match in _OCCASION.finditer(masked):
        if each := _read_occasion(match, masked):
            found.append((match.start(), each))
            places.append(match.span())
    found += [
        (match.start(), UnresolvedTime(text[match.start() : match.end()], Sense.DURING))
        for match in _LOOKS.finditer(masked)
        if not _overlaps_any(match.span(), places) and not masked[: match.start()].rstrip().lower().endswith("how")
    ]
    if len(found) > MAX_TIMES:
        return ()
    return tuple(each for _, each in sorted(found, key=lambda pair: pair[0]))


def _read_occasion(match: re.Match[str], text: str) -> UnresolvedTime | None:
    occasion = (match["occasion"] or match["doing"] or match["feast"]).strip()
    word = (match["word"] or "").lower()
    if "[" in occasion or occasion.lower().startswith("when "):
        return None
    if _NO_OCCASION.search(text[: match.start()]) or _HABIT.fullmatch(occasion):
        return None
    return UnresolvedTime(
        match[0].strip(),
        _SENSES.get(word, Sense.DURING),
        occasion,
        _YEARLY.search(occasion) is not None,
        bool(match["doing"]),
    )


def _cut_places(question: str, places: Sequence[Place]) -> str:
    rest, at = "", 0
    for start, end in places:
        rest += question[at:start]
        at = end
    rest = re.sub(r"\s+", " ", rest + question[at:])
    rest = re.sub(r"\s+(?=[,.;:?!])|^[\s,;:]+", "", rest).strip()
    return rest if re.search(r"\w", rest) else question.strip()


def _is_idle(rest: str) -> bool:
    return all(word in _IDLE for word in split_words(rest.lower()))


def year_of(when: QuestionTimes) -> datetime | None:
    """The last moment of the year that a question names."""
    years = [span.until for span in when.spans if span.grain == "year" and span.sense is Sense.DURING and span.until]
    return years[0] - timedelta(microseconds=1) if years else None


def place_occasion(when: QuestionTimes, unresolved: UnresolvedTime, begin: datetime, finish: datetime) -> QuestionTimes:
    """Turn an unresolved time into a span by the time of its occasion. Items of the occasion count on both sides."""
    match unresolved.sense:
        case Sense.BEFORE:
            span = TimeSpan(Sense.BEFORE, None, finish, "open", unresolved.words, sure=False)
        case Sense.AFTER:
            span = TimeSpan(Sense.AFTER, begin, None, "open", unresolved.words, sure=False)
        case _ if unresolved.yearly:
            span = TimeSpan(Sense.DURING, *_widen(begin, finish, DAY), "day", unresolved.words)
        case _:
            span = TimeSpan(Sense.ABOUT, *_widen(begin, finish, 7 * DAY), "day", unresolved.words, sure=False)
    years = [each for each in when.spans if unresolved.yearly and each.grain == "year"]  # "on my birthday in 2023"
    return replace(
        when,
        spans=(*(each for each in when.spans if each not in years), span),
        unresolved=tuple(each for each in when.unresolved if each is not unresolved),
    )
