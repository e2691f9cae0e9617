"""What can be typed: the order of words, what is said of mistakes, the help. Every declared verb has a handler."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from shlex import split
from typing import Any

import pytest

from retentive.cli import about, commands, main
from retentive.cli.args import Arguments
from retentive.cli.help import render_group_help, render_program_help, render_verb_help
from retentive.cli.mistakes import GROUP_SYNONYMS, SYNONYMS
from retentive.cli.program import parse
from retentive.surface.options import EVERYWHERE
from retentive.surface.verb import Verb, VerbGroup
from retentive.surface.verbs import TOP_LEVEL, list_verbs
from tests.support import Run

VERBS = {verb.name: verb for verb in list_verbs()}
GROUPS = [each for each in TOP_LEVEL.values() if isinstance(each, VerbGroup)]


def parsed(line: str) -> Arguments:
    arguments = parse(split(line))
    assert arguments is not None
    return arguments


def test_every_verb_has_a_handler_and_every_handler_a_verb() -> None:
    assert {*about.VERBS, *commands._WITHOUT_STORE, *commands._VERBS, "hook"} == {*VERBS}


@pytest.mark.parametrize("example", [each for verb in VERBS.values() for each in verb.examples])
def test_every_example_can_be_typed(example: str) -> None:
    verb = parsed(example).verb
    assert example in verb.examples


def test_every_verb_has_an_example() -> None:
    assert [name for name, verb in VERBS.items() if not verb.examples] == []


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("add the user likes tea", {"text": "the user likes tea"}),
        ("add the user --kind fact likes tea", {"text": "the user likes tea", "kind": "fact"}),
        ("add -- -5 degrees --kind x", {"text": "-5 degrees --kind x"}),
        ("search pet dog -l 3 -j", {"query": "pet dog", "limit": 3, "json": True}),
        ("--json -n alice search dog", {"query": "dog", "json": True, "namespace": "alice"}),
        ("-nalice search dog --db=x.db", {"query": "dog", "namespace": "alice", "db": "x.db"}),
        ("-n alice search dog -n bob", {"query": "dog", "namespace": "bob"}),
        ("context when is the vet -s monday", {"query": "when is the vet", "session": "monday"}),
        ('session append s1 --role tool "text"', {"session": "s1", "role": "tool", "text": "text"}),
        ("session --json append s1 two words", {"session": "s1", "text": "two words", "json": True}),
        ("expect what is my dog called --finds a", {"question": "what is my dog called", "finds": ["a"]}),
        ("expect --finds a dog", {"question": "dog", "finds": ["a"]}),
        ("forget a b -y", {"ids": ["a", "b"], "yes": True}),
        ("search dog --include memories,files --inc skills", {"include": ["memories", "files", "skills"]}),
        ("search dog --min-rel 0.5 --min-importance 7", {"min_relevance": 0.5, "min_importance": 7}),
        ("skill add report --disabled", {"name": "report", "enabled": False}),
        ("contact add Anna Keller", {"name": "Anna Keller"}),
        ("contact update anna --type ''", {"type": ""}),
        ("search -", {"query": "-"}),
    ],
)
def test_options_and_words_stand_anywhere(line: str, expected: dict[str, Any]) -> None:
    assert {name: parsed(line).given[name] for name in expected} == expected


@pytest.mark.parametrize(
    ("line", "verb"),
    [
        ("review", "review list"),
        ("review --limit 3", "review list"),
        ("models", "models list"),
        ("profile", "profile show"),
        ("--json config", "config list"),
    ],
)
def test_a_group_alone_stands_for_a_verb(line: str, verb: str) -> None:
    assert parsed(line).run == verb


def test_what_was_not_given_has_its_default() -> None:
    arguments = parsed("search dog")
    assert (arguments.limit, arguments.also, arguments.why, arguments.fusion) == (10, [], False, None)
    assert {*arguments.given} == {"query"}
    with pytest.raises(AttributeError):
        _ = arguments.nothing


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["serch", "dog"], "Did you mean `retentive search`?"),
        (["remember", "x"], "Did you mean `retentive add`?"),
        (["delete", "x"], "Did you mean `retentive forget`?"),
        (["find", "x"], "Did you mean `retentive search`?"),
        (["ls"], "Did you mean `retentive list`?"),
        (["rm", "x"], "Did you mean `retentive forget`?"),
        (["show", "x"], "Did you mean `retentive get`?"),
        (["sessions"], "Did you mean `retentive session`?"),
        (["append", "x"], "Did you mean `retentive session append`?"),
        (["session", "rm", "x"], "Did you mean `retentive session delete`?"),
        (["review", "acept", "x"], "Did you mean `retentive review accept`?"),
        (["The user likes tea"], "`retentive add TEXT` stores a text"),
        (["list", "--kid", "fact"], "Did you mean --kind?"),
        (["get", "x", "--min-importance", "3"], "It is an option of `search`"),
        (["add", "wear", "--warm", "clothes"], "Put -- before the text."),
        (["add", "x", "--kind", "prefrence"], "Did you mean preference?"),
        (["search", "x", "--limit", "many"], "--limit 'many' is not a whole number"),
        (["search", "x", "--min-relevance", "high"], "--min-relevance 'high' is not a number"),
        (["get"], "ID is missing. Usage: `retentive get ID [options]`"),
        (["get", "a", "b"], "too many words: b"),
        (["list", "--limit"], "option '--limit' requires an argument"),
        (["session", "show", "s", "--before", "3", "--around", "9"], "--before and --around exclude each other"),
        (["skill", "add", "x", "--cron", "* * * * *", "--manual"], "--cron and --manual exclude each other"),
        (["help", "serch"], "Did you mean `retentive help search`?"),
    ],
)
def test_a_mistake_is_answered_in_one_line(words: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    captured = capsys.readouterr()
    assert (captured.out, captured.err.count("\n")) == ("", 1)
    assert told in captured.err


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["add"], 2, "no text"),
        (["get", "4f0c91ab"], 3, "no memory '4f0c91ab'"),
        (["add", "x", "--expires", "someday"], 2, "someday"),
        (["list", "--namespace", "two words"], 2, "'two words' is not a namespace"),
    ],
)
def test_a_wrong_value_is_answered_in_one_line(
    refused: Run, monkeypatch: pytest.MonkeyPatch, words: list[str], code: int, told: str
) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    error = refused(*words, code=code)
    assert (error.count("\n"), told in error) == (1, True)


def test_a_store_that_is_a_folder_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--db", str(tmp_path), "list"]) in (2, 5)
    assert str(tmp_path) in capsys.readouterr().err


def test_mistakes_are_json_when_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serch", "dog", "--json"]) == 2
    assert '"type": "Invalid"' in capsys.readouterr().err


def test_what_is_suggested_exists() -> None:
    assert {*SYNONYMS.values()} <= {*TOP_LEVEL}
    assert {*SYNONYMS}.isdisjoint(TOP_LEVEL)
    names = {verb.own_name for group in GROUPS for verb in group.verbs}
    assert {each for meant in GROUP_SYNONYMS.values() for each in meant} <= names


def test_a_letter_means_the_same_everywhere() -> None:
    letters: dict[str, set[str]] = {}
    for field in (*EVERYWHERE, *(field for verb in VERBS.values() for field in verb.options)):
        if field.short:
            letters.setdefault(field.short, set()).add(field.option)
    assert {letter: names for letter, names in letters.items() if len(names) > 1} == {}
    assert letters.keys() >= {"-n", "-l", "-k", "-t", "-s", "-i", "-j"}


@pytest.mark.parametrize("verb", VERBS.values(), ids=lambda verb: verb.name)
def test_the_options_of_a_verb_differ(verb: Verb) -> None:
    names = [
        name for field in (*EVERYWHERE, *verb.options) for name in (field.option, field.off_flag, field.short) if name
    ]
    assert len(names) == len({*names})
    assert len({field.name for field in verb.fields}) == len(verb.fields)


def list_helps() -> list[Callable[[], str]]:
    verbs = [lambda verb=verb: render_verb_help(verb) for verb in VERBS.values()]
    groups = [lambda group=group: render_group_help(group) for group in GROUPS]
    return [render_program_help, *verbs, *groups]


@pytest.mark.parametrize("render", list_helps())
def test_the_help_fits_the_screen(render: Callable[[], str], monkeypatch: pytest.MonkeyPatch) -> None:
    """80 columns. What is longer is an example, which is typed as one line."""
    monkeypatch.setenv("COLUMNS", "80")
    lines = [line for line in render().splitlines() if not line.startswith("  ") or line.lstrip().startswith("-")]
    assert max(map(len, lines)) <= 80


def test_the_help_of_the_program_has_a_line_for_each_verb(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = render_program_help().splitlines()
    rows = {line.split()[0]: line for line in lines if line.startswith("  ") and line[2] != " "}
    assert rows.keys() >= TOP_LEVEL.keys()
    assert max(len(rows[name]) for name in TOP_LEVEL) <= 80


@pytest.mark.parametrize("words", [["--help"], ["-h"], ["help"], [], ["--json"]])
def test_the_program_explains_itself(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 0
    assert "Everyday" in capsys.readouterr().out


@pytest.mark.parametrize("words", [["search", "-h"], ["help", "search"], ["--db", "x", "search", "dog", "--help"]])
def test_a_verb_explains_itself(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("usage: retentive search [QUERY ...] [options]\n")
    assert [title for title in ("options:", "filters:", "the past:", "everywhere:", "examples:") if title in shown] == [
        "options:", "filters:", "the past:", "everywhere:", "examples:",
    ]  # fmt: skip


@pytest.mark.parametrize("words", [["version"], ["--version"], ["-V"]])
def test_the_version_is_printed(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 0
    assert capsys.readouterr().out.startswith("retentive 0.")


def test_help_and_version_import_nothing_of_the_library() -> None:
    code = (
        "from retentive.cli import main; main(['version']); main(['--help']); import sys; print('LOADED', *sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env={**os.environ})
    loaded = {*done.stdout.rpartition("LOADED")[2].split()}
    assert {"retentive.api", "retentive.config", "apsw", "rich", "httpx"}.isdisjoint(loaded)
