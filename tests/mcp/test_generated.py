"""Every tool, with every argument that its schema offers, alone and beside the others: nothing fails unexpectedly."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.engines import ENGINES
from tests.mcp.generated import Known, calls_of
from tests.mcp.process import Piped
from tests.sizes import choose

pytestmark = pytest.mark.engines

Result = dict[str, Any]

TIMES = ("2026-01-02", "2026-03-04T05:06:07Z")


class Things:
    """What the calls are about, made through the same server."""

    def __init__(self, server: Piped, folder: Path) -> None:
        self._server = server
        self._made = 0
        page = folder / "harbour.md"
        page.write_text("# Harbour\n\nThe harbour is dredged in May.\n", "utf-8")
        server.call("memory_export", {"path": str(folder / "in.jsonl")})
        self._known: dict[str, Sequence[Any]] = {
            **dict.fromkeys(("since", "until", "as_of", "valid_from", "at", "time"), TIMES), "version": [1],
            "expires": ["2999-01-02"], "memory_update.expires": ["2999-01-02", ""], "undo": ["no such run"],
            "trigger": [{"type": "manual"}, {"type": "schedule", "cron": "0 8 * * 1", "timezone": "Europe/Oslo"},
                        {"type": "event", "event": "tide"}],
            "paths": [[str(page)], [str(folder)]],
            "memory_export.path": [str(folder / "out.jsonl"), str(folder / "pages")],
            "memory_import.path": [str(folder / "in.jsonl"), str(page)],
        }  # fmt: skip

    def make(self, tool: str = "") -> Known:
        """Names of new things, of the kind that a tool is about: a call before may have removed the older ones."""
        self._made += 1
        for kind, make in self._makers.items():
            if tool.partition("_")[0] in ("", kind):
                self._known |= make(self._made)
        return self._known

    @property
    def _makers(self) -> Mapping[str, Callable[[int], Known]]:
        return {
            "memory": self._memory, "session": self._session, "note": self._note, "contact": self._contacts,
            "project": self._project, "skill": self._skill,
        }  # fmt: skip

    def _memory(self, n: int) -> Known:
        id = self._server.call("memory_add", {"content": f"Berth {n} is for the ferry number {n}."})["id"]
        return {
            "id": [id], "ids": [[id]], "replaces": [[id]], "memory_list.after": [id], "memory_review.after": [id],
            "words": [f"ferry number {n}"], "content": [f"The ferry number {n} is late."],
        }  # fmt: skip

    def _session(self, n: int) -> Known:
        said = [{"role": "user", "content": f"Tide table {n}"}]
        self._server.call("session_append", {"session": f"talk {n}", "messages": said})
        return {"session": [f"talk {n}"], "session_list.after": [f"talk {n}"], "session_read.before": [1, 5]}

    def _note(self, n: int) -> Known:
        self._server.call("note", {"note_id": f"note {n}", "text": f"Paint berth {n}"})
        return {"note_id": [f"note {n}"]}

    def _contacts(self, n: int) -> Known:
        save = partial(self._server.call, "contact_save")
        id, other = (save({"name": f"{who} {n}"})["contact"]["id"] for who in ("Pilot", "Captain"))
        return {
            "contact_save.id": [id], "contact_get.id": [id, f"Pilot {n}"], "contact_delete.id": [id],
            "contact_merge.id": [id], "other": [other], "contact_list.after": [id], "primary_contact": [id, ""],
            "participants": [[id], []], "contact_save.name": [f"Sailor {n}"],
            "email": [f"pilot{n}@example.org", ""],
        }  # fmt: skip

    def _project(self, n: int) -> Known:
        id = self._server.call("project_save", {"name": f"Pier {n}"})["project"]["id"]
        named = (f"project_{verb}" for verb in ("save.id", "get.id", "delete.id", "list.after"))
        return {**dict.fromkeys(named, (id,)), "project_save.name": [f"Lock {n}"]}

    def _skill(self, n: int) -> Known:
        id = self._server.call("skill_save", {"name": f"Dredging {n}"})["skill"]["id"]
        verbs = ("save.id", "get.id", "delete.id", "record.id", "list.after")
        return {**dict.fromkeys((f"skill_{verb}" for verb in verbs), (id,)), "skill_save.name": [f"Towing {n}"]}


def ask(server: Piped, tool: str, arguments: Mapping[str, Any]) -> Result:
    answer = server.ask("tools/call", {"name": tool, "arguments": arguments})
    assert "result" in answer, (tool, arguments, answer)
    result: Result = answer["result"]
    return result


def kind_of(result: Result) -> str:
    """`ok`, or the name of the error."""
    return str(result["structuredContent"]["error"]["type"]) if result.get("isError") else "ok"


REFUSALS = {"Invalid", "NotFound", "Conflict", "SecretFound"}
"""What is wrong with a call: a combination that makes no sense, a thing that is gone."""
NEVER_RIGHT = {"memory_review": {"accept", "reject", "after"}, "memory_consolidate": {"undo"}}
"""Ids of what there is none of here; tests of their own have them."""


@pytest.mark.engines(*choose(("sqlite",), ENGINES))
def test_no_combination_of_arguments_fails_unexpectedly(target: str, tmp_path: Path) -> None:
    with Piped(target, "2025-11-25", "--tools", "full", "--namespace", "proj", "--also", "team/*") as server:
        things = Things(server, tmp_path)
        known = things.make()
        for tool in server.ask("tools/list")["result"]["tools"]:
            name, worked = tool["name"], set[str]()
            for number in range(len([*calls_of(tool, known)])):
                arguments = [*calls_of(tool, known)][number]
                result = ask(server, name, arguments)
                kind = kind_of(result)
                assert kind in {"ok", *REFUSALS}, (name, arguments, result)
                worked |= {*arguments} if kind == "ok" else set()
                if kind == "ok" and not tool["annotations"]["readOnlyHint"]:
                    known = things.make(name)
            offered = {*tool["inputSchema"]["properties"]} - NEVER_RIGHT.get(name, set())
            assert offered <= worked, f"{name}: never accepted with {offered - worked}"
    assert "Traceback" not in server.said()


@pytest.mark.engines("sqlite")
def test_a_server_that_only_reads_offers_nothing_that_fails_unexpectedly(target: str, tmp_path: Path) -> None:
    with Piped(target, "2025-11-25", "--tools", "full", "--namespace", "proj") as writer:
        known = Things(writer, tmp_path).make()
    with Piped(target, "2025-11-25", "--tools", "read", "--namespace", "proj") as server:
        for tool in server.ask("tools/list")["result"]["tools"]:
            for arguments in calls_of(tool, known):
                result = ask(server, tool["name"], arguments)
                assert kind_of(result) in {"ok", *REFUSALS}, (tool["name"], arguments, result)
