"""Figures of a store: the ten lines of `stats`, and the days of `timeline`."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from retentive.cli.draw.console import get_columns, has_blocks, plain
from retentive.cli.draw.signs import format_size, make_bar
from retentive.cli.draw.tables import GAP, Column, make_grid, make_table
from retentive.cli.words import format_count, join_counts
from retentive.model import TimelineDay

MAX_KINDS = 4  # that `stats` names
NAME_WIDTH = 13  # columns of the name of a figure
_DAY_BAR_CELLS = 16


def make_facts(facts: Sequence[tuple[str, str, str]]) -> Table:
    """Make a line for each fact: its name, its value and the style of this."""
    rows = [(plain(name, "dim"), plain(value, style)) for name, value, style in facts]
    return make_grid(*rows, widths=(NAME_WIDTH, None))


def list_figures(figures: Mapping[str, Any], waiting: str) -> list[tuple[str, str, str]]:
    """List the ten figures that matter. `waiting` are the proposals, in words."""
    problem = find_problem(figures)
    return [
        ("memories", _describe_memories(figures), "bold"),
        ("kinds", join_counts(figures["active_by_kind"], MAX_KINDS) or "none", ""),
        ("conversations", _describe_conversations(figures), ""),
        ("files", _describe_files(figures), ""),
        ("searches", _describe_searches(figures), ""),
        ("speed", _describe_speed(figures["latency_ms"]), ""),
        ("vectors", describe_vectors(figures), ""),
        ("proposals", waiting, "yellow" if waiting != NO_PROPOSALS else ""),
        ("store", describe_store(figures["store"]), ""),
        ("problems", problem or "none seen; `retentive doctor` checks everything", "red" if problem else ""),
    ]


NO_PROPOSALS = "none waiting"


def _describe_memories(figures: Mapping[str, Any]) -> str:
    counts = figures["by_status"]
    return f"{join_counts({'active': counts.get('active', 0), **counts})}; in {figures['namespace']}"


def _describe_conversations(figures: Mapping[str, Any]) -> str:
    return f"{format_count(figures['sessions'], 'conversation')}, {format_count(figures['events'], 'message')}"


def _describe_files(figures: Mapping[str, Any]) -> str:
    if not figures["files"]:
        return "none; `retentive index FOLDER` adds some"
    return f"{format_count(figures['files'], 'file')}, {format_count(figures['passages'], 'passage')}"


def _describe_searches(figures: Mapping[str, Any]) -> str:
    if not figures["queries"]:
        return "none yet"
    return f"{format_count(figures['queries'], 'search', 'searches')}, {figures['hit_rate']:.0%} found something"


def _describe_speed(latencies: Mapping[str, Any]) -> str:
    totals = [stages["total"] for stages in latencies.values() if "total" in stages]
    if not totals:
        return "not measured yet"
    usual = max(totals, key=lambda each: each["count"])
    return f"half of the searches within {usual['p50']:.0f} ms, 95 % within {usual['p95']:.0f} ms"


def describe_vectors(figures: Mapping[str, Any]) -> str:
    active = next((each for each in figures["spaces"] if each["state"] == "active"), None)
    made = f"{active['vectors']} of {active['model'] or active['name']}" if active else "none"
    pending = figures["vectors_pending"]
    return f"{made}; {pending} more pending" if pending else made


def describe_store(facts: Mapping[str, Any]) -> str:
    """Describe on one line where a store is, and its size. Of a long path the end is shown."""
    where = str(facts.get("path") or facts["engine"])
    size = f", {format_size(facts['bytes'])}" if facts.get("bytes") else ""
    room = get_columns() - NAME_WIDTH - GAP - len(size)
    return f"{where if len(where) <= room else f'…{where[len(where) - room + 1 :]}'}{size}"


def find_problem(figures: Mapping[str, Any]) -> str:
    """Return the first problem that the figures tell of; empty if there is none."""
    failures = {**figures["failures"], **figures["worker"].get("failures", {})}
    for part, reason in failures.items():
        return f"{part}: {reason}"
    return str(figures["model_difference"])


def make_timeline(days: Sequence[TimelineDay]) -> Table:
    """Make a row for each day, with a bar for the memories that were made."""
    most = max((each.made for each in days), default=0) or 1
    heads = ("replaced", "forgotten", "messages", "sessions")
    columns = [Column("day"), Column("added", is_right=True), Column("", is_flexible=True)]
    return make_table(
        [*columns, *(Column(head, is_right=True) for head in heads)], [_make_day(each, most) for each in days]
    )


def _make_day(day: TimelineDay, most: int) -> tuple[Any, ...]:
    bar = Text(make_bar(day.made / most, _DAY_BAR_CELLS, blocks=has_blocks()).rstrip(), "green")
    counts = (day.replaced, day.forgotten, day.messages, day.sessions)
    return f"{day.day:%a %Y-%m-%d}", day.made or "", bar, *(count or "" for count in counts)
