"""The real Claude Code with our plugin, in a home of its own, and with a model on the loopback.

`scripts/claude_code.py` fetches it. It runs without a terminal (`--print`), and asks nothing of the network.
"""

import json
import os
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any, Self

import retentive
from tests.engines import missing
from tests.forkserver import write_command
from tests.hooks.claude import git_project
from tests.hooks.messages_api import MessagesServer

PROGRAM = Path(sys.prefix) / "claude-code" / "claude"
PLUGIN = Path(retentive.__file__).parents[2] / "plugins" / "claude-code"
PROJECT = "tea-shop"
TOOL_PREFIX = "mcp__plugin_retentive_retentive__"
SECONDS = 120
QUIET = (
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
    "DISABLE_AUTOUPDATER",
    "DISABLE_ERROR_REPORTING",
    "DISABLE_TELEMETRY",
)
# Hooks that record outlive Claude Code, so each notes its start and its end. A busy machine takes longer than usual.
COMMAND = """#!/bin/sh
[ "$1" = hook ] || exec {program} "$@"
echo "$2" >>"$HOME/hooks-started"
{program} "$@" --limit 60
echo "$2" >>"$HOME/hooks-ended"
"""


def claude_code_or_skip() -> None:
    if not PROGRAM.exists():
        missing("Claude Code", "run `python scripts/claude_code.py .venv`")


class ClaudeCode:
    def __init__(self, home: Path) -> None:
        self.home = home
        self.model = MessagesServer()
        self.project = git_project(home / PROJECT)
        self.db = home / "memory.db"
        self._session_count = 0
        command = home / "bin" / "retentive"
        command.parent.mkdir()
        command.write_text(COMMAND.format(program=write_command()))
        command.chmod(0o700)

    def __enter__(self) -> Self:
        self.model.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.model.stop()

    @property
    def environment(self) -> dict[str, str]:
        others = ("RETENTIVE_", "CLAUDE", "ANTHROPIC_", "XDG_", "HTTP", "http")  # also proxies
        kept = {name: value for name, value in os.environ.items() if not name.startswith(others)}
        return {
            **kept,
            **dict.fromkeys(QUIET, "1"),
            "HOME": str(self.home),
            "CLAUDE_CODE_TMPDIR": str(self.home),
            "PATH": f"{self.home / 'bin'}:{os.environ['PATH']}",
            "ANTHROPIC_BASE_URL": self.model.url,
            "ANTHROPIC_API_KEY": "none",
            "RETENTIVE_DB": str(self.db),
            "RETENTIVE_EMBEDDER": "hashing",
        }

    def run(self, *arguments: str) -> str:
        """Run a command and return what it printed."""
        return self._run(str(PROGRAM), *arguments)

    def retentive(self, *arguments: str) -> str:
        return self._run("retentive", *arguments)

    def converse(self, *prompts: str, options: tuple[str, ...] = ()) -> str:
        """Hold a conversation, each prompt after the answer before. Wait for the hooks, and return the session's id."""
        command = [str(PROGRAM), "--print", "--verbose", "--input-format", "stream-json"]
        command += ["--output-format", "stream-json", "--plugin-dir", str(PLUGIN), *options]
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        results = []
        with subprocess.Popen(command, env=self.environment, cwd=self.project, **pipes) as process:
            assert process.stdin
            assert process.stdout
            killer = threading.Timer(SECONDS, process.kill)
            killer.daemon = True
            killer.start()
            for prompt in prompts:
                message = {"type": "user", "message": {"role": "user", "content": prompt}}
                process.stdin.write(json.dumps(message) + "\n")
                process.stdin.flush()
                results.append(next(event for event in map(json.loads, process.stdout) if event["type"] == "result"))
            process.stdin.close()
            process.stdout.read()
            killer.cancel()
        assert process.returncode == 0
        self._await_hooks()
        return str(results[-1]["session_id"])

    def list_hooks(self, moment: str = "ended") -> Counter[str]:
        """Count the hooks that have started or ended, by their events."""
        path = self.home / f"hooks-{moment}"
        return Counter(path.read_text("utf-8").split() if path.exists() else [])

    def _await_hooks(self) -> None:
        self._session_count += 1
        deadline = time.monotonic() + SECONDS
        while (ended := self.list_hooks())["session-end"] < self._session_count or ended != self.list_hooks("started"):
            assert time.monotonic() < deadline, "a hook does not end"
            time.sleep(0.02)

    def _run(self, *command: str) -> str:
        streams: dict[str, Any] = {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True}
        done: subprocess.CompletedProcess[str] = subprocess.run(
            command, env=self.environment, cwd=self.project, timeout=SECONDS, check=False, **streams
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout
