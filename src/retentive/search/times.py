"""Applies the times of a question: narrows scopes to them, dates occasions by hits, and lifts candidates that fit."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from retentive.model import (
    Event,
    Hit,
    Match,
    Passage,
    Query,
    Record,
    Scope,
    TimeMatch,
    TimeRelation,
    from_micros,
    to_micros,
)
from retentive.search.candidates import Candidate
from retentive.search.order_matches import Ranked, sort_key
from retentive.search.question import Names
from retentive.search.time_match import BONUS, ItemTimes, find_mentioned_times, match_times
from retentive.search.time_query import (
    DAY,
    QuestionTimes,
    TimeSpan,
    UnresolvedTime,
    place_occasion,
    read_question_times,
    year_of,
)
from retentive.storage.tables.conversations import EventRow

LONGEST_OCCASION = timedelta(days=100)  # a summer; "in 2023" does not tell when something was

Timings = dict[int, TimeMatch]
"""By chunk: how its time fits the question."""


def question_time(scope: Scope) -> datetime:
    """The time at which the question is asked: as the caller says; in a question about the past, then."""
    then = scope.filter.messages_until if scope.asked_at is None else scope.asked_at
    return from_micros(scope.now if then is None else then)


def read_times(query: Query, names: Names) -> QuestionTimes:
    """Read the times of a question."""
    return read_question_times(query.text, question_time(query.scope), names)


def date_occasions(
    when: QuestionTimes, find_occasion: Callable[[str], Hit | None], now: datetime
) -> tuple[QuestionTimes, list[str]]:
    """Resolve times that depend on an occasion by the hit of which `find_occasion` is sure. Also return notes."""
    notes = []
    for unresolved in when.unresolved:
        hit = find_occasion(unresolved.occasion) if unresolved.occasion else None
        days = hit and _date_occasion(unresolved, hit, year_of(when) or now)
        if hit is None or not days:
            notes.append(f"{unresolved.words!r} was not understood as a time; give a date, or since and until")
            continue
        when = place_occasion(when, unresolved, *days)
        day = f"{days[0]:%Y-%m-%d}"
        notes.append(f"{unresolved.words!r} was read by {hit.excerpt[:80]!r} ({hit.id}), which is of {day}")
    return when, notes


def _date_occasion(unresolved: UnresolvedTime, hit: Hit, asked: datetime) -> tuple[datetime, datetime] | None:
    """The days of an occasion: those that the text mentions, else the day on which it was said."""
    times = find_mentioned_times(hit.excerpt, asked if unresolved.yearly else hit.time)
    short = [(begin, finish) for begin, finish in times if finish - begin <= LONGEST_OCCASION]
    if short or unresolved.yearly or unresolved.state:
        return short[0] if short else None
    return hit.time, hit.time + DAY


def narrow_scope(scope: Scope, span: TimeSpan) -> Scope:
    """Narrow a scope to items that were said or began in a span."""
    wanted = scope.filter
    since = [wanted.since, to_micros(span.since) if span.since else None]
    until = [wanted.until, to_micros(span.until) if span.until else None]
    begin = max((each for each in since if each is not None), default=None)
    end = min((each for each in until if each is not None), default=None)
    return replace(scope, filter=replace(wanted, since=begin, until=end))


def is_in_scope(match: Match, scope: Scope) -> bool:
    """Whether the time of a match is in the time range of a scope."""
    since, until = scope.filter.since, scope.filter.until
    return (since is None or match.time >= since) and (until is None or match.time < until)


def make_listing(span: TimeSpan) -> TimeMatch:
    """The timing of a hit that is shown only because it is inside a span."""
    return TimeMatch(span.words, span.since, span.until, TimeRelation.INSIDE, 1.0, BONUS)


def lift_by_time(
    when: QuestionTimes,
    ranked: Sequence[Ranked],
    nearness: Mapping[int, float],
    load: Callable[[Sequence[Match]], dict[int, Candidate]],
    scope: Scope,
) -> tuple[list[Ranked], Timings]:
    """Lift candidates whose times fit the question, order them lifted, and return the timing of each by chunk.

    `nearness` is to the question, by chunk: 1 for the best of both searches. `load` returns candidates by chunk.
    """
    if not ranked:
        return [], {}
    candidates = load([each.match for each in ranked])
    moments = [each.time for each in ranked]
    newest, now = (from_micros(min(moments)), from_micros(max(moments))), question_time(scope)
    timings: Timings = {}
    lifted = []
    for score, time, chunk, match in ranked:
        if candidate := candidates.get(chunk):
            timing = match_times(when, _read_item_times(candidate), nearness.get(chunk, 0.0), now, newest)
            # A score below 0 is divided, so that it is lifted, too.
            timings[chunk] = timing if score >= 0 else timing._replace(factor=1 / timing.factor)
            lifted.append(Ranked(score * timings[chunk].factor + timing.bonus, time, chunk, match))
    return sorted(lifted, key=sort_key, reverse=True), timings


def _read_item_times(candidate: Candidate) -> ItemTimes:
    if isinstance(candidate.item, EventRow | Event):
        time = from_micros(candidate.item.time) if isinstance(candidate.item, EventRow) else candidate.item.time
        return ItemTimes(time, mentioned=lambda: find_mentioned_times(candidate.excerpt, time))
    item = candidate.item
    if isinstance(item, Passage):
        return ItemTimes(
            item.modified, open=True, mentioned=lambda: find_mentioned_times(candidate.excerpt, item.modified)
        )
    if isinstance(item, Record):
        return ItemTimes(
            item.updated, open=True, mentioned=lambda: find_mentioned_times(candidate.excerpt, item.updated)
        )
    begin, end = item.valid_from, item.valid_to
    return ItemTimes(begin, end, end is None, lambda: find_mentioned_times(candidate.excerpt, begin))
