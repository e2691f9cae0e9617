"""The times of a question, held against those of its answers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from retentive.model import Event, Hit, Match, Passage, Query, Record, Relation, Scope, Timing, from_micros, to_micros
from retentive.search.candidates import Found
from retentive.search.question import Names
from retentive.search.rank import Ranked, order
from retentive.search.time_match import BONUS, Times, relation, told
from retentive.search.time_query import DAY, Span, Unread, When, placed, read, year_of
from retentive.storage.tables.conversations import Said

LONGEST_EVENT = timedelta(days=100)  # a summer; "in 2023" does not tell when something was

Timed = dict[int, Timing]
"""By chunk."""


def moment(scope: Scope) -> datetime:
    """When the question is asked: as the caller says; a question about the past is asked then."""
    then = scope.filter.said_until if scope.asked_at is None else scope.asked_at
    return from_micros(scope.now if then is None else then)


def read_times(query: Query, names: Names) -> When:
    return read(query.text, moment(query.scope), names)


def place(when: When, look: Callable[[str], Hit | None], now: datetime) -> tuple[When, list[str]]:
    """Times that hang on an event, by what `look` surely finds of it; and what is to be said about them."""
    notes = []
    for unread in when.unread:
        hit = look(unread.event) if unread.event else None
        dated = hit and _dated(unread, hit, year_of(when) or now)
        if hit is None or not dated:
            notes.append(f"{unread.words!r} was not read as a time; name a date, or give since and until")
            continue
        when = placed(when, unread, *dated)
        day = f"{dated[0]:%Y-%m-%d}"
        notes.append(f"{unread.words!r} was read by {hit.excerpt[:80]!r} ({hit.id}), which is of {day}")
    return when, notes


def _dated(unread: Unread, hit: Hit, asked: datetime) -> tuple[datetime, datetime] | None:
    """The day or days of an event: those that its words tell of, else when they were said."""
    times = told(hit.excerpt, asked if unread.yearly else hit.time)
    short = [(begin, finish) for begin, finish in times if finish - begin <= LONGEST_EVENT]
    if short or unread.yearly or unread.state:
        return short[0] if short else None
    return hit.time, hit.time + DAY


def narrowed(scope: Scope, span: Span) -> Scope:
    """Only what was said or began in a span, inside what may be seen anyway."""
    wanted = scope.filter
    since = [wanted.since, to_micros(span.since) if span.since else None]
    until = [wanted.until, to_micros(span.until) if span.until else None]
    begin = max((each for each in since if each is not None), default=None)
    end = min((each for each in until if each is not None), default=None)
    return replace(scope, filter=replace(wanted, since=begin, until=end))


def within(match: Match, scope: Scope) -> bool:
    since, until = scope.filter.since, scope.filter.until
    return (since is None or match.time >= since) and (until is None or match.time < until)


def listing(span: Span) -> Timing:
    """Of what is inside a span, and there for that alone."""
    return Timing(span.words, span.since, span.until, Relation.INSIDE, 1.0, BONUS)


def timed(
    when: When,
    ranked: Sequence[Ranked],
    nearness: Mapping[int, float],
    fetch: Callable[[Sequence[Match]], dict[int, Found]],
    scope: Scope,
) -> tuple[list[Ranked], Timed]:
    """The candidates in the order that their times make of them, and what each of these times is.

    `nearness` is to the question, by chunk: 1 for what is the best of both legs.
    """
    if not ranked:
        return [], {}
    found = fetch([match for _, _, _, match in ranked])
    moments = [match.time for _, _, _, match in ranked]
    newest, now = (from_micros(min(moments)), from_micros(max(moments))), moment(scope)
    made: Timed = {}
    again = []
    for score, time, chunk, match in ranked:
        if each := found.get(chunk):
            timing = relation(when, _times(each), nearness.get(chunk, 0.0), now, newest)
            made[chunk] = timing if score >= 0 else timing._replace(factor=1 / timing.factor)  # it lifts, in any case
            again.append((score * made[chunk].factor + timing.bonus, time, chunk, match))
    return sorted(again, key=order, reverse=True), made


def _times(found: Found) -> Times:
    if isinstance(found.of, Said | Event):
        time = from_micros(found.of.time) if isinstance(found.of, Said) else found.of.time
        return Times(time, told=lambda: told(found.excerpt, time))
    item = found.of
    if isinstance(item, Passage):
        return Times(item.modified, open=True, told=lambda: told(found.excerpt, item.modified))
    if isinstance(item, Record):
        return Times(item.updated, open=True, told=lambda: told(found.excerpt, item.updated))
    begin, end = item.valid_from, item.valid_to
    return Times(begin, end, end is None, lambda: told(found.excerpt, begin))
