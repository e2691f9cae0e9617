"""Errors, notes and refusals on standard error: wrapped between words, the hint on a line of its own."""

import sys

from rich.text import Text

from retentive.cli.draw.console import open_console, plain


def draw_message(mark: str, style: str, text: str, hint: str = "") -> None:
    """Print a message after its mark, and the hint below it."""
    console = open_console(sys.stderr)
    console.print(Text.assemble(plain(mark, style), " ", plain(text)))
    if hint:
        console.print(plain(hint))
