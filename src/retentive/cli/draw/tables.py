"""Tables that fit the screen: the widest columns give way, cut with an ellipsis; or the last one is wrapped."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from rich.cells import cell_len
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from retentive.cli.draw.console import get_columns, plain

GAP = 2  # columns between two cells
MIN_COLUMN_WIDTH = 8  # no column is cut below this: a short id still fits


class Column(NamedTuple):
    """A column of a table."""

    head: str
    is_right: bool = False
    """Whether its cells are numbers, which end at the same place."""
    is_flexible: bool = False
    """Whether it gives way first if the table is wider than the screen."""
    style: str = ""


def make_table(columns: Sequence[Column], rows: Sequence[Sequence[Any]], *, wraps: bool = False) -> Table:
    """Make a table. Flexible columns, else the widest, are cut to the screen, or wrapped if `wraps`."""
    cells = [[each if isinstance(each, Text) else plain("" if each is None else each) for each in row] for row in rows]
    natural = [
        max([cell_len(column.head), *(cell_len(row[number].plain) for row in cells)])
        for number, column in enumerate(columns)
    ]
    widths = fit_widths(natural, [column.is_flexible for column in columns], get_columns())
    table = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="dim", show_edge=False)
    for column, width in zip(columns, widths, strict=True):
        table.add_column(
            plain(column.head),
            width=width,
            no_wrap=not (wraps and column.is_flexible),
            overflow="fold" if wraps else "ellipsis",
            justify="right" if column.is_right else "left",
            style=column.style,
        )
    for row in cells:
        table.add_row(*row)
    return table


def fit_widths(natural: Sequence[int], flexible: Sequence[bool], room: int) -> list[int]:
    """Return widths that fit into the room: first the flexible columns give way, then the widest of all."""
    widths = [*natural]
    room -= GAP * (len(widths) - 1)
    for able in (flexible, [True] * len(widths)):
        while sum(widths) > room:
            widest = max((number for number, is_able in enumerate(able) if is_able), key=widths.__getitem__, default=-1)
            if widest < 0 or widths[widest] <= MIN_COLUMN_WIDTH:
                break
            widths[widest] -= 1
    return widths


def make_grid(*rows: Sequence[RenderableType], widths: Sequence[int | None], indent: int = 0) -> Table:
    """Make rows of cells with a gap between. A width of None takes the rest of the screen and wraps there."""
    grid = Table.grid(padding=(0, GAP, 0, 0), pad_edge=False)
    if indent:
        grid.add_column(width=indent - GAP)
    for width in widths:
        grid.add_column(width=width, no_wrap=width is not None, overflow="fold" if width is None else "ellipsis")
    for row in rows:
        grid.add_row(*((Text(""),) if indent else ()), *row)
    return grid
