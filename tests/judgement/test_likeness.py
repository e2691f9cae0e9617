import pytest

from retentive.judgement import likeness
from retentive.judgement.likeness import choose_rarest

WORDS = ["thermometer", "elephant", "kitchen", "garden", "red"]


@pytest.mark.parametrize(
    ("rows", "chosen"),
    [
        ({}, []),  # no text has any of them
        ({"red": 3.0}, ["red"]),
        ({"garden": 9.0, "red": 3.0, "kitchen": 1.0}, ["kitchen", "red", "garden"]),  # the rarest first
        ({"garden": 3.0, "kitchen": 3.0, "red": 3.0}, ["kitchen", "garden", "red"]),  # of equals, as they were given
        ({"garden": 60.0, "red": 39.0, "kitchen": 2.0}, ["kitchen", "red"]),  # together in no more than a hundred rows
        ({"garden": 60.0, "red": 40.0}, ["red", "garden"]),
        ({"garden": 500.0, "red": 400.0}, ["red"]),  # rather one that is in too many than none
    ],
)
def test_the_rarest_words_are_chosen(
    rows: dict[str, float], chosen: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(likeness, "MAX_ROWS", 100)
    assert choose_rarest(WORDS, rows) == chosen


def test_no_more_than_eight_are_chosen() -> None:
    words = [f"word{number}" for number in range(12)]
    assert choose_rarest(words, dict.fromkeys(words, 0.0)) == words[:8]
