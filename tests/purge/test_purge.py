"""What was purged is gone: rows, history, full text, vectors, logs, and the bytes of files."""

import io
import random
import string
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw
import pytest

from retentive import RemainingCopy, Retentive
from retentive.errors import Invalid, NotFound
from retentive.judgement.corrections.statement import parse_statement
from retentive.learning import learn
from retentive.memories import fingerprints
from retentive.storage import byte_scan as files
from retentive.testing import parts_of
from retentive.text.purged_message import purge_payload
from tests.engines import open_target
from tests.forkserver import ForkedProgram, run_program
from tests.support import Open, Run

pytestmark = pytest.mark.engines

PROGRAMS = Path(__file__).parents[1] / "programs"


def canary(number: int = 0) -> str:
    """A word that nothing else has in it."""
    return "".join(random.Random(number).choices(string.ascii_lowercase, k=24))


def planted(store: Retentive, word: str) -> str:
    """A memory that has a word everywhere it can, was learned from a message that a summary covers, and was found."""
    store.sessions.append("talk", "user", f"By the way, the door opens with {word}")
    store.sessions.append("talk", "assistant", "I will remember that")
    store.sessions.set_summary("talk", f"They spoke of {word}", upto=2, epoch=0)
    store.add("The user likes herons")
    id = store.add(
        f"The door opens with {word}",
        tags=[word],
        context=f"about {word}",
        slot=f"user.{word}",
        metadata={"also": word},
        origin={"session": "talk", "events": [1]},
    ).id
    store.update(id, content=f"The door opens with {word} and a key", reason=f"not only {word}")
    store.add(f"The gate opens without {word[::-1]}")
    assert store.search(f"{word} heron")[0].content
    store.get(id)
    return id


def traces_left(target: str, word: str) -> list[str]:
    """The places that repeat a word, by the store's own account."""
    with Retentive.open(target, embedder="hashing") as store:
        parts_of(store).journal.flush()
        return [place for place, *_ in parts_of(store).engine.read(
            "text_places", {"namespace": "default", "pattern": f"%{word}%", "limit": 99}
        )]  # fmt: skip


def files_with(db: Path, cache: Path, word: str) -> list[str]:
    folders = [*db.parent.glob(f"{db.name}*"), *cache.rglob("index/*")]
    return [path.name for path in folders if path.is_file() and word.encode() in path.read_bytes()]


def test_a_purge_leaves_nothing_of_a_memory_and_its_origin(store: Retentive, target: str) -> None:
    """Neither found nor shown nor repeated anywhere, on every engine; a line without the text stays."""
    word = canary()
    id = planted(store, word)
    gone = store.purge(id, with_origin=True, reason="asked to", actor="anna")
    assert gone.removed["memories"] == gone.removed["messages"] == gone.removed["summaries"] == 1
    assert (gone.ids, gone.remaining, gone.complete) == ((id, "talk#1"), (), True)
    assert traces_left(target, word) == []  # before it is asked for: what is asked is logged
    assert store.search(word, mode="text").hits == ()
    assert not [hit for hit in store.search(f"the door opens with {word}", limit=99) if word in hit.content]
    assert [event.content for event in store.sessions.events("talk")] == ["[purged]", "I will remember that"]
    assert store.sessions.summary("talk").text == ""
    assert all(finding.ok for finding in store.doctor())
    with pytest.raises(NotFound, match=r"was purged on .* by anna \(asked to\)"):
        store.why(id)
    with pytest.raises(NotFound, match="was purged"):
        store.purge(id)


def test_a_purge_empties_the_caches_of_texts(store: Retentive) -> None:
    id = planted(store, canary())
    text = f"The door opens with {canary()}"
    parse_statement(text)
    store.purge(id)
    misses = parse_statement.cache_info().misses
    parse_statement(text)
    assert parse_statement.cache_info().misses == misses + 1


