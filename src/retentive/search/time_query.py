"""Times in questions: "last week", "before 2019", "recently", "before the move".

`read` finds them; `timely.py` says how the times of an answer stand to them.

No time is a filter. People tell of a trip in March when it is April, and what is true since 2019 is true in March, too:
what lies outside is only not lifted. A span is lifted the more, the surer it is what was meant:

    during  "in March 2023", "last week"    what was said or began then, or tells of that time
    about   "two years ago", "around May"   the same, with edges as wide as the words
    before  "before 2019", "by Friday"      one side of a moment: half of all there is, so it says little
    after   "since May"
    newest  "recently", "latest", "now"     the newer, the better; decides between likes

Where nothing but the time is left to go by ("what did I do last week?"), what is inside comes first. What hangs on an
event ("before the move") is handed back with the event, for the caller to look up; what cannot be read at all ("that
weekend") is handed back to be told. A question that asks *for* a time ("when did ...", "how long ago ...") has none.

Days begin at midnight of the zone of `now`, UTC in this program.
"""

import re
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from retentive.text import dates
from retentive.text.dates import Expression
from retentive.text.terms import STOP_WORDS, tokens


class Sense(StrEnum):
    """How a time is meant."""

    DURING = "during"
    ABOUT = "about"
    BEFORE = "before"
    AFTER = "after"


LONGEST = 1000  # characters that are looked through: what is longer is a document, with the dates of one
MOST = 4  # spans, or events: a text with more of them does not ask about a time

DAY = timedelta(days=1)

_LONG = {"week": 7, "weekend": 2, "month": 30, "season": 91, "quarter": 91, "year": 365, "decade": 3650}
_SHARP = frozenset(("minute", "hour", "now"))


@dataclass(frozen=True, slots=True)
class Span:
    """A time that was read. One end may be open."""

    sense: Sense
    since: datetime | None
    until: datetime | None
    """The first moment after it."""
    grain: str
    words: str
    sure: bool = True
    """Whether it was said; not, if it was worked out from when an event was told of."""


@dataclass(frozen=True, slots=True)
class Unread:
    """What looks like a time but hangs on something else: on `event`, if that is in the question."""

    words: str
    sense: Sense
    event: str = ""
    yearly: bool = False
    """Whether the event comes round every year, as a birthday does."""
    state: bool = False
    """Whether it lasts ("when I was young"): the day on which it is told of says nothing."""


@dataclass(frozen=True, slots=True)
class When:
    """The times of a question."""

    spans: tuple[Span, ...] = ()
    newest: str = ""
    """The words that ask for what is newer."""
    unread: tuple[Unread, ...] = ()
    rest: str = ""
    """The question without the words of its spans."""
    alone: bool = False
    """Whether nothing but the time is left to go by."""

    def __bool__(self) -> bool:
        return bool(self.spans or self.newest or self.unread)


NOTHING = When()

