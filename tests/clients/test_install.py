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
from retentive.clients import CLIENTS, Environment, find_client, install, settings_files, uninstall
from retentive.errors import Stale
from tests.clients.test_jsonc import texts, unusual_texts

RunClient = Callable[..., str]
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
def run_client(home: Path, capsys: pytest.CaptureFixture[str]) -> RunClient:
    """Runs a command, and returns what it wrote to standard output and standard error."""

    def run_client_(*words: str, code: int = 0) -> str:
        assert Path.home() == home
        assert main([*words]) == code
        shown = capsys.readouterr()
        return shown.out + shown.err

    return run_client_


def write_settings(name: str, home: Path, text: str | bytes) -> Path:
    path = find_client(name).file("user", Environment("linux", home, home, {}))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def read_all_files(folder: Path) -> dict[str, bytes]:
    return {str(each.relative_to(folder)): each.read_bytes() for each in folder.rglob("*") if each.is_file()}


def read_entry(name: str, path: Path) -> Any:
    text = path.read_text("utf-8")
    document = tomllib.loads(text) if name == "codex" else json.loads(text)
    return document[CLIENTS[name].servers_path[0]]["retentive"]


@pytest.mark.parametrize("name", CLIENTS)
def test_a_client_that_has_no_file_gets_one(run_client: RunClient, home: Path, name: str) -> None:
    shown = json.loads(run_client("install", name, "--json"))
    words = CLIENTS[name].build_entry(["X", "mcp", "--namespace", "default" if name == "claude-desktop" else "auto"])
    written = read_entry(name, Path(shown["file"]))
    command = written["command"][0] if name == "opencode" else written["command"]
    assert json.dumps(written).replace(command, "X") == json.dumps(words)
    assert Path(command).is_absolute()
    assert (shown["client"], shown["done"], shown["backup"], shown["entry"]) == (name, "installed", None, written)
    assert CLIENTS[name].next_step == shown["next"]
    assert home in Path(shown["file"]).parents


def test_what_was_written_starts_a_server_from_any_folder_in_any_environment(run_client: RunClient, home: Path) -> None:
    run_client("install", "cursor", "--db", "x.db", "--embedder", "none", "--also", "team/*", "--tools", "read")
    entry = read_entry("cursor", home / ".cursor/mcp.json")
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    message = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello})
    command = [entry["command"], *entry["args"]]
    run = subprocess.run(command, input=message + "\n", cwd="/", env={}, capture_output=True, text=True, check=True)
    assert json.loads(run.stdout.splitlines()[0])["result"]["serverInfo"]["name"] == "retentive"
    assert (home / "project/x.db").exists()


@pytest.mark.parametrize("name", CLIENTS)
def test_the_second_time_nothing_is_written(run_client: RunClient, home: Path, name: str) -> None:
    write_settings(name, home, FILES[name])
    run_client("install", name)
    before = read_all_files(home)
    assert run_client("install", name).startswith("already there: ~/")
    assert read_all_files(home) == before


@pytest.mark.parametrize("name", CLIENTS)
def test_what_was_there_is_there_again_afterwards(run_client: RunClient, home: Path, name: str) -> None:
    path = write_settings(name, home, FILES[name])
    assert "will start Retentive" in run_client("install", name)
    assert path.read_bytes() != FILES[name].encode()
    assert "no longer starts Retentive" in run_client("uninstall", name)
    assert path.read_bytes() == FILES[name].encode()
    assert "nothing to remove" in run_client("uninstall", name)


@pytest.mark.parametrize("name", CLIENTS)
def test_a_file_that_is_all_ours_goes_again(run_client: RunClient, home: Path, name: str) -> None:
    run_client("install", name)
    run_client("uninstall", name)
    assert read_all_files(home) == {}