def test_without_the_origin_a_purge_names_what_repeats_it(store: Retentive) -> None:
    word = canary()
    id = planted(store, word)
    gone = store.purge(id)
    assert set(gone.remaining) >= {RemainingCopy("message", "talk#1"), RemainingCopy("summary", "talk")}
    assert {each.place for each in gone.remaining} == {"message", "summary"}
    queries = gone.removed["queries"]
    assert queries > 0
    assert gone.removed == {"memories": 1, "history": 1, "chunks": 1, "accesses": 2, "queries": queries}
    assert store.sessions.events("talk")[0].content.endswith(word)


def test_a_dry_run_changes_nothing(store: Retentive) -> None:
    word = canary()
    id = planted(store, word)
    told = store.purge(id, with_origin=True, dry_run=True)
    assert (told.complete, told.proof) == (False, "a dry run: nothing was changed")
    assert word in store.list()[1].content
    assert store.purge(id, with_origin=True).removed == told.removed


def test_other_memories_are_named_and_stay(store: Retentive) -> None:
    """Also those that were learned from the same message: only what says the same is a repeat."""
    first = store.add("The parcel has the number 47114711", origin={"session": "talk", "sequence": 1})
    other = store.add("As I said, the parcel has the number 47114711!", session="talk")
    third = store.add("The parcel is grey")
    assert store.purge(first.id).remaining == (RemainingCopy("memory", other.id),)
    assert {store.get(each.id).content for each in (other, third)} == {other.memory.content, third.memory.content}


def test_a_message_is_purged_by_its_id(store: Retentive, target: str) -> None:
    """Its neighbours keep their words and are found; what they heard of it is gone."""
    word = canary()
    store.sessions.append_many(
        "s",
        [
            {"role": "user", "content": "The heron stands in the pond"},
            {"role": "user", "content": f"My name is {word}"},
            {"role": "user", "content": "The goose swims"},
            {"role": "user", "content": "The heron stands in the pond"},
        ],
    )
    gone = store.purge("s#2")
    assert (gone.ids, gone.removed, gone.complete) == (("s#2",), {"messages": 1}, True)
    assert [event.sequence for event in store.sessions.events("s")] == [1, 2, 3, 4]
    assert store.search("heron", mode="text")[0].span == (1, 4)
    assert store.search(word, mode="text").hits == ()
    assert traces_left(target, word) == []
    assert all(finding.ok for finding in store.doctor())
    assert store.sessions.append("s", "user", "Go on").sequence == 5
    with pytest.raises(NotFound):
        store.purge("s#9")


def test_a_tool_call_is_not_parted_from_its_result(store: Retentive) -> None:
    """What is left of a message is still one that a chat interface takes."""
    call = {"id": "c1", "type": "function", "function": {"name": "open", "arguments": '{"code": "47114711"}'}}
    store.sessions.append("s", "assistant", payload={"tool_calls": [call], "note": "47114711"})
    store.sessions.append("s", "tool", "opened with 47114711", payload={"tool_call_id": "c1"})
    store.purge(["s#1", "s#2"])
    first, second = store.sessions.events("s")
    left = {"id": "c1", "type": "function", "function": {"name": "open", "arguments": "{}"}}
    assert (first.content, first.payload) == ("[purged]", {"tool_calls": [left]})
    assert (second.content, second.payload) == ("[purged]", {"tool_call_id": "c1"})
    assert store.sessions.replay("s").left_out == 0


@pytest.mark.parametrize(
    ("payload", "left"),
    [
        (None, None),
        ("text", None),
        ({"anything": 1, "else": {"deep": "x"}}, None),
        ({"content": "x"}, {"content": "[purged]"}),
        ({"content": [{"type": "text", "text": "x"}, "y"]}, {"content": [{"type": "text", "text": "[purged]"}]}),
        (
            [{"type": "tool_use", "id": "t", "name": "f", "input": {"a": "x"}}],
            [{"type": "tool_use", "id": "t", "name": "f", "input": {}}],
        ),
        (
            {"type": "function_call_output", "call_id": "c", "output": "x"},
            {"type": "function_call_output", "call_id": "c", "output": "[purged]"},
        ),
        ({"id": {"not": "a name"}}, None),
    ],
)
def test_of_a_payload_stay_names_and_ids(payload: Any, left: Any) -> None:
    assert purge_payload(payload) == left


