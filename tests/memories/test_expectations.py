"""Expectations: what questions should find, kept in the store, and compared with what they find."""

import json
import random
import string
from pathlib import Path
from typing import Any

import pytest

from retentive import ExpectationResult, RemainingCopy, Retentive
from retentive.errors import Conflict, Forbidden, Invalid, NotFound, SecretFound
from retentive.memories.expectations import MAX_NAMED_IDS, MAX_QUESTION_CHARS
from retentive.testing import Clock, parts_of
from tests.support import Open, Run

pytestmark = pytest.mark.engines


def canary() -> str:
    """A word that nothing else has in it."""
    return "".join(random.Random(7).choices(string.ascii_lowercase, k=24))


def run_only_expectation(store: Retentive, **options: Any) -> ExpectationResult:
    """The only expectation of a store."""
    (found,) = store.expectations.run(**options)
    return found


def add_crowd(store: Retentive, count: int = 12) -> None:
    """Many that a question about harbours finds before any other."""
    store.add_many([f"Harbour harbour harbour number {n}" for n in range(count)])


def test_what_is_expected_is_kept_and_listed(open_store: Open) -> None:
    store = open_store()
    dog, cat = store.add("The dog is called Rex").id, store.add("The cat is called Miso").id
    first = store.expectations.add(" what is the dog called? ", dog, absent=[cat, cat], within=1, session="monday")
    second = store.expectations.add("the price of copper", nothing=True)
    assert (first.question, first.finds, first.absent) == ("what is the dog called?", (dog,), (cat,))
    assert (first.within, first.session, first.nothing, second.nothing) == (1, "monday", False, True)
    assert open_store().expectations.list() == [first, second]


def test_the_same_again_is_what_is_there(store: Retentive) -> None:
    dog = store.add("The dog is called Rex").id
    first = store.expectations.add("what is the dog called?", dog)
    assert store.expectations.add("what is the dog called?", [dog]) == first
    assert store.expectations.add("what is the dog called?", dog, within=2) != first
    assert len(store.expectations.list()) == 2


def test_what_is_removed_is_expected_no_longer(store: Retentive) -> None:
    made = store.expectations.add("the price of copper", nothing=True)
    assert store.expectations.remove(made.id) == made
    assert [*store.expectations.list(), *store.expectations.run()] == []
    with pytest.raises(NotFound, match="no recall test"):
        store.expectations.remove(made.id)


def test_a_memory_that_is_found_holds(store: Retentive) -> None:
    dog = store.add("The dog is called Rex")
    store.add("The ferry leaves at nine")
    store.expectations.add("what is the dog called?", dog.id, within=1)
    done = run_only_expectation(store)
    assert done.passed
    assert [(each.id, each.memory, each.rank, each.note) for each in done.expected] == [(dog.id, dog.memory, 1, "")]
    assert [hit.id for hit in done.hits] == [dog.id]


def test_a_memory_behind_those_that_count_is_told_with_its_rank(store: Retentive) -> None:
    add_crowd(store)
    quay = store.add("The quay beside the harbour office is closed for repairs until further notice").id
    store.expectations.add("harbour", quay, within=3)
    done = run_only_expectation(store)
    ranks = [hit.id for hit in store.search("harbour", 100)]
    assert not done.passed
    assert done.expected[0].rank == ranks.index(quay) + 1 > 3
    assert [hit.id for hit in done.hits] == [hit.id for hit in store.search("harbour", 3)]


def test_a_memory_that_must_be_absent_breaks_it_when_it_comes(store: Retentive) -> None:
    dog = store.add("The dog is called Rex").id
    store.expectations.add("what is the dog called?", absent=dog)
    done = run_only_expectation(store)
    assert (done.passed, done.expected[0].wanted, done.expected[0].rank) == (False, False, 1)
    store.forget(dog)
    done = run_only_expectation(store)
    assert (done.passed, done.expected[0].rank) == (True, None)
    assert "forgotten" in done.expected[0].note


def test_nothing_means_nothing_that_is_similar_enough(store: Retentive) -> None:
    store.add("The dog is called Rex")
    store.expectations.add("copper prices", nothing=True)
    assert run_only_expectation(store).passed
    copper = store.add("Copper prices rose").id
    done = run_only_expectation(store)
    assert not done.passed
    assert (done.expected, [hit.id for hit in done.hits]) == ((), [copper])


