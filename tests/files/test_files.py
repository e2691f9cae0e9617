"""The index of files: it is in step with the disk, and costs nothing where nothing changed."""

import os
import signal
import subprocess
import sys
import time
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from retentive import IndexResult, Retentive
from retentive.errors import Invalid, NotFound
from retentive.files import walk
from retentive.storage import step
from retentive.storage.tables.leases import Leases
from retentive.testing import parts_of
from tests.forkserver import ForkedProgram
from tests.support import Open

pytestmark = pytest.mark.engines

PROGRAM = Path(__file__).parents[1] / "programs" / "indexer.py"
DOGS = "# Dogs\n\nAbout our dogs.\n\n## Rex\n\nRex likes carrots.\n\n## Bella\n\nBella is afraid of thunder.\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "notes"
    made.mkdir()
    return made


@pytest.fixture(autouse=True)
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files of this moment count as settled, so that tests need not wait."""
    monkeypatch.setattr(walk, "RACY_NANOSECONDS", -(10**12))


def write(folder: Path, **files: str) -> None:
    """`a__b="..."` is `a/b.md`."""
    for name, text in files.items():
        path = folder / f"{name.replace('__', '/')}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def counts(told: IndexResult) -> dict[str, int]:
    names = ("added", "updated", "appended", "renamed", "removed", "unchanged", "embedded")
    return {name: count for name in names if (count := getattr(told, name))}


def state(store: Retentive, session: str | None = None) -> Any:
    """All that the index says, but for ids and times."""
    rows = parts_of(store).tables.files
    found = []
    for row in sorted(rows.list_page("default", 1000, session, None), key=lambda row: (row.path, row.session or "")):
        chunks = [(each[:-1], bool(each.vector)) for each in rows.list_chunks(row, parts_of(store).space)]
        file = (row.path, row.session, row.kind, row.hash, row.size, row.title, row.all_tags, row.links, row.mark)
        found.append((file, dict(row.metadata), chunks))
    return found


def places(store: Retentive, question: str, **options: Any) -> list[str]:
    return [hit.passage.place for hit in store.search(question, include="files", **options)]


def test_a_passage_is_found_with_its_place(store: Retentive, folder: Path) -> None:
    write(folder, dogs=DOGS)
    told = store.files.index(folder)
    assert counts(told) == {"added": 1, "embedded": 3}
    hit = store.search("what does Rex like?")[0]
    assert hit.type == "file"
    assert hit.passage.place == f"{folder.resolve()}/dogs.md:5-7 > Dogs > Rex"
    assert hit.excerpt == hit.content == "## Rex\n\nRex likes carrots."
    assert hit.passage.tags == ("notes", "dogs.md")
    assert (hit.passage.title, hit.passage.unit) == ("Dogs", "line")


def test_names_of_files_and_folders_are_searched(store: Retentive, folder: Path) -> None:
    write(folder, garden__peonies="Cut them in autumn.", garden__roses="Cut them in spring.", kitchen__soup="Salt.")
    store.files.index(folder)
    assert places(store, "peonies", mode="text") == [f"{folder.resolve()}/garden/peonies.md:1"]
    assert len(places(store, "cut", tags=["garden"])) == 2
    assert places(store, "cut", tags=["kitchen"], mode="text") == []


def test_words_of_a_heading_find_what_is_below_it(store: Retentive, folder: Path) -> None:
    write(folder, trip="# Iceland\n\n## Packing\n\nA warm coat.\n\n## Route\n\nAlong the coast.\n")
    store.files.index(folder)
    assert places(store, "iceland packing", limit=1) == [f"{folder.resolve()}/trip.md:3-5 > Iceland > Packing"]


def test_nothing_is_done_for_what_did_not_change(
    store: Retentive, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(folder, a="One", b__c="Two")
    store.files.index(folder)
    head = parts_of(store).tables.chunks.head()
    monkeypatch.setattr("retentive.files.index.load_file", None)  # nothing is opened
    assert counts(store.files.index(folder)) == {"unchanged": 2}
    assert parts_of(store).tables.chunks.head() == head


def test_a_touch_changes_nothing(store: Retentive, folder: Path) -> None:
    write(folder, a="One")
    store.files.index(folder)
    before = state(store)
    os.utime(folder / "a.md", (1, 1))
    assert counts(store.files.index(folder)) == {"unchanged": 1}
    assert state(store) == before


def test_a_change_in_the_same_instant_is_seen(store: Retentive, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that was read right after it was written may be written again without its time telling."""
    monkeypatch.undo()
    write(folder, a="One")
    stamp = (folder / "a.md").stat()
    store.files.index(folder)
    (folder / "a.md").write_text("Two")
    os.utime(folder / "a.md", ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert counts(store.files.index(folder)) == {"updated": 1, "embedded": 1}


def test_of_an_edited_file_only_what_changed_is_embedded(store: Retentive, folder: Path) -> None:
    write(folder, dogs=DOGS)
    store.files.index(folder)
    write(folder, dogs=DOGS.replace("carrots", "apples"))
    assert counts(store.files.index(folder)) == {"updated": 1, "embedded": 1}
    assert places(store, "rex apples", mode="text") != []
    assert places(store, "carrots", mode="text") == []


def test_what_is_appended_is_read_alone(store: Retentive, folder: Path) -> None:
    write(folder, dogs=DOGS)
    store.files.index(folder)
    kept = {chunk.ordinal for chunk in chunks(store, folder / "dogs.md")}
    with (folder / "dogs.md").open("a") as file:
        file.write("\n## Tom\n\nA cat, in fact. See [cats](cats.md).\n")
    assert counts(store.files.index(folder)) == {"appended": 1, "embedded": 1}
    assert len(chunks(store, folder / "dogs.md")) == len(kept) + 1
    assert store.files.get(folder / "dogs.md").links == ("cats.md",)
    assert state(store) == fresh(folder)


def chunks(store: Retentive, path: Path) -> list[Any]:
    rows = parts_of(store).tables.files
    row = rows.get("default", store.files.get(path).id)
    assert row
    return rows.list_chunks(row, parts_of(store).space)


def fresh(folder: Path) -> Any:
    """What an index made anew says."""
    with Retentive.open(":memory:", embedder="hashing") as other:
        other.files.index(folder)
        return state(other)


@pytest.mark.parametrize("new", ["b.md", "inside/a.md", "inside/b.md"])
def test_a_renamed_file_keeps_its_vectors(store: Retentive, folder: Path, new: str) -> None:
    write(folder, a="# Herons\n\nThey nest in trees.")
    store.files.index(folder)
    id = store.files.get(folder / "a.md").id
    (folder / new).parent.mkdir(exist_ok=True)
    (folder / "a.md").rename(folder / new)
    assert counts(store.files.index(folder)) == {"renamed": 1}
    assert store.files.get(folder / new).id == id
    assert state(store) == fresh(folder)
    assert places(store, "herons", mode="text") == [f"{folder.resolve()}/{new}:1-3 > Herons"]


def test_a_moved_folder_keeps_its_vectors(store: Retentive, folder: Path) -> None:
    write(folder, old__a="One", old__deep__b="Two", other="Three")
    store.files.index(folder)
    (folder / "old").rename(folder / "new")
    assert counts(store.files.index(folder)) == {"renamed": 2, "unchanged": 1}
    assert state(store) == fresh(folder)


def test_what_is_deleted_leaves_no_row(store: Retentive, folder: Path) -> None:
    write(folder, a="Storks", b="Cranes")
    store.files.index(folder)
    (folder / "a.md").unlink()
    assert counts(store.files.index(folder)) == {"removed": 1, "unchanged": 1}
    assert places(store, "storks", mode="text") == []
    assert state(store) == fresh(folder)
    assert all(finding.ok for finding in store.doctor())


def test_five_hundred_at_once(store: Retentive, folder: Path) -> None:
    write(folder, **{f"d{n % 7}__f{n}": f"# Note {n}\n\nThe number is {n}." for n in range(500)})
    heard: list[tuple[int, int]] = []
    assert counts(store.files.index(folder, progress=lambda *each: heard.append(each)))["added"] == 500
    assert heard[-1] == (500, 500)
    assert store.stats()["files"] == 500


def test_what_cannot_be_read_is_named_with_its_reason(store: Retentive, folder: Path) -> None:
    write(folder, good="Fine")
    os.mkfifo(folder / "pipe.md")
    (folder / "folder.md").mkdir()
    (folder / "nowhere.md").symlink_to("missing")
    (folder / "loop").symlink_to(".")
    (folder / "self.md").symlink_to("self.md")
    (folder / "big.txt").write_text("x" * 200_000)
    (folder / "image.png").write_bytes(b"\x89PNG\0")
    (folder / "binary.txt").write_bytes(b"a\0b" * 50)
    told = store.files.index(folder)
    reasons = {Path(each.path).name: each.reason for each in told.skipped}
    assert counts(told)["added"] == 1
    assert reasons == {
        "pipe.md": "not a regular file",
        "nowhere.md": "a link that leads nowhere",
        "loop": "a link to a folder that contains it",
        "self.md": "too many levels of symbolic links",
        "big.txt": "200 KB, over the limit of 100 KB",
    }
    assert told.unknown == 2
    assert counts(store.files.index(folder, limit_kb=300))["added"] == 1


def test_what_cannot_be_reached_for_now_stays(store: Retentive, folder: Path) -> None:
    """A disk that is not mounted is no reason to forget what was on it."""
    write(folder, a="One", b="Two")
    store.files.index(folder)
    elsewhere = folder.rename(folder.parent / "gone")
    with pytest.raises(Invalid, match="there is no"):
        store.files.index(folder)
    assert len(store.files.list()) == 2
    elsewhere.rename(folder)
    assert counts(store.files.index(folder)) == {"unchanged": 2}


def test_files_of_a_session_are_seen_in_it_alone(store: Retentive, folder: Path) -> None:
    write(folder, a="The heron nests in trees")
    store.files.index(folder, session="monday")
    assert places(store, "heron") == []
    assert len(places(store, "heron", session="monday")) == 1
    store.files.index(folder)
    assert len(store.files.list()) == 2
    store.sessions.append("monday", "user", "Hello")
    store.sessions.delete("monday")
    assert [each.session for each in store.files.list()] == [None]


def test_tags_can_be_given_later(store: Retentive, folder: Path) -> None:
    write(folder, a="The heron")
    store.files.index(folder)
    assert counts(store.files.index(folder, tags=["birds"])) == {"updated": 1}
    assert len(places(store, "heron", tags=["birds"])) == 1
    assert counts(store.files.index(folder)) == {"unchanged": 1}
    assert store.files.get(folder / "a.md").tags == ("birds", "notes", "a.md")


def test_a_dry_run_only_tells(store: Retentive, folder: Path) -> None:
    write(folder, a="One")
    assert counts(store.files.index(folder, dry_run=True)) == {"added": 1}
    assert store.files.list() == []


def test_secrets_in_files_are_redacted_and_lines_keep_their_numbers(store: Retentive, folder: Path) -> None:
    key = "-----BEGIN RSA PRIVATE KEY-----\n" + "MIIEpAIBAAKCAQEA7q3Zx\n" * 60 + "-----END RSA PRIVATE KEY-----\n"
    write(folder, a=f"# Keys\n\n{key}\n# After\n\nThe heron nests.\n")
    store.files.index(folder)
    assert all("MIIE" not in chunk.text for chunk in chunks(store, folder / "a.md"))
    lines = (folder / "a.md").read_text().splitlines()
    assert places(store, "heron")[0] == f"{folder.resolve()}/a.md:{lines.index('# After') + 1}-{len(lines)} > After"


def test_secrets_may_be_refused(open_store: Open, folder: Path) -> None:
    store = open_store(secrets_in_messages="refuse")
    write(folder, a="password: hunter2-Xk9!pQ", b="Nothing")
    told = store.files.index(folder)
    assert counts(told)["added"] == 1
    assert "secret" in told.skipped[0].reason


def test_remove_takes_out_a_file_or_a_folder(store: Retentive, folder: Path) -> None:
    write(folder, a="One", sub__b="Two", sub__c="Three")
    store.files.index(folder)
    assert len(store.files.remove(folder / "sub", dry_run=True)) == 2
    assert len(store.files.remove(folder / "sub")) == 2
    assert [Path(each.path).name for each in store.files.list()] == ["a.md"]
    store.files.remove(store.files.list()[0].id)
    with pytest.raises(NotFound, match="not in the index"):
        store.files.get(folder / "a.md")


def test_all_passages_of_a_file_can_be_read(store: Retentive, folder: Path) -> None:
    write(folder, dogs=DOGS)
    store.files.index(folder)
    (folder / "dogs.md").unlink()
    found = store.files.passages(store.files.list()[0].id)
    assert [(each.headings, each.first, each.last) for each in found] == [
        (("Dogs",), 1, 3),
        (("Dogs", "Rex"), 5, 7),
        (("Dogs", "Bella"), 9, 11),
    ]


def test_files_are_listed_in_pages(store: Retentive, folder: Path) -> None:
    write(folder, **{f"f{n}": str(n) for n in range(5)})
    store.files.index(folder)
    first = store.files.list(3)
    rest = store.files.list(3, after=first[-1].id)
    assert [Path(each.path).stem for each in (*first, *rest)] == ["f0", "f1", "f2", "f3", "f4"]


def test_passages_are_in_a_context(store: Retentive, folder: Path) -> None:
    write(folder, dogs=DOGS)
    store.files.index(folder)
    made = store.context("what does Rex like?")
    assert f"- > Rex likes carrots. ({folder.resolve()}/dogs.md:5-7 > Dogs > Rex, " in made.text
    assert made.cites == (store.files.list()[0].id,)


def test_vectors_that_are_missing_are_made_later(open_store: Open, folder: Path) -> None:
    write(folder, dogs=DOGS)
    none = open_store(embedder="none")
    none.files.index(folder)
    store = open_store()
    assert store.stats()["vectors_pending"] == 3
    store.backfill()
    assert state(store) == fresh(folder)
    assert places(store, "carrots", mode="vector", limit=1) == [f"{folder.resolve()}/dogs.md:5-7 > Dogs > Rex"]


def test_a_purge_says_where_a_file_repeats_it(store: Retentive, folder: Path) -> None:
    write(folder, a="The code is zanzibar-nine, said the note.")
    store.files.index(folder)
    gone = store.purge(store.add("The code is zanzibar-nine").id)
    assert [(each.place, each.id) for each in gone.remaining] == [("file", f"{folder.resolve()}/a.md")]


def test_a_damaged_index_is_found_and_mended(store: Retentive, folder: Path) -> None:
    write(folder, dogs=DOGS)
    store.files.index(folder)
    row = parts_of(store).tables.files.list_page("default", 1, None, None)[0]
    parts_of(store).engine.apply([step("file_chunk_delete", namespace="default", owner=row.id, first=2)])
    assert "files" in [finding.name for finding in store.doctor() if not finding.ok]
    store.repair()
    store.files.index(folder)
    assert [finding.name for finding in store.doctor() if not finding.ok] == []
    assert state(store) == fresh(folder)


def start(target: str, folder: Path) -> "subprocess.Popen[str]":
    return ForkedProgram([sys.executable, str(PROGRAM), target, str(folder)], stdout=subprocess.PIPE, text=True)


def test_two_processes_do_the_work_once(target: str, open_store: Open, folder: Path) -> None:
    write(folder, **{f"d__f{n}": f"# Note {n}\n\nThe number is {n}." for n in range(150)})
    store = open_store()
    running = [start(target, folder) for _ in range(3)]
    told = [dict(eval(each.communicate(timeout=60)[0])) for each in running]  # noqa: S307 - our own program
    assert [each.returncode for each in running] == [0, 0, 0]
    assert sum(each["added"] for each in told) == 150
    assert sum(each["embedded"] for each in told) == 150
    assert state(store) == fresh(folder)


def test_what_a_kill_left_undone_is_done_next_time(target: str, open_store: Open, folder: Path) -> None:
    write(folder, **{f"d__f{n}": f"# Note {n}\n\n" + f"The number is {n}. " * 200 for n in range(120)})
    store = open_store()
    running = start(target, folder)
    deadline = time.monotonic() + 30
    while store.stats()["files"] == 0 and time.monotonic() < deadline:
        time.sleep(0.01)
    running.send_signal(signal.SIGKILL)
    running.communicate()
    done = store.stats()["files"]
    release(store, folder)
    told = store.files.index(folder)
    assert told.added == 120 - done
    assert state(store) == fresh(folder)


def release(store: Retentive, folder: Path) -> None:
    """The lease of the one that was killed, whose time would be up in half a minute."""
    name = f"files-{sha256(str(folder.resolve()).encode()).hexdigest()[:16]}"
    held = Leases(parts_of(store).engine).find_holder(name, "default")
    if held:
        Leases(parts_of(store).engine, held.holder).release(name, "default")


def test_a_purged_file_is_gone_from_the_store_to_the_last_byte(store: Retentive, folder: Path) -> None:
    write(folder, a="# Secrets\n\nThe Xanthippulus lives in the attic.", b="Herons nest.")
    store.files.index(folder)
    gone = store.purge(store.files.get(folder / "a.md").id)
    assert (gone.removed["files"], gone.remaining, gone.complete) == (1, (), True)
    assert [Path(each.path).name for each in store.files.list()] == ["b.md"]
    assert store.search("Xanthippulus", mode="text").hits == ()
    assert (folder / "a.md").exists()