def test_a_signature_is_no_reason_to_purge_messages(store: Retentive) -> None:
    """A message goes with a memory if it says all of it, not one line that many share."""
    store.sessions.append("s", "user", "See you tomorrow.\nKind regards, Anna Quizzleworth")
    id = store.add("The flat is on the third floor.\nKind regards, Anna Quizzleworth").id
    gone = store.purge(id, with_origin=True)
    assert gone.remaining == (RemainingCopy("message", "s#1"),)
    assert store.sessions.events("s")[0].content.startswith("See you")


def test_the_reason_of_a_purge_must_not_repeat_it(store: Retentive) -> None:
    word = canary()
    id = store.add(f"The door opens with {word}").id
    with pytest.raises(Invalid, match="the reason repeats"):
        store.purge(id, reason=f"nobody may know {word.upper()}")
    assert store.list()[0].id == id


def test_a_refused_purge_leaves_a_contact_and_its_projects(store: Retentive) -> None:
    word = canary()
    contact = store.contacts.create(name=word)
    project = store.projects.create(name="Door", primary_contact=contact.id)
    with pytest.raises(Invalid, match="the reason repeats"):
        store.purge(contact.id, reason=f"nobody may know {word}")
    assert store.contacts.get(contact.id) == contact
    assert store.projects.get(project.id) == project


def test_several_are_purged_together_or_not_at_all(store: Retentive) -> None:
    ids = [store.add(f"The door opens with {canary(number)}").id for number in range(3)]
    with pytest.raises(NotFound):
        store.purge([*ids, "nothing"])
    assert len(store.list()) == 3
    assert store.purge([*ids, ids[0]]).ids == tuple(ids)
    assert len(store.list(status=[])) == 0


def test_an_id_that_was_purged_may_be_used_again(store: Retentive) -> None:
    for _ in range(2):
        store.notes.put("The door opens with a key", note_id="door")
        assert store.purge("door").complete


def test_another_process_no_longer_finds_it(open_store: Open) -> None:
    one, two = open_store(), open_store()
    word = canary()
    id = one.add(f"The door opens with {word}").id
    assert two.search(word)[0].id == id
    one.purge(id)
    assert not [hit for hit in two.search(word) if word in hit.content]


def test_a_summary_is_made_anew_without_what_was_purged(open_store: Open) -> None:
    store = open_store(session_budget=200)
    word = canary()
    for number in range(30):
        said = f"The door opens with {word}." if number == 3 else f"Heron {number} stands in pond {number} since noon."
        store.sessions.append("s", "user", said)
    store.sessions.set_summary("s", f"They spoke of {word}", upto=29, epoch=store.sessions.summary("s").epoch)
    store.purge("s#4", with_origin=True)
    made = store.sessions.summary("s")
    assert "Heron" in made.text
    assert word not in made.text


def test_what_was_about_to_be_learned_from_it_is_not(store: Retentive, target: str) -> None:
    """Whether a message goes, or a memory that says the same; the rest is learned."""
    for text in ("I live in Zanzibarville.", "I work as a baker.", "My name is Quintabelle Moreno."):
        store.sessions.append("talk", "user", text)
    learning = parts_of(store).tables.learning
    state = learning.get("default", "talk")
    assert state
    learn._read_messages(parts_of(store), state, learn.LearningTally())
    waiting = learning.get("default", "talk")
    assert waiting
    assert waiting.claims_left == 3
    same = store.add(next(each["content"] for each in waiting.list_claims_left() if "Quintabelle" in each["content"]))
    assert store.purge("talk#1").removed == {"messages": 1, "claims": 1}
    gone = store.purge(same.id)
    assert gone.removed == {"memories": 1, "chunks": 1, "claims": 1}
    assert gone.remaining == (RemainingCopy("message", "talk#3"),)
    store.learn("talk")
    assert [("baker" in memory.content) for memory in store.list()] == [True]
    assert traces_left(target, "Zanzibarville") == []


def test_servers_say_what_they_may_keep(store: Retentive) -> None:
    proof = store.purge(store.add("The door opens with a key").id).proof
    assert proof.startswith("scanned 3 files" if store.stats()["store"]["engine"] == "sqlite" else "no row or posting")


