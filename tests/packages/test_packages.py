"""What others install us by: a plugin for Claude Code, an entry in the MCP registry, a bundle for Claude Desktop."""

import json
import os
import shlex
import shutil
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import retentive
from retentive import Retentive
from retentive.cli.args import Arguments
from retentive.cli.program import parse
from retentive.config import SETTINGS
from retentive.mcp.catalogue import Offer, select_tools
from tests.engines import missing
from tests.hooks.claude import PROGRAM, Claude, said

ROOT = Path(retentive.__file__).parents[2]
SCHEMAS = Path(__file__).with_name("schemas")
PLUGIN = ROOT / "plugins" / "claude-code"
BUNDLE = ROOT / "packaging" / "mcpb"
SCRIPT = PLUGIN / "scripts" / "hook.sh"
NAME = "io.github.retentive/retentive"


def read(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))


def parsed(words: list[str]) -> Arguments:
    arguments = parse(words)
    assert arguments is not None
    return arguments


def checked(path: Path, schema: str) -> Any:
    found = read(path)
    jsonschema.validate(found, read(SCHEMAS / schema))
    return found


def test_the_entry_of_the_registry_is_one() -> None:
    entry = checked(ROOT / "server.json", "server-2025-12-11.json")
    (package,) = entry["packages"]
    assert entry["name"] == NAME
    assert (entry["version"], package["version"]) == (retentive.__version__, retentive.__version__)
    assert (package["registryType"], package["identifier"], package["runtimeHint"]) == ("pypi", "retentive", "uvx")
    assert parsed([each["value"] for each in package["packageArguments"]]).run == "mcp"


def test_the_readme_says_whose_entry_it_is() -> None:
    """By this the registry knows that the package on PyPI belongs to the entry."""
    assert f"<!-- mcp-name: {NAME} -->" in (ROOT / "README.md").read_text("utf-8")


def test_what_can_be_set_from_there_are_settings() -> None:
    known = {setting.variable for setting in SETTINGS}
    (package,) = read(ROOT / "server.json")["packages"]
    assert {each["name"] for each in package["environmentVariables"]} <= known
    assert {*read(BUNDLE / "manifest.json")["server"]["mcp_config"]["env"]} <= known


def test_the_bundle_is_one() -> None:
    manifest = checked(BUNDLE / "manifest.json", "mcpb-0.4.json")
    assert manifest["version"] == retentive.__version__
    assert f'"retentive=={retentive.__version__}"' in (BUNDLE / "pyproject.toml").read_text("utf-8")
    wanted = {
        value.strip("${}").removeprefix("user_config.") for value in manifest["server"]["mcp_config"]["env"].values()
    }
    assert wanted == {*manifest["user_config"]}


def test_the_bundle_lists_the_tools_that_are_offered() -> None:
    listed = {each["name"]: each["description"] for each in read(BUNDLE / "manifest.json")["tools"]}
    tools = select_tools(Offer.DEFAULT)
    assert [*listed] == [*tools]
    assert {name for name, told in listed.items() if not tools[name].description.startswith(told)} == set()


def test_the_bundle_is_packed_with_all_it_needs_and_the_same_each_time(tmp_path: Path) -> None:
    packed = []
    for folder in (tmp_path / "one", tmp_path / "two"):
        subprocess.run([sys.executable, ROOT / "scripts" / "mcpb.py", folder], check=True, capture_output=True)
        (file,) = folder.iterdir()
        packed.append(file.read_bytes())
    assert packed[0] == packed[1]
    with zipfile.ZipFile(file) as bundle:
        assert bundle.testzip() is None
        assert {"manifest.json", "pyproject.toml", read(BUNDLE / "manifest.json")["server"]["entry_point"]} <= {
            *bundle.namelist()
        }


