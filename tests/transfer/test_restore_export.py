"""An export, taken in: exactly into an empty store, without doubling into another."""

import gzip
import io
import json
import os
import subprocess
import sys
import uuid
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from retentive import Retentive
from retentive.errors import Forbidden, Invalid
from retentive.model import ImportMemoriesResult
from retentive.testing import Clock, parts_of
from retentive.transfer.restore_export import restore
from tests.engines import ENGINES
from tests.forkserver import ForkedProgram
from tests.support import Open, Place, Run
from tests.transfer.stores import exported, fill, lines

PROGRAM = Path(__file__).parents[1] / "programs" / "restorer.py"


def active(store: Retentive) -> list[dict[str, Any]]:
    """With vectors. What has ended gets one when it is restored."""
    return [line for line in lines(exported(store, vectors=True)) if line.get("status", "active") == "active"]


def wholly(given: ImportMemoriesResult) -> set[str]:
    """All that became of any line."""
    return {outcome for counts in given.lines.values() for outcome in counts}


@pytest.mark.parametrize(("old", "new"), [*product(ENGINES, ENGINES)])
def test_what_comes_back_out_is_what_went_in(place: Place, open_store: Open, saved: Any, old: str, new: str) -> None:
    source, target = open_store(target=place(old)), open_store(target=place(new))
    fill(source)
    before = exported(source, vectors=True)
    done = target.import_memories(saved(before))
    assert (done.refused, done.notes, done.pending, wholly(done)) == (0, (), 0, {"created"})
    assert exported(target, vectors=True) == before
    assert [each.name for each in target.doctor() if not each.ok] == []


@pytest.mark.engines
def test_a_restored_store_answers_and_goes_on(place: Place, open_store: Open, saved: Any) -> None:
    source, target = open_store(target=place("sqlite")), open_store()
    fill(source)
    target.import_memories(saved(exported(source)))
    assert [hit.content for hit in target.search("called max", mode="text", include="memories")][:1] == [
        "The dog is called Max"
    ]
    assert target.search("heron 7", include="events").hits[0].content == "Heron 7"
    assert [each.name for each in target.contacts.find("Ann")] == ["Anna Ünal"]
    assert target.search("who is at acme?", include="contacts").hits
    added = target.add("The dog is called Fido", slot="user.dog.name")
    assert [target.get(id).content for id in added.superseded] == ["The dog is called Max"]
    assert target.sessions.append("s", "user", "One more").sequence == 32
    assert target.sessions.summary("s").text == "About herons"
    (learned,) = target.learn("waiting")
    assert len(learned.kept) == 1
    assert target.learn("learned")[0].events == 1  # the one that was not learned there either
    assert target.contacts.get("Anna Ünal").version == 2


@pytest.mark.engines
def test_once_more_changes_nothing(store: Retentive, saved: Any) -> None:
    fill(store)
    before = exported(store, vectors=True)
    done = store.import_memories(saved(before))
    assert wholly(done) == {"same"}
    assert exported(store, vectors=True) == before


def test_what_comes_without_vectors_is_embedded(place: Place, open_store: Open, saved: Any) -> None:
    source, target = open_store(target=place("sqlite")), open_store()
    fill(source)
    told: list[tuple[int, int | None]] = []
    done = target.import_memories(saved(exported(source)), progress=lambda *each: told.append(each))
    assert done.pending == 0
    assert active(target) == active(source)
    lines_read = next(at for at, (done_, of) in enumerate(told) if done_ == of)
    assert told[-1] != told[lines_read]
    assert told[-1][0] == told[-1][1]


def test_vectors_of_another_model_stay_and_those_of_this_one_are_made(
    place: Place, open_store: Open, saved: Any
) -> None:
    source = open_store(target=place("sqlite"), embedder="none")
    source.add("With one of another model", vector=[0.6, 0.8])
    target = open_store()
    assert target.import_memories(saved(exported(source, vectors=True))).pending == 0
    (line,) = [line for line in lines(exported(target, vectors=True)) if line["type"] == "memory"]
    assert [each["space"] for each in line["vectors"]] == ["given-2", "hashing-384"]


