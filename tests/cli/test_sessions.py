"""The terminal: conversations, notes, contexts, chat logs."""

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support import Run


def read(text: str) -> Any:
    return json.loads(text)


def test_append_and_show(run: Run, refused: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    options = "--role assistant --speaker Bo --time 2026-03-02 --sequence 7".split()
    event = read(run("session", "append", "s", "Good morning", *options, "-t", "early", "--payload", '{"n": 1}', "-j"))
    assert event == {
        "id": "s#7",
        "namespace": "default",
        "session": "s",
        "sequence": 7,
        "role": "assistant",
        "speaker": "Bo",
        "content": "Good morning",
        "payload": {"n": 1},
        "time": "2026-03-02T00:00:00Z",
        "tags": ["early"],
        "requests": [],
        "is_hidden": False,
    }
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"from a pipe\n")))
    assert run("session", "append", "s") == "added s#8\n"
    assert run("session", "append", "s", "--payload", '{"tool_calls": []}') == "added s#9\n"
    assert [line.split("\t")[::3] for line in run("session", "show", "s").splitlines()] == [
        ["7", "Good morning"],
        ["8", "from a pipe"],
        ["9", '{"tool_calls": []}'],
    ]
    shown = read(run("session", "show", "s", "--around", "8", "--limit", "1", "--json"))
    assert [each["sequence"] for each in shown["events"]] == [8]
    assert "not above the last, 9" in refused("session", "append", "s", "late", "--sequence", "9", code=4)


def test_sessions_are_described_and_listed(run: Run) -> None:
    run("session", "append", "s", "hello", "--time", "2026-03-02")
    run("session", "append", "t", "hello", "--time", "2026-04-02")
    put = read(run("session", "put", "s", "--agent", "coder", "--tag", "work", "--metadata", '{"n": 1}', "--json"))
    assert (put["agent"], put["tags"], put["metadata"]) == ("coder", ["work"], {"n": 1})
    assert [line.split("\t")[0] for line in run("session", "list").splitlines()] == ["t", "s"]
    assert [each["id"] for each in read(run("session", "list", "--after", "t", "--json"))["sessions"]] == ["s"]


def test_replay_and_summary(run: Run, refused: Run) -> None:
    for number in range(6):
        run("session", "append", "s", f"message {number}")
    assert run("session", "replay", "s", "--budget", "10").splitlines() == ["user: message 4", "user: message 5"]
    assert read(run("session", "replay", "s", "--budget", "10", "--json"))["left_out"] == 4
    assert read(run("session", "summary", "s", "--json"))["epoch"] == 0
    write = ("session", "summary", "s", "--write", "They counted.", "--upto", "4", "--epoch", "0")
    assert read(run(*write, "--json")) == {"session": "s", "text": "They counted.", "upto": 4, "epoch": 1}
    assert "is at epoch 1, not 0" in refused(*write, code=4)
    assert "--upto and --epoch" in refused("session", "summary", "s", "--write", "x", code=2)
    assert run("session", "replay", "s").splitlines()[0] == "Rolling session summary: > They counted."
    assert run("session", "summary", "s", "--condense", "--budget", "100") == "They counted.\n"


def test_a_session_is_deleted_only_if_one_says_so(run: Run, refused: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run("session", "append", "s", "hello")
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    assert "--yes" in refused("session", "delete", "s", code=2)
    answer = io.StringIO("n\n")
    monkeypatch.setattr(answer, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stdin", answer)
    assert run("session", "delete", "s", code=1) == "nothing was deleted\n"
    assert "no session 'none'" in refused("session", "delete", "s", "none", "--yes", code=3)
    assert run("session", "delete", "s", "--yes") == "deleted s: 1 message, 0 memories\n"
    assert "no session 's'" in refused("session", "show", "s", code=3)


def test_notes(run: Run, refused: Run) -> None:
    assert run("note", "put", "Buy milk", "--id", "shopping", "--tag", "home") == "saved note shopping\n"
    assert run("note", "put", "Water the plants").startswith("saved note note-")
    assert run("note", "list", "--tag", "home").count("\n") == 1
    assert read(run("note", "get", "shopping", "--json"))["tags"] == ["home"]
    assert [line.split("\t")[2] for line in run("note", "list").splitlines()] == ["Water the plants", "Buy milk"]
    page = read(run("note", "list", "--limit", "1", "--json"))
    rest = read(run("note", "list", "--after", page["next"], "--json"))
    assert [each["content"] for each in rest["memories"]] == ["Buy milk"]
    assert run("note", "delete", "shopping") == "deleted shopping\n"
    assert read(run("note", "delete", "shopping", "--json", code=3)) == {"deleted": False}
    assert "no note 'shopping'" in refused("note", "get", "shopping", code=3)


def test_context(run: Run) -> None:
    id = run("add", "The heron nests by the lake").split()[-1]
    run("session", "append", "s", "Where does the heron nest?")
    asked = ("context", "where does the heron nest", "--session", "s", "--budget", "100", "--min-similarity", "0.1")
    lines = run(*asked).splitlines()
    assert lines[0] == "## Relevant Memories"
    assert lines[1].startswith("- The heron nests by the lake (")
    assert lines[3:] == ["## Recent Messages", "user: Where does the heron nest?"]
    made = read(run(*asked, "--json"))
    assert set(made) == {"text", "tokens", "budget", "cites", "left_out", "parts", "notes"}
    assert (made["cites"], made["budget"]) == ([id, "s#1"], 100)
    assert made["text"] == "\n".join(lines)


def test_what_was_said_is_among_the_hits(run: Run) -> None:
    run("add", "The heron nests by the lake")
    run("session", "append", "s", "A heron flew by", "--speaker", "Bo")
    assert [line.split("\t")[2] for line in run("search", "heron flew").splitlines()] == ["Bo", "fact"]
    hit = read(run("search", "heron", "--include", "events", "--json"))["hits"][0]
    assert (hit["type"], hit["id"], hit["span"], hit["session"], hit["speaker"]) == ("event", "s#1", [1, 1], "s", "Bo")
    assert [each["type"] for each in read(run("search", "heron", "--include", "memories", "--json"))["hits"]] == [
        "memory"
    ]


def test_chat_logs_are_imported_once(run: Run, refused: Run, tmp_path: Path) -> None:
    """A longer log of the same conversation adds what is new; another of the same name is refused."""
    log = tmp_path / "talk.txt"
    log.write_text("Anna: Hello\nBo: Hi Anna\n")
    assert run("chat-log", "import", str(log)) == f"{log}: 2 messages imported in 1 session\n"
    log.write_text("Anna: Hello\nBo: Hi Anna\nAnna: How is the heron?\n")
    done = read(run("chat-log", "import", str(log), "--json"))["imported"][0]
    assert (done["sessions"], done["events"], done["known"]) == (["talk"], 1, 2)
    log.write_text("Cleo: Something\nDora: else\nCleo: entirely\n")
    assert "another conversation" in refused("chat-log", "import", str(log), code=4)
    named = run("chat-log", "import", str(log), "--session", "other", "--format", "plain", "--me", "Cleo", "--json")
    assert read(named)["imported"][0]["sessions"] == ["other"]
    roles = [each["role"] for each in read(run("session", "show", "other", "--json"))["events"]]
    assert roles == ["user", "assistant", "user"]
    assert "no file" in refused("chat-log", "import", str(tmp_path / "none.txt"), code=2)
