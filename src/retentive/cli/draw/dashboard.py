"""The dashboard: one screen that says what a store knows, what is new, what waits, and what to try."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from retentive.cli.draw.console import get_columns, has_blocks, plain
from retentive.cli.draw.figures import NO_PROPOSALS, describe_store, find_problem, make_facts
from retentive.cli.draw.memories import make_memory_table
from retentive.cli.draw.signs import make_bar, make_spark_line
from retentive.cli.draw.tables import make_grid
from retentive.cli.words import format_count
from retentive.model import Memory, TimelineDay

MAX_KINDS = 5  # rows of kinds; the rarest others are one row
MAX_BAR_CELLS = 40
COUNT_WIDTH = 7
KIND_WIDTH = 11  # of the longest kind: preference, instruction


class Overview(NamedTuple):
    """What the dashboard shows."""

    figures: Mapping[str, Any]
    """Those of `stats`."""
    newest: Sequence[Memory]
    days: Sequence[TimelineDay]
    waiting: str
    """The proposals that wait, in words."""
    now: datetime


def make_dashboard(overview: Overview) -> Group:
    figures = overview.figures
    parts: list[RenderableType] = [_make_title(figures), Text(""), *_make_kinds(figures["active_by_kind"])]
    parts += [_make_days(overview.days), Text(""), make_memory_table(overview.newest, overview.now), Text("")]
    return Group(*parts, make_facts(_list_facts(overview)), Text(""), make_steps(_list_steps(overview)))


def _make_title(figures: Mapping[str, Any]) -> Text:
    active = figures["by_status"].get("active", 0)
    counted = [format_count(active, "memory", "memories")]
    for name, one in (("sessions", "conversation"), ("files", "file")):
        counted += [format_count(figures[name], one)] if figures[name] else []
    return Text.assemble(
        plain("Retentive", "bold cyan"), plain(f"  {', '.join(counted)}", "bold"), plain(f"  in {figures['namespace']}")
    )


def _make_kinds(counts: Mapping[str, int]) -> list[Table]:
    """Make a bar for each of the most frequent kinds, and one for all others together."""
    ranked = sorted(counts.items(), key=lambda each: -each[1])
    if len(ranked) > MAX_KINDS:
        rare = ranked[MAX_KINDS - 1 :]
        ranked = [*ranked[: MAX_KINDS - 1], (f"{len(rare)} others", sum(count for _, count in rare))]
    most = max((count for _, count in ranked), default=1)
    cells = min(MAX_BAR_CELLS, get_columns() - KIND_WIDTH - COUNT_WIDTH - 4)
    rows = [
        (
            plain(kind, "cyan"),
            Text(f"{count:{COUNT_WIDTH},}"),
            Text(make_bar(count / most, cells, blocks=has_blocks()), "green"),
        )
        for kind, count in ranked
    ]
    return [make_grid(*rows, widths=(KIND_WIDTH, COUNT_WIDTH, cells))] if rows else []


def _make_days(days: Sequence[TimelineDay]) -> Table:
    """Make the spark line of the memories made on each day, the oldest first."""
    counts = [each.made for each in reversed(days)]
    line = Text.assemble(
        (make_spark_line(counts, blocks=has_blocks()), "green"),
        plain(f"  in {len(days)} days, {days[0].made if days else 0} today", "dim"),
    )
    widths = (KIND_WIDTH, COUNT_WIDTH, None)
    return make_grid((plain("added"), Text(f"{sum(counts):{COUNT_WIDTH},}"), line), widths=widths)


def _list_facts(overview: Overview) -> list[tuple[str, str, str]]:
    problem, pending = find_problem(overview.figures), overview.figures["vectors_pending"]
    health = problem or (f"good; {format_count(pending, 'vector')} pending" if pending else "good")
    return [
        ("proposals", overview.waiting, "" if overview.waiting == NO_PROPOSALS else "yellow"),
        ("health", health, "red" if problem else "green"),
        ("store", describe_store(overview.figures["store"]), ""),
    ]


def _list_steps(overview: Overview) -> list[tuple[str, str]]:
    steps = [('retentive search "..."', "ask in your own words")]
    if not overview.figures["events"]:
        steps.append(("retentive install", "connect Claude Code, Cursor and others"))
    else:
        steps.append(("retentive timeline", "what was added, day by day"))
    return [*steps, ("retentive --help", "all commands")]


def make_steps(steps: Sequence[tuple[str, str]]) -> Table:
    """Make a line for each command: what to type, and what it does."""
    width = max(len(command) for command, _ in steps)
    rows = [(plain(command, "bold"), plain(what, "dim")) for command, what in steps]
    return make_grid(*rows, widths=(width, None), indent=2)


def make_beginning(where: str, others: Sequence[str]) -> Group:
    """Make the first screen, of a store that has nothing yet. `others` are namespaces that have something."""
    parts: list[RenderableType] = [
        Text.assemble(
            plain("Retentive", "bold cyan"), plain("  long-term memory for AI agents. Nothing is stored yet.")
        ),
        Text(""),
        make_steps(
            [
                ('retentive add "My dog is called Rex"', "add a first memory"),
                ('retentive search "what is my pet called"', "find it by its meaning"),
                ("retentive install", "connect Claude Code, Cursor and others"),
                ("retentive demo", "see it work, in a temporary store"),
                ("retentive --help", "all commands"),
            ]
        ),
        Text(""),
        make_facts([("store", where, "")]),
    ]
    if others:
        names = ", ".join(others)
        parts.append(make_facts([("elsewhere", f"there are memories in {names}: retentive -n {others[0]} list", "")]))
    return Group(*parts)
