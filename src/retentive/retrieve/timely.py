"""How the times of an answer stand to those of a question, and what that is worth."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from retentive.model import Relation, Timing
from retentive.retrieve.when import DAY, Sense, Span, When
from retentive.text import dates

# What a full match of each is worth: the score is multiplied by 1 + this. With 3, what is inside need only be a quarter
# as relevant. R@5 and R@10 of LoCoMo's 146 questions with a time: 0 .470 .674, 0.5 .558 .680, 1 .578 .703, 2 .604 .716,
# 3 .611 .723, 5 .613 .744; more would hide what was told at another time.
GAIN = {Sense.DURING: 3.0, Sense.ABOUT: 1.0, Sense.BEFORE: 1.0, Sense.AFTER: 1.0}
UNSURE = 0.3  # of the gain where the time was worked out from an event. All of it: R@10 of such questions -.08
BONUS = 1.0  # where there is nothing else to go by: added, and as much as the best answer can have
GAIN_NEWEST = 0.1  # decides between likes; on LoCoMo, where "recently" is of no particular day, it changes nothing
NEAR = 0.25  # of the gain for what was said shortly after: people tell of things when they are over
HOLDS = 0.2  # of the gain for what began earlier and still held
HALF_LIFE = timedelta(days=30)  # of "recently"
_FIRST, _LAST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Times:
    """The times of an answer: when it was said or began to hold, until when, and those its words tell of."""

    begin: datetime
    end: datetime | None = None
    """None if it is a moment."""
    open: bool = False
    """Whether it holds to this day."""
    told: tuple[tuple[datetime, datetime], ...] = ()


def told(text: str, said: datetime) -> tuple[tuple[datetime, datetime], ...]:
    """The times that a text tells of, said then: "yesterday" is the day before."""
    found = dates.find(text, said, past=True)
    return tuple(
        (each.begin or _FIRST, each.finish or _LAST)
        for each in found
        if (each.begin or each.finish) and each.kind != "vague"
    )


def relation(when: When, times: Times, now: datetime, newest: tuple[datetime, datetime]) -> Timing:
    """How an answer stands to the times of a question: to that of its spans that lifts it most.

    `newest` are the first and the last time among the answers that it is compared with.
    """
    share = _newness(when.newest, times.begin, now, newest) if when.newest else 0.0
    newer = 1 + GAIN_NEWEST * share
    found = [_against(span, times, alone=when.alone) for span in when.spans]
    if not found:
        return Timing(when.newest, None, None, Relation.NEWEST, newer, 0.0)
    best = max(found, key=lambda timing: timing.factor + timing.bonus)
    return best._replace(factor=best.factor * newer)


def _newness(words: str, time: datetime, now: datetime, newest: tuple[datetime, datetime]) -> float:
    if words.lower() in {"recently", "lately"}:
        return float(0.5 ** (max(now - time, timedelta()) / HALF_LIFE))
    first, last = newest
    return (time - first) / (last - first) if last > first else 1.0


def _against(span: Span, times: Times, *, alone: bool) -> Timing:
    how, share = max(_shares(span, times), key=lambda pair: pair[1], default=(Relation.OUTSIDE, 0.0))
    gain = GAIN[span.sense] * (1.0 if span.sure else UNSURE)
    factor, bonus = (1.0, BONUS * share) if alone else (1 + gain * share, 0.0)
    return Timing(span.words, span.since, span.until, how, factor, bonus)


def _shares(span: Span, times: Times) -> Iterator[tuple[Relation, float]]:
    """The ways in which a time may answer, each with its share of the gain."""
    if _meets(span, times.begin, times.end):
        yield Relation.INSIDE, 1.0
        return
    if times.open and (span.until is None or times.begin < span.until):
        yield Relation.HOLDS, HOLDS
    for begin, finish in times.told:
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
