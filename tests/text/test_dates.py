"""Time expressions: where they are and what they mean. All is said on Wednesday, 19 July 2023, at 15:00."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from retentive.text.dates import TimeExpression, find_times

NOW = datetime(2023, 7, 19, 15, tzinfo=UTC)


def only(text: str, *, past: bool = False) -> TimeExpression:
    (found,) = find_times(text, NOW, past=past)
    return found


def covered(expression: TimeExpression) -> str:
    """Its first day, and its last if that is another."""
    first, after = expression.begin, expression.finish
    last = after and after - timedelta(microseconds=1)
    if first and last and first.date() == last.date():
        return f"{first:%Y-%m-%d}"
    return f"{f'{first:%Y-%m-%d}' if first else ''}..{f'{last:%Y-%m-%d}' if last else ''}"


# text with the expression in brackets, what it covers
DATES = [
    ("I met her [yesterday]", "2023-07-18"),
    ("[the day before yesterday] it rained", "2023-07-17"),
    ("call me [tomorrow]", "2023-07-20"),
    ("[the day after tomorrow]", "2023-07-21"),
    ("see you [today]", "2023-07-19"),
    ("I saw him [last Friday]", "2023-07-14"),
    ("I saw him on [Friday]", "2023-07-14"),
    ("I will see him on [Friday]", "2023-07-21"),
    ("[this Friday]", "2023-07-21"),
    ("[next Friday]", "2023-07-28"),  # of next week
    ("[this past Monday]", "2023-07-17"),
    ("[this coming Monday]", "2023-07-24"),
    ("[two weeks from Monday]", "2023-08-07"),
    ("[a week from today]", "2023-07-26"),
    ("[three days before Christmas]", "2023-12-22"),
    ("[Monday of last week]", "2023-07-10"),
    ("[Tuesday next week]", "2023-07-25"),
    ("[the first Monday in May 2024]", "2024-05-06"),
    ("[the last Friday of March 2023]", "2023-03-31"),
    ("[a fortnight ago]", "2023-07-05"),
    ("[two Fridays ago]", "2023-07-07"),
    ("[a few years back] I ran", "2020-07-19"),
    ("I am [a week or two ago] in Rome", "2023-07-05"),
    ("on [December 1,2023]", "2023-12-01"),
    ("[two weeks ago]", "2023-07-05"),
    ("[3 days ago]", "2023-07-16"),
    ("[a couple of days ago]", "2023-07-17"),
    ("[in two months]", "2023-09-19"),
    ("I go on [the 5th]", "2023-08-05"),
    ("on [June 5, 2023] we met", "2023-06-05"),
    ("on [5 June 2023] we met", "2023-06-05"),
    ("on [the 5th of June, 2023]", "2023-06-05"),
    ("on [Monday, June 5, 2023]", "2023-06-05"),
    ("born [Jan. 3 1987]", "1987-01-03"),
    ("[march 5th, 2024]", "2024-03-05"),
    ("[may 5]", "2024-05-05"),
    ("on [5/6/2023]", "2023-05-06"),  # month first
    ("on [25/6/2023]", "2023-06-25"),  # unless that cannot be
    ("on [25.6.2023]", "2023-06-25"),  # with dots day first
    ("on [2023-06-05]", "2023-06-05"),
    ("on [2/29]", "2024-02-29"),
    ("on [Christmas]", "2023-12-25"),
    ("[Easter 2024]", "2024-03-31"),
    ("[last Thanksgiving]", "2022-11-24"),
    ("on [New Year's Eve]", "2023-12-31"),
    ("on [Good Friday]", "2024-03-29"),
    ("on [Black Friday 2010]", "2010-11-26"),
    ("on [15 April of 87]", "1987-04-15"),
    ("on [2019/aug/01]", "2019-08-01"),
    ("on [2019-aug-1]", "2019-08-01"),
    ("on [22/Jan/2019]", "2019-01-22"),
    ("on [Jan/3]", "2024-01-03"),
    ("on [20190801]", "2019-08-01"),
    ("on [the twenty-first of May]", "2024-05-21"),
    ("on [Dec31, 1994]", "1994-12-31"),
    ("[3 May last year]", "2022-05-03"),
    ("[Christmas of this year]", "2023-12-25"),
    ("says:[30 December]", "2023-12-30"),
]
PERIODS = [
    ("[last week]", "2023-07-10..2023-07-16"),
    ("[this week]", "2023-07-17..2023-07-23"),
    ("[the week before last]", "2023-07-03..2023-07-09"),
    ("[the week of June 5, 2023]", "2023-06-05..2023-06-11"),
    ("I went there [this weekend]", "2023-07-15..2023-07-16"),
    ("I go there [this weekend]", "2023-07-22..2023-07-23"),
    ("[last weekend]", "2023-07-15..2023-07-16"),
    ("what about [the weekend]?", "2023-07-22..2023-07-23"),
    ("[last month]", "2023-06-01..2023-06-30"),
    ("[next month]", "2023-08-01..2023-08-31"),
    ("[last year]", "2022-01-01..2022-12-31"),
    ("in [March]", "2024-03-01..2024-03-31"),
    ("I moved in [March]", "2023-03-01..2023-03-31"),
    ("[last May]", "2023-05-01..2023-05-31"),
    ("[March 2021]", "2021-03-01..2021-03-31"),
    ("[mid-June 2023]", "2023-06-10..2023-06-20"),
    ("[late July 2023]", "2023-07-16..2023-07-31"),
    ("[the end of May 2023]", "2023-05-16..2023-05-31"),
    ("[early 2023]", "2023-01-01..2023-04-30"),
    ("in [2019]", "2019-01-01..2019-12-31"),
    ("[2014-2018]", "2014-01-01..2018-12-31"),
    ("in [the 90s]", "1990-01-01..1999-12-31"),
    ("in [the nineties]", "1990-01-01..1999-12-31"),
    ("[two summers ago]", "2021-06-01..2021-08-31"),  # this one is not over, so it does not count
    ("[three winters ago]", "2020-12-01..2021-02-28"),
    ("in [6/2023]", "2023-06-01..2023-06-30"),
    ("[prior to June]", "..2024-05-31"),
    ("in [the 1980s]", "1980-01-01..1989-12-31"),
    ("in [Q3]", "2023-07-01..2023-09-30"),
    ("[Q1 2022]", "2022-01-01..2022-03-31"),
    ("[last quarter]", "2023-04-01..2023-06-30"),
    ("[next summer]", "2024-06-01..2024-08-31"),
    ("[last summer]", "2022-06-01..2022-08-31"),
    ("in the [fall of 2021]", "2021-09-01..2021-11-30"),
    ("[spring 2022]", "2022-03-01..2022-05-31"),
    ("[since 2019]", "2019-01-01.."),
    ("[since last May]", "2023-05-01.."),
    ("[before 2020]", "..2019-12-31"),
    ("[after 2010]", "2011-01-01.."),
    ("[until June 1, 2024]", "..2024-06-01"),
    ("[until June 2024]", "..2024-05-31"),
    ("[through Friday]", "..2023-07-21"),
    ("[from May to July]", "2023-05-01..2023-07-31"),
    ("[between 2015 and 2018]", "2015-01-01..2018-12-31"),
    ("[June 9-12, 2022]", "2022-06-09..2022-06-12"),
    ("[from November to March]", "2023-11-01..2024-03-31"),
    ("[from Monday to Friday]", "2023-07-17..2023-07-21"),
    ("[January 12, 2016 - 01/22/2016]", "2016-01-12..2016-01-22"),
    ("the [past two weeks]", "2023-07-05..2023-07-19"),
    ("the [next three days]", "2023-07-19..2023-07-22"),
    ("[four months starting September 1 2024]", "2024-09-01..2024-12-31"),
    ("[tonight]", "2023-07-19"),
    ("[yesterday morning]", "2023-07-18"),
    ("on [18 and 19 June 2022]", "2022-06-18..2022-06-19"),
    ("on [June 18 and 19 2022]", "2022-06-18..2022-06-19"),
    ("[May 13 - May 19, 2022]", "2022-05-13..2022-05-19"),
    ("[no later than Friday]", "..2023-07-21"),
    ("[later than 2018]", "2019-01-01.."),
    ("[2012 or later]", "2012-01-01.."),
    ("in [week 3 of 2027]", "2027-01-18..2027-01-24"),
    ("[w/c July 24]", "2023-07-24..2023-07-30"),
]


@pytest.mark.parametrize(("marked", "covers"), [*DATES, *PERIODS])
def test_it_covers_the_days_that_are_meant(marked: str, covers: str) -> None:
    """The words are found as a whole, and mean these days."""
    text = marked.replace("[", "").replace("]", "")
    found = only(text)
    assert text[found.start : found.end] == marked[marked.index("[") + 1 : marked.index("]")]
    assert covered(found) == covers


TRAPS = """
I may go. | You may march on. | This may or may not be right. | May I ask why? | May said hello.
Soldiers march to war. | version 2.1 | Python 3.11.4 | 1/2 cup of sugar | open 24/7 | working 9 to 5
take the 5 home | call 555-1212 | Tel: +86 138-2010-2015 | (206) 555-1212 | the ssn is 123-12-1234
on the 5th floor | a 4:3 screen | the sun is bright | I sat down. | They wed in a church.
I fall in love easily. | A spring in my step | the fall of Rome | a second opinion | $2000 well spent
2000 pieces of toys | I have 3 dogs. | There are two to four people. | ABC-12345-A1B2C3 | 50/50
My sister April called. | room 2023b | it costs 5.99 | Mr. Sun | end of | from | the last resort | next to me
He is 5'10". | my mar | decimal 12.25 | 100% sure | a cold winter day | Springfield | Sundance | Marchand
a mayor | week
three weeks later it rained | Easter weekend | on previous Monday | next Friday 5/12 | the first Monday was nice
""".replace("\n", "|").split("|")


@pytest.mark.parametrize("text", [trap.strip() for trap in TRAPS if trap.strip()])
def test_no_time_is_found_where_none_is_meant(text: str) -> None:
    """Everyday words, numbers, names and fractions are no times."""
    assert find_times(text, NOW) == ()


KINDS = [
    ("every Monday", "set", timedelta(days=7)),
    ("every other Friday", "set", timedelta(days=14)),
    ("daily", "set", timedelta(days=1)),
    ("twice a week", "set", timedelta(days=7)),
    ("Mondays", "set", timedelta(days=7)),
    ("two and a half hours", "duration", timedelta(hours=2.5)),
    ("half an hour", "duration", timedelta(minutes=30)),
    ("2 hours and 30 minutes", "duration", timedelta(hours=2.5)),
    ("five years", "duration", timedelta(days=1825)),
    ("twenty-three days", "duration", timedelta(days=23)),
    ("in 5 minutes", "time", None),
    ("tomorrow at 5pm", "time", None),
    ("recently", "vague", None),
    ("the other day", "vague", None),
    ("these days", "vague", None),
    ("last year", "range", None),
    ("yesterday", "date", None),
    ("two years ago", "date", None),
]


@pytest.mark.parametrize(("text", "kind", "length"), KINDS)
def test_it_has_the_kind_that_it_was_said_with(text: str, kind: str, length: timedelta | None) -> None:
    """Sets and durations have a length, the others a place in time."""
    found = only(text)
    assert (found.kind, found.length) == (kind, length)


@pytest.mark.parametrize(
    ("text", "past", "covers"),
    [
        ("March", True, None),
        ("in March", True, "2023-03-01..2023-03-31"),
        ("in March", False, "2024-03-01..2024-03-31"),
        ("on Friday", True, "2023-07-14"),
        ("on Friday", False, "2023-07-21"),
        ("on June 5", True, "2023-06-05"),
        ("I will leave in March", True, "2024-03-01..2024-03-31"),  # the tense decides
        ("I left in March", False, "2023-03-01..2023-03-31"),
    ],
)
def test_a_bare_name_goes_by_tense_and_then_by_past(text: str, past: bool, covers: str | None) -> None:
    """A month or weekday alone is the latest or the next one."""
    found = find_times(text, NOW, past=past)
    assert [covered(each) for each in found] == ([covers] if covers else [])


def test_two_years_ago_is_a_day_with_the_grain_of_a_year() -> None:
    """Who asks can widen it to what was meant."""
    assert only("two years ago").grain == "year"


def test_days_begin_where_now_is() -> None:
    """Yesterday in Tokyo began at 15:00 of the day before in London."""
    tokyo = timezone(timedelta(hours=9))
    (found,) = find_times("yesterday", datetime(2023, 7, 19, 8, tzinfo=tokyo))
    assert (found.begin, found.finish) == (datetime(2023, 7, 17, 15, tzinfo=UTC), datetime(2023, 7, 18, 15, tzinfo=UTC))


def test_several_in_one_text_are_found_in_order() -> None:
    """Each is found once."""
    text = "I moved last month, started on Monday and will leave in 2025."
    assert [text[each.start : each.end] for each in find_times(text, NOW)] == ["last month", "Monday", "2025"]


@pytest.mark.parametrize(
    ("text", "day"),
    [("on \u017fep/3", "2023-09-03"), ("on apr\u0131l/3", "2023-04-03"), ("on good fr\u0131day", "2023-04-07")],
)
def test_letters_of_other_cases_are_read_as_the_plain_ones(text: str, day: str) -> None:
    (found,) = find_times(text, datetime(2023, 10, 20, tzinfo=UTC), past=True)
    assert f"{found.begin:%Y-%m-%d}" == day