def test_the_bundle_starts_our_server_whatever_was_left_empty(tmp_path: Path) -> None:
    left = {"RETENTIVE_DB": "${user_config.db}", "RETENTIVE_NAMESPACE": "${user_config.namespace}"}
    run = subprocess.run(
        [sys.executable, BUNDLE / "server" / "main.py", "--tool-cost"],
        env={**os.environ, **left},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "memory_search" in run.stdout


def test_the_plugin_and_its_marketplace_are_of_this_version() -> None:
    plugin, market = read(PLUGIN / ".claude-plugin" / "plugin.json"), read(ROOT / ".claude-plugin" / "marketplace.json")
    (entry,) = market["plugins"]
    assert (plugin["version"], entry["version"]) == (retentive.__version__, retentive.__version__)
    assert plugin["name"] == entry["name"]
    assert (ROOT / entry["source"]).resolve() == PLUGIN


def commands() -> dict[str, list[str]]:
    hooks = read(PLUGIN / "hooks" / "hooks.json")["hooks"]
    return {
        event: shlex.split(hook["command"])
        for event, ((hook,),) in ((e, [g["hooks"] for g in hooks[e]]) for e in hooks)
    }


def test_the_plugin_calls_hooks_that_there_are() -> None:
    found = {event: parsed(["hook", *words[2:]]) for event, words in commands().items()}
    assert {event: (each.event, each.namespace) for event, each in found.items()} == {
        "SessionStart": ("session-start", "auto"),
        "UserPromptSubmit": ("prompt", "auto"),
        "Stop": ("stop", "auto"),
        "PreCompact": ("pre-compact", "auto"),
        "SessionEnd": ("session-end", "auto"),
    }
    assert {words[1] for words in commands().values()} == {"${CLAUDE_PLUGIN_ROOT}/scripts/hook.sh"}


def test_the_plugin_starts_our_server() -> None:
    server = read(PLUGIN / ".mcp.json")["mcpServers"]["retentive"]
    arguments = parsed(server["args"])
    assert (server["command"], arguments.run, arguments.namespace) == ("retentive", "mcp", "auto")


@pytest.mark.parametrize("skill", sorted(path.parent.name for path in PLUGIN.glob("skills/*/SKILL.md")))
def test_a_skill_says_when_it_is_for(skill: str) -> None:
    _, head, body = (PLUGIN / "skills" / skill / "SKILL.md").read_text("utf-8").split("---\n", 2)
    assert "description: " in head
    assert "$ARGUMENTS" in body


def script(*words: str, path: str, shell: str = "/bin/sh", **environment: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [shell, SCRIPT, *words],
        input='{"session_id": "s", "prompt": "When does the billing service deploy?"}',
        env={**os.environ, "PATH": path, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def bare(tmp_path: Path) -> str:
    """A PATH with what the script needs and without retentive."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("cat", "dirname", "mkdir", "nohup"):
        (folder / name).symlink_to(f"/usr/bin/{name}")
    return str(folder)


def test_without_the_program_that_is_said_once_and_nothing_breaks(tmp_path: Path, bare: str) -> None:
    home = {"HOME": str(tmp_path), "CLAUDE_PLUGIN_DATA": str(tmp_path / "plugin data")}
    first, again = (script("session-start", path=bare, **home) for _ in range(2))
    assert "not installed" in json.loads(first.stdout)["systemMessage"]
    for each in (again, script("prompt", path=bare, **home), script("stop", path=bare, **home)):
        assert (each.returncode, each.stdout, each.stderr) == (0, "", "")


def test_a_program_that_fails_breaks_nothing(tmp_path: Path, bare: str) -> None:
    program = Path(bare) / "retentive"
    program.write_text("#!/bin/sh\nexit 2\n")
    program.chmod(0o755)
    for event in ("session-start", "prompt", "stop"):
        assert script(event, path=bare, HOME=str(tmp_path)).returncode == 0


def test_the_plugins_script_answers_a_prompt(db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RETENTIVE_DB", str(db))
    monkeypatch.setenv("RETENTIVE_EMBEDDER", "hashing")
    with Retentive.open() as memory:
        memory.add("The billing service deploys on Tuesdays")
    answer = script("prompt", "--limit", "60", path=f"{Path(PROGRAM).parent}:{os.environ['PATH']}")
    assert "Tuesdays" in json.loads(answer.stdout)["hookSpecificOutput"]["additionalContext"]


def wait_until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.parametrize("name", ["dash", "bash"])
@pytest.mark.parametrize("event", ["stop", "pre-compact", "session-end"])
def test_the_script_lets_go_of_its_output_while_the_program_still_runs(
    tmp_path: Path, bare: str, event: str, name: str
) -> None:
    """Claude Code waits until a hook's output is closed, also by the programs that the hook started."""
    shell = shutil.which(name)
    if shell is None:
        missing(name, "install it")
        return
    program = Path(bare) / "retentive"
    started = tmp_path / "started"
    program.write_text(f"#!/bin/sh\n: >{started}\nexec /bin/sleep 5\n")
    program.chmod(0o755)
    begun = time.monotonic()
    assert script(event, path=bare, shell=shell, HOME=str(tmp_path)).stdout == ""
    assert time.monotonic() - begun < 1.5
    wait_until(started.exists)


def test_what_is_kept_is_not_waited_for(tmp_path: Path, db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Claude Code gives a hook at its end little time, and says so if it takes more."""
    monkeypatch.setenv("RETENTIVE_DB", str(db))
    claude = Claude(tmp_path, str(db))
    claude.says("Hello", "Hi.")
    run = subprocess.run(
        ["/bin/sh", SCRIPT, "session-end", "--limit", "60"],
        input=claude.told("SessionEnd", reason="exit"),
        env={**os.environ, "PATH": f"{Path(PROGRAM).parent}:{os.environ['PATH']}"},
        capture_output=True,
        check=True,
        timeout=60,
    )
    assert (run.stdout, run.stderr) == (b"", b"")
    with Retentive.open(db, embedder="none") as memory:
        wait_until(lambda: any(each.events for each in memory.sessions.list()))
        assert said(memory.sessions.events(claude.name)) == [("user", "Hello"), ("assistant", "Hi.")]
