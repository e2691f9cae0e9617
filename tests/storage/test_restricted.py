"""Restricted views: one open store, of which each caller sees a part."""

import io
import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from retentive import Retentive
from retentive.api import Retentive as Store
from retentive.conversations.sessions import Sessions
from retentive.errors import Forbidden, Invalid, NotFound, RetentiveError
from retentive.memories.expectations import Expectations
from retentive.memories.notes import Notes
from retentive.memories.proposals import Proposals
from retentive.model import BackfillResult, Bounds
from retentive.storage import step
from retentive.storage.namespace_guard import NAMESPACE_FIRST_QUERIES, NEUTRAL_QUERIES, NamespaceGuard
from retentive.testing import parts_of
from tests.support import Open

pytestmark = pytest.mark.engines

EVERYONE = ("alice", "alice/coder", "alicent", "bob")
READING = {  # all others write, or are about the whole store
    "open", "migrate", "verify_backup", "restore_backup", "close", "namespace", "person", "space", "in_namespace",
    "restricted",
    "namespaces", "search", "search_for_prompt", "timeline", "find_id",
    "search_conversations", "context", "get", "list", "candidates", "why", "history", "accesses", "stats",
    "warm", "health", "export",
    "sessions.get", "sessions.list", "sessions.events", "sessions.summary", "sessions.replay", "notes.get",
    "notes.list", "expectations.list", "expectations.run", "proposals.list", "proposals.get",
}  # fmt: skip
WHOLE = {
    "backup", "compact", "doctor", "repair", "upkeep", "worker", "reembed", "reembed_rollback", "reembed_drop_old",
    "reembed_status",
}  # fmt: skip


@pytest.fixture
def store(open_store: Open) -> Retentive:
    """Everyone has a memory, a conversation and a note."""
    store = open_store()
    for name in EVERYONE:
        own = store.in_namespace(name)
        own.add(f"The harbour of {name} is deep", tags=["harbour"])
        own.sessions.append("talk", "user", f"The harbour of {name} was dredged")
        own.notes.put(f"The harbour note of {name}", note_id="note")
    return store


def found(view: Retentive, **options: Any) -> set[str]:
    """Whose harbours a view finds, by words, by vectors and as they stand."""
    whose = set[str]()
    for mode in ("text", "vector", "hybrid"):
        whose |= {hit.item.namespace for hit in view.search("harbour", limit=50, mode=mode, **options)}
    return whose


def test_a_view_sees_its_own_namespace_alone(store: Retentive) -> None:
    view = store.restricted("alice")
    assert view.namespace == "alice"
    assert found(view) == {"alice"}
    assert [*view.namespaces()] == ["alice"]
    assert {memory.namespace for memory in view.list()} == {"alice"}


def test_a_subtree_is_what_is_below_and_not_what_begins_alike(store: Retentive) -> None:
    view = store.restricted("alice", subtree=True)
    assert [*view.namespaces()] == ["alice", "alice/coder"]
    assert found(view.in_namespace("alice/coder")) == {"alice/coder"}
    with pytest.raises(Forbidden):
        view.in_namespace("alicent")


def test_what_is_made_below_later_is_seen_and_can_be_written(store: Retentive) -> None:
    view = store.restricted("alice", subtree=True)
    new = view.in_namespace("alice/writer/drafts")
    new.add("The harbour is new")
    assert found(view, namespaces=["alice/*"]) == {"alice", "alice/coder", "alice/writer/drafts"}


def test_patterns_resolve_within_the_view(store: Retentive) -> None:
    view = store.restricted(["alice", "bob"])
    assert found(view, namespaces=["alice/*", "bob/*"]) == {"alice", "bob"}
    assert found(view, namespaces=["nobody/*"]) == {"alice"}


@pytest.mark.parametrize(
    "ask",
    [
        lambda view: view.in_namespace("bob"),
        lambda view: view.in_namespace("alice/coder"),
        lambda view: view.search("harbour", namespaces=["bob"]),
        lambda view: view.search_conversations("harbour", namespaces=["bob"]),
        lambda view: view.context("harbour", namespaces=["alice/coder"]),
        lambda view: view.restricted("bob"),
        lambda view: view.restricted("alice", subtree=True),
        lambda view: view.restricted(["alice", "bob"]),
    ],
)
def test_other_namespaces_are_forbidden(store: Retentive, ask: Callable[[Retentive], object]) -> None:
    with pytest.raises(Forbidden):
        ask(store.restricted("alice"))


