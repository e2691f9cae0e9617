"""Wrong input gets one line, a hint, the right exit code, and changes nothing."""

import math
import os
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import apsw
import pytest

from retentive import Retentive
from retentive.cli import main
from retentive.errors import (
    BadConfig,
    DiskFull,
    Invalid,
    NewerSchema,
    NotAStore,
    RetentiveError,
    StorageError,
    Unwritable,
)
from retentive.testing import parts_of
from tests.support import Open


def make_nested(depth: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(depth):
        value = {"a": value}
    return value


BAD: list[tuple[str, dict[str, Any]]] = [
    ("", {}),
    (" \n\t", {}),
    ("x" * 5_000_000, {}),
    ("nul \0 inside", {}),
    ("half a pair \ud800", {}),
    ("ok", {"kind": "opinion"}),
    ("ok", {"source": "rumour"}),
    ("ok", {"importance": math.nan}),
    ("ok", {"importance": 10**400}),
    ("ok", {"tags": 5}),
    ("ok", {"vector": [10**400] * 384}),
    ("ok", {"importance": math.inf}),
    ("ok", {"importance": 0}),
    ("ok", {"importance": 11}),
    ("ok", {"importance": 5.5}),
    ("ok", {"importance": "high"}),
    ("ok", {"importance": True}),
    ("ok", {"confidence": 1.01}),
    ("ok", {"confidence": math.nan}),
    ("ok", {"expires": "next blursday"}),
    ("ok", {"expires": "2026-02-30"}),
    ("ok", {"expires": 17}),
    ("ok", {"valid_from": "yesterday-ish"}),
    ("ok", {"tags": [""]}),
    ("ok", {"tags": ["x" * 201]}),
    ("ok", {"tags": [f"t{n}" for n in range(65)]}),
    ("ok", {"slot": ""}),
    ("ok", {"session": "s" * 201}),
    ("ok", {"metadata": {"a": math.nan}}),
    ("ok", {"metadata": {1: "key is not text"}}),
    ("ok", {"metadata": {"a": {1, 2}}}),
    ("ok", {"metadata": {"a": "\ud800"}}),
    ("ok", {"metadata": {"a": "x" * 70_000}}),
    ("ok", {"metadata": ["not", "an", "object"]}),
    ("ok", {"vector": [1.0, 2.0]}),
    ("ok", {"vector": [0.0] * 384}),
    ("ok", {"vector": [math.nan] * 384}),
    ("ok", {"vector": ["a"] * 384}),
    ("ok", {"vector": 5}),
    ("ok", {"vector": "text"}),
    ("ok", {"vector": [[1.0] * 384]}),
]


@pytest.mark.parametrize(("text", "options"), BAD, ids=lambda value: repr(value)[:40])
def test_bad_input_to_add_changes_nothing(store: Retentive, text: str, options: dict[str, Any]) -> None:
    with pytest.raises(Invalid) as caught:
        store.add(text, **options)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300
    assert store.stats()["memories"] == 0


def test_metadata_of_any_depth_is_kept_or_refused(store: Retentive) -> None:
    with pytest.raises(Invalid, match="metadata"):
        store.add("ok", metadata=make_nested(3000))
    assert store.stats()["memories"] == 0


def test_one_bad_item_of_a_list_keeps_none_and_is_named(store: Retentive) -> None:
    with pytest.raises(Invalid, match="item 3"):
        store.add_many(["one", "two", ""])
    with pytest.raises(Invalid, match="item 1: add has no option 'colour'"):
        store.add_many([{"text": "x", "colour": "red"}])
    with pytest.raises(Invalid, match="item 1: text is empty"):
        store.add_many([{"kind": "note"}])
    with pytest.raises(Invalid, match="not as many vectors"):
        store.add_many(["one", "two"], vectors=[[1.0] * 384])
    assert store.stats()["memories"] == 0


@pytest.mark.parametrize(
    "options",
    [
        {"content": ""},
        {"valid_from": None},
        {"importance": math.nan},
        {"kind": "x"},
        {"expires": "x"},
        {"metadata": {"a": math.inf}},
    ],
)
def test_bad_input_to_update_changes_nothing(store: Retentive, options: dict[str, Any]) -> None:
    before = store.add("As it was").memory
    with pytest.raises(Invalid):
        store.update(before.id, **options)
    assert store.get(before.id) == before


@pytest.mark.parametrize(
    "options",
    [
        {"limit": 0},
        {"limit": -1},
        {"limit": 2.5},
        {"limit": 2**63},
        {"namespaces": [None]},
        {"kind": 5},
        {"mode": "magic"},
        {"fusion": "cold"},
        {"vector_weight": 2},
        {"min_similarity": math.nan},
        {"kind": "x"},
        {"status": "x"},
        {"since": "x"},
        {"min_importance": 99},
        {"namespaces": ["bad name"]},
        {"vector": [1.0]},
        {"vector": 5},
        {"vector": [[1.0] * 384]},
    ],
    ids=lambda options: repr(options)[:40],
)
def test_bad_input_to_search_is_refused(store: Retentive, options: dict[str, Any]) -> None:
    with pytest.raises(Invalid):
        store.search("x", **options)


@pytest.mark.parametrize("items", ["abc", {"text": "x"}, 5, [None], [5], [("a", "b")]])
def test_add_many_takes_texts_and_mappings_only(store: Retentive, items: Any) -> None:
    with pytest.raises(Invalid):
        store.add_many(items)
    assert store.stats()["memories"] == 0


def test_one_bad_vector_of_a_list_keeps_none_and_is_named(open_store: Open) -> None:
    store = open_store(embedder="none")
    vectors = [[1.0, 0.0]] * 2400 + [[1.0, 2.0, 3.0]] * 100
    with pytest.raises(Invalid, match="item 2401"):
        store.add_many([f"text {n}" for n in range(2500)], vectors=vectors)
    with pytest.raises(Invalid):
        store.add_many(["a"], vectors=5)  # type: ignore[arg-type]
    assert store.stats()["memories"] == 0


@pytest.mark.parametrize("question", [None, b"tea", 5])
def test_a_question_is_text(store: Retentive, question: Any) -> None:
    with pytest.raises(Invalid, match="must be text"):
        store.search(question)


def test_who_and_why_are_text(store: Retentive) -> None:
    id = store.add("x").id
    mistakes: list[dict[str, Any]] = [{"reason": "\ud800"}, {"reason": {}}, {"actor": None}]
    for options in mistakes:
        with pytest.raises(Invalid):
            store.forget(id, **options)
    with pytest.raises(Invalid):
        store.list(after="\0")


def test_a_misspelt_option_is_named(store: Retentive) -> None:
    misspelt: dict[str, Any] = {"tag": ["x"]}
    for verb, call in (("add", store.add), ("search", store.search)):
        with pytest.raises(Invalid, match=f"{verb} has no option 'tag'") as caught:
            call("x", **misspelt)
        assert "tags" in caught.value.hint


def test_vectors_of_another_length_are_refused_without_an_embedder_too(open_store: Open) -> None:
    store = open_store(embedder="none")
    store.add("one", vector=[1.0, 0.0])
    with pytest.raises(Invalid, match="those in the store have 2"):
        store.add("two", vector=[1.0, 0.0, 0.0])
    with pytest.raises(Invalid, match="those in the store have 2"):
        store.search(vector=[1.0])


@pytest.mark.parametrize("namespace", ["", " ", "a b", "/a", "a/", "a//b", "a\0", "x" * 201, "ü/ä "])
def test_a_bad_namespace_is_refused_before_a_file_is_made(db: Path, namespace: str) -> None:
    with pytest.raises(Invalid):
        Retentive.open(db, namespace=namespace)
    assert not db.exists()


def test_settings_are_checked(db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BadConfig, match="no embedder 'gpt'"):
        Retentive.open(db, embedder="gpt")
    with pytest.raises(BadConfig, match="argument"):
        Retentive.open(db, precision="float16")
    with pytest.raises(Invalid, match="unknown setting"):
        Retentive.open(db, **cast("Any", {"colour": "red"}))
    with pytest.raises(Invalid, match="first argument"):
        Retentive.open(**cast("Any", {"db": str(db)}))
    monkeypatch.setenv("RETENTIVE_VECTOR_WEIGHT", "7")
    with pytest.raises(BadConfig, match="RETENTIVE_VECTOR_WEIGHT"):
        Retentive.open(db)
    assert not db.exists()


def no_parent(folder: Path) -> Path:
    return folder / "missing" / "memory.db"


def parent_is_a_file(folder: Path) -> Path:
    (folder / "file").write_text("x")
    return folder / "file" / "memory.db"


def a_folder(folder: Path) -> Path:
    (folder / "memory.db").mkdir()
    return folder / "memory.db"


def not_a_database(folder: Path) -> Path:
    (folder / "memory.db").write_bytes(b"These are my holiday notes, not a database.\n" * 100)
    return folder / "memory.db"


def of_another_program(folder: Path) -> Path:
    with sqlite3.connect(folder / "memory.db") as other:
        other.execute("CREATE TABLE bookmarks (url TEXT)")
    other.close()
    return folder / "memory.db"


def of_the_future(folder: Path) -> Path:
    path = folder / "memory.db"
    Retentive.open(path, embedder="none").close()
    connection = apsw.Connection(str(path))
    connection.execute("INSERT INTO migrations VALUES (999, 'future', 'x', 0)")
    connection.close()
    return path


def too_long(folder: Path) -> Path:
    return folder / ("x" * 300)


def with_a_nul(folder: Path) -> str:
    return f"{folder}/a\0b"


def a_url(_: Path) -> str:
    return "ftp://host/memory"


def content(target: Path | str) -> bytes | None:
    try:
        return Path(target).read_bytes()
    except (OSError, ValueError):
        return None


@pytest.mark.parametrize(
    ("make", "error", "code"),
    [
        (no_parent, Unwritable, 5),
        (parent_is_a_file, Unwritable, 5),
        (a_folder, Unwritable, 5),
        (not_a_database, NotAStore, 5),
        (of_another_program, NotAStore, 5),
        (of_the_future, NewerSchema, 5),
        (too_long, Unwritable, 5),
        (with_a_nul, Unwritable, 5),
        (a_url, Invalid, 2),
    ],
)
def test_a_file_that_cannot_be_used_is_left_as_it_is(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    make: Callable[[Path], Path | str],
    error: type[RetentiveError],
    code: int,
) -> None:
    target = make(tmp_path)
    before = content(target)
    with pytest.raises(error) as caught:
        Retentive.open(target, embedder="none")
    assert caught.value.hint
    assert main(["--db", str(target), "--embedder", "none", "add", "x"]) == code
    message = capsys.readouterr().err
    assert message.count("\n") == 1
    assert message.startswith("error: ")
    assert content(target) == before
    assert not [*tmp_path.glob("memory.db-*")]


def test_a_full_disk_keeps_nothing_of_the_write(store: Retentive) -> None:
    before = store.add("Before the disk was full").id
    writer = parts_of(store).engine._writer  # type: ignore[attr-defined]
    pages = writer.execute("PRAGMA page_count").fetchall()[0][0]
    writer.execute(f"PRAGMA max_page_count = {pages}").fetchall()
    with pytest.raises(DiskFull) as caught:
        store.add_many([f"memory {n} " + "that needs room " * 50 for n in range(200)])
    assert caught.value.retryable
    writer.execute("PRAGMA max_page_count = 1000000").fetchall()
    assert [memory.id for memory in store.list()] == [before]
    assert [finding for finding in store.doctor() if not finding.ok] == []
    assert store.add("After it had room again").created


class FullFile(apsw.VFSFile):
    """A file on a disk that is full, as soon as the switch is on."""

    def xWrite(self, data: Any, offset: int) -> None:  # noqa: N802
        if FullDisk.full:
            raise apsw.FullError("no space left")
        super().xWrite(data, offset)


class FullDisk(apsw.VFS):
    full = False

    def __init__(self) -> None:
        super().__init__("full-disk", "unix", makedefault=True)

    def xOpen(self, name: Any, flags: list[int]) -> apsw.VFSFile:  # noqa: N802
        return FullFile("unix", name, flags)


@pytest.fixture
def full_disk() -> Iterator[type[FullDisk]]:
    disk = FullDisk()
    yield FullDisk
    FullDisk.full = False
    apsw.set_default_vfs("unix")
    disk.unregister()


def test_a_disk_that_fails_in_the_middle_of_a_write_loses_nothing(full_disk: type[FullDisk], open_store: Open) -> None:
    store = open_store()
    kept = [store.add(f"memory {n}").id for n in range(5)]
    full_disk.full = True
    with pytest.raises(StorageError):
        store.add("This does not fit")
    full_disk.full = False
    store.close()
    again = open_store()
    assert [memory.id for memory in again.list()] == kept[::-1]
    assert [finding for finding in again.doctor() if not finding.ok] == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere; test_a_file_that_cannot_be_used covers root")
def test_a_folder_without_permission_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(Unwritable):
        Retentive.open(tmp_path / "memory.db")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["add", ""], 2),
        (["add", "x", "--importance", "nan"], 2),
        (["add", "x", "--expires", "someday"], 2),
        (["add", "x", "--metadata", "{"], 2),
        (["search", " "], 2),
        (["search", "x", "--limit", "0"], 2),
        (["get", "unknown"], 3),
        (["forget", "unknown"], 3),
        (["update", "unknown", "--content", "x"], 3),
        (["update", "unknown"], 2),
        (["--namespace", "a b", "list"], 2),
        (["search", "x", "--limit", "99999999999999999999"], 2),
        (["add", "x", "--metadata", "[" * 100_000], 2),
        (["list", "--after", "\udcff"], 2),
    ],
)
def test_the_terminal_says_it_in_one_line(
    db: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], code: int
) -> None:
    assert main(["--db", str(db), "--embedder", "none", *arguments]) == code
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("error: ")
    assert captured.err.count("\n") == 1


@pytest.mark.parametrize("arguments", [["add", "x", "--kind", "opinion"], ["fly"], ["search", "x", "--limit", "many"]])
def test_wrong_usage_exits_with_two(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    assert capsys.readouterr().err.startswith("error: ")