_WORD = re.compile(r"[a-z]+")
_HINTS = frozenset(
    "before after since until till during while when birthday anniversary wedding graduation holidays latest newest "
    "current recent moment last then ago later earlier time ramadan eid diwali hanukkah passover fiscal father mother "
    "labor memorial pentecost".split()
)
_NEWEST = re.compile(
    r"\b(?:most recent(?:ly)?|latest|newest|current|recently|lately|currently|nowadays|these days|"
    r"right now|now|at the moment|at present|not (?:so |very )?long ago|(?:the )?last time)\b",
    re.IGNORECASE,
)
_LEADING = re.compile(
    r"(?:,?\s*\bas (?:of|mentioned|said|told)(?: (?:on|in))?|\b(?:back |ever |so far )?"
    r"(?:in|on|during|over|at|from|for|around|about|throughout|within|of)(?: the)?|\bthe|\bso far)\s+$",
    re.IGNORECASE,
)
# Words before a time that the grammar of dates does not join with it.
_BEFORE = re.compile(
    r"\b(?P<verb>talk|talked|talking|speak|spoke|say|said|tell|told|know|hear|heard)?\s*"
    r"\b(?:(?P<about>around|about|circa|approximately|roughly|near)|(?P<upto>up (?:un)?to|no later than|not later than)"
    r"|(?P<pre>pre-?|earlier than)|(?P<post>post-?|later than))\s*(?:the\s+)?$",
    re.IGNORECASE,
)
# An hour, or a part of a day, of no day in particular.
_NO_DAY = re.compile(
    r"(?:(?:at|by|from|until|before|after)\s+)?(?:\d{1,2}(?:[:.]\d\d)?\s*(?:[ap]\.?m\.?|o'clock)?|noon|midday|midnight)"
    r"(?:\s*(?:-|to|and|until)\s*\d{1,2}(?:[:.]\d\d)?\s*(?:[ap]\.?m\.?)?)?|in the (?:morning|afternoon|evening|night)",
    re.IGNORECASE,
)
# "On a Tuesday" is any Tuesday.
_ANY = re.compile(r"\b(?:an?|any|each|every|most|some)\s+$", re.IGNORECASE)
_WEEKDAY = re.compile(r"(?:mon|tues|wednes|thurs|fri|satur|sun)day", re.IGNORECASE)
_IN = re.compile(r"\b(?:in|during)\s+$", re.IGNORECASE)
_WHAT = r"(?:the|my|our|his|her|their|your|its|a|an|that|this|i|we|he|she|they|you|it|[a-z]+ing|[A-Z]\w*(?:'s)?)"
_UP_TO = r"[^,.;:?!\[\]]{0,80}"
_EVENT = re.compile(
    rf"\b(?P<word>(?i:before|after|since|until|till|during))\s+(?P<event>{_WHAT}\b{_UP_TO})"
    r"|\b(?P<while>(?i:while|when))\s+(?P<doing>(?:I|we|he|she|they|you|[A-Z]\w+)\s+"
    rf"(?:was|were|lived|stayed|worked|studied)\b{_UP_TO})"
    r"|\b(?P<on>on|for|around)\s+(?P<feast>(?:my|our|his|her|their|your|the|[A-Z]\w*'s?)\s+(?:[\w'-]+\s+){0,2}?"
    r"(?:birthday|anniversary|wedding(?: day)?|graduation(?: day)?))(?=\s*(?:[,.;:?!\[]|$|in\b|last\b|this\b))"
)
# Who looks after, is named after; "after dinner" is a habit, "after all" no time.
_NO_EVENT = re.compile(
    r"\b(?:look(?:s|ed|ing)?|nam(?:e|ed|ing)|call(?:ed)?|tak(?:e|es|en|ing)|runs?|goes?|ask(?:s|ed)?)\s+$"
)
_YEARLY = re.compile(r"\b(?:birthday|anniversary)$", re.IGNORECASE)
_HABIT = re.compile(r"(?:it all|this all|a (?:meal|workout|run|shower))\s*$", re.IGNORECASE)
_UNITS = "second minute hour day week month year".split()
_PARTS = "day night morning evening afternoon week weekend month year summer winter spring autumn time".split()
_FEASTS = (
    "ramadan|eid|diwali|hanukkah|passover|pentecost|lunar new year|chinese new year|mother's day|father's day|"
    "labor day|memorial day"
)
_LOOKS = re.compile(
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


def read(question: str, now: datetime, names: Container[str] = ()) -> When:
    """The times of a question asked at `now`. For one that has none it takes microseconds.

    `names` are of people, in lower case: where somebody is called April, only "in April" is a month.
    """
    text = question[:LONGEST]
    hinted = not _HINTS.isdisjoint(_WORD.findall(text.lower()))
    if not hinted and not dates.mentioned(text):
        return NOTHING
    found = [
        pair
        for each in dates.find(text, now, past=True)
        if not _name(text, each, names) and (pair := _span(text, each))
    ]
    if len(found) > MOST:
        return NOTHING
    places = [place for _, place in found]
    newest = next((match for match in _NEWEST.finditer(text) if not _inside(match.span(), places)), None)
    unread = _unread(_masked(text, [*places, *([newest.span()] if newest else [])]), text)
    rest = _without(question, places)
    return When(
        tuple(span for span, _ in found),
        newest[0].removeprefix("the ") if newest else "",
        unread,
        rest if found else question if newest or unread else "",
        bool(found) and _idle(rest if rest != question.strip() else ""),
    )


Place = tuple[int, int]


def _span(text: str, found: Expression) -> tuple[Span, Place] | None:
    """What an expression asks for, and where all of its words are; None if it is no time to look in."""
    begin, finish = found.begin, found.finish
    words = text[found.start : found.end]
    if found.kind == "vague" and not words.lower().startswith("the other"):  # recently, soon: no bounds worth the name
        return None
    if found.grain == "now" or (begin is None and finish is None) or dayless(words):
        return None
    if _WEEKDAY.fullmatch(words) and _ANY.search(text[: found.start]):
        return None
    start, sense = found.start, _sense(found)
    match = _BEFORE.search(text[:start])
    if match and not match["verb"]:  # "what did we talk about yesterday?" is not about yesterday
        start = match.start()
        sense, begin, finish = _turned(match, sense, found)
    if sense is Sense.ABOUT:
        begin, finish = _widened(begin, finish, found.grain)
    while match := _LEADING.search(text[:start]):
        start = match.start()
    return Span(sense, begin, finish, found.grain, words), (start, found.end)


def _name(text: str, found: Expression, names: Container[str]) -> bool:
    return text[found.start : found.end].lower() in names and not _IN.search(text[: found.start])


def dayless(words: str) -> bool:
    """Whether it is an hour or a part of a day, whichever day that is: "at 17:00", "in the morning"."""
    return _NO_DAY.fullmatch(words) is not None


def _sense(found: Expression) -> Sense:
    if found.begin is None or found.finish is None:
        return Sense.BEFORE if found.begin is None else Sense.AFTER
    meant = _LONG.get(found.grain, 0) * DAY if found.kind == "date" else timedelta()
    return Sense.ABOUT if found.kind == "vague" or found.finish - found.begin < meant else Sense.DURING


def _turned(match: re.Match[str], sense: Sense, found: Expression) -> tuple[Sense, datetime | None, datetime | None]:
    """What a word before an expression makes of it."""
    if sense not in {Sense.DURING, Sense.ABOUT}:
        return sense, found.begin, found.finish
    if match["about"]:
        return Sense.ABOUT, found.begin, found.finish
    if match["post"]:
        return Sense.AFTER, found.finish, None
    return Sense.BEFORE, None, found.begin if match["pre"] else found.finish


def _widened(begin: datetime | None, finish: datetime | None, grain: str) -> tuple[datetime | None, datetime | None]:
    """Half its grain around the middle; of a day a week to both sides."""
    if begin is None or finish is None:
        return begin, finish
    if grain in _SHARP or grain == "part":
        return _wider(begin, finish, DAY / 8)
    if grain == "day":
        return _wider(begin, finish, 7 * DAY)
    meant = _LONG.get(grain, 0) * DAY
    length = finish - begin
    return _wider(begin, finish, (meant - length) / 2 if length < meant else length / 2)


def _wider(begin: datetime, finish: datetime, by: timedelta) -> tuple[datetime, datetime]:
    try:
        return begin - by, finish + by
    except OverflowError:  # at the ends of the calendar
        return begin, finish


def _inside(place: Place, places: Iterable[Place]) -> bool:
    return any(place[0] < end and start < place[1] for start, end in places)


def _masked(text: str, places: Iterable[Place]) -> str:
    """What was read is not read again; places stay."""
    for start, end in places:
        text = text[:start] + "[" * (end - start) + text[end:]
    return text


def _unread(masked: str, text: str) -> tuple[Unread, ...]:
    found: list[tuple[int, Unread]] = []
    places: list[Place] = []
    for match in _EVENT.finditer(masked):
        if each := _event(match, masked):
            found.append((match.start(), each))
            places.append(match.span())
    found += [
        (match.start(), Unread(text[match.start() : match.end()], Sense.DURING))
        for match in _LOOKS.finditer(masked)
        if not _inside(match.span(), places) and not masked[: match.start()].rstrip().lower().endswith("how")
    ]
    if len(found) > MOST:
        return ()
    return tuple(each for _, each in sorted(found, key=lambda pair: pair[0]))


def _event(match: re.Match[str], text: str) -> Unread | None:
    event = (match["event"] or match["doing"] or match["feast"]).strip()
    word = (match["word"] or "").lower()
    if "[" in event or event.lower().startswith("when "):
        return None
    if _NO_EVENT.search(text[: match.start()]) or _HABIT.fullmatch(event):
        return None
    return Unread(
        match[0].strip(),
        _SENSES.get(word, Sense.DURING),
        event,
        _YEARLY.search(event) is not None,
        bool(match["doing"]),
    )


def _without(question: str, places: Sequence[Place]) -> str:
    rest, at = "", 0
    for start, end in places:
        rest += question[at:start]
        at = end
    rest = re.sub(r"\s+", " ", rest + question[at:])
    rest = re.sub(r"\s+(?=[,.;:?!])|^[\s,;:]+", "", rest).strip()
    return rest if re.search(r"\w", rest) else question.strip()


def _idle(rest: str) -> bool:
    return all(word in _IDLE for word in tokens(rest.lower()))


def year_of(when: When) -> datetime | None:
    """The last moment of the year that a question names."""
    years = [span.until for span in when.spans if span.grain == "year" and span.sense is Sense.DURING and span.until]
    return years[0] - timedelta(microseconds=1) if years else None


def placed(when: When, unread: Unread, begin: datetime, finish: datetime) -> When:
    """With the event of one of its times found at another. What is told with the event is on both its sides."""
    match unread.sense:
        case Sense.BEFORE:
            span = Span(Sense.BEFORE, None, finish, "open", unread.words, sure=False)
        case Sense.AFTER:
            span = Span(Sense.AFTER, begin, None, "open", unread.words, sure=False)
        case _ if unread.yearly:
            span = Span(Sense.DURING, *_wider(begin, finish, DAY), "day", unread.words)
        case _:
            span = Span(Sense.ABOUT, *_wider(begin, finish, 7 * DAY), "day", unread.words, sure=False)
    wider = [each for each in when.spans if unread.yearly and each.grain == "year"]  # "on my birthday in 2023"
    return replace(
        when,
        spans=(*(each for each in when.spans if each not in wider), span),
        unread=tuple(each for each in when.unread if each is not unread),
    )