def test_the_ids_of_others_lead_nowhere(store: Retentive) -> None:
    theirs = store.in_namespace("bob").list(kind="fact")[0].id
    view = store.restricted("alice")
    verbs: list[Callable[[str], object]] = [
        view.get, view.forget, view.history, view.why, view.purge, view.restore,
        lambda id: view.update(id, tags=["mine"]), lambda id: view.list(after=id),
    ]  # fmt: skip
    for verb in verbs:
        with pytest.raises(NotFound):
            verb(theirs)
    assert store.in_namespace("bob").get(theirs).status == "active"


def test_a_view_of_a_view_is_narrower(store: Retentive) -> None:
    view = store.restricted("alice", subtree=True, read_only=True)
    inner = view.restricted("alice/coder")
    assert found(inner) == {"alice/coder"}
    with pytest.raises(Forbidden):
        inner.add("Now I write")
    with pytest.raises(Forbidden):
        inner.in_namespace("alice")


def test_what_is_also_read_is_found_and_never_changed(store: Retentive) -> None:
    view = store.restricted("alice", also_read=["bob", "team/*"])
    store.in_namespace("team/design").add("The harbour of the team is drawn")
    assert found(view, namespaces=["bob", "team/*"]) == {"alice", "bob", "team/design"}
    assert [*view.namespaces()] == ["alice", "bob", "team/design"]
    view.add("The harbour of alice is wide")
    for name in ("bob", "team/design"):
        before = exported(store, name)
        other = view.in_namespace(name)
        for change in changes(other):
            with pytest.raises(Forbidden, match="read-only"):
                change()
        with pytest.raises(Forbidden):
            parts_of(other).engine.apply([step("namespace_insert", namespace=name, now=1)])
        assert exported(store, name) == before
    with pytest.raises(Forbidden):
        view.in_namespace("alicent")


def changes(view: Retentive) -> list[Callable[[], object]]:
    id = view.list()[0].id
    return [
        lambda: view.add("The harbour is mine"), lambda: view.forget(id), lambda: view.update(id, tags=["mine"]),
        lambda: view.purge(id), lambda: view.notes.put("Mine"), lambda: view.sessions.append("talk", "user", "Mine"),
        lambda: view.profile.merge({"city": "Oslo"}), lambda: view.contacts.create(name="Ada"), view.consolidate,
        view.learn, view.backfill,
    ]  # fmt: skip


def exported(store: Retentive, *namespaces: str) -> bytes:
    stream = io.BytesIO()
    store.export(stream, namespaces=namespaces, without="access-log")
    return stream.getvalue()


@pytest.mark.parametrize("narrower", ["bob", "alice/coder"])
def test_a_view_of_a_view_may_not_write_what_that_only_reads(store: Retentive, narrower: str) -> None:
    view = store.restricted("alice", also_read=["bob", "alice/*"])
    inner = view.restricted(["alice", narrower])
    inner.add("The harbour of alice is wide")
    with pytest.raises(Forbidden, match="read-only"):
        inner.in_namespace(narrower).add("The harbour is mine")
    with pytest.raises(Forbidden, match="read-only"):
        view.restricted("alice", subtree=True).in_namespace("alice/coder").add("The harbour is mine")
    with pytest.raises(Forbidden):
        view.restricted("alice", also_read="alicent")
    with pytest.raises(Forbidden):
        view.restricted("alice", also_read="bob/*")


def test_a_view_fills_in_the_vectors_of_its_own_namespaces(open_store: Open) -> None:
    for name in ("alice", "bob", "team"):
        open_store(embedder="none", namespace=name).add(f"The harbour of {name} is deep")
    store = open_store()
    view = store.restricted("alice", also_read="team")
    assert view.backfill() == BackfillResult(done=1, remaining=0)
    assert store.backfill().done == 2


