"""Proposals in exports: written, and taken in beside what is there."""

from typing import Any

import pytest

from retentive import Retentive
from retentive.memories.add import make_draft
from retentive.memories.write import write_memories
from retentive.model import Replacement
from retentive.testing import parts_of
from tests.support import Open, Place
from tests.transfer.stores import exported, lines

pytestmark = pytest.mark.engines


def propose(store: Retentive) -> str:
    """The id of a proposal that coffee replaces tea."""
    replacement = Replacement(store.add("Tea at noon").id, "same drink", "tea, coffee")
    (kept,) = write_memories(
        parts_of(store), [make_draft(parts_of(store), "Coffee at noon", {})._replace(proposes=(replacement,))]
    )
    return kept.proposals[0].id


def test_a_proposal_comes_back_as_it_was(place: Place, open_store: Open, saved: Any) -> None:
    """A restored store has the same proposals, and gives the same export."""
    source, target = open_store(target=place("sqlite")), open_store()
    propose(source)
    path = saved(exported(source))
    assert target.import_memories(path, dry_run=True).lines["proposal"] == {"created": 1}
    assert target.import_memories(path).lines["proposal"] == {"created": 1}
    assert target.proposals.list() == source.proposals.list()
    assert target.import_memories(path).lines["proposal"] == {"same": 1}
    assert exported(target) == exported(source)


def test_a_decision_goes_before_an_open_question(place: Place, open_store: Open, saved: Any) -> None:
    """What was rejected there is rejected here; what was rejected here stays so."""
    source, target = open_store(target=place("sqlite")), open_store()
    id = propose(source)
    undecided = saved(exported(source))
    target.import_memories(undecided)
    source.proposals.reject(id)
    assert target.import_memories(saved(exported(source))).lines["proposal"] == {"replaced": 1}
    assert target.proposals.list() == []
    assert source.import_memories(saved(exported(target))).lines["proposal"] == {"same": 1}
    other = open_store(target=place("sqlite"))
    other.import_memories(saved(exported(source)))
    propose_again = saved(*lines(exported(source)), name="again.jsonl")
    assert other.import_memories(propose_again).lines["proposal"] == {"same": 1}


def test_what_is_rejected_here_is_not_reopened(place: Place, open_store: Open, saved: Any) -> None:
    """An open proposal from elsewhere does not undo a decision here."""
    source, target = open_store(target=place("sqlite")), open_store()
    id = propose(source)
    path = saved(exported(source))
    target.import_memories(path)
    target.proposals.reject(id)
    assert target.import_memories(path).lines["proposal"] == {"kept": 1}
    assert target.proposals.list() == []


def test_a_proposal_without_its_memories_is_skipped_and_counted(place: Place, open_store: Open, saved: Any) -> None:
    """Left out, purged here, or known here under another id: what it is about is not here."""
    source, target = open_store(target=place("sqlite")), open_store()
    propose(source)
    without = saved(exported(source, without="memories"))
    assert target.import_memories(without).lines["proposal"] == {"skipped": 1}
    target.add("Tea at noon")
    assert target.import_memories(saved(exported(source))).lines["proposal"] == {"skipped": 1}
    source.purge(source.proposals.list()[0].older_id)
    assert b"tea, coffee" not in exported(source)


def test_an_id_of_another_proposal_is_refused(place: Place, open_store: Open, saved: Any) -> None:
    """A file in which two proposals have one id does not stop the rest."""
    source, target = open_store(target=place("sqlite")), open_store()
    propose(source)
    whole = lines(exported(source))
    at = next(number for number, line in enumerate(whole) if line["type"] == "proposal")
    swapped = {**whole[at], "newer": whole[at]["older"], "older": whole[at]["newer"]}
    done = target.import_memories(saved(*whole[: at + 1], swapped, *whole[at + 1 :]))
    assert (done.lines["proposal"], done.refused) == ({"created": 1}, 1)
    assert "another proposal" in done.refusals[0].reason


@pytest.mark.parametrize(
    "changed", [{"status": "maybe"}, {"newer": ""}, {"older_hash": None}, {"created": "soon"}, {"extra": 1}], ids=str
)
def test_a_damaged_line_is_refused(place: Place, open_store: Open, saved: Any, changed: dict[str, Any]) -> None:
    """What is not as it should be is told with its line, and the memories come in."""
    source, target = open_store(target=place("sqlite")), open_store()
    propose(source)
    whole = [{**line, **changed} if line["type"] == "proposal" else line for line in lines(exported(source))]
    done = target.import_memories(saved(*whole))
    assert (done.created, done.refused, target.proposals.list()) == (2, 1, [])
