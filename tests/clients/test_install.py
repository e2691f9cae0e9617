"""`retentive install` and `uninstall`, on real files of a home of their own."""

import json
import os
import shutil
import subprocess
import tempfile
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from retentive.cli import main
from retentive.clients import CLIENTS, Here, client, install, settings_files, uninstall
from retentive.errors import Stale
from tests.clients.test_jsonc import scribbles, texts

Say = Callable[..., str]
ENTRY = {"command": "/bin/retentive", "args": ["mcp", "--namespace", "auto"]}
CLAUDE = """\
{
  "numStartups": 41,
  "mcpServers": {
    "git": {
      "command": "uvx",
      "args": ["git"]
    }
  },
  "userID": "ü"
}"""
ZED = '// Zed settings\n{\n  "theme": "One Dark", // mine\n  "context_servers": {\n    // "old": {},\n  },\n}\n'
CODEX = '# mine\nmodel = "gpt-5" # best\n\n[mcp_servers.git]\ncommand = "uvx"\n\n[tui]\nnotifications = true\n'
FILES = {
    "claude-code": CLAUDE,
    "claude-desktop": '{"mcpServers":{"git":{"command":"uvx"}}}',
    "cursor": '{\r\n\t"mcpServers": {}\r\n}\r\n',
    "vscode": '{\n\t"inputs": [],\n\t"servers": {\n\t\t"a": {"type": "http", "url": "https://x"}, // hers\n\t},\n}\n',
    "codex": CODEX,
    "windsurf": "{}",
    "gemini-cli": '{ "theme": "Dracula" }\n',
    "zed": ZED,
    "cline": "",
    "opencode": '{\n  "$schema": "https://x",\n  "mcp": { "servers": { "x": { "type": "local" } } }\n}\n',
}


@pytest.fixture
def say(home: Path, capsys: pytest.CaptureFixture[str]) -> Say:
    """Types a command, and gives back what was said, on either channel."""

    def say_(*words: str, code: int = 0) -> str:
        assert Path.home() == home
        assert main([*words]) == code
        said = capsys.readouterr()
        return said.out + said.err

    return say_


def file_of(name: str, home: Path, text: str | bytes) -> Path:
    path = client(name).file("user", Here("linux", home, home, {}))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def everything(folder: Path) -> dict[str, bytes]:
    return {str(each.relative_to(folder)): each.read_bytes() for each in folder.rglob("*") if each.is_file()}


def entry_in(name: str, path: Path) -> Any:
    text = path.read_text("utf-8")
    document = tomllib.loads(text) if name == "codex" else json.loads(text)
    return document[CLIENTS[name].within[0]]["retentive"]


@pytest.mark.parametrize("name", CLIENTS)
def test_a_client_that_has_no_file_gets_one(say: Say, home: Path, name: str) -> None:
    told = json.loads(say("install", name, "--json"))
    words = CLIENTS[name].shape(["X", "mcp", "--namespace", "default" if name == "claude-desktop" else "auto"])
    written = entry_in(name, Path(told["file"]))
    command = written["command"][0] if name == "opencode" else written["command"]
    assert json.dumps(written).replace(command, "X") == json.dumps(words)
    assert Path(command).is_absolute()
    assert (told["client"], told["done"], told["backup"], told["entry"]) == (name, "installed", None, written)
    assert CLIENTS[name].next == told["next"]
    assert home in Path(told["file"]).parents


def test_what_was_written_starts_a_server_from_any_folder_in_any_environment(say: Say, home: Path) -> None:
    say("install", "cursor", "--db", "x.db", "--embedder", "none", "--also", "team/*", "--tools", "read")
    entry = entry_in("cursor", home / ".cursor/mcp.json")
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    message = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello})
    command = [entry["command"], *entry["args"]]
    run = subprocess.run(command, input=message + "\n", cwd="/", env={}, capture_output=True, text=True, check=True)
    assert json.loads(run.stdout.splitlines()[0])["result"]["serverInfo"]["name"] == "retentive"
    assert (home / "project/x.db").exists()