@settings(max_examples=60)
@given(texts() | unusual_texts())
def test_any_json_is_the_same_to_the_byte_afterwards(text: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        environment = Environment("linux", Path(folder), Path(folder), {})
        path = write_settings("cursor", Path(folder), text)
        assert install(find_client("cursor"), "user", environment, ENTRY).outcome == "installed"
        install(find_client("cursor"), "user", environment, {**ENTRY, "args": ["mcp"]})
        assert uninstall(find_client("cursor"), "user", environment).outcome == "removed"
        assert path.read_bytes() == text.encode()


def test_what_others_wrote_meanwhile_stays(run_client: RunClient, home: Path) -> None:
    path = write_settings("claude-code", home, CLAUDE)
    run_client("install", "claude-code")
    path.write_text(path.read_text("utf-8").replace("41", "42"), "utf-8")
    run_client("uninstall", "claude-code")
    assert path.read_text("utf-8") == CLAUDE.replace("41", "42")


def test_options_arrive_and_change_the_entry_in_place(run_client: RunClient, home: Path) -> None:
    path = write_settings("zed", home, ZED)
    run_client("install", "zed")
    shown = run_client(
        "install", "zed", "--db", "../x.db", "-n", "work/a", "--also", "team/*", "--tools", "full", "--embedder", "none"
    )
    assert "with the new options" in shown
    assert f'"--db",\n        "{home}/x.db",\n        "--namespace",\n        "work/a",' in path.read_text("utf-8")
    assert '"--also",\n        "team/*",\n        "--tools",\n        "full",\n        "--embedder",' in path.read_text(
        "utf-8"
    )
    assert path.read_text("utf-8").count('"retentive": {') == 1
    run_client("uninstall", "zed")
    assert path.read_text("utf-8") == ZED


def test_what_its_user_added_to_our_entry_stays(run_client: RunClient, home: Path) -> None:
    entry = '"env": {"A": "b"}, "command": "/old/retentive", "args": ["mcp"], "disabled": true'
    text = f'{{"mcpServers": {{"retentive": {{{entry}}}}}}}'
    path = write_settings("cursor", home, text)
    run_client("install", "cursor")
    written = read_entry("cursor", path)
    assert [*written] == ["env", "command", "args", "disabled"]
    assert (written["env"], written["disabled"], written["args"][0]) == ({"A": "b"}, True, "mcp")


@pytest.mark.parametrize("name", ["cursor", "codex"])
def test_a_byte_order_mark_and_line_breaks_of_windows_survive(run_client: RunClient, home: Path, name: str) -> None:
    data = b"\xef\xbb\xbf" + FILES[name].replace("\r", "").replace("\n", "\r\n").encode()
    path = write_settings(name, home, data)
    run_client("install", name)
    assert path.read_bytes().startswith(b"\xef\xbb\xbf")
    assert path.read_bytes().count(b"\n") == path.read_bytes().count(b"\r\n")
    run_client("uninstall", name)
    assert path.read_bytes() == data


def test_links_and_permissions_stay(run_client: RunClient, home: Path) -> None:
    real = home / "dotfiles" / "cursor.json"
    real.parent.mkdir()
    real.write_text("{}")
    real.chmod(0o640)
    link = home / ".cursor" / "mcp.json"
    link.parent.mkdir()
    link.symlink_to(real)
    shown = json.loads(run_client("install", "cursor", "--json"))
    assert link.is_symlink()
    assert read_entry("cursor", real)
    assert real.stat().st_mode & 0o777 == Path(shown["backup"]).stat().st_mode & 0o777 == 0o640
    assert Path(shown["backup"]).parent == real.parent


def test_a_new_file_of_the_user_is_private_and_one_of_the_project_is_not(run_client: RunClient, home: Path) -> None:
    run_client("install", "cursor")
    run_client("install", "cursor", "--scope", "project")
    assert (home / ".cursor/mcp.json").stat().st_mode & 0o777 == 0o600
    mask = os.umask(0)
    os.umask(mask)
    assert (home / "project/.cursor/mcp.json").stat().st_mode & 0o777 == 0o666 & ~mask


def test_the_file_as_it_was_is_kept_once(run_client: RunClient, home: Path) -> None:
    path = write_settings("codex", home, CODEX)
    backup = Path(json.loads(run_client("install", "codex", "--json"))["backup"])
    assert backup.read_text("utf-8") == CODEX
    assert backup.name.startswith("config.toml.retentive-2")
    run_client("install", "codex", "-n", "other")
    run_client("uninstall", "codex")
    run_client("install", "codex")
    assert [each.name for each in path.parent.iterdir() if each != path] == [backup.name]
    path.write_text(path.read_text("utf-8").replace("gpt-5", "gpt-6"), "utf-8")
    shown = run_client("install", "codex", "-n", "again")
    assert "backup of the old file: ~/.codex/config.toml.retentive-2" in shown
    assert len([*path.parent.iterdir()]) == 3


@pytest.mark.parametrize("verb", ["install", "uninstall"])
def test_a_dry_run_shows_the_change_and_makes_none(run_client: RunClient, home: Path, verb: str) -> None:
    path = write_settings("codex", home, CODEX)
    if verb == "uninstall":
        run_client("install", "codex")
    before = read_all_files(home)
    shown = run_client(verb, "codex", "--dry-run")
    sign = "+" if verb == "install" else "-"
    assert shown.startswith(f"--- {path}\tnow\n+++ {path}\tthen\n@@")
    assert f"\n{sign}[mcp_servers.retentive]\n" in shown
    assert read_all_files(home) == before
    assert json.loads(run_client(verb, "codex", "--dry-run", "--json"))["diff"] == shown


@pytest.mark.skipif(not shutil.which("patch"), reason="there is no patch on this machine")
@settings(max_examples=30)
@given(texts())
def test_patch_agrees_with_the_diff(text: str) -> None:
    """The program that people apply diffs with makes the same of it."""
    with tempfile.TemporaryDirectory() as folder:
        environment = Environment("linux", Path(folder), Path(folder), {})
        path = write_settings("cursor", Path(folder), text)
        diff = install(find_client("cursor"), "user", environment, ENTRY, dry_run=True).diff
        command = ["patch", "--binary", "--silent", str(path)]
        subprocess.run(command, input=diff.encode(), check=True, capture_output=True)
        patched = path.read_bytes()
        path.write_bytes(text.encode())
        install(find_client("cursor"), "user", environment, ENTRY)
        assert path.read_bytes() == patched


def test_a_path_that_is_no_text_is_refused(run_client: RunClient, home: Path) -> None:
    assert "not UTF-8" in run_client("install", "cursor", "--db", "/x/\udcff.db", code=2)
    assert read_all_files(home) == {}


def test_a_snippet_is_all_that_print_prints(run_client: RunClient, home: Path) -> None:
    assert json.loads(run_client("install", "vscode", "--print"))["servers"]["retentive"]["type"] == "stdio"
    assert [*tomllib.loads(run_client("install", "codex", "--print"))["mcp_servers"]] == ["retentive"]
    zed = json.loads(run_client("install", "zed", "--print", "--json"))
    assert zed["entry"]["args"] == [
        "mcp",
        "--namespace",
        "auto",
    ]
    assert read_all_files(home) == {}


def test_neighbours_are_not_told_unasked(run_client: RunClient, home: Path) -> None:
    """They may hold keys."""
    write_settings("cursor", home, '{\n  "mcpServers": {\n    "x": {"env": {"KEY": "s3cret"}}\n  }\n}')
    assert "s3cret" not in run_client("install", "cursor", "--json")


@pytest.mark.parametrize("verb", ["install", "uninstall"])
@pytest.mark.parametrize("name", ["cursor", "codex"])
def test_a_stranger_of_the_name_is_kept_unless_forced(run_client: RunClient, home: Path, verb: str, name: str) -> None:
    text = (
        '[mcp_servers.retentive]\nurl = "http://x"\n'
        if name == "codex"
        else '{"mcpServers": {"retentive": {"url": "http://x"}}}'
    )
    path = write_settings(name, home, text)
    assert "--force" in run_client(verb, name, code=4)
    assert read_all_files(home).keys() == {str(path.relative_to(home))}
    assert path.read_text("utf-8") == text
    shown = json.loads(run_client(verb, name, "--force", "--json"))
    assert Path(shown["backup"]).read_text("utf-8") == text
    assert "http://x" not in path.read_text("utf-8")
    assert "command" in path.read_text("utf-8") or verb == "uninstall"


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("cursor", b'{"mcpServers": {', "not JSON"),
        ("cursor", b"[]", "not a JSON object"),
        ("cursor", b'{"mcpServers": []}', "mcpServers is not a table"),
        ("cursor", b'{"mcpServers": null}', "mcpServers is not a table"),
        ("cursor", b'{"\xff": 1}', "not UTF-8"),
        ("cursor", '{"a": 1}'.encode("utf-16"), "not UTF-8"),
        ("claude-code", b'{"a": 1, /* no */ "b": 2}', "not JSON"),
        ("claude-desktop", b'{"a": 1,}', "not JSON"),
        ("codex", b"model = ", "not TOML"),
        ("codex", b"mcp_servers = 1", "mcp_servers is not a table"),
        ("codex", b"mcp_servers = { git = {} }", "cannot be edited safely"),
        ("codex", b"[[mcp_servers]]\na = 1", "mcp_servers is not a table"),
    ],
)
def test_what_cannot_be_edited_is_left_and_the_snippet_shown(
    run_client: RunClient, home: Path, name: str, data: bytes, message: str
) -> None:
    path = write_settings(name, home, data)
    shown = run_client("install", name, code=2)
    assert message in shown
    assert str(path) in shown
    assert "Add this to the file yourself:" in shown
    assert '"mcp", "--namespace"' in shown or '"mcp",\n' in shown
    assert read_all_files(home) == {str(path.relative_to(home)): data}
    error = json.loads(run_client("install", name, "--json", code=2))["error"]
    assert error["hint"]


