import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retentive.index import IndexRow
from retentive.index.columns import Rows
from retentive.model import Filter, Scope

NOW = 100


def row(chunk: int, **facets: Any) -> IndexRow:
    values = {"session": None, "kind": "fact", "source": "explicit", "importance": 5, "confidence": 0.9, "tags": None}
    values |= {"owner": f"m{chunk}", "type": "memory", "time": chunk, "expires": None, "vector": None}
    return IndexRow(chunk=chunk, **values | facets)


def scope(session: str | None = None, now: int = NOW, **filter: Any) -> Scope:
    return Scope(("home",), session, now, Filter(**filter))


def seen(rows: Rows, question: Scope) -> list[int]:
    mask = rows.mask(question)
    alive = rows.alive[: rows.used]
    return sorted(rows.chunk[: rows.used][alive if mask is None else mask].tolist())


@pytest.mark.parametrize(
    ("facets", "question", "sees"),
    [
        ({}, scope(), True),  # nothing asked, nothing hidden
        ({}, scope("s"), True),  # global rows are seen from a session
        ({"session": "s"}, scope("s"), True),  # its own rows too
        ({"session": "s"}, scope(), False),  # but not from outside
        ({"session": "s"}, scope("t"), False),  # nor from another
        ({"session": ""}, scope(), False),  # a session without a name is a session
        ({"expires": NOW + 1}, scope(), True),  # not yet
        ({"expires": NOW}, scope(), False),  # at its instant
        ({"kind": "note"}, scope(kinds=("fact", "note")), True),  # any of the kinds
        ({"kind": "note"}, scope(kinds=("fact",)), False),
        ({"kind": "note"}, scope(kinds=("unheard",)), False),
        ({"source": "import"}, scope(sources=("import",)), True),
        ({"source": "import"}, scope(sources=("explicit",)), False),
        ({"tags": '["a", "b"]'}, scope(tags=("a", "b")), True),  # all of the tags
        ({"tags": '["a"]'}, scope(tags=("a", "b")), False),
        ({"tags": None}, scope(tags=("a",)), False),
        ({"importance": 7}, scope(min_importance=7), True),
        ({"importance": 6}, scope(min_importance=7), False),
        ({"importance": 6}, scope(min_importance=99_999), False),  # beyond the column's type
        ({"confidence": 0.7}, scope(min_confidence=0.7), True),  # kept as given, not rounded
        ({"confidence": 0.69}, scope(min_confidence=0.7), False),
        ({"time": 50}, scope(since=50), True),  # since is inclusive
        ({"time": 50}, scope(until=50), False),  # until is not
        ({"time": 50}, scope(since=49, until=51), True),
    ],
)
def test_each_condition(facets: dict[str, Any], question: Scope, sees: bool) -> None:
    """A filter means what its fields say."""
    rows = Rows("home")
    rows.put([row(1, **facets)])
    assert seen(rows, question) == [1] * sees


def test_no_mask_when_all_may_be_seen() -> None:
    """The usual question costs no array, also after rows went."""
    rows = Rows("home")
    rows.put([row(1), row(2), row(3, expires=NOW + 5)])
    rows.remove(np.array([2]))
    assert rows.mask(scope()) is None


def test_a_row_is_made_as_given_again() -> None:
    """Putting a known chunk changes its facets in place, tags included."""
    rows = Rows("home")
    rows.put([row(1, tags='["a"]'), row(2, tags='["a"]')])
    rows.put([row(1, tags='["b"]', kind="note")])
    assert rows.live == rows.used == 2
    assert seen(rows, scope(tags=("a",))) == [2]
    assert seen(rows, scope(tags=("b",), kinds=("note",))) == [1]


def test_matches_are_ordered() -> None:
    """Best score first, of equals the newer, then the higher chunk; with the facets of the row."""
    rows = Rows("home")
    slots = rows.put([row(1, time=5), row(2, time=9), row(3, time=9), row(4, time=1, owner="x", importance=8)])
    found = rows.matches(slots, np.array([0.5, 0.5, 0.5, 0.9], np.float32), 3)
    assert [match.chunk for match in found] == [4, 3, 2]
    assert found[0][2:] == ("x", "memory", 1, 0.9, 8, "home")


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(1, 12), st.sampled_from([None, "a", "b"]), st.booleans()), max_size=40))
def test_rows_are_found_whatever_came_before(steps: list[tuple[int, str | None, bool]]) -> None:
    """After any puts, removals and returns of chunks, in any order, and after compaction, the same rows are there."""
    rows, model = Rows("home"), {}
    for chunk, tag, stays in steps:
        if stays:
            rows.put([row(chunk, tags=json.dumps([tag]) if tag else None)])
            model[chunk] = tag
        else:
            rows.remove(np.array([chunk]))
            model.pop(chunk, None)
    for _ in range(2):
        slots = rows.find(np.arange(13))
        assert np.flatnonzero(slots >= 0).tolist() == sorted(model)
        assert rows.chunk[slots[slots >= 0]].tolist() == sorted(model)
        assert seen(rows, scope(tags=("a",))) == sorted(chunk for chunk, tag in model.items() if tag == "a")
        assert rows.live == len(model)
        rows.compact()
