"""What happened day by day, on every engine."""

import pytest

from retentive import Retentive
from retentive.errors import Invalid
from retentive.testing import use_clock

DAY = 86_400
pytestmark = pytest.mark.engines


def test_days_have_what_was_made_replaced_forgotten_and_said(target: str) -> None:
    """The newest day first, with empty days between."""
    with use_clock() as clock, Retentive.open(target, embedder="none") as store:
        store.add("The dog is Rex", slot="dog")
        store.sessions.append("monday", "user", "Hello")
        clock.forward(2 * DAY)
        store.add("The dog is Max", slot="dog")
        store.forget(store.add("For a moment").id)
        today, empty, first = store.timeline(3)
    assert (today.made, today.replaced, today.forgotten, today.messages) == (2, 1, 1, 0)
    assert empty.is_empty
    assert (first.made, first.replaced, first.sessions, first.messages) == (1, 0, 1, 1)


def test_filters_choose_memories(target: str) -> None:
    """A session chooses its messages, too."""
    with use_clock(), Retentive.open(target, embedder="none") as store:
        store.add("Tea at noon", kind="preference", tags=["food"])
        store.add("The bridge is closed")
        store.sessions.append("monday", "user", "Hello")
        store.sessions.append("tuesday", "user", "Hello again")
        assert store.timeline(1, kind="fact")[0].made == 1
        assert store.timeline(1, tags=["food"])[0].made == 1
        assert store.timeline(1)[0].made == 2
        assert store.timeline(1, session="monday")[0].messages == 1
        assert store.timeline(1)[0].messages == 2


def test_too_many_days_are_refused(target: str) -> None:
    with Retentive.open(target, embedder="none") as store, pytest.raises(Invalid, match="too many"):
        store.timeline(100_000)
