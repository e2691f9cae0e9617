"""What kind of value a question asks for, and whether a text has one, by tables."""

import pytest

from retentive.search.asked_value import AskedValue, has_value, read_asked_value, read_names


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("When did she move?", AskedValue.TIME),
        ("how long does the drive take", AskedValue.TIME),
        ("How many cats are there?", AskedValue.NUMBER),
        ("how much is the rent?", AskedValue.NUMBER),
        ("Who repairs the roof?", AskedValue.NAME),
        ("what is the dog called?", AskedValue.NAME),
        ("what does she like?", None),
        ("where is the key?", None),
        ("Wann ist sie umgezogen?", None),
    ],
)
def test_the_form_of_a_question_tells_what_it_asks_for(question: str, kind: AskedValue | None) -> None:
    assert read_asked_value(question) is kind


@pytest.mark.parametrize(
    ("kind", "has", "lacks"),
    [
        (AskedValue.TIME, "We moved yesterday", "We moved into a larger flat"),
        (AskedValue.TIME, "The lease ends on 3 May", "The lease is for the flat"),
        (AskedValue.NUMBER, "There are three cats", "There are cats"),
        (AskedValue.NUMBER, "The rent is 900 euros", "The rent is too high"),
        (AskedValue.NAME, "The roof is repaired by Oskar", "The roof is repaired"),
    ],
)
def test_a_text_has_the_value_or_lacks_it(kind: AskedValue, has: str, lacks: str) -> None:
    assert has_value(has, kind)
    assert not has_value(lacks, kind)


def test_names_in_a_question_are_capitals_inside_it() -> None:
    assert read_names("What did Ana buy in Porto?") == {"ana", "porto"}
    assert read_names("Where is Marco's bike?") == {"marco"}
    assert read_names("What is the plan?") == frozenset()
