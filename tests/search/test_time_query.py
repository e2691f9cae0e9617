"""Times in questions: what is read, as what, and what is said of the rest. All is asked on Monday, 16 November 2026."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retentive.search.time_query import NO_TIMES, QuestionTimes, read_question_times

NOW = datetime(2026, 11, 16, 9, tzinfo=UTC)


def describe_times(when: QuestionTimes) -> list[str]:
    """Sense, first day and last day of each span."""
    return [f"{span.sense} {_day(span.since)}..{_day(span.until, last=True)}" for span in when.spans]


def _day(moment: datetime | None, *, last: bool = False) -> str:
    return "" if moment is None else f"{moment - timedelta(microseconds=last):%Y-%m-%d}"


# question, what is read
QUESTIONS = [
    ("What did I do last week?", "during 2026-11-09..2026-11-15"),
    ("what happened yesterday", "during 2026-11-15..2026-11-15"),
    ("What did we decide in March?", "during 2026-03-01..2026-03-31"),
    ("What did I do in December?", "during 2025-12-01..2025-12-31"),  # the last one
    ("What did we talk about this morning?", "during 2026-11-16..2026-11-16"),
    ("Where was I on 3 May 2023?", "during 2023-05-03..2023-05-03"),
    ("Who did Maria have dinner with on May 3, 2023?", "during 2023-05-03..2023-05-03"),
    ("Where was the picture taken on December 1,2023?", "during 2023-12-01..2023-12-01"),
    ("What trips did I make in 2022?", "during 2022-01-01..2022-12-31"),
    ("What happened between June and August 2022?", "during 2022-06-01..2022-08-31"),
    ("What did I read from 2019 to 2021?", "during 2019-01-01..2021-12-31"),
    ("Where did I stay the first week of 2024?", "during 2024-01-01..2024-01-07"),
    ("What did we plan two summers ago?", "during 2025-06-01..2025-08-31"),
    ("Where did we go last summer?", "during 2026-06-01..2026-08-31"),
    ("How did I feel over the weekend?", "during 2026-11-14..2026-11-15"),
    ("What did I buy last Friday?", "during 2026-11-13..2026-11-13"),
    ("What has changed in the last 3 days?", "during 2026-11-13..2026-11-16"),
    ("What did Tim paint in mid-August 2023?", "during 2023-08-10..2023-08-20"),
    ("What came up at the end of last month?", "during 2026-10-16..2026-10-31"),
    ("Which tickets did we close in Q3?", "during 2026-07-01..2026-09-30"),
    ("Who came over for Christmas?", "during 2025-12-25..2025-12-25"),
    ("What did we do on New Year's Eve 2024?", "during 2024-12-31..2024-12-31"),
    ("What is planned for next week?", "during 2026-11-23..2026-11-29"),
    ("What do I have tomorrow?", "during 2026-11-17..2026-11-17"),
    ("When did Ann visit Rome in 2022?", "during 2022-01-01..2022-12-31"),  # asks for a time, and has one
    ("When did Melanie go camping in June?", "during 2026-06-01..2026-06-30"),
    ("What did I do in my garden in 04/2024?", "during 2024-04-01..2024-04-30"),
    ("What music did I like in the nineties?", "during 1990-01-01..1999-12-31"),
    ("What did John attend with colleagues in March 2023?", "during 2023-03-01..2023-03-31"),
    ("Which instrument am I learning as of 27 March 2022?", "during 2022-03-27..2022-03-27"),
    ("What did we say about the budget on the 3rd?", "during 2026-11-03..2026-11-03"),
    ("What did I do the week before 16 November 2023?", "during 2023-11-06..2023-11-12"),
    ("Where did I live two years ago?", "about 2024-05-18..2025-05-17"),
    ("What did Ann tell me three weeks ago?", "about 2026-10-23..2026-10-29"),
    ("Where did I work a few years back?", "about 2023-05-18..2024-05-16"),
    ("Who did I meet a month or two ago?", "about 2026-09-01..2026-10-01"),
    ("What was I up to around Easter 2021?", "about 2021-03-28..2021-04-11"),
    ("What did we eat about 5 May 2023?", "about 2023-04-28..2023-05-12"),
    ("What have I learned since May?", "after 2026-05-01.."),
    ("What changed after 2020?", "after 2021-01-01.."),
    ("What is new since yesterday?", "after 2026-11-15.."),
    ("Which projects came later than June 2025?", "after 2025-07-01.."),
    ("Where did I live before 2019?", "before ..2018-12-31"),
    ("What did we agree on prior to June?", "before ..2026-05-31"),
    ("What had I finished by 7 November 2022?", "before ..2022-11-07"),
    ("Which jobs had I had until 2015?", "before ..2014-12-31"),
    ("What did I earn up to May 2020?", "before ..2020-05-31"),
]


@pytest.mark.parametrize(("question", "expected"), QUESTIONS)
def test_a_time_is_read_as_a_span_with_a_sense(question: str, expected: str) -> None:
    when = read_question_times(question, NOW)
    assert describe_times(when) == [expected]
    assert when.unresolved == ()


# question, the words that ask for what is newest
NEWEST = [
    ("What have I been reading recently?", "recently"),
    ("What is bothering Sam lately?", "lately"),
    ("What is the latest on Atlas?", "latest"),
    ("What is my current job?", "current"),
    ("Where does Ann currently work?", "currently"),
    ("What was the most recent deployment?", "most recent"),
    ("When was the last time I saw Bo?", "last time"),
    ("What am I working on these days?", "these days"),
    ("What is Tim doing right now?", "right now"),
]


@pytest.mark.parametrize(("question", "words"), NEWEST)
def test_words_of_recency_ask_for_what_is_newer(question: str, words: str) -> None:
    when = read_question_times(question, NOW)
    assert when.newest == words
    assert when.spans == ()


# question, words that look like a time, sense, what it hangs on
OCCASIONS = [
    ("Where did I live before the move?", "before the move", "before", "the move"),
    ("What did John do after his trip to Italy?", "after his trip to Italy", "after", "his trip to Italy"),
    ("How has Ann been since the operation?", "since the operation", "after", "the operation"),
    (
        "What did we see during our holiday in Greece?",
        "during our holiday in Greece",
        "during",
        "our holiday in Greece",
    ),
    ("What did I get on my birthday?", "on my birthday", "during", "my birthday"),
    ("What did I eat while I was in Rome?", "while I was in Rome", "during", "I was in Rome"),
    ("What did I do after quitting the bank?", "after quitting the bank", "after", "quitting the bank"),
    ("What was I paid until I left Acme?", "until I left Acme", "before", "I left Acme"),
]


@pytest.mark.parametrize(("question", "words", "sense", "occasion"), OCCASIONS)
def test_a_time_that_depends_on_an_occasion_is_named(question: str, words: str, sense: str, occasion: str) -> None:
    (unresolved,) = read_question_times(question, NOW).unresolved
    assert (unresolved.words, unresolved.sense, unresolved.occasion) == (words, sense, occasion)


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("What happened that weekend?", "that weekend"),
        ("What did she say two weeks later?", "two weeks later"),
        ("What did we do over the holidays?", "over the holidays"),
        ("Who was my best friend back then?", "back then"),
        ("What did I do a long time ago?", "a long time ago"),
        ("What is due in week 12?", "week 12"),
        ("What did we cook for Diwali?", "Diwali"),
    ],
)
def test_what_looks_like_a_time_and_cannot_be_read_is_told(question: str, words: str) -> None:
    (unresolved,) = read_question_times(question, NOW).unresolved
    assert (unresolved.words, unresolved.occasion) == (words, "")


def test_a_year_beside_an_event_is_read_and_the_event_named() -> None:
    when = read_question_times("What did I get on my birthday in 2023?", NOW)
    assert describe_times(when) == ["during 2023-01-01..2023-12-31"]
    assert [unresolved.words for unresolved in when.unresolved] == ["on my birthday"]


@pytest.mark.parametrize(
    "question",
    [
        "What is my dog called?",
        "When did Ann move?",  # asks for a time
        "How long ago did I move to Porto?",
        "How long have I had the dog?",
        "Since when do I live here?",
        "What day is my appointment?",
        "Which year was the house built?",
        "Who looks after the dog?",
        "Whom was Ann named after?",
        "Have I been there before?",
        "What do I take after dinner?",  # a habit
        "May I bring a friend?",
        "How many times a week do I run?",  # no time, but how often
        "Which meetings are every Monday?",
        "What did Evan look for for half an hour?",
        "What is on at 5pm?",  # of any day
        "Would Melanie go on another roadtrip soon?",
        "What is in room 12?",
        "",
        "   ",
        "Who makes dinner on a Tuesday?",  # any Tuesday
    ],
)
def test_a_question_without_a_time_is_left_alone(question: str) -> None:
    assert read_question_times(question, NOW) == NO_TIMES


@pytest.mark.parametrize(
    ("question", "spans"),
    [
        ("Who took over from April in the shop?", 0),
        ("Who took over in April?", 1),
        ("Who took over from April 2026 on?", 1),
    ],
)
def test_somebody_who_is_called_like_a_month_is_no_month(question: str, spans: int) -> None:
    assert len(read_question_times(question, NOW, {"april"}).spans) == spans


# question, what is left of it without its times
LEFT = [
    ("What did John attend with his colleagues in March 2023?", "What did John attend with his colleagues?"),
    ("On 3 May 2023, where was I?", "where was I?"),
    ("last week", "last week"),  # nothing would be left
    ("What is the latest on Atlas?", "What is the latest on Atlas?"),
]


@pytest.mark.parametrize(("question", "left"), LEFT)
def test_the_question_without_its_times(question: str, left: str) -> None:
    assert read_question_times(question, NOW).rest == left


@pytest.mark.parametrize(
    ("question", "alone"),
    [
        ("What did I do last week?", True),
        ("What happened yesterday?", True),
        ("what did we talk about on 3 May 2023", True),
        ("last month", True),
        ("What did I cook last week?", False),
        ("When did Ann visit Rome in 2022?", False),
    ],
)
def test_a_question_may_have_nothing_but_its_time_to_go_by(question: str, *, alone: bool) -> None:
    assert read_question_times(question, NOW).is_only_time is alone


@given(st.text())
def test_nothing_that_is_asked_breaks_it(text: str) -> None:
    read_question_times(f"before {text} in May, since {text}", NOW)


PIECES = "before after since until last week in May 2023 the move ? , [ ago on my birthday when I was recently".split()


@given(st.lists(st.sampled_from(PIECES), max_size=40).map(" ".join), st.datetimes(timezones=st.just(UTC)))
def test_spans_are_not_empty_and_words_are_those_of_the_question(text: str, now: datetime) -> None:
    when = read_question_times(text, now)
    for span in when.spans:
        assert span.words in text
        assert span.since is None or span.until is None or span.since < span.until
    assert all(unresolved.words in text for unresolved in when.unresolved)
