"""Memories from elsewhere, kept: once, with where they came from, and nothing that was forgotten."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from retentive import ImportMemoriesResult, RefusedItem, Retentive, serialize
from retentive.errors import Forbidden, Invalid
from retentive.surface.verbs.files import IMPORT_FORMATS
from retentive.transfer import import_memories
from retentive.transfer.memories import MemoryFormat
from tests.forkserver import ForkedProgram
from tests.support import Open, Run
from tests.transfer.memory_files import write_all_formats

pytestmark = pytest.mark.engines

IMPORTER = Path(__file__).parents[1] / "programs" / "importer.py"
ANY = ("active", "superseded", "forgotten", "expired")


@pytest.fixture
def lines(tmp_path: Path) -> Callable[..., Path]:
    """A file of memories in Mem0's format, a line each."""

    def write(*items: str | dict[str, Any]) -> Path:
        path = tmp_path / "memories.jsonl"
        imported = [{"memory": each} if isinstance(each, str) else each for each in items]
        path.write_text("".join(json.dumps(each) + "\n" for each in imported))
        return path

    return write


def all_of(store: Retentive) -> list[dict[str, Any]]:
    """Everything of every memory, whatever became of it."""
    kept = (*store.list(limit=10_000, status=ANY), *store.notes.list(limit=1000))
    return sorted((serialize.memory(each) for each in kept), key=lambda each: str(each["id"]))


def apart_from_when(store: Retentive) -> list[dict[str, Any]]:
    """The same without what differs between two runs."""
    left = ("id", "created", "updated", "superseded_by", "valid_from", "valid_to")
    imported = [{name: value for name, value in each.items() if name not in left} for each in all_of(store)]
    return sorted(imported, key=lambda each: str(each["content"]))


def contents(store: Retentive, **filters: Any) -> set[str]:
    return {memory.content for memory in store.list(limit=1000, **filters)}


@pytest.mark.parametrize("format", [each for each in MemoryFormat if each is not MemoryFormat.RETENTIVE])
def test_every_format_comes_in_once(store: Retentive, tmp_path: Path, format: MemoryFormat) -> None:
    """The second import changes nothing, not even the time of a memory's last change."""
    path = write_all_formats(tmp_path)[format]
    done = store.import_memories(path)
    assert (done.format, done.known, done.refused) == (format, 0, 0)
    kept = all_of(store)
    assert len(kept) == done.created > 1
    assert {each["source"] for each in kept} == {"import"}
    assert {each["origin"]["product"] for each in kept} == {format}
    again = store.import_memories(path)
    assert (again.created, again.known) == (0, done.created)
    assert all_of(store) == kept


def test_a_memory_keeps_what_was_said_of_it(store: Retentive, lines: Callable[..., Path]) -> None:
    path = lines(
        {
            "id": "5f1c",
            "memory": "Dana prefers window seats",
            "categories": ["user_preferences"],
            "metadata": {"confidence": 0.4, "trip": "lisbon"},
            "created_at": "2025-03-02T09:00:00Z",
            "updated_at": "2025-04-01T08:00:00Z",
        }
    )
    store.import_memories(path)
    (imported,) = all_of(store)
    assert imported["origin"] == {
        "product": "mem0",
        "id": "5f1c",
        "created": "2025-03-02T09:00:00Z",
        "updated": "2025-04-01T08:00:00Z",
    }
    assert (imported["kind"], imported["confidence"], imported["valid_from"]) == (
        "preference",
        0.4,
        "2025-03-02T09:00:00Z",
    )
    assert imported["metadata"] == {"confidence": 0.4, "trip": "lisbon"}
    assert store.search("where does Dana like to sit?").hits[0].content == "Dana prefers window seats"


def test_options_hold_for_all_and_tags_are_added(store: Retentive, lines: Callable[..., Path]) -> None:
    path = lines({"memory": "Dana likes figs", "categories": ["food"]}, "The tram is late")
    store.import_memories(path, session="moved", tags=["old"], kind="background", metadata={"by": "me"})
    tram, figs = store.list(session="moved")
    assert (figs.tags, figs.session, figs.kind) == (("food", "old"), "moved", "background")
    assert (tram.tags, tram.metadata, tram.confidence) == (("old",), {"by": "me"}, 0.6)


@pytest.mark.parametrize("options", [{"kind": "gadget"}, {"source": "explicit"}, {"slot": "x"}, {"session": ""}])
def test_wrong_options_are_refused_before_anything_is_kept(
    store: Retentive, lines: Callable[..., Path], options: dict[str, Any]
) -> None:
    with pytest.raises(Invalid):
        store.import_memories(lines("a", "b"), **options)
    assert all_of(store) == []


