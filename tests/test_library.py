"""The verbs of the library, on a real file."""

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import sleep
from typing import Any

import pytest

from retentive import Kind, Retentive, Source, Status
from retentive.errors import Closed, Conflict, NotFound, RetentiveError, Unwritable
from retentive.testing import Clock, before_apply, parts_of
from tests.support import Open

pytestmark = pytest.mark.engines


def contents(store: Retentive, question: str, **options: Any) -> list[str]:
    return [hit.content for hit in store.search(question, **options)]


def test_what_is_added_comes_back_whole(store: Retentive) -> None:
    added = store.add(
        "The user plays the cello",
        kind="personal",
        tags=["music", "music", "hobby"],
        importance=7,
        confidence=0.8,
        source="conversation",
        context="from a chat about weekends",
        session="s1",
        slot="user.instrument",
        expires="2999-01-01",
        valid_from="2020-05-01",
        metadata={"a": [1, {"b": None}]},
        origin={"event": 3},
    )
    memory = store.get(added.id)
    assert added.created
    assert memory == added.memory
    assert (memory.kind, memory.source, memory.status) == (Kind.PERSONAL, Source.CONVERSATION, Status.ACTIVE)
    assert memory.tags == ("music", "hobby")
    assert memory.valid_from == datetime(2020, 5, 1, tzinfo=UTC)
    assert memory.metadata == {"a": [1, {"b": None}]}
    assert memory.origin == {"event": 3}


def test_defaults_are_those_of_a_fact_said_explicitly(store: Retentive) -> None:
    memory = store.add("Water boils at 100 degrees").memory
    assert (memory.kind, memory.source, memory.confidence, memory.importance) == ("fact", "explicit", 0.9, 5)


def test_the_same_text_is_one_memory_with_its_time_refreshed(store: Retentive, time: Clock) -> None:
    first = store.add("The  sky is blue")
    time.forward(60)
    again = store.add("The sky is\tblue ")
    assert (again.created, again.id) == (False, first.id)
    assert store.get(first.id).updated - first.memory.updated > timedelta(seconds=59)
    assert len(store.list()) == 1


def test_the_same_text_in_another_scope_is_another_memory(store: Retentive, open_store: Open) -> None:
    ids = {store.add("Same").id, store.add("Same", session="s").id, open_store(namespace="other").add("Same").id}
    assert len(ids) == 3


def test_a_near_duplicate_is_kept_and_named(store: Retentive) -> None:
    first = store.add("The user drinks black coffee every single morning")
    second = store.add("The user drinks black coffee every morning")
    third = store.add("The user drinks black coffee every morning", kind="preference", session="x")
    assert second.created
    assert [each.id for each in second.similar] == [first.id]
    assert second.similar[0].overlap >= 0.6
    assert third.similar == ()


def test_a_correction_supersedes_what_held_the_slot(store: Retentive) -> None:
    old = store.add("The user's dog is called Rex", slot="user.dog.name")
    new = store.add("The user's dog is called Max", slot="user.dog.name")
    assert new.superseded == (old.id,)
    assert contents(store, "dog called") == ["The user's dog is called Max"]
    before = store.get(old.id)
    assert (before.status, before.superseded_by) == (Status.SUPERSEDED, new.id)
    assert before.valid_to is not None


def test_saying_a_known_text_for_a_slot_corrects_too(store: Retentive) -> None:
    known = store.add("The user's dog answers to Max")
    wrong = store.add("The user's dog answers to Rex", slot="user.dog.name")
    again = store.add("The user's dog answers to Max", slot="user.dog.name")
    assert (again.created, again.id, again.superseded) == (False, known.id, (wrong.id,))
    assert contents(store, "dog answers") == ["The user's dog answers to Max"]


def test_a_superseded_text_can_be_said_again(store: Retentive) -> None:
    for name in ("Rex", "Max", "Rex"):
        store.add(f"The dog is {name}", slot="dog")
    assert contents(store, "dog") == ["The dog is Rex"]


def test_update_changes_what_is_given_and_search_follows(store: Retentive) -> None:
    added = store.add("The office is in Paris", tags=["work"], context="address")
    changed = store.update(added.id, content="The office is in Lyon", importance=8, reason="moved")
    assert store.get(added.id) == changed
    assert (changed.importance, changed.tags, changed.context) == (8, ("work",), "address")
    assert contents(store, "Paris", mode="text") == []
    assert contents(store, "Lyon", mode="text") == ["The office is in Lyon"]
    assert changed.content_hash != added.memory.content_hash