def test_without_a_model_vectors_are_pending(place: Place, open_store: Open, saved: Any) -> None:
    source, target = open_store(target=place("sqlite")), open_store(embedder="none")
    source.add("No vector yet")
    assert target.import_memories(saved(exported(source))).pending == 1


@pytest.mark.engines
def test_a_long_session_in_several_commits(
    place: Place, open_store: Open, saved: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(restore, "MAX_BATCH_LINES", 7)
    source, target = open_store(target=place("sqlite")), open_store()
    fill(source)
    before = exported(source, vectors=True)
    target.import_memories(saved(before))
    assert exported(target, vectors=True) == before


@pytest.mark.engines
def test_an_import_that_was_stopped_anywhere_is_gone_on_with(
    place: Place, open_store: Open, saved: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(restore, "MAX_BATCH_LINES", 5)
    source, target = open_store(target=place("sqlite")), open_store()
    fill(source)
    before = exported(source)
    for stop in (3, 14, 22, 38, 49, 55):

        def stopping(done: int, of: int | None, stop: int = stop) -> None:
            if done >= stop and done != of:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            target.import_memories(saved(before), progress=stopping)
    target.import_memories(saved(before))
    assert exported(target) == before


def test_nothing_is_learned_from_a_session_that_is_under_way(
    place: Place, open_store: Open, saved: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(restore, "MAX_BATCH_LINES", 5)
    source, target = open_store(target=place("sqlite")), open_store()
    source.sessions.append_many("s", [{"role": "user", "content": f"I live in Porto {n}."} for n in range(12)])

    def stop(done: int, _: int | None) -> None:
        if done > 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        target.import_memories(saved(exported(source)), progress=stop)
    assert target.sessions.list()[0].events == 4
    assert all(learned.events == 0 for learned in target.learn())
    target.import_memories(saved(exported(source)))
    assert exported(target) == exported(source)


@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
def test_an_import_whose_process_was_killed_is_gone_on_with(
    place: Place, open_store: Open, saved: Any, engine: str
) -> None:
    source, where = open_store(target=place("sqlite")), place(engine)
    fill(source)
    path = saved(exported(source))
    command = [sys.executable, str(PROGRAM), where, str(path)]
    with ForkedProgram(command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"}) as one:
        assert one.stdout
        assert any(int(line) > 25 for line in one.stdout)
        one.kill()
    target = open_store(target=where)
    assert target.import_memories(path).lines["memory"]["same"] > 0
    assert exported(target) == exported(source)


@pytest.mark.engines
def test_of_one_memory_the_newer_version_stays(place: Place, open_store: Open, saved: Any) -> None:
    source, target = open_store(target=place("sqlite")), open_store()
    older, newer = source.add("The first").id, source.add("The second").id
    target.import_memories(saved(exported(source)))
    source.update(newer, content="The second, changed there")
    target.update(older, content="The first, changed here")
    done = target.import_memories(saved(exported(source)), trust="user")
    assert done.lines["memory"] == {"kept": 1, "replaced": 1}
    assert [target.get(id).content for id in (older, newer)] == ["The first, changed here", "The second, changed there"]
    assert [hit.id for hit in target.search("changed there", mode="text", limit=1)] == [newer]
    assert len(done.notes) == 2
    assert len(target.history(newer)) == len(source.history(newer))


@pytest.mark.engines
def test_a_text_that_is_here_under_another_id_is_known(place: Place, open_store: Open, saved: Any) -> None:
    source, target = open_store(target=place("sqlite")), open_store()
    source.add("The ferry leaves at ten")
    mine = target.add("The ferry leaves at ten").id
    done = target.import_memories(saved(exported(source)))
    assert (done.created, done.known) == (0, 1)
    assert [memory.id for memory in target.list()] == [mine]


@pytest.mark.engines
def test_of_a_slot_the_later_time_holds_it(place: Place, open_store: Open, saved: Any) -> None:
    source, target = open_store(target=place("sqlite")), open_store()
    source.add("The car is red", slot="car.colour", valid_from="2020-01-01")
    source.add("The house is old", slot="house.age", valid_from="2024-01-01")
    blue = target.add("The car is blue", slot="car.colour", valid_from="2023-01-01").id
    young = target.add("The house is new", slot="house.age", valid_from="2021-01-01").id
    path = saved(exported(source))
    done = target.import_memories(path, trust="user")
    assert done.lines["memory"] == {"created": 1, "superseded": 1}
    assert done.superseded == 1
    assert {memory.content for memory in target.list()} == {"The car is blue", "The house is old"}
    (red,) = [memory for memory in target.list(status="superseded") if "red" in memory.content]
    assert (red.superseded_by, f"{red.valid_to:%Y}") == (blue, "2023")
    assert target.get(young).status == "superseded"
    after = exported(target)
    assert wholly(target.import_memories(path, trust="user")) <= {"same", "kept"}
    assert exported(target) == after


def test_what_was_purged_here_does_not_come_back(store: Retentive, saved: Any) -> None:
    gone = store.add("The code is 4711").id
    path = saved(exported(store))
    store.purge(gone)
    done = store.import_memories(path)
    assert done.lines["memory"] == {"purged": 1}
    assert b"4711" not in exported(store)


def test_what_was_forgotten_here_stays_forgotten(store: Retentive, saved: Any) -> None:
    memory = store.add("Forget me").id
    path = saved(exported(store))
    store.forget(memory)
    store.import_memories(path)
    assert store.get(memory).status == "forgotten"


@pytest.mark.engines
def test_a_text_that_was_forgotten_here_does_not_come_back_under_another_id(
    place: Place, open_store: Open, saved: Any
) -> None:
    source, target = open_store(target=place("sqlite")), open_store()
    source.add("The code word is heron")
    target.forget(target.add("The code word is heron").id)
    done = target.import_memories(saved(exported(source)))
    assert (done.created, done.lines["memory"]) == (0, {"forgotten": 1})
    assert target.list().items == ()


def test_a_text_that_was_told_again_there_after_it_was_forgotten_here_comes_in(
    place: Place, open_store: Open, saved: Any
) -> None:
    source, target = open_store(target=place("sqlite")), open_store()
    target.forget(target.add("The code word is heron").id)
    source.add("The code word is heron")
    assert target.import_memories(saved(exported(source))).created == 1


@pytest.mark.engines
def test_a_session_goes_on_with_what_it_lacks(place: Place, open_store: Open, saved: Any) -> None:
    source, target = open_store(target=place("sqlite")), open_store()
    source.sessions.append_many("s", [{"role": "user", "content": f"Message {n}"} for n in range(5)])
    target.import_memories(saved(exported(source)))
    source.sessions.append("s", "user", "One more")
    source.sessions.set_summary("s", "Five messages", upto=5, epoch=0)
    done = target.import_memories(saved(exported(source)))
    assert done.lines["session"] == {"extended": 1}
    assert done.lines["event"] == {"same": 5, "created": 1}
    assert exported(target) == exported(source)


def test_what_was_said_here_meanwhile_stays(place: Place, open_store: Open, saved: Any) -> None:
    source, target = open_store(target=place("sqlite")), open_store()
    source.sessions.append("s", "user", "Together")
    path = saved(exported(source))
    target.import_memories(path)
    target.sessions.append("s", "user", "Here alone")
    assert wholly(target.import_memories(path)) == {"same"}
    assert [event.content for event in target.sessions.events("s")] == ["Together", "Here alone"]


@pytest.mark.engines
def test_another_conversation_of_the_same_name_stays(place: Place, open_store: Open, saved: Any) -> None:
    source, target = open_store(target=place("sqlite")), open_store()
    source.sessions.append_many("s", [{"role": "user", "content": text} for text in ("Hello there", "And more")])
    target.sessions.append("s", "user", "Good morning")
    done = target.import_memories(saved(exported(source)))
    assert (done.lines["session"], done.lines["event"]) == ({"kept": 1}, {"kept": 2})
    assert "another conversation" in done.notes[0]
    assert [event.content for event in target.sessions.events("s")] == ["Good morning"]


@pytest.mark.engines
def test_of_one_record_the_newer_version_stays(place: Place, open_store: Open, saved: Any) -> None:
    source, target = open_store(target=place("sqlite")), open_store()
    ann, bo = source.contacts.create(name="Ann").id, source.contacts.create(name="Bo").id
    target.import_memories(saved(exported(source)))
    source.contacts.update(ann, company="Acme")
    target.contacts.update(bo, company="Globex")
    done = target.import_memories(saved(exported(source)))
    assert done.lines["contact"] == {"replaced": 1, "kept": 1}
    assert (target.contacts.get(ann).company, target.contacts.get(bo).company) == ("Acme", "Globex")
    assert [hit.id for hit in target.search("who is at acme?", 1, include="contacts")] == [ann]


def test_a_project_of_a_name_that_is_taken_is_known(place: Place, open_store: Open, saved: Any) -> None:
    source, target = open_store(target=place("sqlite")), open_store()
    source.projects.create(name="Ferry", description="theirs")
    target.projects.create(name="ferry", description="mine")
    assert target.import_memories(saved(exported(source))).lines["project"] == {"known": 1}
    assert target.projects.get("Ferry").description == "mine"


def test_two_exports_come_together_in_one_store(place: Place, open_store: Open, saved: Any) -> None:
    first, second = open_store(target=place("sqlite")), open_store(target=place("sqlite"))
    target = open_store()
    first.add("From the first")
    second.add("From the second")
    for store in (first, second):
        target.import_memories(saved(exported(store)))
    assert {memory.content for memory in target.list()} == {"From the first", "From the second"}


@pytest.mark.engines
def test_a_dry_run_tells_and_changes_nothing(
    place: Place, open_store: Open, saved: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(restore, "MAX_BATCH_LINES", 7)
    source, target = open_store(target=place("sqlite")), open_store()
    fill(source)
    path = saved(exported(source))
    would = target.import_memories(path, dry_run=True)
    assert exported(target).count(b"\n") == 2
    did = target.import_memories(path)
    assert (would.lines, would.kinds, would.examples) == (did.lines, did.kinds, did.examples)


BAD = {
    b"{": "not JSON",
    b"[1]": "not an object",
    b'"\xff"': "not JSON",
    b'{"type": "dream"}': "unknown type of line 'dream'",
    b'{"type": "memory"}': "a line of type memory needs 'access_count'",
    b'{"type": "purge", "namespace": "n", "id": "x", "at": "yesterday", "actor": "a", "reason": null, "gone": null}': (
        "at must be a time"
    ),
    b'{"type": "purge", "namespace": "n", "id": "\\ud800", "at": "2020-01-01", "actor": "a", "reason": null,'
    b' "gone": null}': "half of a surrogate pair",
    b'{"type": "purge", "namespace": "n", "id": "\\u0000", "at": "2020-01-01", "actor": "a", "reason": null,'
    b' "gone": null}': "NUL",
    b'{"type": "purge", "namespace": "a b//", "id": "x", "at": "2020-01-01", "actor": "a", "reason": null,'
    b' "gone": null}': "namespace",
    b'{"type": "purge", "namespace": "e\\u0301", "id": "x", "at": "2020-01-01", "actor": "a", "reason": null,'
    b' "gone": null}': "not normalised",
    b'{"type": "access", "namespace": "n", "memory": "x", "at": "2020-01-01", "how": "get", "query": null,'
    b' "score": NaN}': "not JSON: NaN is not a number",
    b"[" * 100_000: "nested too deeply",
}


@pytest.mark.parametrize(("bad", "reason"), BAD.items(), ids=range(len(BAD)))
def test_a_bad_line_is_told_and_does_not_stop_the_rest(
    place: Place, open_store: Open, saved: Any, bad: bytes, reason: str
) -> None:
    source, target = open_store(target=place("sqlite")), open_store()
    source.add("Good")
    head, *rest = exported(source).splitlines(keepends=True)
    done = target.import_memories(saved(head, bad + b"\n", *rest))
    assert [each.place for each in done.refusals] == ["all.jsonl, line 2"]
    assert reason in done.refusals[0].reason
    assert [memory.content for memory in target.list()] == ["Good"]


@pytest.mark.parametrize(
    "changed",
    [
        {"status": "asleep"},
        {"version": 2**70},
        {"version": True},
        {"confidence": "much"},
        {"tags": "one"},
        {"tags": [1]},
        {"metadata": []},
        {"content": ""},
        {"id": 7},
        {"valid_from": None},
        {"valid_from": "999999-01-01"},
        {"history": {}},
        {"history": [{"version": 1}]},
        {"vectors": [{"ordinal": 0, "whole": True, "space": "x", "vector": "?"}]},
        {"mood": "good"},
    ],
    ids=str,
)
def test_a_memory_with_a_bad_value_is_refused(place: Place, open_store: Open, saved: Any, changed: Any) -> None:
    source, target = open_store(target=place("sqlite")), open_store()
    source.add("Bad")
    source.add("Good")
    head, space, bad, *rest = lines(exported(source))
    done = target.import_memories(saved(head, space, {**bad, **changed}, *rest))
    assert [each.place for each in done.refusals] == ["all.jsonl, line 3"]
    assert [memory.content for memory in target.list()] == ["Good"]


def test_a_damaged_message_leaves_the_others(place: Place, open_store: Open, saved: Any) -> None:
    source, target = open_store(target=place("sqlite")), open_store()
    source.sessions.append_many("s", [{"role": "user", "content": f"Message {n}"} for n in range(4)])
    whole = lines(exported(source))
    done = target.import_memories(saved(*whole[:6], {**whole[6], "role": "ghost"}, *whole[7:]))
    assert done.refused == 1
    assert [event.sequence for event in target.sessions.events("s")] == [1, 2, 3]
    assert target.import_memories(saved(*whole)).lines["event"] == {"same": 3, "created": 1}
    assert exported(target) == exported(source)


def test_a_message_without_its_session_is_refused(place: Place, open_store: Open, saved: Any) -> None:
    source, target = open_store(target=place("sqlite")), open_store()
    source.sessions.append("s", "user", "Hello")
    head, space, _, *rest = lines(exported(source))
    done = target.import_memories(saved(head, space, *rest))
    assert any("its session does not exist here" in each.reason for each in done.refusals)


@pytest.mark.parametrize("packed", [False, True])
def test_a_file_that_is_cut_off_is_told(place: Place, open_store: Open, saved: Any, packed: bool) -> None:
    source, target = open_store(target=place("sqlite")), open_store()
    source.add_many([f"Fact {n} {uuid.uuid4()}" for n in range(500)])
    whole = exported(source)
    path = saved(gzip.compress(whole)[:-2000] if packed else whole[: whole.rindex(b"\n", 0, -100) + 1])
    done = target.import_memories(path)
    assert any("cut off" in each.reason or "read further" in each.reason for each in done.refusals)
    assert done.created > 50
    assert target.import_memories(saved(whole)).refused == 0
    assert exported(target) == whole


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (b'{"type":"header","format":"retentive","version":2,"product":"9"}\n', "format 2; this version reads"),
        (b'{"type":"header","format":"retentive","version":"x"}\n', "format x; this version reads"),
        (b'{"type":"header","format":"retentive","version":true}\n', "format True; this version reads"),
        (b'{"type":"header","format":"retentive","version":0}\n', "format 0; this version reads"),
        (b'{"type":"memory"}\n', "is not an export of Retentive"),
        (b"", "is empty"),
        (b"\x1f\x8b\x08broken", "cannot be read further"),
    ],
)
def test_what_is_no_export_of_ours_is_refused_whole(store: Retentive, saved: Any, given: bytes, said: str) -> None:
    with pytest.raises(Invalid, match=said):
        store.import_memories(saved(given), "retentive")


def test_a_compressed_export_is_recognised(place: Place, open_store: Open, tmp_path: Path) -> None:
    source, target = open_store(target=place("sqlite")), open_store()
    source.add("Packed")
    source.export(tmp_path / "all.jsonl.gz")
    assert target.import_memories(tmp_path / "all.jsonl.gz").created == 1


def test_a_view_takes_in_what_is_its_own(place: Place, open_store: Open, saved: Any) -> None:
    source, target = open_store(target=place("sqlite")), open_store()
    source.in_namespace("alice").add("Of Alice")
    own = saved(exported(source))
    with pytest.raises(Forbidden):
        target.restricted("alice", read_only=True).import_memories(own)
    done = target.restricted("alice").import_memories(own)
    assert (done.created, done.refused, done.pending) == (1, 0, 0)
    assert [*target.namespaces()] == ["alice"]
    source.in_namespace("bob").add("Of Bob")
    with pytest.raises(Forbidden, match="lines of other namespaces: 'bob'"):
        target.restricted("alice").import_memories(saved(exported(source)))
    assert [*target.namespaces()] == ["alice"]


def test_options_of_memories_are_refused(store: Retentive, saved: Any) -> None:
    store.add("One")
    with pytest.raises(Invalid, match="restored as it is"):
        store.import_memories(saved(exported(store)), tags=["x"])


def test_what_has_run_out_comes_back_as_it_was(place: Place, open_store: Open, saved: Any, time: Clock) -> None:
    """Marking it is the work of upkeep, which an import does not do."""
    source = open_store(target=place("sqlite"))
    source.add("For a day", expires="1d")
    time.forward(2 * 86_400)
    before = exported(source)
    where = place("sqlite")
    with Retentive.open(where, embedder="hashing") as target:
        target.import_memories(saved(before))
    assert exported(open_store(target=where)) == before


def test_a_slot_whose_holder_has_run_out_is_free(place: Place, open_store: Open, saved: Any, time: Clock) -> None:
    source, target = open_store(target=place("sqlite")), open_store()
    target.add("On leave", slot="user.status", expires="1d")
    time.forward(2 * 86_400)
    source.add("At work", slot="user.status", valid_from="2020-01-01")
    assert target.import_memories(saved(exported(source))).created == 1
    assert [memory.content for memory in target.list()] == ["At work"]


def test_on_the_terminal(run: Run, saved: Any, open_store: Open, place: Place) -> None:
    source = open_store(target=place("sqlite"))
    source.add("The dog is called Rex")
    path = saved(exported(source))
    assert "1 memory would be imported" in run("import", str(path), "--dry-run")
    assert "memory\tcreated\t1" in run("import", str(path))
    told = json.loads(run("import", str(path), "--json", "--from", "retentive"))
    assert told["lines"] == {"namespace": {"same": 1}, "memory": {"same": 1}}


def test_a_stream_can_be_restored_too(place: Place, open_store: Open) -> None:
    source, target = open_store(target=place("sqlite")), open_store()
    source.add("Through a stream")
    restore.restore(parts_of(target), io.BytesIO(exported(source)), dry_run=False, progress=None)
    assert exported(target) == exported(source)
