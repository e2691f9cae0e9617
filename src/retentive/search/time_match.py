"""How the times of an answer stand to those of a question, and what that is worth."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from retentive.model import Relation, Timing
from retentive.search.time_query import DAY, Sense, Span, When, dayless
from retentive.text import dates

# A full match multiplies the score by 1 + FACTOR and adds BONUS, the latter in the share that the answer is as near to
# the question as the nearest. The product alone would not lift what the scale of the legs has put at 0, as it does with
# the last of two that are nearly alike; the sum alone lifts too much that is off the question. R@5 and R@10 of the 146
# questions of LoCoMo that have a time, by factor and bonus: 0+0 .470 .674, 1+0 .578 .703, 3+0 .613 .721,
# 0+1 .586 .709, 1+.5 .592 .708, 2+.5 .606 .725, 2+1 .603 .742.
FACTOR, BONUS = 2.0, 1.0
ALONE = 2.0  # instead, where the time is all there is to go by: more than any score
STRENGTH = {Sense.DURING: 1.0, Sense.ABOUT: 0.5, Sense.BEFORE: 1.0, Sense.AFTER: 1.0}
UNSURE = 0.3  # of that where the time was worked out from an event: with all of it, R@10 of such questions fell by .07
NEWEST = 0.1  # of "recently": decides between likes; on LoCoMo, where it is of no particular day, it changes nothing
CURRENT = (
    0.5  # of "currently": of two statements about one thing the newer holds. Supersession scenarios: .3 .91, .5 .98
)
NEAR = 0.25  # of the strength for what was said shortly after: people tell of things when they are over
HOLDS = 0.2  # of the strength for what began earlier and still held
HALF_LIFE = timedelta(days=30)  # of "recently"
_CURRENT = re.compile(r"current|now|these days|right now|at the moment|at present", re.IGNORECASE)
_FIRST, _LAST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Times:
    """The times of an answer: when it was said or began to hold, until when, and those its words tell of."""

    begin: datetime
    end: datetime | None = None
    """None if it is a moment."""
    open: bool = False
    """Whether it holds to this day."""
    told: Callable[[], tuple[tuple[datetime, datetime], ...]] = tuple
    """Read only if it is asked for: half a millisecond for a long text."""


def told(text: str, said: datetime) -> tuple[tuple[datetime, datetime], ...]:
    """The times that a text tells of, said then: "yesterday" is the day before. "Closes at 17:00" tells of no day."""
    found = dates.find(text, said, past=True)
    return tuple(
        (each.begin or _FIRST, each.finish or _LAST)
        for each in found
        if (each.begin or each.finish) and each.kind != "vague" and not dayless(text[each.start : each.end])
    )


def relation(when: When, times: Times, nearness: float, now: datetime, newest: tuple[datetime, datetime]) -> Timing:
    """How an answer stands to the times of a question: to that of its spans that lifts it most.

    `nearness` says how near it is to the question, 1 being the nearest there is; `newest` are the first and the last
    time among the answers that it is compared with.
    """
    weight = CURRENT if _CURRENT.match(when.newest) else NEWEST
    newer = weight * _newness(when.newest, times.begin, now, newest) if when.newest else 0.0
    found = [(_against(span, times), span) for span in when.spans]
    if not found:
        return Timing(when.newest, None, None, Relation.NEWEST, 1 + FACTOR * newer, BONUS * newer * nearness)
    (how, strength), span = max(found, key=lambda pair: pair[0][1])
    if when.alone:
        return Timing(span.words, span.since, span.until, how, 1.0, ALONE * strength)
    lift = strength + newer
    return Timing(span.words, span.since, span.until, how, 1 + FACTOR * lift, BONUS * lift * nearness)


def _newness(words: str, time: datetime, now: datetime, newest: tuple[datetime, datetime]) -> float:
    if words.lower() in {"recently", "lately"}:
        return float(0.5 ** (max(now - time, timedelta()) / HALF_LIFE))
    first, last = newest
    return (time - first) / (last - first) if last > first else 1.0


def _against(span: Span, times: Times) -> tuple[Relation, float]:
    how, share = max(_shares(span, times), key=lambda pair: pair[1], default=(Relation.OUTSIDE, 0.0))
    return how, STRENGTH[span.sense] * (1.0 if span.sure else UNSURE) * share


def _shares(span: Span, times: Times) -> Iterator[tuple[Relation, float]]:
    """The ways in which a time may answer, each with its share of the strength."""
    if _meets(span, times.begin, times.end):
        yield Relation.INSIDE, 1.0
        return
    if times.open and (span.until is None or times.begin < span.until):
        yield Relation.HOLDS, HOLDS
    for begin, finish in times.told():
        if _meets(span, begin, finish):
            yield Relation.TOLD, 1.0 if _fits(span, begin, finish) else NEAR
    if span.since and span.until:
        yield from _near(span.since, span.until, times.begin)


def _meets(span: Span, begin: datetime, end: datetime | None) -> bool:
    last = begin if end is None else end
    before = span.until is None or begin < span.until
    return before and (span.since is None or last > span.since or (end is None and last == span.since))


def _fits(span: Span, begin: datetime, finish: datetime) -> bool:
    """Whether what is told of is about as long, or shorter: "in 2023" is no answer to "on 3 May"."""
    return span.since is None or span.until is None or finish - begin <= 2 * (span.until - span.since)


def _near(since: datetime, until: datetime, time: datetime) -> Iterator[tuple[Relation, float]]:
    """Said soon after it was over, or just before; a day more at each end, for zones."""
    grace = min(max(until - since, 3 * DAY), 45 * DAY)
    after, before = time - until, since - time  # differences: near the ends of the calendar a sum would overflow
    if timedelta() <= after < grace:
        yield Relation.NEAR, NEAR * (1 - after / grace)
    elif timedelta() < before <= DAY:
        yield Relation.NEAR, NEAR / 2