def test_update_of_labels_is_found_by_them(store: Retentive) -> None:
    id = store.add("A note on vaccination").id
    store.update(id, tags=["health"], kind="note", expires=None)
    assert contents(store, "health", mode="text") == ["A note on vaccination"]
    assert contents(store, "vaccination", kind="note") == ["A note on vaccination"]
    assert contents(store, "vaccination", kind="fact") == []


def test_update_refuses_to_become_a_double(store: Retentive) -> None:
    one, other = store.add("One"), store.add("Other", slot="s")
    with pytest.raises(Conflict, match="says the same"):
        store.update(other.id, content="One")
    with pytest.raises(Conflict, match="holds the slot"):
        store.update(one.id, slot="s")
    assert store.get(other.id).content == "Other"


def test_forget_hides_and_restore_brings_back(store: Retentive) -> None:
    id = store.add("The alarm code is on the fridge").id
    assert store.forget(id, reason="asked to").status is Status.FORGOTTEN
    assert contents(store, "alarm code") == []
    assert contents(store, "alarm code", status="forgotten") == ["The alarm code is on the fridge"]
    assert store.restore(id).status is Status.ACTIVE
    assert contents(store, "alarm code") == ["The alarm code is on the fridge"]


def test_restoring_what_was_superseded_before_does_not_make_it_current(store: Retentive) -> None:
    old = store.add("The dog is Rex", slot="dog").id
    store.add("The dog is Max", slot="dog")
    store.forget(old)
    assert store.restore(old).status is Status.SUPERSEDED
    assert contents(store, "dog") == ["The dog is Max"]


def test_forgetting_does_not_touch_the_time_it_was_true(store: Retentive) -> None:
    old = store.add("The dog is Rex", slot="dog").id
    store.add("The dog is Max", slot="dog")
    ended = store.get(old).valid_to
    store.forget(old)
    assert store.restore(old).valid_to == store.get(old).valid_to == ended is not None


def test_restore_refuses_what_was_said_anew_meanwhile(store: Retentive) -> None:
    id = store.add("Twice").id
    store.forget(id)
    store.add("Twice")
    with pytest.raises(Conflict, match="says the same"):
        store.restore(id)


def test_history_tells_everything_in_order(store: Retentive) -> None:
    id = store.add("Version one").id
    store.update(id, content="Version two", reason="better", actor="anna")
    store.forget(id, reason="enough")
    store.restore(id)
    story = store.history(id)
    assert [each.action for each in story] == ["created", "updated", "forgotten", "restored"]
    assert (story[1].actor, story[1].reason) == ("anna", "better")
    assert story[1].before is not None
    assert story[1].before["content"] == "Version one"


def test_unknown_ids_are_not_found_anywhere(store: Retentive) -> None:
    for verb in (store.get, store.forget, store.restore, store.history, store.update):
        with pytest.raises(NotFound):
            verb("nothing-like-that")


def test_ids_of_other_namespaces_are_not_found(store: Retentive, open_store: Open) -> None:
    id = store.add("Mine").id
    with pytest.raises(NotFound):
        open_store(namespace="other").get(id)


def test_paging_is_complete_and_stable_while_others_write(store: Retentive) -> None:
    expected = [store.add(f"memory number {n}").id for n in range(25)][::-1]
    seen, page = [], store.list(limit=10)
    while True:
        seen += [memory.id for memory in page]
        store.add(f"written meanwhile {len(seen)}")
        if page.next is None:
            break
        page = store.list(limit=10, after=page.next)
    assert seen == expected


def test_add_many_counts_what_became_of_each(store: Retentive) -> None:
    store.add("known")
    told: list[int] = []
    items: list[str | dict[str, Any]] = [
        "new",
        "known",
        "new",
        {"text": "dog Rex", "slot": "d"},
        {"text": "dog Max", "slot": "d", "tags": ["x"]},
    ]
    loaded = store.add_many(items, progress=told.append, source="import")
    assert (loaded.created, loaded.repeated, loaded.superseded, loaded.pending) == (3, 2, 1, 0)
    assert len(loaded.ids) == 5
    assert loaded.ids[0] == loaded.ids[2]
    assert told[-1] == 5
    assert contents(store, "dog", mode="text") == ["dog Max"]