def test_an_export_that_names_other_namespaces_is_refused_whole(store: Retentive, tmp_path: Path) -> None:
    """Before anything is written, and whatever the others hold; it is not told what that is."""
    own = store.restricted("alice", also_read="alicent")
    file = tmp_path / "all.jsonl"
    for name in EVERYONE:
        store.in_namespace(name).add(f"The lighthouse of {name}")
    store.export(file, namespaces="*")
    for name in EVERYONE:
        store.in_namespace(name).forget_matching("lighthouse")
    before = exported(store, *EVERYONE)
    for dry_run in (False, True):
        with pytest.raises(Forbidden, match="lines of other namespaces: 'alice/coder', 'alicent', 'bob'") as told:
            own.import_memories(file, dry_run=dry_run)
        assert "'alice' can be changed" in told.value.hint
    assert exported(store, *EVERYONE) == before


def test_an_export_of_the_views_own_namespaces_is_taken_in(store: Retentive, tmp_path: Path) -> None:
    file = tmp_path / "own.jsonl"
    store.export(file, namespaces="alice")
    view = store.restricted("alice", also_read="bob")
    view.purge(view.list(kind="fact")[0].id)
    assert view.import_memories(file).refused == 0


def test_what_leads_out_of_a_view_is_not_taken_in(store: Retentive, tmp_path: Path) -> None:
    """A session that others would learn from for bob; a proposal to move a memory to him."""
    file = tmp_path / "own.jsonl"
    store.in_namespace("carol").add("The harbour of carol is deep")
    store.export(file, namespaces="carol", without=["access-log"])
    memory = store.in_namespace("carol").list()[0]
    lines = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    now, key = lines[1]["created"], {"namespace": "carol"}
    moved = {"newer": memory.id, "older": memory.id, "newer_hash": "h", "older_hash": "h"}
    more = [
        {"type": "session", **key, "id": "s", "agent": None, "tags": [], "metadata": {}, "person": "bob",
         "created": now, "last_sequence": 0, "events": 0, "active": now, "summary": "", "summary_upto": 0, "epoch": 0,
         "learned_upto": 0, "claims": []},
        {"type": "proposal", **key, "id": "p", **moved, "rule": "r", "reason": "r", "status": "open", "created": now,
         "decided": None, "move_to": "bob"},
    ]  # fmt: skip
    file.write_text("".join(json.dumps(each) + "\n" for each in [*lines[:-1], *more]), "utf-8")
    view = store.restricted("carol", also_read="bob")
    done = view.import_memories(file)
    assert done.lines["proposal"] == {"skipped": 1}
    assert done.lines["session"] == {"created": 1}
    assert view.sessions.get("s").person is None


def test_a_view_needs_a_namespace_that_can_be_one(store: Retentive) -> None:
    for given in ([], "", "a//b", ["alice", "/"]):
        with pytest.raises(Invalid):
            store.restricted(given)
    for given in ("", "/*", "a//*", "*"):
        with pytest.raises(Invalid):
            store.restricted("alice", also_read=given)


def test_all_that_a_caller_does_works_in_a_view(store: Retentive) -> None:
    view = store.restricted("alice", subtree=True)
    dog = view.add("The dog is called Rex", slot="user.dog.name")
    view.update(view.add("The dog is called Max", slot="user.dog.name").id, tags=["pets"])
    view.restore(dog.id)
    view.add_many([f"Boat number {n}" for n in range(30)])
    view.forget_matching("boat", confirm=True)
    view.sessions.append_pair("chat", "Remember that my desk is blue.", "Done.")
    view.sessions.append_many("chat", [{"role": "user", "content": f"Line {n}"} for n in range(10)])
    view.sessions.put("chat", tags=["home"])
    view.learn("chat")
    view.sessions.summarise("chat")
    view.notes.put("Buy milk", note_id="milk")
    view.notes.delete("milk")
    assert "desk" in view.context("what colour is my desk?", session="chat").text
    assert view.why(dog.id).memory.id == dog.id
    assert view.accesses()
    assert view.sessions.delete("chat").events == 12
    assert view.stats()["by_status"]["forgotten"] == 31
    assert [each.ok for each in store.doctor()] == [True] * len(store.doctor())


