"""Ids in short: what is shown of them, and what of them is accepted."""

import pytest

from retentive.ids import is_part, new_ids, shorten_id


def test_an_id_is_shown_by_its_end() -> None:
    (id,) = new_ids(1_700_000_000_000_000, 1)
    assert shorten_id(id) == id[-8:]


@pytest.mark.parametrize("name", ["monday", "notes-2026-03-01", "session#7", ""])
def test_a_name_that_somebody_chose_is_shown_whole(name: str) -> None:
    assert shorten_id(name) == name


def test_ids_of_one_moment_differ_in_what_is_shown() -> None:
    ids = new_ids(1_700_000_000_000_000, 1000)
    assert len({shorten_id(id) for id in ids}) == len(ids)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("01a2", True),
        ("019a2b3c-", True),
        ("01a", False),  # too short
        ("monday", False),
        ("019A2B3C", False),  # ids are written small
        ("019a2b3c-0000-7000-8000-000000000000", False),  # whole
    ],
)
def test_a_part_of_an_id_is_recognised(text: str, part: bool) -> None:
    assert is_part(text) is part