SEQUENCES: list[list[dict[str, Any]]] = [
    # the slot is taken from a text that is said again behind it
    [{"text": "X", "slot": "s"}, {"text": "Y", "slot": "s"}, {"text": "X"}],
    # a text said twice, the second time for a slot that another holds
    [{"text": "Z", "slot": "t"}, {"text": "Y"}, {"text": "Y", "slot": "t"}],
    # two that touch the same two memories
    [{"text": "A"}, {"text": "H", "slot": "s"}, {"text": "A", "slot": "s"}, {"text": "H", "slot": "t"}],
    # one that has run out, said again, and its slot taken
    [{"text": "X", "slot": "s", "expires": "2020-01-01"}, {"text": "X"}, {"text": "Y", "slot": "s"}],
    # there and back
    [{"text": "A", "slot": "s"}, {"text": "B", "slot": "s"}, {"text": "A", "slot": "s"}, {"text": "B"}],
]


@pytest.mark.parametrize("items", SEQUENCES)
@pytest.mark.parametrize("before", [0, 1, 2])
def test_a_load_ends_as_one_by_one(open_store: Open, items: list[dict[str, Any]], before: int) -> None:
    single, bulk = open_store(namespace="single"), open_store(namespace="bulk")
    for item in items:
        single.add(**item)
    for item in items[:before]:
        bulk.add(**item)
    bulk.add_many(items[before:])
    statuses = ("active", "superseded", "expired")
    ends = [
        sorted((m.content, m.slot or "", m.status) for m in store.list(status=statuses)) for store in (single, bulk)
    ]
    assert ends[0] == ends[1]


def test_what_is_said_again_holds_for_longer(store: Retentive, time: Clock) -> None:
    id = store.add("The shop is open", expires="1h").id
    assert store.add("The shop is open", expires="30m").memory.expires == store.get(id).expires
    assert store.add("The shop is open").memory.expires is None
    time.forward(7200)
    assert [hit.id for hit in store.search("shop open")] == [id]


def test_restoring_and_updating_make_room_where_time_ran_out(store: Retentive, time: Clock) -> None:
    first, other = store.add("X").id, store.add("Other").id
    store.forget(first)
    store.add("X", expires="1h")
    store.add("Y", expires="1h", slot="s")
    time.forward(7200)
    assert store.restore(first).status is Status.ACTIVE
    assert store.update(other, content="Y", slot="s").content == "Y"


def test_a_text_forgotten_in_between_is_kept_anew(store: Retentive) -> None:
    """The moment between reading and writing: what was there is gone, so it is decided again."""
    first = store.add("X").id
    with before_apply(store, lambda: store.forget(first)):
        again = store.add("X")
    assert again.created
    assert store.get(again.id).status is Status.ACTIVE


def test_names_are_the_same_however_they_are_encoded(open_store: Open) -> None:
    store = open_store(namespace="cafe\u0301/हिन्दी")
    store.add("one", slot="caf\u00e9", tags=["\u00e9"])
    assert store.add("two", slot="cafe\u0301", tags=["e\u0301"]).superseded
    assert len(store.list(tags=["\u00e9"])) == 1
    assert store.namespace == "caf\u00e9/हिन्दी"


def test_a_context_changes_without_losing_the_vector_that_was_brought(open_store: Open) -> None:
    store = open_store(embedder="none")
    id = store.add("hello", vector=[1, 0, 0]).id
    store.update(id, context="greeting")
    assert [hit.id for hit in store.search(vector=[1, 0, 0])] == [id]
    assert [hit.id for hit in store.search("greeting")] == [id]


def test_many_that_ran_out_are_all_marked(store: Retentive, time: Clock) -> None:
    store.add_many([f"short-lived {n}" for n in range(1200)], expires="1h")
    time.forward(7200)
    store.upkeep()
    rows = parts_of(store).engine.read("memory_count", {"namespace": "default", "now": 0})
    assert [(row[2], row[3]) for row in rows] == [("expired", 1200)]


def test_a_file_that_is_gone_takes_no_more_writes(store: Retentive, db: Path) -> None:
    store.add("one")
    for path in db.parent.glob("memory.db*"):
        path.unlink()
    with pytest.raises(Unwritable, match="removed or replaced"):
        store.add("two")
    assert store.stats()["store"]["mode"] == ""


def test_a_forked_process_is_told_to_open_its_own(store: Retentive) -> None:
    store.add("one")
    store.search("one")
    child = os.fork()
    if child == 0:
        try:
            store.add("two")
        except Closed:
            store.close()
            os._exit(7)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    assert store.add("three").created


def test_add_many_takes_a_generator_of_thousands(store: Retentive) -> None:
    loaded = store.add_many(f"fact {n}" for n in range(2500))
    assert loaded.created == 2500
    assert store.stats()["memories"] == 2500