def test_figures_are_those_of_what_may_be_seen(store: Retentive) -> None:
    store.in_namespace("bob").add_many([f"Boat number {n}" for n in range(40)])
    store.in_namespace("bob").search("boat")
    view = store.restricted("alice", subtree=True)
    figures = view.stats()
    assert figures["namespaces"] == ["alice", "alice/coder"]
    assert [each["vectors"] for each in figures["spaces"]] == [6]
    assert {*figures["index"]} <= {"alice", "alice/coder"}
    assert {*figures["store"]} == {"engine", "schema"}


def verbs() -> Iterator[tuple[str, str]]:
    kinds = {"": Store, "sessions": Sessions, "notes": Notes, "expectations": Expectations, "proposals": Proposals}
    for group, kind in kinds.items():
        names = [name for name, value in vars(kind).items() if not isinstance(value, cached_property)]  # no groups
        yield from ((group, name) for name in names if not name.startswith("_"))


def test_every_verb_reads_or_is_refused_to_readers(store: Retentive) -> None:
    """Whatever is asked of it: a verb that is new must be one or the other."""
    view = store.restricted("alice", read_only=True)
    for group, name in verbs():
        if f"{group}.{name}".lstrip(".") not in READING:
            verb = getattr(getattr(view, group) if group else view, name)
            with pytest.raises(Forbidden, match="whole store" if name in WHOLE else "read-only"):
                verb()


def test_a_reader_reads(store: Retentive) -> None:
    view = store.restricted("alice", read_only=True)
    assert found(view) == {"alice"}
    assert view.context("harbour").text
    assert view.forget_matching("harbour", dry_run=True).memories
    assert view.sessions.delete("talk", dry_run=True).events == 1
    assert view.get(view.list()[0].id).namespace == "alice"


def test_a_write_that_no_verb_refused_is_refused_behind_it(store: Retentive) -> None:
    """Should a verb forget to ask."""
    view = store.restricted("alice", read_only=True)
    with pytest.raises(Forbidden):
        parts_of(view).engine.apply([step("namespace_insert", namespace="alice", now=1)])


def test_a_copy_or_a_rewriting_that_no_verb_refused_is_refused_behind_it(store: Retentive, tmp_path: Path) -> None:
    engine = parts_of(store.restricted("alice")).engine
    with pytest.raises(Forbidden):
        engine.backup(tmp_path / "copy.db", lambda _, __: None)
    with pytest.raises(Forbidden):
        engine.scrub(1.0, reclaim=True)


@pytest.mark.parametrize("verb", sorted(WHOLE))
def test_what_is_about_the_whole_store_is_refused(store: Retentive, verb: str) -> None:
    with pytest.raises(Forbidden, match="whole store"):
        getattr(store.restricted("alice"), verb)()


def test_a_view_has_no_tokens(store: Retentive) -> None:
    secret = store.tokens.create("alice").secret
    tokens = store.restricted("alice").tokens
    asking: list[Callable[[], object]] = [tokens.create, tokens.list, lambda: tokens.verify(secret)]
    for ask in asking:
        with pytest.raises(Forbidden):
            ask()


def test_closing_a_view_leaves_the_store_open(store: Retentive) -> None:
    with store.restricted("alice") as view:
        view.add("Something to write")
    assert found(store.restricted("alice")) == {"alice"}


def test_a_query_that_names_no_namespace_is_not_let_through(store: Retentive) -> None:
    """But for those that tell nothing of anybody: a query that is new is refused until somebody thought about it."""
    fence = parts_of(store.restricted("alice")).engine
    assert isinstance(fence, NamespaceGuard)
    for query in ("chunk_pending_count", "space_counts", "memory_expired", "token_list", "copy_memories"):
        with pytest.raises(Forbidden):
            fence.read(query, {"space": "hashing-384", "now": 1, "limit": 10, "k1": "", "k2": ""})
    for query in NEUTRAL_QUERIES - {"space_insert"}:
        fence.read(query)
    assert {row[0] for query in NAMESPACE_FIRST_QUERIES for row in fence.read(query)} <= {"alice"}


