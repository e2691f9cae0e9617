"""Which words of a message are its sender's own: pasted, quoted and played text is blanked. And when its days are."""

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retentive.judgement.extract.absolute_dates import find_validity_period, make_dates_absolute
from retentive.judgement.extract.candidates import find_candidates
from retentive.judgement.extract.person import to_third_person
from retentive.judgement.extract.quoted_text import blank_quoted_text
from retentive.model import Event, Kind, Role
from tests.judgement.pasted_messages import OWN, PASTED

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)  # a Monday


def find_statements(text: str, said: datetime = NOON) -> list[str]:
    """Everything in a message that may be learned."""
    candidates = find_candidates([Event("default", "s", 1, Role.USER, None, text, None, said)])
    return [make_dates_absolute(to_third_person(each.said), Kind.FACT, said) for each in candidates]


@pytest.mark.parametrize(("text", "pasted", "own"), PASTED)
def test_pasted_text_is_blanked_and_the_senders_own_stays(text: str, pasted: str, own: str) -> None:
    """By layout, punctuation and verbs that announce a text."""
    left = blank_quoted_text(text)
    assert pasted not in left
    assert own in left


@pytest.mark.parametrize(("text", "parts"), OWN)
def test_what_people_say_themselves_stays(text: str, parts: list[str]) -> None:
    """Titles, names, lists, reported speech and requests are the sender's own."""
    left = blank_quoted_text(text)
    assert [part for part in parts if part not in left] == []


@settings(deadline=None)
@given(st.text(max_size=200) | st.lists(st.sampled_from([row[0] for row in PASTED]), max_size=4).map("\n\n".join))
def test_every_character_keeps_its_place(text: str) -> None:
    """A character stays or becomes a blank; line breaks always stay."""
    left = blank_quoted_text(text)
    assert len(left) == len(text)
    assert all(after in (before, " ") for before, after in zip(text, left, strict=True))
    assert [*map(len, left.splitlines())] == [*map(len, text.splitlines())]


def test_a_document_is_read_at_its_ends_only() -> None:
    """The middle of a very long message is pasted; the request below it is seen."""
    text = "I live in Leeds.\n" + "I own a boat.\n" * 100_000 + "That is all, I am tired."
    left = blank_quoted_text(text)
    assert len(left) == len(text)
    assert "I live in Leeds." in left
    assert "I am tired." in left
    assert left.count("boat") < len(text) / 500


@pytest.mark.parametrize(
    "text",
    [
        "don't remember this but I'm thinking of leaving my job",
        'The narrator says: "I am the last of my kind and I live in the tower."',
        'My boss said "I live in Paris and I work at Google".',
        "Translate: I live in Paris and my name is Marie",
        "Rewrite this sentence: I have three kids and I hate Mondays",
        "Pretend you're Ilse's father. I'm a sailor and my name is Kol.",
        "Write a cover letter: I'm a nurse and I love my job",
    ],
)
def test_nothing_is_learned_from_quoted_and_played_text(text: str) -> None:
    """Only what people say of themselves is learned."""
    quoted = ("leaving", "tower", "Paris", "Google", "Marie", "kids", "sailor", "Kol", "nurse")
    assert not [each for each in find_statements(text) if any(word in each for word in quoted)]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("im vegetarian", ["The user is vegetarian."]),
        ("ive got two kids", ["The user has got two kids."]),
        ("i dont eat pork", ["The user does not eat pork."]),
    ],
)
def test_apostrophes_may_be_left_out(text: str, told: list[str]) -> None:
    """As they are in quick talk."""
    assert find_statements(text) == told


def test_a_fix_without_a_text_leaves_the_message_as_it_is() -> None:
    """A request beside a statement does not take the statement away."""
    assert "I live in Porto" in blank_quoted_text("Please fix the bug. I live in Porto.")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("I work Monday to Friday.", "The user works Monday to Friday."),  # every week
        ("Our launch was moved to April 2.", "The user's launch was moved to April 2 2026."),  # what is to come
        ("I moved to Graz last month.", "The user moved to Graz last month (February 2026)."),
    ],
)
def test_days_are_those_that_were_meant(text: str, told: str) -> None:
    """What is done every week has no date; what was moved, a later one."""
    assert find_statements(text) == [told]


def test_a_weekly_habit_does_not_expire() -> None:
    """Friday is not its end."""
    assert find_validity_period("The user works Monday to Friday.", NOON) == (None, None)