def test_vectors_go_with_mappings_too_and_an_item_may_bring_its_own(open_store: Open) -> None:
    store = open_store(embedder="none")
    items: list[dict[str, Any]] = [{"text": "one"}, {"text": "two", "vector": [0, 0, 1]}]
    assert store.add_many(items, vectors=[[1, 0, 0], [0, 1, 0]]).pending == 0
    assert store.search(vector=[1, 0, 0])[0].content == "one"
    assert store.search(vector=[0, 0, 1])[0].content == "two"


def test_loading_the_same_again_embeds_nothing(store: Retentive, monkeypatch: pytest.MonkeyPatch) -> None:
    store.add_many(["one", "two", "three"])
    embedder = parts_of(store).embedder
    assert embedder is not None
    monkeypatch.setattr(type(embedder), "embed", None)
    assert store.add_many(["one", "two", "three"]).repeated == 3


def test_add_many_takes_vectors(open_store: Open) -> None:
    store = open_store(embedder="none")
    store.add_many(["one", "two", "three"], vectors=[[1, 0, 0], [0, 2, 0], [0, 0, 3]])
    hits = store.search(vector=[0.0, 1.0, 0.1])
    assert [hit.content for hit in hits][:2] == ["two", "three"]
    assert hits[0].why.vector is not None
    assert hits[0].why.vector.score == pytest.approx(0.995, abs=1e-3)


def test_expired_memories_vanish_at_their_moment(store: Retentive, time: Clock) -> None:
    id = store.add("The sale ends soon", expires="1h").id
    assert contents(store, "sale") == ["The sale ends soon"]
    time.forward(3599)
    assert contents(store, "sale") == ["The sale ends soon"]
    time.forward(1)
    assert contents(store, "sale") == []
    assert store.get(id).status is Status.EXPIRED
    assert contents(store, "sale", status="expired") == ["The sale ends soon"]
    store.upkeep()
    assert [each.action for each in store.history(id)] == ["created", "expired"]


def test_closing_does_the_chores(store: Retentive, open_store: Open, time: Clock) -> None:
    id = store.add("Soon over", expires="1h").id
    time.forward(7200)
    store.close()
    again = open_store()
    assert [each.action for each in again.history(id)] == ["created", "expired"]


def test_what_ran_out_while_forgotten_comes_back_as_expired(store: Retentive, time: Clock) -> None:
    id = store.add("Only today", expires="1h").id
    store.forget(id)
    time.forward(7200)
    assert store.restore(id).status is store.get(id).status is Status.EXPIRED


def test_an_update_can_take_things_away(store: Retentive) -> None:
    id = store.add("Kept", slot="s", expires="1d", tags=["t"], context="c").id
    changed = store.update(id, slot=None, expires="", tags=[], context="")
    assert (changed.slot, changed.expires, changed.tags, changed.context) == (None, None, (), None)


def test_spans_look_forward_for_expiry_and_back_for_validity(store: Retentive) -> None:
    memory = store.add("True for a week", valid_from="7d", expires="7d").memory
    assert memory.expires is not None
    assert memory.expires - memory.created == pytest.approx(timedelta(days=7), abs=timedelta(seconds=1))
    assert memory.created - memory.valid_from == pytest.approx(timedelta(days=7), abs=timedelta(seconds=1))


def test_the_namespaces_of_a_store_can_be_listed(store: Retentive, open_store: Open) -> None:
    store.add("here")
    open_store(namespace="work/billing").add("there")
    assert [*store.namespaces()] == store.stats()["namespaces"] == ["default", "work/billing"]


def test_what_expired_can_be_said_again(store: Retentive, time: Clock) -> None:
    first = store.add("Parking is free today", expires="1d", slot="parking")
    time.forward(90_000)
    again = store.add("Parking is free today", expires="1d", slot="parking")
    assert again.created
    assert again.id != first.id
    assert store.get(first.id).status is Status.EXPIRED


def test_accesses_are_counted_and_logged(store: Retentive, time: Clock) -> None:
    id = store.add("Penguins live in the south").id
    store.get(id)
    store.search("penguins")
    time.forward(5)
    store.search("where do penguins live")
    store.stats()
    memory = store.get(id)
    assert memory.access_count == 3
    assert memory.last_access is not None
    log = store.accesses(id)
    assert [(access.how, access.query) for access in log[1:]] == [
        ("search", "where do penguins live"),
        ("search", "penguins"),
        ("get", None),
    ]


def test_the_access_log_is_pruned_and_can_be_switched_off(open_store: Open) -> None:
    store = open_store(access_log_keep=5)
    store.add("Something to find")
    for _ in range(20):
        store.search("something")
    store.stats()
    assert len(store.accesses()) == 5
    silent = open_store(access_log=False, namespace="silent")
    silent.add("Something to find")
    silent.search("something")
    silent.stats()
    assert silent.accesses() == []


def test_stats_count_and_time(store: Retentive) -> None:
    store.add("A fact")
    store.add("A preference", kind="preference", source="extracted")
    store.forget(store.add("A mistake").id)
    store.search("fact")
    store.search("zzzzqqq", mode="text")
    figures = store.stats()
    assert figures["by_kind"] == {"fact": 2, "preference": 1}
    assert figures["by_source"] == {"explicit": 2, "extracted": 1}
    assert figures["by_status"] == {"active": 2, "forgotten": 1}
    assert (figures["upserts"], figures["queries"], figures["hit_rate"]) == (3, 2, 0.5)
    assert figures["vectors_pending"] == 0
    assert figures["latency_ms"]["hybrid"]["total"]["count"] == 1
    searches = {"text", "vector"} if parts_of(store).engine.uses_local_index else {"search"}
    assert {"embed", *searches, "fuse", "fetch"} <= set(figures["latency_ms"]["hybrid"])
    assert figures["store"]["bytes"] > 0


def test_statistics_survive_a_restart(store: Retentive, open_store: Open) -> None:
    store.add("Kept")
    store.search("kept")
    store.close()
    assert open_store().stats()["queries"] == 1


@pytest.mark.engines("sqlite")
def test_a_store_in_memory_is_shared_by_threads(open_store: Open) -> None:
    store = open_store(target=":memory:")
    with ThreadPoolExecutor(8) as pool:
        ids = [*pool.map(lambda n: store.add(f"memory {n}").id, range(40))]
    assert {memory.id for memory in store.list(limit=100)} == set(ids)


def test_threads_race_for_one_text_and_one_slot(store: Retentive) -> None:
    """However many say it at once, it is one memory; one holds the slot."""
    with ThreadPoolExecutor(8) as pool:
        same = [*pool.map(lambda _: store.add("Said by all").id, range(24))]
        list(pool.map(lambda n: store.add(f"The answer is {n}", slot="answer"), range(24)))
    assert len(set(same)) == 1
    assert len([m for m in store.list(limit=100) if m.slot == "answer"]) == 1


def test_the_file_is_private(store: Retentive, db: Path) -> None:
    store.add("Secret enough")
    for path in db.parent.glob("memory.db*"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_the_default_store_is_in_the_data_folder(tmp_path: Path) -> None:
    with Retentive.open(embedder="none") as store:
        store.add("Here")
    found = [*tmp_path.rglob("memory.db")]
    assert len(found) == 1
    folders = [folder for folder in found[0].parents if tmp_path in folder.parents]
    assert folders
    assert {stat.S_IMODE(folder.stat().st_mode) for folder in folders} == {0o700}


def test_a_closed_store_says_so(store: Retentive) -> None:
    store.close()
    with pytest.raises(Exception, match="closed"):
        store.add("Too late")


def test_closing_waits_for_those_who_still_read(store: Retentive) -> None:
    """Threads that search while the store is closed get an answer or are told so; nothing else happens."""
    store.add_many([f"fact {n}" for n in range(500)])

    def ask(_: int) -> str:
        try:
            while True:
                store.search("fact", limit=100)
        except RetentiveError as error:
            return str(error)

    with ThreadPoolExecutor(4) as pool:
        asking = pool.map(ask, range(4))
        sleep(0.2)
        store.close()
        assert all("closed" in said for said in asking)


def test_without_an_embedder_memories_wait_for_their_vectors(open_store: Open) -> None:
    store = open_store(embedder="none")
    assert store.add("Tulips are flowers").pending
    found = store.search("tulips")
    assert (found.tier, len(found)) == ("text", 1)
    assert "switched off" in found.notes[0]
    store.close()
    later = open_store()
    told: list[tuple[int, int]] = []
    assert later.backfill(batch=1, progress=lambda done, total: told.append((done, total))).done == 1
    assert told == [(1, 1)]
    assert later.backfill().done == 0
    assert later.search("tulips").tier == "hybrid"


def test_vectors_of_two_models_are_never_compared(open_store: Open) -> None:
    one = open_store(embedder="none")
    one.add("Given a vector", vector=[1.0] * 384)
    two = open_store()
    two.add("Embedded by hashing")
    hits = two.search("Embedded by hashing", mode="vector")
    assert [hit.content for hit in hits] == ["Embedded by hashing"]
    assert two.stats()["vectors_pending"] == 1
