"""The terminal: every verb, for people, for pipes and as JSON."""

import io
import json
import re
import subprocess
import sys
import unicodedata
from pathlib import Path
from typing import Any

import pytest

from retentive import Retentive
from retentive.cli import main
from retentive.cli.describe_hit import explain_score
from retentive.maintenance import doctor
from retentive.model import Hit, Tier, Why
from tests.support import Run
from tests.terminal import terminal


def read(text: str) -> Any:
    return json.loads(text)


def pipe(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))


def test_add_then_search_as_a_pipe_sees_it(run: Run) -> None:
    id = run("add", "The user's cat is called Mia", "--tag", "pets").split()[-1]
    line = run("search", "cat").rstrip("\n").split("\t")
    assert (line[0], line[2], line[3]) == (id, "fact", "The user's cat is called Mia")


def test_search_json_has_the_documented_shape(run: Run) -> None:
    run("add", "The user's cat is called Mia")
    answer = read(run("search", "cat", "--json"))
    assert set(answer) == {"query", "tier", "notes", "timings_ms", "hits"}
    hit = answer["hits"][0]
    assert (answer["query"], answer["tier"], hit["content"]) == ("cat", "hybrid", "The user's cat is called Mia")
    factors = {"confidence_factor", "importance_factor", "time", "shares", "pair", "rerank"}
    assert set(hit["why"]) == {"tier", "text", "vector", *factors}
    assert hit["outdated"] is None
    assert set(hit["why"]["vector"]) == {"rank", "score", "normal", "weight"}


def test_every_option_of_add_arrives(run: Run) -> None:
    options = "--kind decision --tag a --tag b --importance 8 --confidence 0.7 --source import --context why"
    times = "--session s --slot db.choice --expires 2999-01-01 --valid-from 2020-01-01"
    added = read(run("add", "We use SQLite", *options.split(), *times.split(), "--metadata", '{"n": 1}', "--json"))
    memory = added["memory"]
    assert (added["created"], added["superseded"], added["pending"], added["similar"]) == (True, [], False, [])
    assert (memory["kind"], memory["tags"], memory["importance"], memory["confidence"]) == (
        "decision",
        ["a", "b"],
        8,
        0.7,
    )
    assert (memory["source"], memory["context"], memory["session"], memory["slot"]) == (
        "import",
        "why",
        "s",
        "db.choice",
    )
    assert (memory["expires"], memory["valid_from"]) == ("2999-01-01T00:00:00Z", "2020-01-01T00:00:00Z")
    assert memory["metadata"] == {"n": 1}