def test_what_took_the_place_of_a_memory_counts_instead(store: Retentive) -> None:
    """Also over several corrections; and it is told."""
    first = store.add("The dog is called Rex", slot="dog").id
    store.expectations.add("what is the dog called?", first)
    store.add("The dog is called Max", slot="dog")
    last = store.add("The dog is called Ida", slot="dog")
    done = run_only_expectation(store)
    assert done.passed
    assert (done.expected[0].id, done.expected[0].memory) == (first, last.memory)
    assert done.expected[0].note == f"superseded by {last.id}, which counts instead"


def test_what_must_be_absent_is_the_memory_itself(store: Retentive) -> None:
    """A correction of it may well be found."""
    old = store.add("The dog is called Rex", slot="dog").id
    store.expectations.add("what is the dog called?", absent=old)
    store.add("The dog is called Max", slot="dog")
    done = run_only_expectation(store)
    assert done.passed
    assert "superseded" in done.expected[0].note


def test_a_correction_that_was_undone_is_undone_here_too(store: Retentive) -> None:
    first = store.add("The dog is called Rex", slot="dog").id
    second = store.add("The dog is called Max", slot="dog").id
    store.expectations.add("what is the dog called?", second)
    store.restore(first)
    done = run_only_expectation(store)
    assert done.passed
    assert done.expected[0].memory == store.get(first)


def test_a_forgotten_memory_is_gone_and_its_text_is_not_told(store: Retentive) -> None:
    dog = store.add("The dog is called Rex").id
    store.expectations.add("what is the dog called?", dog)
    store.forget(dog)
    done = run_only_expectation(store)
    assert (done.passed, done.expected[0].memory, done.expected[0].rank) == (False, None, None)
    assert done.expected[0].note.startswith("the memory is gone: forgotten on")
    store.restore(dog)
    assert run_only_expectation(store).passed


def test_a_successor_that_was_forgotten_is_gone(store: Retentive) -> None:
    dog = store.add("The dog is called Rex", slot="dog").id
    store.expectations.add("what is the dog called?", dog)
    store.forget(store.add("The dog is called Max", slot="dog").id)
    done = run_only_expectation(store)
    assert not done.passed
    assert "which counts instead; the memory is gone: forgotten" in done.expected[0].note


def test_a_purged_memory_is_gone_and_so_is_a_purged_successor(store: Retentive) -> None:
    dog = store.add("The dog is called Rex", slot="dog").id
    store.expectations.add("what is he called?", dog)
    successor = store.add("The dog is called Max", slot="dog").id
    store.purge(successor)
    assert run_only_expectation(store).expected[0].note.startswith("the memory is gone: it was superseded, and")
    store.purge(dog, actor="anna")
    done = run_only_expectation(store)
    assert (done.passed, done.expected[0].memory) == (False, None)
    assert done.expected[0].note.startswith("the memory is gone: purged on")
    assert done.expected[0].note.endswith("by anna")


def test_an_expired_memory_is_gone(store: Retentive, time: Clock) -> None:
    leave = store.add("The user is on leave", expires="1d").id
    store.expectations.add("is the user on leave?", leave)
    assert run_only_expectation(store).passed
    time.forward(2 * 86_400)
    assert "the memory is gone: expired" in run_only_expectation(store).expected[0].note


def test_a_memory_of_a_session_is_expected_in_that_session(store: Retentive) -> None:
    local = store.add("The dog is called Rex", session="monday").id
    for session in (None, "tuesday"):
        with pytest.raises(Conflict, match="of session 'monday' alone"):
            store.expectations.add("what is the dog called?", local, session=session)
    store.expectations.add("what is the dog called?", local, session="monday")
    assert run_only_expectation(store).passed


def test_a_deleted_session_takes_its_expectations_along(store: Retentive) -> None:
    dog = store.add("The dog is called Rex").id
    store.sessions.append("monday", "user", "The ferry leaves at nine")
    stays = store.expectations.add("what is the dog called?", dog)
    store.expectations.add("what is the dog called?", dog, session="monday")
    store.sessions.delete("monday", dry_run=True)
    assert len(store.expectations.list()) == 2
    store.sessions.delete("monday")
    assert store.expectations.list() == [stays]


@pytest.mark.parametrize(
    ("question", "options"),
    [
        ("", {"nothing": True}),  # no question
        (" \n", {"nothing": True}),
        ("a\0b", {"nothing": True}),
        ("x" * (MAX_QUESTION_CHARS + 1), {"nothing": True}),
        (7, {"nothing": True}),
        ("dog", {}),  # nothing expected, and not said so
        ("dog", {"finds": "ID", "nothing": True}),
        ("dog", {"absent": "ID", "nothing": True}),
        ("dog", {"finds": "ID", "absent": "ID"}),
        ("dog", {"finds": "ID", "within": 0}),
        ("dog", {"finds": "ID", "within": 1001}),
        ("dog", {"finds": "ID", "within": True}),
        ("dog", {"finds": ["ID", "other"], "within": 1}),  # can never hold
        ("dog", {"finds": ["ID", *map(str, range(MAX_NAMED_IDS))], "within": 100}),
        ("dog", {"finds": 7}),
        ("dog", {"finds": [7]}),
        ("dog", {"finds": "ID", "session": "x" * 201}),
    ],
)
def test_what_cannot_be_expected_is_refused(store: Retentive, question: Any, options: dict[str, Any]) -> None:
    id = store.add("The dog is called Rex").id
    given = json.loads(json.dumps(options).replace("ID", id))
    with pytest.raises(Invalid):
        store.expectations.add(question, **given)
    assert store.expectations.list() == []


@pytest.mark.parametrize("where", ["finds", "absent"])
@pytest.mark.parametrize("id", ["nothing", "", "monday#1", "01a1e142-9af1-71f3-94d8-9b20ecb6766d", "' OR 1=1 --"])
def test_an_unknown_id_is_not_found_and_nothing_is_kept(store: Retentive, where: str, id: str) -> None:
    known = store.add("The dog is called Rex").id
    with pytest.raises(NotFound, match="no memory"):
        store.expectations.add("what is the dog called?", **{"finds": [], where: [known, id]})  # type: ignore[arg-type]
    assert store.expectations.list() == []


def test_what_is_forgotten_cannot_be_expected_to_be_found(store: Retentive) -> None:
    dog = store.add("The dog is called Rex").id
    store.forget(dog)
    with pytest.raises(Conflict, match="forgotten"):
        store.expectations.add("what is the dog called?", dog)
    store.expectations.add("what is the dog called?", absent=dog)
    assert run_only_expectation(store).passed


def test_a_question_with_a_secret_is_refused_or_redacted(open_store: Open) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    with pytest.raises(SecretFound, match="the question holds a secret"):
        open_store().expectations.add(f"what is {secret} for?", nothing=True)
    made = open_store(secrets_in_memories="redact").expectations.add(f"what is {secret} for?", nothing=True)
    assert secret not in made.question
    assert secret not in repr(open_store().expectations.list())


def test_a_run_is_in_no_log_and_no_statistics(store: Retentive) -> None:
    dog = store.add("The dog is called Rex").id
    store.expectations.add("what is the dog called?", dog)
    store.expectations.add("what is the dog called?", absent=dog)
    before = store.stats()
    store.expectations.run()
    parts_of(store).journal.flush()
    assert [*store.accesses()] == []
    (memory,) = store.list()
    assert (memory.access_count, memory.last_access) == (0, None)
    for figure in ("queries", "hit_rate", "latency_ms"):
        assert store.stats()[figure] == before[figure]


def test_a_run_is_told_how_far_it_is(store: Retentive) -> None:
    for question in ("one", "two"):
        store.expectations.add(question, nothing=True)
    told: list[tuple[int, int]] = []
    store.expectations.run(progress=lambda *each: told.append(each))
    assert told == [(1, 2), (2, 2)]


