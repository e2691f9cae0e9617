"""Claude Code, as far as its hooks see it: a transcript that grows, and calls with JSON on standard input."""

import json
import os
import subprocess
import sys
import uuid
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from tests.forkserver import ForkedProgram

PROGRAM = str(Path(sys.executable).with_name("retentive"))
RECORDED = Path(__file__).with_name("conversation.jsonl")
"""A transcript with lines of all kinds, in the shape that Claude Code 2.1.197 writes."""


class Answer(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def context(self) -> str:
        """What the model is shown."""
        return str(json.loads(self.out)["hookSpecificOutput"]["additionalContext"]) if self.out else ""


class Claude:
    """One conversation."""

    def __init__(self, folder: Path, target: str, *options: str) -> None:
        self.session = str(uuid.uuid4())
        self.folder = folder
        self.transcript = folder / f"{self.session}.jsonl"
        self.name = f"claude-code/{self.session}"
        self.command = ["--db", target, "--embedder", "hashing", "--limit", "60", *options]
        self.begun_in = folder

    def says(self, *texts: str) -> list[str]:
        """The user and the model in turn, as lines of the transcript."""
        lines = [self._line(text, number) for number, text in enumerate(texts)]
        with self.transcript.open("a", encoding="utf-8") as file:
            file.writelines(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)
        return [str(line["uuid"]) for line in lines]

    def told(self, event: str, **more: Any) -> bytes:
        where = {"session_id": self.session, "transcript_path": str(self.transcript), "cwd": str(self.folder)}
        return json.dumps({**where, "hook_event_name": event, **more}).encode()

    def start(self, event: str, given: bytes | None = None, **more: Any) -> "subprocess.Popen[bytes]":
        process = ForkedProgram(
            [sys.executable, "-m", "retentive", "hook", event, *self.command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert process.stdin
        with suppress(BrokenPipeError):  # it does not read what is too long to its end
            process.stdin.write(self.told(event, **more) if given is None else given)
        with suppress(BrokenPipeError):
            process.stdin.close()
        process.stdin = None
        return process

    def hook(self, event: str, given: bytes | None = None, **more: Any) -> Answer:
        return ended(self.start(event, given, **more))

    def prompt(self, text: str) -> Answer:
        return self.hook("prompt", prompt=text)

    def _line(self, text: str, number: int) -> dict[str, Any]:
        role = ("user", "assistant")[number % 2]
        content: Any = text if role == "user" else [{"type": "text", "text": text}]
        return {
            "parentUuid": None,
            "isSidechain": False,
            "type": role,
            "message": {"role": role, "content": content},
            "uuid": str(uuid.uuid4()),
            "timestamp": f"2026-03-02T09:{number // 60 % 60:02}:{number % 60:02}.000Z",
            "cwd": str(self.begun_in),
            "sessionId": self.session,
        }


def ended(process: "subprocess.Popen[bytes]") -> Answer:
    out, err = process.communicate(timeout=60)
    return Answer(process.returncode, out.decode(), err.decode())


def said(events: Iterable[Any]) -> list[tuple[str, str]]:
    return [(str(event.role), event.content) for event in events]


def git_project(folder: Path) -> Path:
    """A folder that is a project of its own name."""
    (folder / ".git").mkdir(parents=True)
    (folder / ".git" / "config").write_text("[core]\n", "utf-8")
    return folder


def environment(**changes: str) -> dict[str, str]:
    return {**os.environ, **changes}
