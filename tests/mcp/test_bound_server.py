"""A server that is bound to a namespace works on that one, reads those it was told to, and knows of no others."""

import io
import json
from pathlib import Path
from typing import Any

import pytest

from retentive import Retentive
from tests.mcp.generated import Known, calls_of
from tests.mcp.process import Piped
from tests.support import Open

pytestmark = pytest.mark.engines

BOUND = ("--namespace", "proj", "--also", "team", "--tools", "full")
OTHERS = {"team": "capybara", "bob": "quokka"}
"""Namespaces, and what they are about: a word that calls may use."""
CANARY = "by moonlight"  # is in all that bob keeps, and in no call
COUNTED = {"access_count", "last_access"}  # of what is read the server counts how often


@pytest.fixture
def store(open_store: Open, tmp_path: Path) -> Retentive:
    """Everyone has one of everything."""
    store = open_store()
    for name, word in OTHERS.items():
        own, mark = store.in_namespace(name), CANARY if name == "bob" else "by day"
        own.add(f"The {word} is fed {mark}", kind="instruction", importance=10, slot=f"{word}.fed", tags=[word])
        own.add(f"The {word} is fed twice {mark}", slot=f"{word}.fed")
        own.sessions.append("talk", "user", f"The {word} has slept {mark}")
        own.notes.put(f"Feed the {word} {mark}", note_id="plan", tags=[word])
        contact = own.contacts.create(name=f"Keeper of the {word}", notes=mark)
        own.projects.create(name=f"A house for the {word}", participants=[contact.id], description=mark)
        own.skills.create(name=f"Feeding the {word}", instructions=mark)
        own.profile.merge({"animal": word, "likes": mark})
        page = tmp_path / f"{name}.md"
        page.write_text(f"# The {word}\n\nThe {word} eats leaves {mark}.\n", "utf-8")
        own.files.index(page)
        own.expectations.add(f"when is the {word} fed {mark}?", own.list()[0].id)
    store.in_namespace("proj").add("The fence is painted green")
    return store


def holdings(store: Retentive, namespace: str) -> list[Any]:
    """All that a namespace holds, without how often it was read."""
    stream = io.BytesIO()
    store.export(stream, namespaces=[namespace], without="access-log")
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    return [{name: value for name, value in line.items() if name not in COUNTED} for line in lines]


def things_of(store: Retentive, folder: Path) -> Known:
    """What calls may name of others: ids, sessions, names, and files that are exports of them."""
    found: dict[str, list[Any]] = {"memory_import.path": [], "paths": []}
    for name, word in OTHERS.items():
        own, file = store.in_namespace(name), export(store, folder / f"{name}.jsonl", name)
        memory, contact = own.list()[0].id, own.contacts.list()[0].id
        project, skill = own.projects.list()[0].id, own.skills.list()[0].id
        indexed = own.files.list()[0].id
        named: dict[str, list[Any]] = {
            "id": [memory, contact, project, skill], "ids": [[memory], [indexed], [contact], ["profile"], ["talk#1"]],
            "replaces": [[memory]], "accept": [[memory]], "other": [contact], "session": ["talk"],
            "session_list.after": ["talk"], "session_read.before": [5], "session_read.after": [0],
            "after": [memory, contact],
            "note_id": ["plan"], "primary_contact": [contact], "participants": [[contact]], "words": [word],
            "query": [word], "name": [f"Keeper of the {word}"], "content": [f"The fence of the {word} is painted"],
            "memory_import.path": [str(file)], "tags": [[word]], "slot": [f"{word}.fed"],
        }  # fmt: skip
        for argument, values in named.items():
            found.setdefault(argument, []).extend(values)
    everything, page = export(store, folder / "all.jsonl", *OTHERS, "proj"), folder / "own.md"
    page.write_text("# Fences\n\nThey are green.\n", "utf-8")
    return {
        **found, "memory_import.path": [str(everything), *found["memory_import.path"]], "paths": [[str(page)]],
        "memory_export.path": [str(folder / "out.jsonl"), str(folder / "pages")],
        **dict.fromkeys(("since", "until", "as_of", "valid_from", "expires", "at", "time"), ("2026-01-02",)),
    }  # fmt: skip


def export(store: Retentive, file: Path, *namespaces: str) -> Path:
    """An export without the canary: what a call reads in a file may be told."""
    store.export(file, namespaces=[*namespaces])
    file.write_text(file.read_text("utf-8").replace(CANARY, "by somebody"), "utf-8")
    return file


def test_no_tool_shows_or_changes_another_namespace(store: Retentive, target: str, tmp_path: Path) -> None:
    """Whatever its arguments name, for every tool there is, with every argument that it takes."""
    known = things_of(store, tmp_path)
    before = {name: holdings(store, name) for name in OTHERS}
    with Piped(target, "2025-11-25", *BOUND) as server:
        for tool in server.ask("tools/list")["result"]["tools"]:
            for arguments in calls_of(tool, known):
                answer = server.ask("tools/call", {"name": tool["name"], "arguments": arguments})
                told = json.dumps(answer)
                assert CANARY not in told, (tool["name"], arguments, answer)
                assert "failed unexpectedly" not in told, (tool["name"], arguments)
    assert {name: holdings(store, name) for name in OTHERS} == before
    assert {*store.namespaces()} == {"proj", *OTHERS}
    written = [tmp_path / "out.jsonl", *(tmp_path / "pages").rglob("*.md")]
    assert not [page for page in written if CANARY in page.read_text("utf-8")]


@pytest.mark.parametrize("named", [("bob",), ("team",), ("proj", "bob")])
def test_an_import_that_names_others_is_refused_before_anything_is_written(
    store: Retentive, target: str, tmp_path: Path, named: tuple[str, ...]
) -> None:
    file = tmp_path / "others.jsonl"
    for name in ("proj", *OTHERS):
        store.in_namespace(name).add("A new gate")
    store.export(file, namespaces=[*named])
    for name in ("proj", *OTHERS):
        store.in_namespace(name).purge(store.in_namespace(name).list()[0].id)
    before = [holdings(store, name) for name in ("proj", *OTHERS)]
    with Piped(target, "2025-11-25", *BOUND) as server:
        for dry_run in (False, True):
            given = {"path": str(file), "dry_run": dry_run}
            answer = server.ask("tools/call", {"name": "memory_import", "arguments": given})["result"]
            assert answer["isError"]
            error = answer["structuredContent"]["error"]
            assert error["type"] == "Forbidden"
            assert repr(named[-1]) in error["message"]
            assert "as in a terminal" in error["hint"]
    assert [holdings(store, name) for name in ("proj", *OTHERS)] == before


def test_what_is_also_read_is_found(store: Retentive, target: str) -> None:
    del store
    with Piped(target, "2025-11-25", "--namespace", "proj", "--also", "team/*") as server:
        hits = server.call("memory_search", {"query": "when is the capybara fed?"})["hits"]
        assert any("capybara" in hit["text"] for hit in hits)
        assert "capybara" in server.call("memory_context", {"query": "capybara fed"})["text"]
        assert server.call("note", {"note_id": "plan"})["notes"][0]["content"] == "Feed the capybara by day"