def test_settings_and_options_of_a_run_apply(open_store: Open) -> None:
    """What only its meaning finds is not found without vectors."""
    store = open_store()
    dog = store.add("The dog is called Rex").id
    store.expectations.add("dogs", dog)
    assert run_only_expectation(store).tier == run_only_expectation(store, fusion="rrf").tier == "hybrid"
    assert run_only_expectation(store, mode="vector").tier == "vector"
    assert run_only_expectation(store, mode="text").hits[0].why.vector is None
    without = open_store(embedder="none")
    assert run_only_expectation(without).hits[0].why.vector is None
    for wrong in ({"mode": "x"}, {"fusion": "x"}, {"vector_weight": 2}, {"min_similarity": "x"}):
        with pytest.raises(Invalid):
            store.expectations.run(**wrong)


def test_expectations_are_of_one_namespace(store: Retentive) -> None:
    dog = store.add("The dog is called Rex").id
    made = store.expectations.add("what is the dog called?", dog)
    other = store.in_namespace("other")
    assert [*other.expectations.list(), *other.expectations.run()] == []
    with pytest.raises(NotFound):
        other.expectations.remove(made.id)
    with pytest.raises(NotFound):
        other.expectations.add("what is the dog called?", dog)
    assert store.expectations.list() == [made]


def test_a_view_has_its_own_expectations(store: Retentive) -> None:
    for name in ("alice", "alice/coder", "bob"):
        own = store.in_namespace(name)
        own.expectations.add(f"what is {name} called?", own.add(f"{name} is called {name}").id)
    alice = store.restricted("alice", subtree=True)
    for view in (alice, alice.in_namespace("alice/coder")):
        assert run_only_expectation(view).passed
        assert run_only_expectation(view).expectation.namespace == view.namespace
    view = store.restricted("alice", read_only=True)
    assert run_only_expectation(view).passed
    with pytest.raises(Forbidden):
        view.expectations.add("anything", nothing=True)
    with pytest.raises(Forbidden):
        view.expectations.remove(view.expectations.list()[0].id)
    made = alice.expectations.add("the price of copper", nothing=True)
    assert alice.expectations.remove(made.id) == made


@pytest.mark.engines("postgres")
def test_the_server_itself_keeps_expectations_apart(store: Retentive) -> None:
    """With a query that has no condition on namespaces, and no fence."""
    for name in ("alice", "alice/coder", "bob"):
        store.in_namespace(name).expectations.add("anything", nothing=True)
    for subtree, seen in ((False, {"alice"}), (True, {"alice", "alice/coder"})):
        engine: Any = parts_of(store.restricted("alice", subtree=subtree)).engine
        sql = "SELECT DISTINCT namespace FROM expectations"
        engine = engine.engine
        rows = engine._link.read(lambda connection, sql=sql: connection.execute(sql).fetchall(), bounds=engine._bounds)
        assert {row[0] for row in rows} == seen


def test_a_purge_names_the_expectations_that_repeat_it(store: Retentive) -> None:
    word = canary()
    id = store.add(f"The door opens with {word}").id
    says = store.expectations.add(f"does {word.upper()} open the door?", id)
    store.expectations.add("what opens the door?", id)
    assert store.purge(id).remaining == (RemainingCopy("expectation", says.id),)
    assert len(store.expectations.list()) == 2


def test_a_purge_with_origin_removes_the_expectations_that_repeat_it(store: Retentive) -> None:
    word = canary()
    id = store.add(f"The door opens with {word}").id
    store.expectations.add(f"does {word} open the door?", id)
    stays = store.expectations.add("what opens the door?", id)
    told = store.purge(id, with_origin=True, dry_run=True)
    assert len(store.expectations.list()) == 2
    gone = store.purge(id, with_origin=True)
    assert gone.removed == told.removed
    assert (gone.removed["expectations"], gone.remaining, gone.complete) == (1, (), True)
    assert store.expectations.list() == [stays]


@pytest.mark.parametrize("with_origin", [False, True])
def test_no_byte_of_a_purged_memory_is_left_by_expectations(db: Path, with_origin: bool) -> None:
    """Where questions do not repeat it, without its origin, too; where one did and was removed before, as well."""
    word = canary()
    with Retentive.open(db, embedder="hashing") as store:
        id = store.add(f"The door opens with {word}").id
        store.expectations.add("what opens the door?", id)
        if with_origin:
            store.expectations.add(f"does {word} open the door?", id)
        store.expectations.remove(store.expectations.add(f"is {word} a word?", id).id)
        store.expectations.run()
        assert store.purge(id, with_origin=with_origin).proof.endswith("nothing found")
        assert not run_only_expectation(store).passed
    assert not [path.name for path in db.parent.glob("memory.db*") if word.encode() in path.read_bytes().lower()]


