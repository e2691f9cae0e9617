"""Memories as a table."""

from collections.abc import Sequence
from datetime import datetime

from rich.table import Table
from rich.text import Text

from retentive.cli.draw.console import get_columns, plain
from retentive.cli.draw.signs import format_age
from retentive.cli.draw.tables import Column, make_table
from retentive.ids import shorten_id
from retentive.model import Memory, Status

WIDE_COLUMNS = 110  # columns from which there is room for tags beside the text
STATUS_STYLES = {Status.SUPERSEDED: "yellow", Status.FORGOTTEN: "red", Status.EXPIRED: "yellow"}


def make_memory_table(memories: Sequence[Memory], now: datetime) -> Table:
    """Make a table of memories: text, kind, age, short id; the status if one is not active; tags if there is room."""
    has_ended = any(each.status is not Status.ACTIVE for each in memories)
    has_tags = get_columns() >= WIDE_COLUMNS and any(each.tags for each in memories)
    columns = [Column("text", is_flexible=True), Column("kind", style="cyan")]
    columns += [Column("tags", style="dim")] if has_tags else []
    columns += [Column("status")] if has_ended else []
    columns += [Column("age", is_right=True, style="dim"), Column("id", style="dim")]
    return make_table(columns, [_make_row(each, now, has_tags=has_tags, has_ended=has_ended) for each in memories])


def _make_row(memory: Memory, now: datetime, *, has_tags: bool, has_ended: bool) -> list[Text | str]:
    row: list[Text | str] = [memory.content, memory.kind]
    row += [" ".join(f"#{tag}" for tag in memory.tags)] if has_tags else []
    row += [make_status(memory.status)] if has_ended else []
    return [*row, format_age(memory.created, now), shorten_id(memory.id)]


def make_status(status: Status) -> Text:
    return plain("" if status is Status.ACTIVE else status, STATUS_STYLES.get(status, ""))
