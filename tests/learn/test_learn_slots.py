"""The value of a slot, as it was said: the name, and no more of the sentence."""

import pytest

from retentive.learn.statements.slots import slot_of


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("I moved to Lisbon last month", "Lisbon"),  # the beginning of a word is not "la"
        ("I live in Porto of all places", "Porto"),
        ("I live in Santiago de la Cruz", "Santiago de la Cruz"),
        ("I live in the Isle of Man", "the Isle of Man"),
        ("I work at Marks and Spencer", "Marks and Spencer"),
        ("I work at Acme and like it", "Acme"),
    ],
)
def test_a_name_ends_where_its_words_do(statement: str, said: str) -> None:
    slot = slot_of(statement, "user")
    assert slot is not None
    assert slot.said == said