def test_an_imported_chat_is_still_known_after_a_purge(open_store: Open, tmp_path: Path) -> None:
    store = open_store()
    log = tmp_path / "log.txt"
    log.write_text("Anna: The door opens with a key\nBo: Good\n", "utf-8")
    store.sessions.import_log(log, session="chat")
    store.purge("chat#1")
    assert (store.sessions.import_log(log, session="chat").events, len(store.sessions.events("chat"))) == (0, 2)


@pytest.mark.engines("postgres")
def test_a_restricted_connection_purges_what_is_its_own(open_store: Open) -> None:
    alice = open_store(namespace="alice", restrict_to="alice")
    open_store(namespace="bob").add("The door opens with a key")
    gone = alice.purge(alice.add("The door opens with a key").id)
    assert (gone.complete, gone.remaining) == (True, ())
    alice.upkeep()


@pytest.mark.parametrize("id", ["s#1", "s#0", "#1", "s#" + "9" * 30, "s#\u0661", "nothing", ""])
def test_what_is_not_there_is_not_found(store: Retentive, id: str) -> None:
    with pytest.raises(NotFound):
        store.purge(id)


# The bytes of files.


def test_no_byte_is_left_in_any_file(store: Retentive, db: Path, model_cache: Path) -> None:
    """Neither the words nor their vector, while the store is open and after."""
    word = canary()
    id = planted(store, word)
    vectors = [bytes(row[11]) for row in parts_of(store).tables.chunks.rows("default", "hashing-384") if row[1] == id]
    gone = store.purge(id, with_origin=True)
    assert gone.proof.endswith("bytes: nothing found")
    assert files_with(db, model_cache, word) == []
    store.close()
    assert files_with(db, model_cache, word) == []
    assert all(vector not in db.read_bytes() for vector in vectors)


def test_no_byte_is_left_among_many_long_memories(store: Retentive, db: Path, model_cache: Path) -> None:
    """Where pages overflow, are split and freed."""
    words = [canary(number) for number in range(20)]
    texts = [f"{word} " + " ".join(f"{word}{n} heron" for n in range(400)) for word in words]
    ids = store.add_many(texts).ids
    store.add_many([f"Fact number {n} " + "pond " * 100 for n in range(300)])
    for number, id in enumerate(ids[:5]):
        store.update(id, content=f"Something else, number {number}")
    gone = store.purge(ids[:10])
    assert gone.proof.endswith("nothing found")
    for word in words[:10]:
        assert files_with(db, model_cache, word) == [], word
    assert files_with(db, model_cache, words[19]) != []


@pytest.mark.engines("sqlite")
def test_what_other_rows_still_say_is_not_called_a_remnant(store: Retentive) -> None:
    word = canary()
    id = planted(store, word)
    gone = store.purge(id)
    assert gone.complete
    assert gone.proof.endswith("found only in rows that still contain it")


@pytest.mark.engines("sqlite")
def test_words_that_the_file_has_of_itself_are_no_remnants(store: Retentive) -> None:
    """Names of tables and models, ids on record."""
    id = store.add("Its chunks_fts and spaces are named hashing-384, its namespaces default").id
    gone = store.purge(store.add(f"See {id} and superseded_by in memory_history").id)
    assert gone.complete
    assert store.purge(id).proof.endswith("nothing found")


@pytest.mark.engines("sqlite")
def test_other_namespaces_that_have_it_are_named(open_store: Open) -> None:
    word = canary()
    open_store(namespace="work").add(f"The door opens with {word}")
    store = open_store()
    assert store.purge(store.add(f"The door opens with {word}").id).remaining == (RemainingCopy("namespace", "work"),)


def test_a_store_in_memory_has_no_files() -> None:
    with Retentive.open(":memory:", embedder="hashing") as store:
        gone = store.purge(store.add("The door opens with a key").id)
        assert (gone.proof, gone.complete) == ("in memory", True)


