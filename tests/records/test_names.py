"""Names: who is meant, however it is written."""

import random

import pytest

from retentive.records.fuzzy_names import EXACT, NEARLY, PARTLY, WHOLE, NameQuery, _is_near, fold_name


@pytest.mark.parametrize(
    ("asked", "name", "sure"),
    [
        ("anna keller", "Anna  Keller", EXACT),
        ("Ärger", "arger", EXACT),
        ("keller", "Anna Keller", WHOLE),
        ("kel", "Anna Keller", PARTLY),
        ("keler anna", "Anna Keller", NEARLY),
        ("kelelr", "Anna Keller", NEARLY),  # two letters swapped
        ("太郎", "田中太郎", WHOLE),  # the second name, without a blank before it
        ("kellner bob", "Anna Keller", 0.0),  # every word counts
        ("bo", "Ba", 0.0),  # short words are as they are written
        ("", "Anna", 0.0),
        ("!", "Anna", 0.0),
        ("", "", 0.0),
    ],
)
def test_how_sure_it_is_that_somebody_is_meant(asked: str, name: str, sure: float) -> None:
    assert NameQuery(asked).likeness([name]) == sure


def test_the_quick_look_leaves_out_nobody() -> None:
    """Whatever few mistakes make of a word is compared with care."""
    dice = random.Random(7)
    for _ in range(3000):
        first, second = ("".join(dice.choices("abcde", k=dice.randint(6, 9))) for _ in range(2))
        near = _is_near(first, second, 2) and not second.startswith(first)
        assert not near or NameQuery(first).likeness([second]) == NEARLY


@pytest.mark.parametrize("name", ["℡ 1", "ŐRSÉG", "ガード", "İzmir", "Straße", "ΣΊΣΥΦΟΣ"])
def test_folding_twice_is_folding_once(name: str) -> None:
    assert fold_name(fold_name(name)) == fold_name(name) == fold_name(name.upper())