def test_text_comes_from_standard_input(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    pipe(monkeypatch, "Größe: 42\n".encode())
    assert run("add").startswith("added ")
    pipe(monkeypatch, b"42")
    assert "Größe: 42" in run("search", "-")


def test_input_that_is_not_text_is_refused(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    pipe(monkeypatch, b"\xff\xfe")
    assert run("add", code=2) == ""


def test_each_line_is_a_memory(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    pipe(monkeypatch, b"one\n\ntwo\none\n")
    counts = read(run("add", "--each-line", "--json"))
    assert (counts["created"], counts["repeated"], len(counts["ids"])) == (2, 1, 3)


def test_a_correction_is_told(run: Run) -> None:
    old = run("add", "The dog is Rex", "--slot", "dog").split()[-1]
    told = f"replaced: The dog is Rex  (undo: retentive restore {old})\n  because: same slot dog"
    assert told in run("add", "The dog is Max", "--slot", "dog")
    assert "already known" in run("add", "The dog is Max", "--slot", "dog")


def test_a_memory_from_update_to_restore(run: Run) -> None:
    id = run("add", "First words").split()[-1]
    assert read(run("update", id, "--content", "Second words", "--reason", "typo", "--json"))["version"] == 2
    assert run("forget", id, "--reason", "asked") == f"forgotten {id}  Second words\n"
    assert read(run("list", "--json"))["memories"] == []
    assert read(run("list", "--status", "forgotten", "--json"))["memories"][0]["id"] == id
    assert run("restore", id) == f"active {id}  Second words\n"
    story = read(run("history", id, "--json"))
    assert [change["action"] for change in story["changes"]] == ["created", "updated", "forgotten", "restored"]
    assert "typo" in run("history", id)
    assert read(run("get", id, "--json"))["content"] == "Second words"
    assert "Second words" in run("get", id)


def test_list_pages_and_filters(run: Run) -> None:
    for number in range(3):
        run("add", f"item {number}", "--kind", "note" if number else "fact")
    page = read(run("list", "--limit", "2", "--json"))
    rest = read(run("list", "--limit", "2", "--after", page["next"], "--json"))
    assert [memory["content"] for memory in page["memories"] + rest["memories"]] == ["item 2", "item 1", "item 0"]
    assert rest["next"] is None
    assert len(run("list", "--kind", "note").splitlines()) == 2


def test_why_is_told_on_request(run: Run) -> None:
    run("add", "The bridge is closed")
    assert "confidence 0.98 x importance 1.00" in run("search", "bridge", "--why")


def test_the_sum_of_a_score_has_what_a_reranker_added(store: Retentive) -> None:
    memory = store.add("The bridge is closed").memory
    why = Why(Tier.HYBRID, None, None, 1.0, 1.0, shares={"text": 0.5}, pair=0.25, rerank=-0.125)
    assert "= (text +0.500) x confidence 1.00 x importance 1.00 +0.250 [pair] -0.125 [rerank];" in explain_score(
        Hit(memory, 0.625, memory.content, why)
    )


def test_other_namespaces_are_searched_when_named(run: Run) -> None:
    run("add", "The bridge is closed", "--namespace", "city/traffic")
    assert run("search", "bridge") == ""
    assert "bridge" in run("search", "bridge", "--also", "city/*")
    assert "bridge" in run("--namespace", "city/traffic", "search", "bridge")


def test_auto_is_the_project_around_the_folder(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same as for the servers and hooks that keep things there, also where a setting says it."""
    (tmp_path / "billing" / ".git").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "billing")
    run("add", "The build takes an hour", "--namespace", "auto")
    monkeypatch.setenv("RETENTIVE_NAMESPACE", "auto")
    assert "The build takes an hour" in run("list")
    assert "The build takes an hour" in run("list", "--namespace", "billing")


def test_vectors_made_later(run: Run) -> None:
    assert "pending" in run("add", "Waits for a vector", "--embedder", "none")
    assert read(run("stats", "--json"))["vectors_pending"] == 1
    assert "1 pending; they are computed in the background" in run("doctor")
    assert read(run("backfill", "--json")) == {"done": 1, "remaining": 0}
    assert run("backfill") == "vectors computed: 0, remaining: 0\n"


def test_doctor_finds_all_well_or_says_what_to_do(run: Run, db: Path) -> None:
    run("add", "Healthy")
    assert read(run("doctor", "--json"))["ok"] is True
    db.chmod(0o644)
    assert "chmod 600" in run("doctor", code=5)
    db.chmod(0o600)
    assert run("doctor", "--repair").count("BAD") == 0


def test_doctor_names_the_extra_that_a_large_store_lacks(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run("add", "One of many")
    monkeypatch.setattr(doctor, "HNSW_FROM", 1)
    assert "retentive[large]" not in run("doctor")
    monkeypatch.setitem(sys.modules, "usearch", None)
    assert "pip install 'retentive[large]'" in run("doctor")


def test_config_shows_values_and_origins(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RETENTIVE_FUSION", "rrf")
    shown = read(run("config", "--json"))
    assert shown["fusion"] == {"value": "rrf", "origin": "RETENTIVE_FUSION"}
    assert shown["embedder"] == {"value": "hashing", "origin": "argument"}
    assert "fusion\trrf\tRETENTIVE_FUSION" in run("config")


def test_stats_for_people(run: Run) -> None:
    run("add", "Counted")
    assert "by_kind.fact\t1" in run("stats")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_there_is_a_completion_script_for(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    assert "_RETENTIVE_COMPLETE" in capsys.readouterr().out


def test_bash_accepts_its_completion_script(capsys: pytest.CaptureFixture[str]) -> None:
    main(["completion", "bash"])
    subprocess.run(["bash", "-n"], input=capsys.readouterr().out, text=True, check=True)


def test_errors_are_json_when_asked_for(db: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--db", str(db), "get", "nothing", "--json"]) == 3
    error = read(capsys.readouterr().err)["error"]
    assert set(error) == {"type", "message", "hint", "retryable"}
    assert error["type"] == "NotFound"


def test_without_a_verb_it_teaches(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    assert "examples:" in capsys.readouterr().out


def test_people_see_tables_and_colour(run: Run, db: Path) -> None:
    run("add", "A memory whose text is far too long for one line of the screen " * 3)
    common = ("--db", str(db), "--embedder", "none")
    listed = terminal(*common, "list")
    assert "\033[2m" in listed
    assert "…" in listed
    assert "found by text search" in terminal(*common, "search", "memory")
    assert "\033[" not in terminal(*common, "list", NO_COLOR="1")
    assert "error:" in terminal(*common, "add")


@pytest.mark.parametrize("columns", ["60", "100", "200"])
def test_a_table_fits_the_screen(run: Run, db: Path, columns: str) -> None:
    run("add", "用户喜欢喝绿茶" * 30)
    run("add", "A text in plain letters that goes on and on " * 10)
    lines = terminal("--db", str(db), "--embedder", "none", "list", COLUMNS=columns, NO_COLOR="1").splitlines()
    assert len(lines) == 3
    for line in lines:
        assert sum(2 if unicodedata.east_asian_width(sign) in "WF" else 1 for sign in line) <= int(columns)


def test_control_characters_do_not_reach_the_terminal(run: Run, db: Path) -> None:
    content = "evil \033[2J \x9b2J text\nand a second line"
    run("add", content)
    id = read(run("list", "--json"))["memories"][0]["id"]
    for verb in (("list",), ("search", "evil"), ("get", id), ("get", id, "--json")):
        seen = terminal("--db", str(db), "--embedder", "none", *verb)
        assert "\033[2J" not in seen
        assert "\x9b" not in seen
    assert read(seen)["content"] == content
    assert run("get", id).startswith("evil  [2J  2J text\nand a second line\n")


def test_the_demo_shows_the_main_job(capsys: pytest.CaptureFixture[str]) -> None:
    """With the real model: remember, ask, correct, ask again, context."""
    assert main(["demo"]) == 0
    shown = capsys.readouterr().out
    first, again = shown.split("Correct it")
    assert re.search(r"searched\n +\d\.\d\d  The user's dog is called Rex", first)
    assert "replaced: The user's dog is called Rex" in again
    assert re.search(r"searched\n +\d\.\d\d  The user's dog is called Max, not Rex", again)
    assert "## Relevant Memories" in again


@pytest.mark.parametrize(
    ("verb", "keys"),
    [
        (["demo"], {"steps", "before", "after", "context"}),
        (["completion", "bash"], {"shell", "script"}),
    ],
)
def test_json_is_for_every_verb(run: Run, verb: list[str], keys: set[str]) -> None:
    assert set(read(run(*verb, "--json"))) == keys


def test_forgetting_several_is_all_or_none(run: Run) -> None:
    id = run("add", "Stays").split()[-1]
    run("forget", id, "nothing-like-that", code=3)
    assert read(run("get", id, "--json"))["status"] == "active"


def test_update_takes_a_slot_and_an_expiry_away(run: Run) -> None:
    id = run("add", "For a while", "--slot", "s", "--expires", "1d").split()[-1]
    changed = read(run("update", id, "--slot", "", "--expires", "", "--json"))
    assert (changed["slot"], changed["expires"]) == (None, None)


def test_a_closed_pipe_is_no_error(run: Run, db: Path) -> None:
    run("add", "Something")
    command = f"{sys.executable} -m retentive --db {db} --embedder none list --json | head -c 1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert "Traceback" not in done.stderr


def test_a_vector_that_could_not_be_made_is_explained(db: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A provider without a key: the memory is kept, and it is said what is missing."""
    assert main(["--db", str(db), "--embedder", "openai:text-embedding-3-small", "add", "The lighthouse is white"]) == 0
    told = capsys.readouterr()
    assert told.out.startswith("added ")
    assert "its vector is pending" in told.out
    assert "needs a key" in told.err
