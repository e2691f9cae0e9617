"""Do the versions of the prompts say what was asked?"""

from hashlib import sha256
from importlib.resources import files

import pytest

from retentive.text.model_output import has_json, shares_word_run
from retentive.text.prompts import load_prompt

RELEASED = {
    "extract-1": "3ac376781b2f6e97",
    "repair-1": "f52e88278b752a61",
    "summary-1": "0207e5d5f76f68a5",
}


def test_a_released_prompt_never_changes() -> None:
    """Memories name the version that they were found with: another text is another file."""
    found = {
        file.name.removesuffix(".txt") for file in files("retentive.text.prompts").iterdir() if ".txt" in file.name
    }
    assert found == {*RELEASED}
    assert {name: sha256(load_prompt(name).text.encode()).hexdigest()[:16] for name in RELEASED} == RELEASED


def test_each_place_of_a_prompt_wants_a_value() -> None:
    with pytest.raises(KeyError):
        load_prompt("summary-1").fill()
    assert "at most 12 words" in load_prompt("summary-1").fill(words=12)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"from": "user"}', True),
        ('As JSON:\n{"from": "user", "text": "Hi', True),
        ("[[1], {}]", False),
        ('```json\n{"herons": 3}\n```', True),
        ("The user counts herons (three {of them}).", False),
        ('The user wrote {"a": 1} into the config file.', False),  # a summary may tell of JSON
        ('The field "text" is missing in the form.', False),
    ],
)
def test_material_is_known_by_its_form(text: str, *, expected: bool) -> None:
    assert has_json(text) is expected


def test_words_in_a_row_are_compared_whatever_stands_between_them() -> None:
    source = "Only what the user says, of themselves: their people."
    assert shares_word_run("only what the user says of themselves", source)
    assert not shares_word_run("only what the user says", source)