@contextmanager
def holding(db: Path, how: str = "hold") -> Iterator[None]:
    """Another process in the middle of reading."""
    program = [sys.executable, str(PROGRAMS / "holder.py"), str(db), how]
    with ForkedProgram(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        assert process.stdout.readline().startswith("holding")
        yield
        assert process.stdin
        process.stdin.close()


def test_a_purge_that_another_process_holds_up_is_completed_by_upkeep(
    store: Retentive, db: Path, model_cache: Path
) -> None:
    word = canary()
    id = planted(store, word)
    with holding(db):
        gone = store.purge(id, with_origin=True)
        assert (gone.complete, gone.proof) == (False, "incomplete: held by another process")
        assert not [memory for memory in store.list() if word in memory.content]
        assert files_with(db, model_cache, word) != []
        store.upkeep()
        assert files_with(db, model_cache, word) != []
    store.upkeep()
    assert files_with(db, model_cache, word) == []
    with pytest.raises(NotFound, match="was purged"):
        store.purge(id)


def test_a_process_that_only_has_the_store_open_holds_up_nothing(store: Retentive, db: Path, model_cache: Path) -> None:
    word = canary()
    id = planted(store, word)
    with holding(db, "idle"):
        assert store.purge(id, with_origin=True).proof.endswith("nothing found")
        assert files_with(db, model_cache, word) == []


def test_a_second_purge_completes_the_first(store: Retentive, db: Path, model_cache: Path) -> None:
    word = canary()
    id = planted(store, word)
    with holding(db):
        store.purge(id, with_origin=True)
    again = store.purge(id)
    assert (again.ids, again.removed, again.complete) == ((id,), {}, True)
    assert "no longer known" in again.proof
    assert files_with(db, model_cache, word) == []


def test_a_killed_purge_removes_all_of_a_memory_or_nothing(db: Path, model_cache: Path) -> None:
    """Whenever the process dies; and a second purge finishes."""
    words = [canary(number) for number in range(12)]
    with Retentive.open(db, embedder="hashing") as store:
        ids = []
        for number, word in enumerate(words):
            said = store.sessions.append("talk", "user", f"By the way, the door opens with {word}")
            origin = {"session": "talk", "event": said.id, "number": number}
            ids.append(store.add(f"The door opens with {word}", tags=[word], origin=origin).id)
    for attempt in range(8):
        with ForkedProgram(
            [sys.executable, str(PROGRAMS / "purger.py"), str(db), *ids[attempt:]], stdout=subprocess.PIPE
        ) as process:
            assert process.stdout
            process.stdout.readline()
            time.sleep(random.Random(attempt).random() / 8)
            process.kill()
        whole_or_gone(db, ids, words)
        with Retentive.open(db, embedder="hashing") as store:
            finished(store, ids[attempt])
        assert files_with(db, model_cache, words[attempt]) == []


def finished(store: Retentive, id: str) -> None:
    """Purged now, or completely before."""
    try:
        done = store.purge(id, with_origin=True)
    except NotFound:
        done = None
    assert done is None or done.complete


def whole_or_gone(db: Path, ids: list[str], words: list[str]) -> None:
    with Retentive.open(db, embedder="hashing") as store:
        there = {memory.id: memory for memory in store.list(limit=100)}
        for number, (id, word) in enumerate(zip(ids, words, strict=True), start=1):
            event = store.sessions.events("talk", limit=1, after=number - 1)[0]
            found = {hit.type for hit in store.search(word, mode="text")}
            if id in there:
                assert word in there[id].content
                assert word in event.content
                assert found == {"memory", "event"}
            else:
                assert (event.content, found) == ("[purged]", set())
        assert all(finding.ok for finding in store.doctor())


# What is looked for.


def test_a_trace_is_found_where_blocks_meet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "BLOCK_BYTES", 10)
    path = tmp_path / "x"
    path.write_bytes(b"." * 7 + b"needle" + b"." * 20)
    told: list[tuple[int, int]] = []
    found = files.scan_files([path, tmp_path / "none"], [b"needle", b"thread"], lambda *each: told.append(each))
    assert (found.files, found.size, found.found) == (1, 33, {b"needle": path})
    assert told[-1] == (33, 33)


