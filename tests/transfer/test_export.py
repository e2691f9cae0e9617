"""All that a store holds, written out as JSON Lines."""

import gzip
import io
import json
import os
import re
import stat
import tracemalloc
from pathlib import Path
from typing import Any

import apsw
import pytest

from retentive import Retentive
from retentive.errors import Conflict, Forbidden, Invalid, Unwritable
from retentive.transfer.export_format import LINE_TYPES, PARTS, LineType, make_end, make_header
from tests.sizes import choose
from tests.support import Open, Run
from tests.transfer.stores import exported, fill, lines

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "export-format.md"
NOT_EXPORTED = {
    "tokens", "leases", "measures", "meta", "migrations", "spaces", "changes", "chunks", "vectors", "integrity_log",
    "quarantine",
}  # fmt: skip
IN_LINES = {
    "namespaces", "memories", "memory_history", "sessions", "session_state", "events", "records", "record_history",
    "record_links", "skill_runs", "files", "expectations", "proposals", "hidden_messages",
    "access_log", "purges",
}  # fmt: skip


@pytest.mark.engines
def test_the_same_store_gives_the_same_bytes(store: Retentive) -> None:
    fill(store)
    assert exported(store) == exported(store)
    assert exported(store, vectors=True) == exported(store, vectors=True)


@pytest.mark.engines
def test_there_is_a_line_of_every_type(store: Retentive) -> None:
    fill(store)
    found = lines(exported(store))
    assert [found[0]["type"], found[-1]["type"]] == ["header", "end"]
    assert {line["type"] for line in found[1:-1]} == {*LINE_TYPES}
    counts = {type: sum(line["type"] == type for line in found) for type in LINE_TYPES}
    assert found[-1]["lines"] == counts


def test_the_header_tells_nothing_of_the_moment_or_the_machine(store: Retentive) -> None:
    head = lines(exported(store))[0]
    assert {*head} == {"type", "format", "version", "product", "vectors", "without"}


def test_every_table_is_exported_or_meant_not_to_be(store: Retentive, target: str) -> None:
    """A table that a later schema adds is not left behind."""
    store.namespaces()
    found = apsw.Connection(target).execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
    names = {str(name) for (name,) in found if not str(name).startswith(("sqlite_", "chunks_"))}
    assert names == NOT_EXPORTED | IN_LINES


