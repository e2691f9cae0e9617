"""Time expressions in any text, said at any time."""

import time
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retentive.text.dates import find_times, find_validity, make_absolute
from retentive.text.dates.lexicon import WORDS
from tests.sizes import choose

ZONES = st.integers(-12, 14).map(lambda hours: timezone(timedelta(hours=hours)))
MOMENTS = st.datetimes(timezones=st.none() | ZONES)
PIECES = st.sampled_from(
    [
        *sorted(WORDS),
        *"May March June Sat Sun 5 12 31 2023 1999 5/6 24/7 2023-05-06 5pm 17:30 3rd '87 90s Q3 , - . ( )".split(),
        *"I was I'll be moved is not 9999 0001-01-01 9999-12-31 99999 January december".split(),
    ]
)
TEXTS = st.text(max_size=40) | st.lists(PIECES, max_size=12).map(" ".join)


@settings(max_examples=400, deadline=None)
@given(TEXTS, MOMENTS, st.booleans())
def test_expressions_are_ordered_inside_and_not_empty(text: str, now: datetime, past: bool) -> None:
    """For any text and any moment of the years 1 to 9999."""
    at = 0
    for found in find_times(text, now, past=past):
        assert at <= found.start < found.end <= len(text)
        at = found.end
        if found.begin and found.finish:
            assert found.begin < found.finish
        for moment in (found.begin, found.finish):
            assert moment is None or moment.tzinfo is UTC


@settings(max_examples=400, deadline=None)
@given(TEXTS, MOMENTS, st.booleans())
def test_completing_twice_is_completing_once(text: str, now: datetime, past: bool) -> None:
    """`absolute` is idempotent, and only adds."""
    once = make_absolute(text, now, past=past)
    assert make_absolute(once, now, past=past) == once
    assert len(once) >= len(text)


@settings(max_examples=200, deadline=None)
@given(TEXTS, MOMENTS)
def test_a_statement_begins_before_it_ends(text: str, now: datetime) -> None:
    """Whatever the words say."""
    begins, expires = find_validity(text, now)
    assert begins is None or expires is None or begins < expires


@pytest.mark.parametrize(
    "piece",
    [
        "Friday ",
        "1 ",
        "1",
        "1-",
        "last ",
        "two weeks before ",
        "from May to ",
        "a'",
        "1/",
        "+1 ",
        "I am for two weeks and ",
    ],
)
def test_time_is_linear(piece: str) -> None:
    """Eight times the text costs about eight times the time, not sixty-four."""
    now = datetime(2023, 7, 19, tzinfo=UTC)

    def seconds(size: int) -> float:
        text = piece * (size // len(piece))
        start = time.process_time()
        find_times(text, now)
        find_validity(text, now)
        return time.process_time() - start

    size = choose(500, 4_000)
    small = max(min(seconds(size) for _ in range(2)), 0.0005)
    assert any(seconds(8 * size) < 30 * small for _ in range(2))