@pytest.mark.parametrize(
    ("text", "phrases", "words"),
    [
        ("ok", (), ()),
        ("I like tea", ("I like tea",), ()),
        ("Her name is Anna Kowalczyk", ("Her name is Anna Kowalczyk",), ("Kowalczyk",)),
        ("Key: ab12cd, floor 3", ("Key: ab12cd, floor 3",), ("ab12cd",)),
        ('She said "the door is open"\nand left', ("the door is open",), ()),
        ("門は鍵で開きます。よろしくお願いします", ("門は鍵で開きます。よろしくお願いします",), ()),
    ],
)
def test_what_gives_a_text_away(text: str, phrases: tuple[str, ...], words: tuple[str, ...]) -> None:
    """Lines as they stand in every place, and words that are in no dictionary."""
    found = fingerprints.make_fingerprints([text])
    assert (found.phrases, found.words) == (phrases, words)


# On the terminal.


def test_a_purge_on_the_terminal_must_be_meant(run: Run, refused: Run) -> None:
    run("add", "The door opens with a key")
    id = run("list").split("\t")[0]
    assert "would purge" in run("purge", id, "--dry-run")
    assert "purging cannot be undone" in refused("purge", id, code=2)
    assert "nothing found" in run("purge", id, "--yes", "--reason", "asked to")
    assert "was purged" in refused("why", id, code=3)


class Person(io.StringIO):
    """Who answers."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("answer", "left"), [("y\n", 0), ("n\n", 3), ("", 3)])
def test_a_person_is_asked(run: Run, monkeypatch: pytest.MonkeyPatch, answer: str, left: int) -> None:
    """Before one is purged, and before more than one is forgotten."""
    for text in ("The door opens with a key", "The dog is called Rex", "The dog barks"):
        run("add", text)
    id = run("list").splitlines()[-1].split("\t")[0]
    for command in (["purge", id], ["forget", "--words", "dog"]):
        monkeypatch.setattr("sys.stdin", Person(answer))
        run(*command, code=0 if left == 0 else 1)
    assert run("list").count("\n") == left


def test_the_engine_waits_only_as_long_as_it_was_told(db: Path) -> None:
    Retentive.open(db, embedder="none").close()
    engine = open_target(str(db))
    with holding(db):
        apsw.Connection(str(db)).execute("INSERT INTO meta VALUES ('a', 'b')")
        begun = time.monotonic()
        assert not engine.scrub(0.2).done
        assert 0.1 < time.monotonic() - begun < 5
    engine.close()


def test_after_a_purge_other_processes_still_know_that_the_store_is_in_use(db: Path, open_store: Open) -> None:
    """Looking through its files must not cost the process its locks: others would remove the log it writes to."""
    store = open_store()
    store.purge(store.add("The safe is behind the mirror").id)
    other = [sys.executable, "-m", "retentive", "--db", str(db), "--embedder", "none", "list"]
    run_program(other)
    store.add("The heron came back")
    assert "The heron came back" in run_program(other).stdout


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("My sister Rosa lives in Faro", "how old is rosa?"),
        ("The parcel has the number 4821", "was it 4821?"),
        ("我的猫叫咪咪", "咪咪几岁了"),
        ("The mascot of the team is 🦊", "why 🦊?"),
    ],
)
@pytest.mark.parametrize("with_origin", [False, True])
def test_no_question_in_the_log_gives_away_what_was_purged(
    store: Retentive, text: str, question: str, with_origin: bool
) -> None:
    """Also where it found another memory; what has nothing to do with it stays in the log."""
    other = store.add("The heron stands in the pond")
    id = store.add(text).id
    for asked in (question, f"{question} heron", "where is the heron?"):
        store.search(asked)
    told = store.purge(id, dry_run=True, with_origin=with_origin)
    assert store.purge(id, with_origin=with_origin).removed == told.removed
    left = [entry.query for entry in parts_of(store).tables.metrics.accesses("default", None, 99)]
    assert {*left} == {"where is the heron?"}
    assert store.get(other.id).access_count >= len(left)
    assert store.purge(other.id, dry_run=True).remaining == ()
