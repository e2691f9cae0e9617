"""Statements that stand alone, and how long they hold. All is said on Wednesday, 19 July 2023, at 15:00."""

from datetime import UTC, datetime

import pytest

from retentive.text.dates import find_validity, make_absolute

NOW = datetime(2023, 7, 19, 15, tzinfo=UTC)

STATEMENTS = [
    ("I moved last month.", "I moved last month (June 2023)."),
    ("We met yesterday.", "We met yesterday (18 July 2023)."),
    ("I moved in March", "I moved in March 2023"),
    ("We married on June 5.", "We married on June 5 2023."),
    ("I saw her on Friday", "I saw her on Friday (14 July 2023)"),
    ("I'll see her on Friday", "I'll see her on Friday (21 July 2023)"),
    ("I have an exam on Friday", "I have an exam on Friday (21 July 2023)"),
    ("The user has a dentist's appointment on Monday", "The user has a dentist's appointment on Monday (24 July 2023)"),
    ("I started two years ago", "I started two years ago (around 2021)"),
    ("I got a puppy two weeks ago!", "I got a puppy two weeks ago (around 5 July 2023)!"),
    ("Last weekend we hiked", "Last weekend (weekend of 15 July 2023) we hiked"),
    ("I was in Rome last week", "I was in Rome last week (week of 10 July 2023)"),
    ("I recently got a dog", "I recently (around July 2023) got a dog"),
    ("I'm away for the next two weeks", "I'm away for the next two weeks (until 2 August 2023)"),
    ("I've lived here since last year", "I've lived here since last year (2022)"),
    ("It was fun last summer", "It was fun last summer (summer 2022)"),
    ("I work from May to July", "I work from May to July 2023"),
    ("I was born on 5 June 1990", "I was born on 5 June 1990"),  # absolute already
    ("I have coded for five years", "I have coded for five years"),  # a mere duration
    ("I run every Monday at 5pm", "I run every Monday at 5pm"),
    ("I moved last month (June 2023).", "I moved last month (June 2023)."),
]


@pytest.mark.parametrize(("said", "stands"), STATEMENTS)
def test_a_statement_stands_alone(said: str, stands: str) -> None:
    """Relative times are completed and their words kept; twice is the same as once, also when read later."""
    assert make_absolute(said, NOW) == stands
    assert make_absolute(stands, NOW) == stands
    assert make_absolute(stands, NOW.replace(year=2025)) == stands


HOLDS = [
    ("I am on leave until June 1 2024", None, "2024-06-02"),
    ("I'm on leave until Friday", None, "2023-07-22"),
    ("I'm out through Friday", None, "2023-07-22"),
    ("I'm staying with my sister until August", None, "2023-08-01"),
    ("I'm vegan till the end of the year", None, "2024-01-01"),
    ("I'll be on sabbatical for four months starting September 1 2024", "2024-09-01", "2025-01-01"),
    ("I am visiting my parents for five days starting Monday", "2023-07-24", "2023-07-29"),
    ("I'm on leave for two weeks from Monday", "2023-07-24", "2023-08-07"),
    ("I am working remotely for the next two months", None, "2023-09-20"),
    ("I'm covering for a colleague for another three weeks", None, "2023-08-09"),
    ("I am on a yoga retreat for one week", None, "2023-07-26"),
    ("I will be travelling for two weeks in May", "2024-05-01", "2024-06-01"),
    ("She's in Paris for a month", None, "2023-08-19"),
    ("No sugar for 30 days", None, "2023-08-18"),
    ("I can't drink alcohol for two weeks after my surgery", None, "2023-08-02"),
    ("I'm in Rome this week", None, "2023-07-24"),
    ("I work from home this week", None, "2023-07-24"),
    ("I'm taking statistics this semester", None, "2023-08-01"),
    ("I'm tired today", None, "2023-07-20"),
    ("I'm away from May to July", "2023-05-01", "2023-08-01"),
    ("While I'm in Rome next week, feed the cat", "2023-07-24", "2023-07-31"),
    ("I'll be in Berlin on Friday", "2023-07-21", "2023-07-22"),
    ("I'm off for the rest of the week", None, "2023-07-24"),
    ("I live in Porto since 2019", "2019-01-01", None),
    ("Starting Monday I work nights", "2023-07-24", None),
]


@pytest.mark.parametrize(("said", "begins", "expires"), HOLDS)
def test_the_words_say_how_long_a_statement_holds(said: str, begins: str | None, expires: str | None) -> None:
    """An end, a length or a period bounds a state."""
    assert tuple(moment and f"{moment:%Y-%m-%d}" for moment in find_validity(said, NOW)) == (begins, expires)


UNBOUNDED = """
I was born in Sofia | I have been coding for five years | I lived there for two years | I ran for an hour yesterday
I have worked here for ten years | I run for an hour every day | I was on leave until Friday | I met Ana today
I'm moving to Lisbon next month | I'm getting married in June | My birthday is on Friday | I moved here last month
I worked at Acme from 2015 to 2018 | I quit my job today | I studied in Rome until 2019 | He is 30 years old
I will decide within two weeks | The report is due by Friday | I usually stay for two weeks | I like tea
Today I learned that sets are unordered
She waited for three days | I bought a car this week | I've been vegan for a month | I live in Porto
""".replace("\n", "|").split("|")


@pytest.mark.parametrize("said", [said.strip() for said in UNBOUNDED if said.strip()])
def test_what_is_past_or_a_mere_duration_bounds_nothing(said: str) -> None:
    """A wrong end would lose a fact."""
    assert find_validity(said, NOW) == (None, None)