@pytest.mark.parametrize("name", CLIENTS)
def test_the_second_time_nothing_is_written(say: Say, home: Path, name: str) -> None:
    file_of(name, home, FILES[name])
    say("install", name)
    before = everything(home)
    assert say("install", name).startswith("already there: ~/")
    assert everything(home) == before


@pytest.mark.parametrize("name", CLIENTS)
def test_what_was_there_is_there_again_afterwards(say: Say, home: Path, name: str) -> None:
    path = file_of(name, home, FILES[name])
    assert "will start Retentive" in say("install", name)
    assert path.read_bytes() != FILES[name].encode()
    assert "no longer starts Retentive" in say("uninstall", name)
    assert path.read_bytes() == FILES[name].encode()
    assert "nothing to remove" in say("uninstall", name)


@pytest.mark.parametrize("name", CLIENTS)
def test_a_file_that_is_all_ours_goes_again(say: Say, home: Path, name: str) -> None:
    say("install", name)
    say("uninstall", name)
    assert everything(home) == {}


@settings(max_examples=60)
@given(texts() | scribbles())
def test_any_json_is_the_same_to_the_byte_afterwards(text: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        here = Here("linux", Path(folder), Path(folder), {})
        path = file_of("cursor", Path(folder), text)
        assert install(client("cursor"), "user", here, ENTRY).done == "installed"
        install(client("cursor"), "user", here, {**ENTRY, "args": ["mcp"]})
        assert uninstall(client("cursor"), "user", here).done == "removed"
        assert path.read_bytes() == text.encode()


def test_what_others_wrote_meanwhile_stays(say: Say, home: Path) -> None:
    path = file_of("claude-code", home, CLAUDE)
    say("install", "claude-code")
    path.write_text(path.read_text("utf-8").replace("41", "42"), "utf-8")
    say("uninstall", "claude-code")
    assert path.read_text("utf-8") == CLAUDE.replace("41", "42")


def test_options_arrive_and_change_the_entry_in_place(say: Say, home: Path) -> None:
    path = file_of("zed", home, ZED)
    say("install", "zed")
    said = say(
        "install", "zed", "--db", "../x.db", "-n", "work/a", "--also", "team/*", "--tools", "full", "--embedder", "none"
    )
    assert "as said now" in said
    assert f'"--db",\n        "{home}/x.db",\n        "--namespace",\n        "work/a",' in path.read_text("utf-8")
    assert '"--also",\n        "team/*",\n        "--tools",\n        "full",\n        "--embedder",' in path.read_text(
        "utf-8"
    )
    assert path.read_text("utf-8").count('"retentive": {') == 1
    say("uninstall", "zed")
    assert path.read_text("utf-8") == ZED


def test_what_its_user_added_to_our_entry_stays(say: Say, home: Path) -> None:
    entry = '"env": {"A": "b"}, "command": "/old/retentive", "args": ["mcp"], "disabled": true'
    text = f'{{"mcpServers": {{"retentive": {{{entry}}}}}}}'
    path = file_of("cursor", home, text)
    say("install", "cursor")
    written = entry_in("cursor", path)
    assert [*written] == ["env", "command", "args", "disabled"]
    assert (written["env"], written["disabled"], written["args"][0]) == ({"A": "b"}, True, "mcp")


@pytest.mark.parametrize("name", ["cursor", "codex"])
def test_a_byte_order_mark_and_line_breaks_of_windows_survive(say: Say, home: Path, name: str) -> None:
    data = b"\xef\xbb\xbf" + FILES[name].replace("\r", "").replace("\n", "\r\n").encode()
    path = file_of(name, home, data)
    say("install", name)
    assert path.read_bytes().startswith(b"\xef\xbb\xbf")
    assert path.read_bytes().count(b"\n") == path.read_bytes().count(b"\r\n")
    say("uninstall", name)
    assert path.read_bytes() == data


def test_links_and_permissions_stay(say: Say, home: Path) -> None:
    real = home / "dotfiles" / "cursor.json"
    real.parent.mkdir()
    real.write_text("{}")
    real.chmod(0o640)
    link = home / ".cursor" / "mcp.json"
    link.parent.mkdir()
    link.symlink_to(real)
    told = json.loads(say("install", "cursor", "--json"))
    assert link.is_symlink()
    assert entry_in("cursor", real)
    assert real.stat().st_mode & 0o777 == Path(told["backup"]).stat().st_mode & 0o777 == 0o640
    assert Path(told["backup"]).parent == real.parent


def test_a_new_file_of_the_user_is_private_and_one_of_the_project_is_not(say: Say, home: Path) -> None:
    say("install", "cursor")
    say("install", "cursor", "--scope", "project")
    assert (home / ".cursor/mcp.json").stat().st_mode & 0o777 == 0o600
    mask = os.umask(0)
    os.umask(mask)
    assert (home / "project/.cursor/mcp.json").stat().st_mode & 0o777 == 0o666 & ~mask


def test_the_file_as_it_was_is_kept_once(say: Say, home: Path) -> None:
    path = file_of("codex", home, CODEX)
    backup = Path(json.loads(say("install", "codex", "--json"))["backup"])
    assert backup.read_text("utf-8") == CODEX
    assert backup.name.startswith("config.toml.retentive-2")
    say("install", "codex", "-n", "other")
    say("uninstall", "codex")
    say("install", "codex")
    assert [each.name for each in path.parent.iterdir() if each != path] == [backup.name]
    path.write_text(path.read_text("utf-8").replace("gpt-5", "gpt-6"), "utf-8")
    said = say("install", "codex", "-n", "again")
    assert "as it was before: ~/.codex/config.toml.retentive-2" in said
    assert len([*path.parent.iterdir()]) == 3


@pytest.mark.parametrize("verb", ["install", "uninstall"])
def test_a_dry_run_shows_the_change_and_makes_none(say: Say, home: Path, verb: str) -> None:
    path = file_of("codex", home, CODEX)
    if verb == "uninstall":
        say("install", "codex")
    before = everything(home)
    said = say(verb, "codex", "--dry-run")
    sign = "+" if verb == "install" else "-"
    assert said.startswith(f"--- {path}\tnow\n+++ {path}\tthen\n@@")
    assert f"\n{sign}[mcp_servers.retentive]\n" in said
    assert everything(home) == before
    assert json.loads(say(verb, "codex", "--dry-run", "--json"))["diff"] == said


@pytest.mark.skipif(not shutil.which("patch"), reason="there is no patch on this machine")
@settings(max_examples=30)
@given(texts())
def test_patch_agrees_with_the_diff(text: str) -> None:
    """The program that people apply diffs with makes the same of it."""
    with tempfile.TemporaryDirectory() as folder:
        here = Here("linux", Path(folder), Path(folder), {})
        path = file_of("cursor", Path(folder), text)
        diff = install(client("cursor"), "user", here, ENTRY, dry=True).diff
        command = ["patch", "--binary", "--silent", str(path)]
        subprocess.run(command, input=diff.encode(), check=True, capture_output=True)
        patched = path.read_bytes()
        path.write_bytes(text.encode())
        install(client("cursor"), "user", here, ENTRY)
        assert path.read_bytes() == patched


def test_a_path_that_is_no_text_is_refused(say: Say, home: Path) -> None:
    assert "not UTF-8" in say("install", "cursor", "--db", "/x/\udcff.db", code=2)
    assert everything(home) == {}


def test_a_snippet_is_all_that_print_prints(say: Say, home: Path) -> None:
    assert json.loads(say("install", "vscode", "--print"))["servers"]["retentive"]["type"] == "stdio"
    assert [*tomllib.loads(say("install", "codex", "--print"))["mcp_servers"]] == ["retentive"]
    assert json.loads(say("install", "zed", "--print", "--json"))["entry"]["args"] == ["mcp", "--namespace", "auto"]
    assert everything(home) == {}


def test_neighbours_are_not_told_unasked(say: Say, home: Path) -> None:
    """They may hold keys."""
    file_of("cursor", home, '{\n  "mcpServers": {\n    "x": {"env": {"KEY": "s3cret"}}\n  }\n}')
    assert "s3cret" not in say("install", "cursor", "--json")


@pytest.mark.parametrize("verb", ["install", "uninstall"])
@pytest.mark.parametrize("name", ["cursor", "codex"])
def test_a_stranger_of_the_name_is_kept_unless_forced(say: Say, home: Path, verb: str, name: str) -> None:
    text = (
        '[mcp_servers.retentive]\nurl = "http://x"\n'
        if name == "codex"
        else '{"mcpServers": {"retentive": {"url": "http://x"}}}'
    )
    path = file_of(name, home, text)
    assert "--force" in say(verb, name, code=4)
    assert everything(home).keys() == {str(path.relative_to(home))}
    assert path.read_text("utf-8") == text
    said = json.loads(say(verb, name, "--force", "--json"))
    assert Path(said["backup"]).read_text("utf-8") == text
    assert "http://x" not in path.read_text("utf-8")
    assert "command" in path.read_text("utf-8") or verb == "uninstall"


@pytest.mark.parametrize(
    ("name", "data", "told"),
    [
        ("cursor", b'{"mcpServers": {', "not JSON"),
        ("cursor", b"[]", "not a JSON object"),
        ("cursor", b'{"mcpServers": []}', "mcpServers in it is not a table"),
        ("cursor", b'{"mcpServers": null}', "mcpServers in it is not a table"),
        ("cursor", b'{"\xff": 1}', "not UTF-8"),
        ("cursor", '{"a": 1}'.encode("utf-16"), "not UTF-8"),
        ("claude-code", b'{"a": 1, /* no */ "b": 2}', "not JSON"),
        ("claude-desktop", b'{"a": 1,}', "not JSON"),
        ("codex", b"model = ", "not TOML"),
        ("codex", b"mcp_servers = 1", "mcp_servers in it is not a table"),
        ("codex", b"mcp_servers = { git = {} }", "cannot be edited safely"),
        ("codex", b"[[mcp_servers]]\na = 1", "mcp_servers in it is not a table"),
    ],
)
def test_what_cannot_be_edited_is_left_and_the_snippet_shown(
    say: Say, home: Path, name: str, data: bytes, told: str
) -> None:
    path = file_of(name, home, data)
    said = say("install", name, code=2)
    assert told in said
    assert str(path) in said
    assert "This is what belongs there:" in said
    assert '"mcp", "--namespace"' in said or '"mcp",\n' in said
    assert everything(home) == {str(path.relative_to(home)): data}
    error = json.loads(say("install", name, "--json", code=2))["error"]
    assert error["hint"]


def test_two_entries_of_one_name_are_not_guessed_about(say: Say, home: Path) -> None:
    ours = '"retentive": {"command": "retentive", "args": ["mcp"]}'
    text = f'{{"mcpServers": {{{ours}, {ours}}}}}'
    path = file_of("cursor", home, text)
    assert "cannot be edited safely" in say("uninstall", "cursor", code=2)
    assert path.read_text("utf-8") == text


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("install", "claude-desktop", "--scope", "project"), "no settings of a project"),
        (("install", "cursor", "-n", "a b"), "is not a namespace"),
        (("install", "cursor", "-n", ""), "namespace"),
        (("install", "cursor", "--also", "//"), "is not a namespace"),
        (("install", "cursor", "--scope", "project", "--db", "postgresql://ana:pass@x/y"), "shared"),
    ],
)
def test_bad_options_change_nothing(say: Say, home: Path, words: tuple[str, ...], told: str) -> None:
    assert told in say(*words, code=2)
    assert everything(home) == {}


