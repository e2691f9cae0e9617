"""Complete words in the shell."""

from contextlib import suppress
from typing import TYPE_CHECKING

from retentive.surface.field import Field

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

VARIABLE = "_RETENTIVE_COMPLETE"  # set by the script when it wants completions


def complete_value(field: Field, incomplete: str) -> "list[CompletionItem]":
    """Return the values that a word may become."""
    from click.shell_completion import CompletionItem

    if field.type == "path":
        return [CompletionItem(incomplete, type="file")]
    return [CompletionItem(each) for each in field.choices if each.startswith(incomplete)]


def make_script(shell: str) -> str:
    """Make the script that a shell reads once. It asks the program for each completion."""
    from click.shell_completion import BashComplete, FishComplete, ZshComplete

    from retentive.cli.program import NAME, build_program

    scripts = {"bash": BashComplete, "zsh": ZshComplete, "fish": FishComplete}
    return scripts[shell](build_program(), {}, NAME, VARIABLE).source()


def complete(instruction: str) -> None:
    """Answer the script. What goes wrong is silent: it would be written into the line that the user types."""
    from click.shell_completion import shell_complete

    from retentive.cli.program import NAME, build_program

    with suppress(Exception):
        shell_complete(build_program(), {}, NAME, VARIABLE, instruction)
