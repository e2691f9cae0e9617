"""Compares the times of an item with those of a question, and says by how much its score is lifted."""

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

from retentive.frozen_dataclass import dataclass
from retentive.model import TimeMatch, TimeRelation
from retentive.search.time_query import DAY, QuestionTimes, Sense, TimeSpan, has_no_day
from retentive.text import dates
from retentive.text.caches import text_cache

# A full match multiplies the score by 1 + FACTOR and adds BONUS, the latter in the share that the answer is as near to
# the question as the nearest. The product alone would not lift a candidate whose scaled score is 0, as that of
# the last of two that are nearly alike; the sum alone lifts too much that is off the question. R@5 and R@10 of the 146
# questions of LoCoMo that have a time, by factor and bonus: 0+0 .470 .674, 1+0 .578 .703, 3+0 .613 .721,
# 0+1 .586 .709, 1+.5 .592 .708, 2+.5 .606 .725, 2+1 .603 .742.
FACTOR, BONUS = 2.0, 1.0
ONLY_TIME_BONUS = 2.0  # instead, if the question has nothing but a time: more than any score
STRENGTH = {Sense.DURING: 1.0, Sense.ABOUT: 0.5, Sense.BEFORE: 1.0, Sense.AFTER: 1.0}
UNSURE_SHARE = (
    0.3  # of the strength if the time was worked out from an event: with all of it, R@10 of such questions fell by .07
)
NEWEST = 0.1  # of "recently": decides between likes; on LoCoMo, where it is of no particular day, it changes nothing
# Of "currently": of two statements about one thing the newer holds. Supersession scenarios: .3 .91, .5 .98.
CURRENT = 0.5
NEAR = 0.25  # of the strength for what was said shortly after: people talk about things when they are over
HOLDS = 0.2  # of the strength for what began earlier and still held
HALF_LIFE = timedelta(days=30)  # of "recently"
# A text that was compared is likely to be compared again: on LoCoMo, five of six reads of 40 questions with a time.
MAX_CACHED_TEXTS = 2000
_CURRENT = re.compile(r"current|now|these days|right now|at the moment|at present", re.IGNORECASE)
_FIRST, _LAST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class ItemTimes:
    """The times of an item: when it was said or began to hold, until when, and those that its text mentions."""

    begin: datetime
    end: datetime | None = None
    """None if it is a moment."""
    open: bool = False
    """Whether it holds to this day."""
    mentioned: Callable[[], tuple[tuple[datetime, datetime], ...]] = tuple
    """The times in its text. Read only if needed: half a millisecond for a long text."""


@text_cache(MAX_CACHED_TEXTS)
def find_mentioned_times(text: str, said: datetime) -> tuple[tuple[datetime, datetime], ...]:
    """Find the times that a text mentions, by when it was said (in UTC). "Closes at 17:00" mentions no day."""
    found = dates.find_times(text, said, past=True)
    return tuple(
        (each.begin or _FIRST, each.finish or _LAST)
        for each in found
        if (each.begin or each.finish) and each.kind != "vague" and not has_no_day(text[each.start : each.end])
    )


def match_times(
    when: QuestionTimes, times: ItemTimes, nearness: float, now: datetime, newest: tuple[datetime, datetime]
) -> TimeMatch:
    """Compare an item with the span of the question that lifts it most.

    `nearness` says how near it is to the question, 1 for the nearest. `newest` are the first and the last time among
    the items that it is compared with.
    """
    weight = CURRENT if _CURRENT.match(when.newest) else NEWEST
    newer = weight * _measure_newness(when.newest, times.begin, now, newest) if when.newest else 0.0
    found = [(_match_span(span, times), span) for span in when.spans]
    if not found:
        return TimeMatch(when.newest, None, None, TimeRelation.NEWEST, 1 + FACTOR * newer, BONUS * newer * nearness)
    (how, strength), span = max(found, key=lambda pair: pair[0][1])
    if when.is_only_time:
        return TimeMatch(span.words, span.since, span.until, how, 1.0, ONLY_TIME_BONUS * strength)
    lift = strength + newer
    return TimeMatch(span.words, span.since, span.until, how, 1 + FACTOR * lift, BONUS * lift * nearness)


def _measure_newness(words: str, time: datetime, now: datetime, newest: tuple[datetime, datetime]) -> float:
    if words.lower() in {"recently", "lately"}:
        return float(0.5 ** (max(now - time, timedelta()) / HALF_LIFE))
    first, last = newest
    return (time - first) / (last - first) if last > first else 1.0


def _match_span(span: TimeSpan, times: ItemTimes) -> tuple[TimeRelation, float]:
    how, share = max(_list_relations(span, times), key=lambda pair: pair[1], default=(TimeRelation.OUTSIDE, 0.0))
    return how, STRENGTH[span.sense] * (1.0 if span.sure else UNSURE_SHARE) * share


def _list_relations(span: TimeSpan, times: ItemTimes) -> Iterator[tuple[TimeRelation, float]]:
    """Yield the relations that hold, each with its share of the strength."""
    if _overlaps(span, times.begin, times.end):
        yield TimeRelation.INSIDE, 1.0
        return
    if times.open and (span.until is None or times.begin < span.until):
        yield TimeRelation.HOLDS, HOLDS
    for begin, finish in times.mentioned():
        if _overlaps(span, begin, finish):
            yield TimeRelation.MENTIONED, 1.0 if _is_precise(span, begin, finish) else NEAR
    if span.since and span.until:
        yield from _list_near(span.since, span.until, times.begin)


def _overlaps(span: TimeSpan, begin: datetime, end: datetime | None) -> bool:
    last = begin if end is None else end
    before = span.until is None or begin < span.until
    return before and (span.since is None or last > span.since or (end is None and last == span.since))


def _is_precise(span: TimeSpan, begin: datetime, finish: datetime) -> bool:
    """Whether a mentioned time is about as long or shorter: "in 2023" is no answer to "on 3 May"."""
    return span.since is None or span.until is None or finish - begin <= 2 * (span.until - span.since)


def _list_near(since: datetime, until: datetime, time: datetime) -> Iterator[tuple[TimeRelation, float]]:
    """Yield the relation of an item that was said soon after the span, or a day before it, for time zones."""
    grace = min(max(until - since, 3 * DAY), 45 * DAY)
    after, before = time - until, since - time  # differences: near the ends of the calendar a sum would overflow
    if timedelta() <= after < grace:
        yield TimeRelation.NEAR, NEAR * (1 - after / grace)
    elif timedelta() < before <= DAY:
        yield TimeRelation.NEAR, NEAR / 2
