"""Proposals: a newer memory that may replace an older one, until somebody decides."""

import random
import string
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from retentive import Proposal, Retentive, Status
from retentive.errors import Conflict, Forbidden, Invalid, NotFound, RetentiveError
from retentive.memories.add import make_draft
from retentive.memories.plan import WriteResult
from retentive.memories.write import write_memories
from retentive.model import Replacement
from retentive.testing import Clock, parts_of
from tests.support import Open

pytestmark = pytest.mark.engines

TEA, COFFEE = "The user drinks tea at work", "The user has coffee at the office"


def judged(
    store: Retentive,
    text: str,
    ends: tuple[str, ...] = (),
    may_end: tuple[str, ...] = (),
    reason: str = "tea, coffee",
    **options: Any,
) -> WriteResult:
    """Keep a memory with what the judge of words says of it."""
    parts = parts_of(store)
    draft = make_draft(parts, text, options)._replace(
        corrects=tuple(Replacement(id, "same drink", reason) for id in ends),
        proposes=tuple(Replacement(id, "same drink", reason) for id in may_end),
    )
    (kept,) = write_memories(parts, [draft])
    return kept


def canary() -> str:
    """A word that nothing else has in it."""
    return "".join(random.Random(7).choices(string.ascii_lowercase, k=24))


def propose_pair(store: Retentive) -> Proposal:
    """The only proposal of a store: coffee may replace tea."""
    judged(store, COFFEE, may_end=(store.add(TEA).id,))
    (found,) = store.proposals.list()
    return found


def search_contents(store: Retentive) -> set[str]:
    return {memory.content for memory in store.list()}


def test_both_memories_stay_and_the_proposal_is_kept(open_store: Open) -> None:
    """A proposal is seen by whoever opens the store, and changes neither memory."""
    store = open_store()
    tea = store.add(TEA)
    kept = judged(store, COFFEE, may_end=(tea.id,))
    (found,) = open_store().proposals.list()
    assert kept.proposals == (found,)
    assert (found.newer_id, found.newer, found.older_id, found.older) == (kept.id, COFFEE, tea.id, TEA)
    assert (found.rule, found.reason, found.older_time) == ("same drink", "tea, coffee", tea.memory.valid_from)
    assert search_contents(store) == {TEA, COFFEE}


def test_an_accepted_proposal_ends_the_older_memory(store: Retentive) -> None:
    """Accepting supersedes the older memory, says why in its history, and leaves no proposal."""
    found = propose_pair(store)
    assert store.proposals.accept(found.id, actor="agent") == found
    ended, newer = store.get(found.older_id), store.get(found.newer_id)
    assert (ended.status, ended.superseded_by, ended.valid_to) == (Status.SUPERSEDED, newer.id, newer.valid_from)
    last = store.history(ended.id)[-1]
    assert (last.action, last.actor) == ("superseded", "agent")
    assert last.reason == "proposal accepted: same drink: tea, coffee"
    assert store.proposals.list() == []
    assert [hit.content for hit in store.search("drinks tea coffee", include="memories")] == [COFFEE]


def test_a_rejected_proposal_leaves_both(store: Retentive) -> None:
    """Rejecting keeps both memories and takes the proposal off the list."""
    store.proposals.reject(propose_pair(store).id)
    assert (search_contents(store), store.proposals.list()) == ({TEA, COFFEE}, [])


@pytest.mark.parametrize("how", ["ends", "may_end"])
def test_what_was_rejected_is_neither_ended_nor_proposed_again(store: Retentive, how: str) -> None:
    """The same two texts stay apart, also when the newer one is told anew under another id."""
    found = propose_pair(store)
    store.proposals.reject(found.id)
    store.forget(found.newer_id)
    named: dict[str, Any] = {how: (found.older_id,)}
    again = judged(store, COFFEE, **named)
    assert again.created
    assert (again.superseded, again.proposals, store.proposals.list()) == ((), (), [])
    assert search_contents(store) == {TEA, COFFEE}


def test_a_caller_may_replace_what_was_rejected(store: Retentive) -> None:
    """An explicit `replaces` holds whatever was rejected before."""
    found = propose_pair(store)
    store.proposals.reject(found.id)
    assert store.add(COFFEE, replaces=found.older_id).superseded == (found.older_id,)


