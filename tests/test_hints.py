"""Hints name verbs of the library; each door words them for its own users."""

import ast
import re
from collections.abc import Iterator
from functools import reduce
from pathlib import Path

import pytest

import retentive
from retentive import Retentive, config, hints
from retentive.errors import NotFound
from retentive.mcp import catalogue
from retentive.mcp.catalogue import Offer
from retentive.surface.options import EVERYWHERE
from retentive.surface.verb import Verb
from retentive.surface.verbs import find_verb

PACKAGE = Path(retentive.__file__).parent
DOORS = ("cli", "clients", "hooks", "http", "mcp")
ON_THE_TERMINAL_ALONE = ("evaluation", "surface", "hints.py")
TOOLS = catalogue.select_tools(Offer.FULL)


def texts() -> Iterator[tuple[str, str]]:
    """The texts of the package below its doors, without docstrings; what is put into one is an X."""
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(PACKAGE)
        if name.parts[0] in (*DOORS, *ON_THE_TERMINAL_ALONE):
            continue
        tree = ast.parse(path.read_text())
        passed_over = {id(each.value) for each in ast.walk(tree) if isinstance(each, ast.Expr)}
        for each in ast.walk(tree):
            if isinstance(each, ast.JoinedStr):
                passed_over.update(map(id, each.values))
                yield (
                    str(name),
                    "".join(str(part.value) if isinstance(part, ast.Constant) else "X" for part in each.values),
                )
            elif isinstance(each, ast.Constant) and isinstance(each.value, str) and id(each) not in passed_over:
                yield str(name), each.value


def test_a_call_that_a_text_names_is_known_at_every_door() -> None:
    """Also to the end of its arguments: no call is left where commands are shown."""
    shown = [(name, hints.for_terminal(text)) for name, text in texts()]
    assert not [each for each in shown if re.search(r"`(Retentive\.)?[a-z_.]+\(", each[1])]


def test_below_the_doors_no_text_names_a_command_or_an_option() -> None:
    named = [(name, text) for name, text in texts() if re.search(r"\bretentive [a-z]", text)]
    assert not [each for each in named if each[0] != "config/settings.py"]


def test_every_verb_of_the_table_is_in_the_library(store: Retentive) -> None:
    for name in hints.VERBS:
        owner = config if name.startswith("config.") else store
        assert callable(reduce(getattr, name.removeprefix("config.").split("."), owner)), name


@pytest.mark.parametrize("name", hints.VERBS)
def test_every_command_of_the_table_can_be_typed(name: str) -> None:
    words = hints.VERBS[name].command.split()
    options = [word for word in words if word.startswith("-")]
    verb = " ".join(word for word in words if not word.startswith("-"))
    found = find_verb(verb) if verb else None
    fields = [*EVERYWHERE, *(found.options if isinstance(found, Verb) else ())]
    assert found or not verb
    assert {field.option for field in fields}.issuperset(options)


def test_every_tool_of_the_table_exists() -> None:
    named = {tool.split()[0] for verb in hints.VERBS.values() for tool in verb.tools}
    assert named <= TOOLS.keys()


@pytest.mark.parametrize(
    ("text", "typed"),
    [
        ("See `list()`.", "See `retentive list`."),
        ("`doctor(verify=True)` lists all.", "`retentive doctor --verify` lists all."),
        ("`reembed(model='my model')`", "`retentive reembed --model 'my model'`"),
        ("`contacts.rollback('c1', 3)` undoes it.", "`retentive contact rollback c1 3` undoes it."),
        ("`Retentive.migrate(FILE, SERVER)`", "`retentive migrate FILE SERVER`"),
        ("Choose another with `Retentive.open(FILE)`.", "Choose another with `--db FILE`."),
        ("Confirm it with `confirm=True`.", "Confirm it with `--yes`."),
        ("`within=3`, `finds=ID`", "`--within 3`, `--finds ID`"),
        ("`something.else()`, `rerank = none` and `list`", "`something.else()`, `rerank = none` and `list`"),
    ],
)
def test_the_terminal_shows_what_can_be_typed(text: str, typed: str) -> None:
    assert hints.for_terminal(text) == typed


@pytest.mark.parametrize(
    ("tools", "shown"),
    [
        (("memory_list", "memory_search"), "See `memory_list`."),
        (("memory_search",), "See `memory_search`."),
        ((), "See `retentive list` in a terminal."),
    ],
)
def test_a_server_names_the_best_tool_that_it_offers(tools: tuple[str, ...], shown: str) -> None:
    assert hints.for_tools("See `list()`.", tools) == shown


def test_a_program_reads_calls(store: Retentive) -> None:
    with pytest.raises(NotFound) as caught:
        store.notes.get("none")
    assert caught.value.hint == "`notes.list()` shows the existing ones."