def test_two_entries_of_one_name_are_not_guessed_about(run_client: RunClient, home: Path) -> None:
    ours = '"retentive": {"command": "retentive", "args": ["mcp"]}'
    text = f'{{"mcpServers": {{{ours}, {ours}}}}}'
    path = write_settings("cursor", home, text)
    assert "cannot be edited safely" in run_client("uninstall", "cursor", code=2)
    assert path.read_text("utf-8") == text


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("install", "claude-desktop", "--scope", "project"), "no settings of a project"),
        (("install", "cursor", "-n", "a b"), "is not a namespace"),
        (("install", "cursor", "-n", ""), "namespace"),
        (("install", "cursor", "--also", "//"), "is not a namespace"),
        (("install", "cursor", "--scope", "project", "--db", "postgresql://ana:pass@x/y"), "shared"),
    ],
)
def test_bad_options_change_nothing(run_client: RunClient, home: Path, words: tuple[str, ...], message: str) -> None:
    assert message in run_client(*words, code=2)
    assert read_all_files(home) == {}


def test_a_folder_in_the_place_of_the_file_is_told(run_client: RunClient, home: Path) -> None:
    (home / ".cursor" / "mcp.json").mkdir(parents=True)
    assert "mcp.json" in run_client("install", "cursor", code=5)
    assert "cannot be read" in run_client("install")


