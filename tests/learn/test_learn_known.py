"""What later talk says of those whom earlier talk told of; and what passes, or was found out."""

import pytest

from retentive.learn.talk.rules import extract, subjects
from tests.learn.test_learn_rules import kept, talk

TOLD = ["The user has a dog named Bolt.", "The user's sister Ana lives in Porto.", "Priya is the user's boss."]


@pytest.mark.parametrize("line", ["Bolt hates the rain.", "Ana moved to Faro.", "Priya works from home on Fridays."])
def test_who_was_told_of_can_be_called_by_name(line: str) -> None:
    assert [claim.content for claim in extract(talk(line), told=TOLD)] == [line]


@pytest.mark.parametrize("line", ["Paris is crowded.", "Marvin hates the rain.", "Bolts rust in the rain."])
def test_who_was_not_told_of_is_nobody_of_ours(line: str) -> None:
    assert extract(talk(line), told=TOLD) == []


def test_names_are_looked_for_where_a_statement_begins() -> None:
    """They are what memories are looked up for, so there should be few."""
    said = talk("Oh, Bolt ate my shoe. I met Ana. The rain stopped. We left.", "assistant: Rex is here.")
    assert subjects(said) == {"Bolt"}


@pytest.mark.parametrize(
    ("line", "claim"),
    [
        ("I'm on call until Sunday", "The user is on call until Sunday (1 March 2026)."),
        ("I'm in Madrid until June 1", "The user is in Madrid until June 1 2026."),
        ("Big news: I moved to Coimbra!", "The user moved to Coimbra."),
        ("My sister isn't vegan", "The user's sister is not vegan."),
        ("My dog isn't a beagle, he's a harrier.", "The user's dog is a harrier."),
        ("I called the clinic: it closes at 7pm", "The user called the clinic: it closes at 7pm."),
    ],
)
def test_more_that_is_kept(line: str, claim: str) -> None:
    assert claim in kept(line)


@pytest.mark.parametrize(
    "line", ["I'm tired until I get coffee", "I checked the logs and the server is down", "I asked and it was great"]
)
def test_more_that_is_left_out(line: str) -> None:
    assert kept(line) == []