CHANGES: dict[str, Callable[[Retentive, Proposal], object]] = {
    "newer forgotten": lambda store, each: store.forget(each.newer_id),
    "older forgotten": lambda store, each: store.forget(each.older_id),
    "newer edited": lambda store, each: store.update(each.newer_id, content="Another text"),
    "older edited": lambda store, each: store.update(each.older_id, content="Another text"),
    "older replaced": lambda store, each: store.add("Water, then", replaces=each.older_id),
    "newer purged": lambda store, each: store.purge(each.newer_id),
    "older expired": lambda store, each: store.update(each.older_id, expires="1s"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_proposal_goes_away_when_either_side_changes(store: Retentive, time: Clock, change: str) -> None:
    """Whatever changes a memory, its proposals are no longer shown and cannot be decided."""
    found = propose_pair(store)
    CHANGES[change](store, found)
    time.forward(60)
    assert store.proposals.list() == []
    for decide in (store.proposals.accept, store.proposals.reject):
        with pytest.raises((Conflict, NotFound)):
            decide(found.id)
    assert store.get(found.older_id).superseded_by != found.newer_id


@pytest.mark.parametrize("chore", ["upkeep", "repair"])
def test_chores_delete_outdated_proposals_and_keep_rejected_ones(store: Retentive, chore: str) -> None:
    """Open proposals of changed memories go; what was rejected stays on record."""
    found = propose_pair(store)
    water = judged(store, "The user drinks water", may_end=(found.older_id,))
    store.proposals.reject(water.proposals[0].id)
    live = judged(store, "The user drinks milk", may_end=(found.older_id,))
    store.forget(found.newer_id)
    getattr(store, chore)()
    rows = parts_of(store).engine.read("export_proposals", {"namespace": store.namespace, "k1": "", "limit": 9})
    assert {row[1] for row in rows} == {water.proposals[0].id, live.proposals[0].id}


def test_proposals_come_newest_first_and_in_pages(store: Retentive) -> None:
    """`before` goes on after a page, also when its last proposal was decided meanwhile."""
    tea = store.add(TEA).id
    made = [judged(store, f"The user drinks juice {n}", may_end=(tea,)).proposals[0] for n in range(5)]
    first = store.proposals.list(limit=2)
    assert first == made[:2:-1]
    store.proposals.reject(first[-1].id)
    assert store.proposals.list(after=first[-1].id) == made[2::-1]


def test_accepting_can_be_undone_and_stays_undone(store: Retentive) -> None:
    """`restore` brings the older memory back beside the newer, and the pair is not ended again."""
    found = propose_pair(store)
    store.proposals.accept(found.id)
    store.restore(found.older_id)
    assert search_contents(store) == {TEA, COFFEE}
    assert judged(store, COFFEE, ends=(found.older_id,)).superseded == ()
    assert search_contents(store) == {TEA, COFFEE}


def test_of_two_that_accept_at_once_one_is_refused(store: Retentive) -> None:
    """A proposal is decided once, and the memory has one entry of it in its history."""
    found = propose_pair(store)

    def accept(_: int) -> str:
        try:
            store.proposals.accept(found.id)
        except (Conflict, NotFound) as error:
            return type(error).__name__
        return "done"

    with ThreadPoolExecutor(4) as pool:
        results = [*pool.map(accept, range(8))]
    assert results.count("done") == 1
    assert [each.action for each in store.history(found.older_id)] == ["created", "superseded"]


def test_accept_and_reject_at_once_come_to_one_decision(store: Retentive) -> None:
    """Either the older memory ended, or the pair is rejected; never both."""
    found = propose_pair(store)

    def decide(verb: str) -> str | None:
        try:
            getattr(store.proposals, verb)(found.id)
        except (Conflict, NotFound):
            return None
        return verb

    with ThreadPoolExecutor(4) as pool:
        done = [each for each in pool.map(decide, ["accept", "reject"] * 4) if each]
    assert len(done) == 1
    rejected = parts_of(store).engine.read("export_proposals", {"namespace": store.namespace, "k1": "", "limit": 9})
    assert (store.get(found.older_id).status is Status.SUPERSEDED) is (done == ["accept"])
    assert bool(rejected) is (done == ["reject"])


def test_a_proposal_on_what_ends_meanwhile_is_dropped_and_the_memory_kept(store: Retentive) -> None:
    """Drafts of one call: the second may replace what the first ends."""
    parts, tea = parts_of(store), store.add(TEA).id
    first = make_draft(parts, "The user gave up tea", {"replaces": [tea]})
    second = make_draft(parts, COFFEE, {})._replace(proposes=(Replacement(tea, "same drink", "tea, coffee"),))
    kept = write_memories(parts, [first, second])
    assert [each.created for each in kept] == [True, True]
    assert store.proposals.list() == []
    assert TEA not in search_contents(store)


def test_proposals_are_of_one_namespace(store: Retentive) -> None:
    """Another namespace neither sees nor decides them."""
    found = propose_pair(store)
    other = store.in_namespace("other")
    assert other.proposals.list() == []
    with pytest.raises(NotFound, match="no proposal"):
        other.proposals.accept(found.id)


BAD: list[tuple[str, dict[str, Any], type[RetentiveError], str]] = [
    ("accept", {"id": "nothing"}, NotFound, "no proposal"),
    ("reject", {"id": "x\0"}, Invalid, "NUL"),
    ("accept", {"id": 7}, Invalid, "must be text"),
    ("accept", {"id": "x", "actor": None}, Invalid, "actor"),
    ("list", {"limit": 0}, Invalid, "limit"),
    ("list", {"after": 3}, Invalid, "must be text"),
]


@pytest.mark.parametrize(("verb", "given", "error", "told"), BAD)
def test_bad_input_is_refused(
    store: Retentive, verb: str, given: dict[str, Any], error: type[RetentiveError], told: str
) -> None:
    """What is no proposal, or no id, is told so."""
    with pytest.raises(error, match=told):
        getattr(store.proposals, verb)(**given)


DECIDED: dict[str, Callable[[Retentive, Proposal], object]] = {
    "open": lambda store, _: store.proposals.list(),
    "rejected": lambda store, each: store.proposals.reject(each.id),
    "accepted": lambda store, each: store.proposals.accept(each.id),
    "undone": lambda store, each: [store.proposals.accept(each.id), store.restore(each.older_id)],
}


def add_quoting_pair(store: Retentive, side: str, word: str) -> tuple[Proposal, str]:
    """A proposal whose reason quotes a word of one of its memories, and the id of that memory."""
    older = store.add(f"Tea with {word}" if side == "older" else TEA).id
    newer = f"Coffee with {word}" if side == "newer" else COFFEE
    (found,) = judged(store, newer, may_end=(older,), reason=f"one names {word}").proposals
    return found, found.newer_id if side == "newer" else found.older_id


@pytest.mark.parametrize("decided", DECIDED)
@pytest.mark.parametrize("side", ["newer", "older"])
def test_a_purge_of_either_memory_removes_what_quotes_it(store: Retentive, side: str, decided: str) -> None:
    """Neither a proposal nor the history of the other memory repeats what was purged."""
    word = canary()
    found, id = add_quoting_pair(store, side, word)
    DECIDED[decided](store, found)
    gone = store.purge(id)
    assert (gone.remaining, gone.removed.get("proposals", 0)) == ((), decided != "accepted")
    assert parts_of(store).tables.purges.list_repeats(store.namespace, word) == []
    assert store.proposals.list() == []


@pytest.mark.engines("sqlite")
@pytest.mark.parametrize("decided", DECIDED)
@pytest.mark.parametrize("side", ["newer", "older"])
def test_no_byte_of_a_purged_memory_is_left_by_proposals(db: Path, side: str, decided: str) -> None:
    """No file of the store has a word of it."""
    word = canary()
    with Retentive.open(db, embedder="hashing") as store:
        found, id = add_quoting_pair(store, side, word)
        DECIDED[decided](store, found)
        assert store.purge(id).proof.endswith("nothing found")
    assert not [path.name for path in db.parent.glob("memory.db*") if word.encode() in path.read_bytes().lower()]


def test_a_purge_clears_reasons_that_quote_it_elsewhere(store: Retentive) -> None:
    """A proposal about two other memories stays, without the words that quote the purged one."""
    word = canary()
    code = store.add(f"The word is {word}").id
    (found,) = judged(store, COFFEE, may_end=(store.add(TEA).id,), reason=f"as with {word}").proposals
    assert store.purge(code).remaining == ()
    assert [(each.id, each.reason) for each in store.proposals.list()] == [(found.id, "")]


@pytest.mark.parametrize("side", ["newer", "older"])
def test_deleting_a_session_removes_the_proposals_of_its_memories(store: Retentive, side: str) -> None:
    """What is local to a session takes its proposals and the reasons that quote it along."""
    word = canary()
    local: dict[str, dict[str, Any]] = {"newer": {}, "older": {}}
    local[side] = {"session": "s"}
    tea = store.add(f"Tea with {word}" if side == "older" else TEA, **local["older"]).id
    other = store.add("The user drinks milk").id
    text = f"Coffee with {word}" if side == "newer" else COFFEE
    judged(store, text, ends=(other,), may_end=(tea,), reason="" if side == "older" else word, **local["newer"])
    store.sessions.delete("s")
    assert parts_of(store).engine.read("export_proposals", {"namespace": store.namespace, "k1": "", "limit": 9}) == []
    assert parts_of(store).tables.purges.list_repeats(store.namespace, word) == []


@pytest.mark.engines("postgres")
def test_the_server_itself_keeps_proposals_apart(store: Retentive) -> None:
    """Row-level security hides those of other namespaces from a query that forgets to ask."""
    for name in ("alice", "alice/coder", "bob"):
        propose_pair(store.in_namespace(name))
    everything = {"k1": "", "k2": "", "limit": 9}
    for subtree, seen in ((False, {"alice"}), (True, {"alice", "alice/coder"})):
        engine: Any = parts_of(store.restricted("alice", subtree=subtree)).engine
        assert {row[0] for row in engine.engine.read("copy_proposals", everything)} == seen


def test_a_view_for_reading_lists_and_decides_nothing(store: Retentive) -> None:
    """A view that may only read sees proposals, and is refused to decide on them."""
    found = propose_pair(store)
    view = store.restricted(store.namespace, read_only=True)
    assert view.proposals.list() == [found]
    for decide in (view.proposals.accept, view.proposals.reject):
        with pytest.raises(Forbidden, match=r"proposals\."):
            decide(found.id)