def test_a_folder_in_the_place_of_the_file_is_told(say: Say, home: Path) -> None:
    (home / ".cursor" / "mcp.json").mkdir(parents=True)
    assert "mcp.json" in say("install", "cursor", code=5)
    assert "cannot be read" in say("install")


def test_a_file_in_the_place_of_the_folder_is_told(say: Say, home: Path) -> None:
    (home / ".cursor").write_text("")
    assert ".cursor" in say("install", "cursor", code=5)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anything")
def test_a_file_that_may_not_be_written_is_not_exchanged(say: Say, home: Path) -> None:
    path = file_of("cursor", home, "{}")
    path.chmod(0o400)
    assert "permissions" in say("install", "cursor", code=5)
    assert everything(home) == {".cursor/mcp.json": b"{}"}


def test_a_file_that_changed_since_it_was_read_is_not_overwritten(home: Path) -> None:
    path = file_of("cursor", home, '{"new": 1}')
    for old in (b"{}", None):
        with pytest.raises(Stale):
            settings_files.write(path, old, b"ours", private=True, copy=True)
    assert everything(home) == {".cursor/mcp.json": b'{"new": 1}'}


def test_a_store_named_by_the_environment_goes_along(say: Say, monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    monkeypatch.setenv("RETENTIVE_DB", "x.db")
    monkeypatch.setenv("RETENTIVE_AUTH_TOKEN", "t0ken")
    said = say("install", "cursor")
    assert entry_in("cursor", home / ".cursor/mcp.json")["args"][1:3] == ["--db", f"{home}/project/x.db"]
    assert "may not see RETENTIVE_AUTH_TOKEN" in said
    assert "t0ken" not in said
    monkeypatch.setenv("RETENTIVE_DB", "postgresql://ana:s3cret@x/y")
    assert "may not see RETENTIVE_AUTH_TOKEN, RETENTIVE_DB" in say("install", "cursor")
    assert "s3cret" not in (home / ".cursor/mcp.json").read_text("utf-8")


def test_without_a_client_all_are_listed_with_what_is_in_them(say: Say, home: Path) -> None:
    file_of("cursor", home, '{"mcpServers": {"retentive": {"url": "http://x"}}}')
    file_of("zed", home, "{")
    say("install", "codex")
    say("install", "claude-code", "--scope", "project")
    rows = [line.split("\t") for line in say("install").splitlines()]
    assert {row[0] for row in rows} == {*CLIENTS}
    assert ["cursor", "user", "another of the name", "~/.cursor/mcp.json"] in rows
    assert ["zed", "user", "cannot be read", "~/.config/zed/settings.json"] in rows
    assert ["codex", "user", "yes", "~/.codex/config.toml"] in rows
    assert ["claude-code", "user", "no", "~/.claude.json"] in rows
    assert ["claude-code", "project", "yes", "~/project/.mcp.json"] in rows
    found = {(each["client"], each["scope"]): each for each in json.loads(say("install", "--json"))["clients"]}
    assert found["codex", "user"] == {
        "client": "codex", "scope": "user", "file": str(home / ".codex/config.toml"),
        "exists": True, "state": "installed",
    }  # fmt: skip
    assert (found["zed", "user"]["state"], found["cline", "user"]["exists"]) == ("unreadable", False)


def test_a_client_that_was_never_here_is_asked_about(say: Say) -> None:
    assert "is Cursor installed?" in say("install", "cursor")
    assert "installed?" not in say("install", "claude-code")


def test_opencode_of_version_2_gets_its_own_shape(say: Say, home: Path) -> None:
    path = file_of("opencode", home, FILES["opencode"])
    say("install", "opencode")
    assert [*json.loads(path.read_text("utf-8"))["mcp"]["servers"]] == ["x", "retentive"]