def test_a_dry_run_tells_and_changes_nothing(store: Retentive, lines: Callable[..., Path]) -> None:
    store.add("The tram is late")
    before = all_of(store)
    path = lines("The tram is late", "Dana likes figs", "Dana likes figs", "", "My password is hunter2-Ab93kd!x")
    imported = store.import_memories(path, dry_run=True)
    assert all_of(store) == before
    assert (imported.created, imported.known, imported.refused, imported.dry_run) == (1, 2, 2, True)
    assert (imported.kinds, imported.examples) == ({"fact": 1}, ("Dana likes figs",))
    done = store.import_memories(path)
    assert (done.created, done.known, done.refused) == (imported.created, imported.known, imported.refused)


def test_what_is_bad_is_told_with_its_place_and_the_rest_is_kept(store: Retentive, lines: Callable[..., Path]) -> None:
    path = lines("good", "", "x" * 100_001, "My password is hunter2-Ab93kd!x", "fine")
    done = store.import_memories(path)
    assert contents(store) == {"good", "fine"}
    assert {each.place.removeprefix("memories.jsonl, "): each.reason.split("(")[0] for each in done.refusals} == {
        "line 2": "it has no text under 'memory'",
        "line 3": "text has 100,001 characters; a memory holds up to 100,000",
        "line 4": "the memory holds a secret ",
    }


def test_of_many_refusals_the_first_twenty_are_refused(store: Retentive, lines: Callable[..., Path]) -> None:
    done = store.import_memories(lines("good", *[""] * 30))
    assert (done.refused, len(done.refusals)) == (30, 20)


@pytest.mark.parametrize("items", [("",), ("My password is hunter2-Ab93kd!x",)])
def test_where_nothing_can_be_kept_it_is_an_error(
    store: Retentive, lines: Callable[..., Path], items: tuple[str, ...]
) -> None:
    with pytest.raises(Invalid, match=r"nothing of .* could be imported; memories.jsonl, line 1|memories.jsonl: "):
        store.import_memories(lines(*items))


def test_a_secret_is_redacted_where_that_is_the_setting(open_store: Open, lines: Callable[..., Path]) -> None:
    store = open_store(secrets_in_memories="redact")
    path = lines("My password is hunter2-Ab93kd!x")
    assert store.import_memories(path).created == 1
    assert "hunter2" not in str(all_of(store))
    assert store.import_memories(path).known == 1


def test_what_was_forgotten_stays_forgotten(store: Retentive, lines: Callable[..., Path]) -> None:
    """By whatever id it comes again, unless it was told anew since."""
    old = {"memory": "Dana likes figs", "created_at": "2025-01-01"}
    store.import_memories(lines({**old, "id": "1"}, {**old, "id": "2"}))
    store.forget(store.list()[0].id)
    assert store.import_memories(lines({**old, "id": "1"}, {**old, "id": "2"}, {**old, "id": "3"})).known == 3
    assert contents(store) == set()
    assert store.import_memories(lines({**old, "id": "4", "created_at": "2099-01-01"})).created == 1


def test_what_was_replaced_here_does_not_come_back(store: Retentive, tmp_path: Path) -> None:
    path = tmp_path / "homes.csv"
    path.write_text("text,slot\nDana lives in Bonn,home\nDana lives in Porto,home\n")
    done = store.import_memories(path)
    assert (done.created, done.superseded) == (2, 1)
    store.add("Dana lives in Rome", slot="home")
    kept = all_of(store)
    assert store.import_memories(path).known == 2
    assert all_of(store) == kept
    assert contents(store) == {"Dana lives in Rome"}


def test_what_is_older_takes_its_place_in_the_past(store: Retentive, tmp_path: Path) -> None:
    store.add("Dana lives in Rome", slot="home", valid_from="2026-01-01")
    path = tmp_path / "homes.csv"
    path.write_text("text,slot,created\nDana lives in Bonn,home,2020-01-01\n")
    store.import_memories(path)
    assert contents(store) == {"Dana lives in Rome"}
    assert contents(store, as_of="2021-01-01") == {"Dana lives in Bonn"}


def test_what_had_expired_before_it_came_is_known_the_second_time(store: Retentive, lines: Callable[..., Path]) -> None:
    path = lines({"memory": "Dana is on leave", "expiration_date": "2020-01-01"})
    assert store.import_memories(path).created == 1
    assert contents(store) == set()
    kept = all_of(store)
    assert store.import_memories(path).known == 1
    assert all_of(store) == kept


