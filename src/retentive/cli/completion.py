"""Complete words in the shell: verbs and options through click, values from the declarations and from the store.

The script of a shell runs the program for each completion. Nothing is created and no model is loaded. Whatever goes
wrong is silent, because it would be written into the line that the user types.
"""

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import redirect_stderr, suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from retentive.surface.field import Field

if TYPE_CHECKING:
    from click import Context
    from click.shell_completion import CompletionItem

VARIABLE = "_RETENTIVE_COMPLETE"  # set by the script when it wants completions


class Suggestion(NamedTuple):
    value: str
    help: str = ""


def make_script(shell: str) -> str:
    """Make the script that a shell reads once. It asks the program for each completion."""
    from click.shell_completion import BashComplete, FishComplete, ZshComplete

    from retentive.cli.program import NAME, build_program

    scripts = {"bash": BashComplete, "zsh": ZshComplete, "fish": FishComplete}
    return scripts[shell](build_program(), {}, NAME, VARIABLE).source()


def complete(instruction: str) -> None:
    """Print the completions of the words that the script has put into the environment."""
    from click.shell_completion import shell_complete

    from retentive.cli.program import NAME, build_program

    with Path(os.devnull).open("w") as nowhere, redirect_stderr(nowhere), suppress(Exception):
        shell_complete(build_program(), {}, NAME, VARIABLE, instruction)
    sys.stdout.flush()


def complete_value(field: Field, context: "Context", incomplete: str) -> "list[CompletionItem]":
    """Return the values that a word may become."""
    from click.shell_completion import CompletionItem

    if field.type == "path" and not field.of:
        return [CompletionItem(incomplete, type="file")]
    try:
        found = [each for each in _suggest(field, context, incomplete) if each.value.startswith(incomplete)]
    except Exception:  # noqa: BLE001 - a store that cannot be opened has nothing to suggest
        found = []
    return [CompletionItem(each.value, help=each.help or None) for each in found]


def _suggest(field: Field, context: "Context", incomplete: str) -> Iterable[Suggestion]:
    if field.choices:
        return [Suggestion(each) for each in field.choices]
    match field.type:
        case "model":
            return _suggest_models()
        case "setting":
            return _suggest_settings()
        case "id" | "path" | "session" | "namespace":
            from retentive.cli.suggestions import read_suggestions

            given = {name: value for name in ("db", "namespace") if (value := _find_given(context, name))}
            return read_suggestions(field, given, incomplete)
    return []


def _suggest_models() -> Iterator[Suggestion]:
    from retentive.embed.catalogue import CATALOGUE

    return (Suggestion(name) for each in CATALOGUE for name in (each.name, *each.aliases))


def _suggest_settings() -> Iterator[Suggestion]:
    from retentive.config import SETTINGS

    return (Suggestion(each.name, each.meaning) for each in SETTINGS)


def _find_given(context: "Context | None", name: str) -> str | None:
    """Find an option of the line, after the verb or before it."""
    while context:
        if value := context.params.get(name):
            return str(value)
        context = context.parent
    return None