def test_what_an_expectation_still_says_is_no_remnant(db: Path) -> None:
    """Also in a namespace that has nothing else."""
    word = canary()
    with Retentive.open(db, embedder="hashing") as store:
        id = store.add(f"The door opens with {word}").id
        store.in_namespace("other").expectations.add(f"does {word} open the door?", nothing=True)
        gone = store.purge(id)
        assert (gone.complete, gone.remaining) == (True, (RemainingCopy("namespace", "other"),))


def add_memory(run: Run, text: str, *options: str) -> str:
    id: str = json.loads(run("add", text, *options, "--json"))["memory"]["id"]
    return id


def test_a_broken_expectation_is_told_with_what_came_instead(run: Run) -> None:
    dog, cat = add_memory(run, "The dog is called Rex"), add_memory(run, "The cat is called Miso")
    made = run("expect", "what is the dog called?", "--finds", dog).split()[1]
    bad = run("expect", "what is the dog called?", "--finds", cat, "--within", "1").split()[1]
    assert run("expect", "run", code=4).splitlines() == [
        f"ok   what is the dog called?  {made}",
        f"BAD  what is the dog called?  {bad}",
        f"       expected among the first 1, but at rank 2: {cat}  The cat is called Miso",
        f"       found   1  0.99  {dog}  The dog is called Rex",
        "2 recall tests: 1 passed, 1 failed",
    ]
    run("expect", "remove", bad)
    assert run("expect", "run").splitlines()[-1] == "1 recall test: 1 passed, 0 failed"


@pytest.mark.parametrize(
    "words",
    [
        ["expect", "dog?", "--finds", "ID"],
        ["expect", "--finds", "ID", "dog?"],
        ["expect", "add", "dog?", "--finds", "ID"],
        ["expect", "--json", "--finds", "ID", "--within", "3", "dog?"],
        ["expect", "--namespace", "default", "dog?", "--finds=ID"],
        ["expect", "--finds", "ID", "--", "-v?"],
    ],
)
def test_a_question_may_stand_anywhere(run: Run, words: list[str]) -> None:
    dog = add_memory(run, "The dog is called Rex")
    run(*(word.replace("ID", dog) for word in words))
    (known,) = json.loads(run("expect", "--json", "list"))["expectations"]
    assert (known["finds"], known["question"]) == ([dog], "-v?" if "-v?" in words else "dog?")


def test_a_question_that_is_a_verb_is_asked_in_full(run: Run) -> None:
    run("expect", "add", "list", "--nothing")
    assert "\tlist\t" in run("expect", "list")


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["lsit"], 2),
        (["dog?", "--finds", "nothing"], 3),
        (["dog?", "--nothing", "--within", "0"], 2),
        (["remove", "nothing"], 3),
        (["run", "--vector-weight", "2"], 2),
    ],
)
def test_what_is_typed_wrongly_is_told(refused: Run, words: list[str], code: int) -> None:
    assert refused("expect", *words, code=code).startswith("error: ")


def test_of_several_to_remove_none_goes_if_one_is_not_there(run: Run, refused: Run) -> None:
    made = run("expect", "copper", "--nothing").split()[1]
    assert "no recall test 'nope'" in refused("expect", "remove", made, "nope", code=3)
    assert made in run("expect", "list")


def test_what_a_terminal_would_obey_is_not_shown(run: Run) -> None:
    bell = add_memory(run, "A bell \x1b[31m rings")
    run("expect", "bell \x1b[2J", "--absent", bell)
    assert "\x1b" not in run("expect", "run", code=4) + run("expect", "list")


def test_an_empty_run_says_what_to_do(run: Run) -> None:
    assert run("expect", "run").startswith("no recall tests yet")
    assert json.loads(run("expect", "run", "--json")) == {"ok": True, "broken": 0, "checked": []}
