"""Edits of TOML: lines come and go, all others stay."""

import json
import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retentive.clients import toml
from retentive.errors import Invalid

PATH = ("mcp_servers", "retentive")
ENTRY = {"command": "/bin/retentive", "args": ["mcp", "--namespace", "auto"]}
LINES = st.lists(
    st.sampled_from(
        [
            "# a note",
            "",
            'model = "x" # y',
            "[[rules]]",
            'match = "[mcp_servers.retentive]"',
            "list = [\n  1, # one\n  2,\n]",
            'text = """\n[mcp_servers.retentive]\ncommand = 1\n"""',
            "[mcp_servers.other]",
            'command = "npx"',
            "[mcp_servers.other.env]",
            "TOKEN = 'x = y'",
            '["quoted key"."b = c"]',
            "dotted.key.here = 1",
            "when = 2026-11-16",
            "far = inf",
        ]
    ),
    max_size=12,
)


def is_toml(text: str) -> bool:
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return False
    return True


TEXTS = st.builds(
    lambda lines, end, newline: ("\n".join(lines) + end).replace("\n", newline),
    LINES,
    st.sampled_from(["", "\n", "\n\n"]),
    st.sampled_from(["\n", "\r\n"]),
).filter(is_toml)


def expected(text: str) -> dict[str, Any]:
    document = toml.parse(text)
    return {**document, "mcp_servers": {**document.get("mcp_servers", {}), "retentive": ENTRY}}


@given(TEXTS)
def test_putting_changes_nothing_else(text: str) -> None:
    changed = toml.put(text, PATH, ENTRY)
    assert toml.parse(changed) == expected(text)
    assert changed.startswith(text)


@given(TEXTS)
def test_dropping_gives_the_same_text_again(text: str) -> None:
    again = toml.remove(toml.put(text, PATH, ENTRY), PATH)
    assert again == text if text.endswith("\n") and text.strip() else again.strip() == text.strip()


@given(TEXTS)
def test_a_value_changed_in_place_is_written_as_a_new_one(text: str) -> None:
    old = toml.put(text, PATH, {**ENTRY, "args": ["mcp"]})
    assert toml.put(old, (*PATH, "args"), ENTRY["args"]) == toml.put(text, PATH, ENTRY)


def test_notes_around_a_changed_value_stay() -> None:
    text = '[mcp_servers.retentive]\n# mine\ncommand = "a" # here\nargs = [ # list\n  "x", # ]\n] # end\ntimeout = 3\n'
    changed = toml.put(toml.put(text, (*PATH, "command"), "b"), (*PATH, "args"), ["y"])
    assert changed == '[mcp_servers.retentive]\n# mine\ncommand = "b" # here\nargs = ["y"] # end\ntimeout = 3\n'


def test_a_key_that_was_missing_goes_below_the_header() -> None:
    text = '[mcp_servers.retentive]\ncommand = "a"\n[x]\n'
    changed = toml.put(text, (*PATH, "args"), ["y"])
    assert changed == '[mcp_servers.retentive]\nargs = ["y"]\ncommand = "a"\n[x]\n'


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        # With tables of its own below it, and what others wrote after it.
        ('a = 1\n\n[mcp_servers.retentive]\ncommand = "x"\n\n[mcp_servers.retentive.env]\nA = "b"\n\n# of y\n[y]\n',
         "a = 1\n\n# of y\n[y]\n"),
        ('[mcp_servers."retentive"]\ncommand = "x"', ""),
        ('[mcp_servers]\nretentive = { command = "x" }\nother = {}\n', "[mcp_servers]\nother = {}\n"),
        ('mcp_servers.retentive.command = "x"\na = 1\n', "a = 1\n"),
        ('[mcp_servers.retentive_too]\ncommand = "x"\n', '[mcp_servers.retentive_too]\ncommand = "x"\n'),
    ],
)  # fmt: skip
def test_it_is_taken_out_however_it_was_written(text: str, changed: str) -> None:
    assert toml.remove(text, PATH) == changed


@pytest.mark.parametrize(
    "word", ['a "quoted" one', "C:\\Users\\ana\\retentive.exe", "für ☕ 🐕", "tab\there", "#[x]='"]
)
def test_any_word_is_read_as_it_was_written(word: str) -> None:
    written = toml.put("", PATH, {"command": word, "args": [word]})
    assert toml.parse(written)["mcp_servers"]["retentive"] == {"command": word, "args": [word]}


@pytest.mark.parametrize("text", ["a = ", "[a", "a = 1\na = 2", json.dumps({"a": 1}), "a = " + "[" * 100_000])
def test_what_is_not_toml_is_refused(text: str) -> None:
    with pytest.raises(Invalid):
        toml.parse(text)