def test_a_purge_in_a_view_is_completed_by_upkeep(store: Retentive) -> None:
    """Nor does it tell whether others have the same text."""
    told = []
    for text in ("What bob says, too", "What nobody else says"):
        store.in_namespace("bob").add("What bob says, too")
        view = store.restricted("alice")
        gone = view.purge(view.add(text).id)
        told.append((gone.remaining, gone.proof, gone.complete))
    assert told[0] == told[1]
    if not told[0][2]:
        store.upkeep()
        assert parts_of(store).engine.read("purge_due") == []


def test_many_callers_at_once_never_see_each_other(store: Retentive) -> None:
    def ask(number: int) -> set[str]:
        name = EVERYONE[number % len(EVERYONE)]
        view = store.restricted(name)
        view.add(f"The harbour of {name}, seen for the {number}th time")
        return (found(view) | {*view.namespaces()}) ^ {name}

    with ThreadPoolExecutor(6) as pool:
        assert [*pool.map(ask, range(24))] == [set()] * 24


@pytest.mark.engines("postgres")
def test_the_server_itself_refuses_when_a_filter_is_broken(store: Retentive) -> None:
    """Every query without its condition on namespaces, and no fence: the rows of others still do not come."""
    view = store.restricted("alice", subtree=True)
    engine = parts_of(view).engine.engine  # type: ignore[attr-defined]

    def every(table: str, column: str = "namespace") -> set[str]:
        sql = f"SELECT DISTINCT {column} FROM {table}"
        return {
            row[0]
            for row in engine._link.read(lambda connection: connection.execute(sql).fetchall(), bounds=engine._bounds)
        }

    for table in ("memories", "chunks", "texts", "postings", "vectors", "events", "sessions", "statistics"):
        assert every(table) == {"alice", "alice/coder"}, table
    assert every("namespaces", "name") == {"alice", "alice/coder"}
    assert found(Retentive(_unfenced(view)), namespaces=["bob", "alicent"]) == {"alice"}


@pytest.mark.engines("postgres")
@pytest.mark.parametrize(
    ("bounds", "namespace", "said"),
    [
        (Bounds(("alice",)), "bob", "row-level security"),
        (Bounds(("alice",)), "alice/coder", "row-level security"),
        (Bounds(("alice",), subtree=True), "alicent", "row-level security"),
        (Bounds(("alice",), read_only=True), "alice", "read-only transaction"),
        (Bounds(("alice",), also_read=("bob",)), "bob", "row-level security"),
        (Bounds(("alice",), also_read=("alice/*",)), "alice/coder", "row-level security"),
    ],
)
def test_the_server_itself_refuses_to_write(store: Retentive, bounds: Bounds, namespace: str, said: str) -> None:
    engine = parts_of(store).engine.within(bounds).engine  # type: ignore[attr-defined]
    with pytest.raises(RetentiveError, match=said):
        engine.apply([step("measure_add", namespace=namespace, measure="m", tier="", bucket=0, count=1)])


@pytest.mark.engines("postgres")
@pytest.mark.usefixtures("store")
def test_a_view_does_not_reach_beyond_what_its_process_may_see(open_store: Open) -> None:
    process = open_store(namespace="alice", restrict_to="alice, bob")
    assert [*process.restricted("alice", subtree=True).namespaces()] == ["alice"]
    assert found(process.restricted("alicent")) == set()


@pytest.mark.engines("postgres")
def test_views_share_the_connections_of_their_store(open_store: Open) -> None:
    one = open_store(pool_size=1)
    for number in range(20):
        one.restricted(f"n{number}").add("Kept over one connection")
    assert len(one.namespaces()) == 20


def _unfenced(view: Retentive) -> Any:
    """The parts of a view whose checks are all gone."""
    from dataclasses import replace

    from retentive.store.views import restrict_store

    parts = parts_of(view)
    open_engine = parts.engine.engine  # type: ignore[attr-defined]

    class Open:
        def __getattr__(self, name: str) -> Any:
            return getattr(open_engine, name)

        def within(self, _: Bounds) -> Any:
            return open_engine

    return replace(restrict_store(replace(parts, engine=Open(), bounds=None), Bounds(("alice",), True)), bounds=None)