def test_a_file_in_the_place_of_the_folder_is_told(run_client: RunClient, home: Path) -> None:
    (home / ".cursor").write_text("")
    assert ".cursor" in run_client("install", "cursor", code=5)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anything")
def test_a_file_that_may_not_be_written_is_not_exchanged(run_client: RunClient, home: Path) -> None:
    path = write_settings("cursor", home, "{}")
    path.chmod(0o400)
    assert "permissions" in run_client("install", "cursor", code=5)
    assert read_all_files(home) == {".cursor/mcp.json": b"{}"}


def test_a_file_that_changed_since_it_was_read_is_not_overwritten(home: Path) -> None:
    path = write_settings("cursor", home, '{"new": 1}')
    for old in (b"{}", None):
        with pytest.raises(Stale):
            settings_files.write_settings(path, old, b"ours", private=True, back_up=True)
    assert read_all_files(home) == {".cursor/mcp.json": b'{"new": 1}'}


def test_a_store_named_by_the_environment_goes_along(
    run_client: RunClient, monkeypatch: pytest.MonkeyPatch, home: Path
) -> None:
    monkeypatch.setenv("RETENTIVE_DB", "x.db")
    monkeypatch.setenv("RETENTIVE_AUTH_TOKEN", "t0ken")
    shown = run_client("install", "cursor")
    assert read_entry("cursor", home / ".cursor/mcp.json")["args"][1:3] == ["--db", f"{home}/project/x.db"]
    assert "may not see RETENTIVE_AUTH_TOKEN" in shown
    assert "t0ken" not in shown
    monkeypatch.setenv("RETENTIVE_DB", "postgresql://ana:s3cret@x/y")
    assert "may not see RETENTIVE_AUTH_TOKEN, RETENTIVE_DB" in run_client("install", "cursor")
    assert "s3cret" not in (home / ".cursor/mcp.json").read_text("utf-8")


def test_without_a_client_all_are_listed_with_what_is_in_them(run_client: RunClient, home: Path) -> None:
    write_settings("cursor", home, '{"mcpServers": {"retentive": {"url": "http://x"}}}')
    write_settings("zed", home, "{")
    run_client("install", "codex")
    run_client("install", "claude-code", "--scope", "project")
    rows = [line.split("\t") for line in run_client("install").splitlines()]
    assert {row[0] for row in rows} == {*CLIENTS}
    assert ["cursor", "user", "another server of this name", "~/.cursor/mcp.json"] in rows
    assert ["zed", "user", "cannot be read", "~/.config/zed/settings.json"] in rows
    assert ["codex", "user", "yes", "~/.codex/config.toml"] in rows
    assert ["claude-code", "user", "no", "~/.claude.json"] in rows
    assert ["claude-code", "project", "yes", "~/project/.mcp.json"] in rows
    found = {(each["client"], each["scope"]): each for each in json.loads(run_client("install", "--json"))["clients"]}
    assert found["codex", "user"] == {
        "client": "codex", "scope": "user", "file": str(home / ".codex/config.toml"),
        "exists": True, "state": "installed",
    }  # fmt: skip
    assert (found["zed", "user"]["state"], found["cline", "user"]["exists"]) == ("unreadable", False)


def test_a_client_that_was_never_here_is_asked_about(run_client: RunClient) -> None:
    assert "is Cursor installed?" in run_client("install", "cursor")
    assert "installed?" not in run_client("install", "claude-code")


def test_opencode_of_version_2_gets_its_own_shape(run_client: RunClient, home: Path) -> None:
    path = write_settings("opencode", home, FILES["opencode"])
    run_client("install", "opencode")
    assert [*json.loads(path.read_text("utf-8"))["mcp"]["servers"]] == ["x", "retentive"]
