"""The console that drawings are printed on, and the text that they are made of."""

import shutil
import sys
from typing import Any

from rich.console import Console, RenderableType
from rich.segment import Segment, Segments
from rich.text import Text

from retentive import config
from retentive.cli.sanitise import sanitise


def open_console(stream: Any = None, *, is_live: bool = False) -> Console:
    """Open a console of the width of the screen. Without colours it sends no escape sequences at all.

    A live one redraws its lines, as a progress bar does, also without colours.
    """
    stream = stream or sys.stdout
    has_colour = config.wants_colour(stream.isatty())
    return Console(
        file=stream,
        force_terminal=has_colour or is_live,
        force_interactive=None if is_live else False,
        color_system="standard" if has_colour else None,
        no_color=not has_colour,
        width=get_columns(),
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
    )


def get_columns() -> int:
    """Return the columns of the screen."""
    return shutil.get_terminal_size().columns


def draw(*drawings: RenderableType) -> None:
    """Print drawings, without blanks at the ends of lines."""
    console = open_console()
    for each in drawings:
        for line in console.render_lines(each, pad=False):
            console.print(Segments([*_strip_end(line), Segment.line()]), end="")


def _strip_end(line: list[Segment]) -> list[Segment]:
    end = len(line)
    while end and not line[end - 1].text.strip():
        end -= 1
    if not end:
        return []
    last = line[end - 1]
    return [*line[: end - 1], Segment(last.text.rstrip(), last.style, last.control)]


def plain(text: object, style: str = "") -> Text:
    """Make a text of one line, without control characters."""
    return Text(sanitise(str(text)), style)


def has_blocks(stream: Any = None) -> bool:
    """Whether block characters can be written to the stream."""
    encoding = getattr(stream or sys.stdout, "encoding", None) or "utf-8"
    return encoding.lower().startswith(("utf", "cp65001"))