def test_a_known_text_may_take_a_slot(store: Retentive, tmp_path: Path) -> None:
    store.add("Dana lives in Rome")
    (tmp_path / "x.csv").write_text("text,slot\nDana lives in Rome,home\n")
    assert store.import_memories(tmp_path / "x.csv", trust="user").known == 1
    assert [memory.slot for memory in store.list()] == ["home"]


def test_notes_come_in_once_though_two_may_say_the_same(store: Retentive, tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("text,kind\nbuy milk,note\nbuy milk,note\n")
    assert store.import_memories(path).created == 1
    assert store.import_memories(path).created == 0


def test_a_view_for_reading_may_only_try(store: Retentive, lines: Callable[..., Path]) -> None:
    path = lines("Dana likes figs")
    view = store.restricted("default", read_only=True)
    with pytest.raises(Forbidden):
        view.import_memories(path)
    assert view.import_memories(path, dry_run=True).created == 1
    assert store.restricted("default").import_memories(path).created == 1
    assert store.in_namespace("other").import_memories(path).created == 1


def test_batches_depend_on_nothing(
    store: Retentive, lines: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many share a commit, the same comes in; progress tells how many were read."""
    monkeypatch.setattr(import_memories, "BATCH_SIZE", 7)
    heard: list[tuple[int, int | None]] = []
    path = lines(*[f"Item {number % 20} is blue" for number in range(30)])
    done = store.import_memories(path, progress=lambda *each: heard.append(each))
    assert (done.created, done.known) == (20, 10)
    assert heard == [(7, None), (14, None), (21, None), (28, None), (30, None), (30, 30)]


def test_an_import_that_was_killed_is_simply_repeated(target: str, open_store: Open, tmp_path: Path) -> None:
    """Killed on the way and done again, the store is as if it had been done once."""
    path = tmp_path / "many.csv"
    rows = [f"Item {number} is blue,{'box' if number % 9 == 0 else ''}" for number in range(400)]
    path.write_text("\n".join(["text,slot", *rows]))
    importer = ForkedProgram([sys.executable, str(IMPORTER), target, str(path)], stdout=subprocess.PIPE, text=True)
    with importer:
        assert importer.stdout
        while int(importer.stdout.readline() or 400) < 100:
            pass
        importer.kill()
    store = open_store()
    assert store.import_memories(path).created < 400
    once = open_store(target=":memory:")
    once.import_memories(path)
    assert apart_from_when(store) == apart_from_when(once)
    assert all(finding.ok for finding in store.doctor())


def test_memories_without_vectors_are_kept_and_told(open_store: Open, lines: Callable[..., Path]) -> None:
    assert open_store(embedder="none").import_memories(lines("a", "b")).pending == 2


def test_the_command_tells_what_came_in(run: Run, lines: Callable[..., Path]) -> None:
    path = str(lines("Dana likes figs", "", "The tram is late"))
    assert run("import", path, "--dry-run", code=4).splitlines() == [
        f"{path} (mem0): 2 memories would be imported, 1 refused",
        "  2 fact",
        "  Dana likes figs",
        "  The tram is late",
    ]
    assert (
        run("import", path, "--tag", "old", "--session", "s", code=4)
        == f"{path} (mem0): 2 memories imported, 1 refused\n"
    )
    assert (
        run("import", path, "--session", "s", code=4)
        == f"{path} (mem0): 0 memories imported, 2 already known, 1 refused\n"
    )
    assert json.loads(run("list", "--session", "s", "--json"))["memories"][0]["tags"] == ["old"]


def test_the_command_names_what_was_refused(refused: Run, lines: Callable[..., Path]) -> None:
    imported = refused("import", str(lines("good", "")), code=4)
    assert imported == "refused: memories.jsonl, line 2: it has no text under 'memory'\n"


def test_the_command_answers_in_json(run: Run, lines: Callable[..., Path]) -> None:
    imported = json.loads(run("import", str(lines("good", "")), "--json", code=4))
    assert imported == serialize.import_result(
        ImportMemoriesResult(
            format="mem0",
            created=1,
            known=0,
            superseded=0,
            pending=0,
            refused=1,
            refusals=(RefusedItem("memories.jsonl, line 2", "it has no text under 'memory'"),),
            kinds={"fact": 1},
            examples=("good",),
            notes=(),
            dry_run=False,
        )
    )


def test_the_command_knows_every_format() -> None:
    assert {*IMPORT_FORMATS} == {*MemoryFormat}


def test_a_file_that_is_no_memory_ends_with_a_hint(refused: Run, tmp_path: Path) -> None:
    (tmp_path / "x").write_text("hello")
    assert "Give its format: retentive" in refused("import", str(tmp_path / "x"), code=2)
