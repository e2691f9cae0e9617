"""What a message says that its sender does not mean as a statement of their own, and when its days are."""

from datetime import UTC, datetime

import pytest

from retentive.learn.talk.earnest import earnest
from retentive.learn.talk.rules import extract
from retentive.model import Event, Role

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)  # a Monday


def learned(text: str, said: datetime = NOON) -> list[str]:
    return [claim.content for claim in extract([Event("default", "s", 1, Role.USER, None, text, None, said)])]


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
def test_what_is_quoted_played_or_handed_over_is_not_learned(text: str) -> None:
    """Only what people say of themselves, in earnest, is theirs."""
    assert not [claim for claim in learned(text) if not claim.startswith("The user's boss")]


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
    assert learned(text) == told


def test_a_fix_without_a_text_leaves_the_message_as_it_is() -> None:
    """A request beside a statement does not take the statement away."""
    assert "I live in Porto" in earnest("Please fix the bug. I live in Porto.")


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
    assert learned(text) == [told]


def test_a_weekly_habit_does_not_expire() -> None:
    """Friday is not its end."""
    (claim,) = extract([Event("default", "s", 1, Role.USER, None, "I work Monday to Friday.", None, NOON)])
    assert claim.expires is None