def test_every_key_of_the_format_is_documented_and_no_other() -> None:
    """One section for each type of line, with a row for each key."""
    found = re.findall(r"^## ((?:`\w+`(?:, )?)+)\n(.*?)(?=^## |\Z)", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    told = {name: _rows(text) for names, text in found for name in re.findall(r"\w+", names)}
    assert told == _described()


def _rows(text: str) -> list[str]:
    return [name for row in re.findall(r"^\| (`.*?) \|", text, re.MULTILINE) for name in re.findall(r"`(\w+)`", row)]


def _described() -> dict[str, list[str]]:
    known = {name: _keys(line) for name, line in LINE_TYPES.items()}
    memory, record = LINE_TYPES["memory"].inner, LINE_TYPES["contact"].inner
    history = [*dict.fromkeys([*memory["history"].formats, *record["history"].formats])]
    slices = [*LINE_TYPES["file"].inner["slices"].formats]
    ends = {"header": [*make_header("", vectors=False, without=())], "end": [*make_end({})]}
    return {**known, **ends, "history": history, "slices": slices, "vectors": [*memory["vectors"].formats]}


def _keys(line: LineType) -> list[str]:
    return ["type", *line.formats, *line.inner]


def test_no_secret_leaves_the_store(store: Retentive) -> None:
    issued = store.tokens.create("alice")
    assert issued.secret.encode() not in exported(store)
    assert issued.token.id.encode() not in exported(store)


def test_of_what_was_purged_nothing_is_left_but_that_it_was(store: Retentive) -> None:
    gone = store.add("The code is 4711")
    store.purge(gone.id, reason="private")
    (line,) = [line for line in lines(exported(store)) if line["type"] == "purge"]
    assert (line["id"], line["reason"]) == (gone.id, "private")
    assert b"4711" not in exported(store)


@pytest.mark.engines
def test_a_view_exports_what_it_sees(store: Retentive) -> None:
    store.add("Mine")
    store.in_namespace("alice").add("Of Alice")
    store.in_namespace("alice/coder").add("Of her coder")
    view = store.restricted("alice", subtree=True, read_only=True)
    texts = [line["content"] for line in lines(exported(view)) if line["type"] == "memory"]
    assert texts == ["Of Alice", "Of her coder"]
    with pytest.raises(Forbidden):
        exported(view, namespaces=["default"])


def test_namespaces_are_chosen_by_name_and_prefix(store: Retentive) -> None:
    for name in ("a", "work/x", "work/y"):
        store.in_namespace(name).add(f"In {name}")
    store.add("Here")

    def names(chosen: Any) -> list[str]:
        found = lines(exported(store, namespaces=chosen))
        return [line["name"] for line in found if line["type"] == "namespace"]

    assert names(None) == ["default"]
    assert names("*") == ["a", "default", "work/x", "work/y"]
    assert names(["work/*"]) == ["work/x", "work/y"]
    assert names(["a", "default"]) == ["a", "default"]
    inside = store.in_namespace("work/x")
    found = lines(exported(inside, namespaces=["work/*"]))
    assert [line["name"] for line in found if line["type"] == "namespace"] == ["work/x", "work/y"]
    store.in_namespace("caf\u00e9/menu").add("In the café")
    assert names(["cafe\u0301/*"]) == ["caf\u00e9/menu"]


@pytest.mark.parametrize("part", PARTS)
def test_a_part_can_be_left_out(store: Retentive, part: str) -> None:
    fill(store)
    found = lines(exported(store, without=[part]))
    assert found[0]["without"] == [part]
    assert {line["type"] for line in found}.isdisjoint(line.type for line in PARTS[part])


def test_an_unknown_part_is_refused(store: Retentive) -> None:
    with pytest.raises(Invalid, match="no part 'dreams'"):
        exported(store, without=["dreams"])


def test_vectors_come_on_request(store: Retentive) -> None:
    store.add("The dog is called Rex")
    (plain,) = [line for line in lines(exported(store)) if line["type"] == "memory"]
    (full,) = [line for line in lines(exported(store, vectors=True)) if line["type"] == "memory"]
    assert "vectors" not in plain
    assert [(each["ordinal"], each["space"]) for each in full["vectors"]] == [(0, "hashing-384")]


def test_a_file_is_for_its_owner_alone(store: Retentive, tmp_path: Path) -> None:
    store.export(tmp_path / "all.jsonl")
    assert stat.S_IMODE((tmp_path / "all.jsonl").stat().st_mode) == 0o600


def test_what_ends_in_gz_is_compressed_and_always_the_same(store: Retentive, tmp_path: Path) -> None:
    store.add("The dog is called Rex")
    for name in ("a.jsonl.gz", "b.jsonl.gz"):
        store.export(tmp_path / name, namespaces="*")
    assert (tmp_path / "a.jsonl.gz").read_bytes() == (tmp_path / "b.jsonl.gz").read_bytes()
    assert gzip.decompress((tmp_path / "a.jsonl.gz").read_bytes()) == exported(store)


def test_an_export_that_fails_leaves_the_file_as_it_was(store: Retentive, tmp_path: Path) -> None:
    store.add("One")
    path = tmp_path / "all.jsonl"
    store.export(path)
    before = path.read_bytes()
    store.add("Two")

    def stop(_: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store.export(path, progress=stop)
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir() if "all" in each.name] == ["all.jsonl"]


def test_an_export_is_replaced_and_another_file_is_not(store: Retentive, tmp_path: Path) -> None:
    path = tmp_path / "thesis.jsonl"
    path.write_text('{"type": "mine"}\n')
    with pytest.raises(Conflict, match="not an export"):
        store.export(path)
    assert path.read_text() == '{"type": "mine"}\n'
    store.export(path, force=True)
    store.add("More")
    store.export(path)
    assert b"More" in path.read_bytes()


@pytest.mark.parametrize("ending", ["", "-wal"])
def test_the_store_is_not_written_over_by_itself(store: Retentive, target: str, ending: str) -> None:
    store.add("Mine")
    with pytest.raises(Invalid, match="the store itself"):
        store.export(target + ending, force=True)
    assert [memory.content for memory in store.list()] == ["Mine"]


def test_a_folder_that_cannot_be_written_is_told(store: Retentive, tmp_path: Path) -> None:
    with pytest.raises(Unwritable, match="cannot be written"):
        store.export(tmp_path / "nowhere" / "all.jsonl")
    with pytest.raises(Invalid, match="is a folder"):
        store.export(tmp_path)


def test_a_stream_of_text_is_refused(store: Retentive) -> None:
    target: Any = io.StringIO()
    with pytest.raises(Invalid, match="open for text"):
        store.export(target)


def test_memory_stays_the_same_however_large_the_store(open_store: Open, tmp_path: Path) -> None:
    """Thousands of memories and a session of messages of a megabyte each, in 24 MB."""
    store = open_store(embedder="none")
    store.add_many(f"Fact number {n}, with some words around it" for n in range(choose(4_000, 20_000)))
    messages = [f"{n}" + "x" * 1_000_000 for n in range(choose(28, 40))]
    store.sessions.append_many("large", [{"role": "user", "content": text} for text in messages])
    tracemalloc.start()
    store.export(tmp_path / "all.jsonl")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (tmp_path / "all.jsonl").stat().st_size > len(messages) * 1_000_000
    assert peak < 24_000_000


def test_a_pipe_is_written_to_as_a_stream(store: Retentive) -> None:
    store.add("Through a pipe")
    read, write = os.pipe()
    with os.fdopen(write, "wb") as stream:
        store.export(stream)
    with os.fdopen(read, "rb") as got:
        assert b"Through a pipe" in got.read()


def test_on_the_terminal(run: Run, tmp_path: Path) -> None:
    run("add", "The dog is called Rex")
    shown = [json.loads(line) for line in run("export").splitlines()]
    assert [line["type"] for line in shown] == ["header", "namespace", "memory", "end"]
    assert "memory\t1" in run("export", str(tmp_path / "all.jsonl"), "--all-namespaces")
    told = json.loads(run("export", str(tmp_path / "all.jsonl"), "--json", "--without", "memories"))
    assert told["counts"] == {"namespace": 1}


@pytest.mark.parametrize("wrong", [("--namespace", "alcie"), ("--db", "memroy.db")], ids=str)
def test_the_terminal_does_not_write_nothing_over_an_export(
    run: Run, refused: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wrong: tuple[str, str]
) -> None:
    """Whoever mistypes a name would be told that all is well."""
    monkeypatch.chdir(tmp_path)
    run("add", "The dog is called Rex")
    run("export", "all.jsonl")
    before = Path("all.jsonl").read_bytes()
    refused(*wrong, "export", "all.jsonl", code=3)
    assert (Path("all.jsonl").read_bytes(), Path("memroy.db").exists()) == (before, False)
