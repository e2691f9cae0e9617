"""Show what a store holds: the dashboard, statistics, the timeline."""

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from retentive import serialize
from retentive.api import Retentive
from retentive.cli import output
from retentive.cli.args import FILTER_OPTIONS, is_json, pick_options
from retentive.cli.backup import find_missing_store
from retentive.cli.words import format_count

if TYPE_CHECKING:
    from retentive.cli.draw.dashboard import Overview

DASHBOARD_DAYS = 14
NEWEST = 5  # memories on the dashboard
MAX_COUNTED_PROPOSALS = 100
MAX_NAMED_NAMESPACES = 5


def show_dashboard(memory: Retentive, arguments: Any) -> int:
    """Show the dashboard; of a namespace without anything, how to begin."""
    from retentive.cli.draw.console import draw
    from retentive.cli.draw.dashboard import make_beginning, make_dashboard

    overview = _collect_overview(memory)
    if is_json(arguments):
        output.print_json(_encode_overview(overview, len(memory.proposals.list(MAX_COUNTED_PROPOSALS))))
    elif overview.figures["memories"] or overview.figures["events"] or overview.figures["files"]:
        draw(make_dashboard(overview))
    else:
        others = [name for name in overview.figures["namespaces"] if name != memory.namespace]
        draw(make_beginning(str(overview.figures["store"].get("path", "")), others[:MAX_NAMED_NAMESPACES]))
    return 0


def _encode_overview(overview: "Overview", proposals: int) -> dict[str, Any]:
    return {
        "stats": overview.figures,
        "newest": [serialize.memory(each) for each in overview.newest],
        "days": [serialize.timeline_day(each) for each in overview.days],
        "proposals": proposals,
    }


def show_beginning(arguments: Any) -> bool:
    """Show how to begin, if the store does not exist: nothing is created. Return whether that was so."""
    where = find_missing_store(arguments)
    if where is None or is_json(arguments):
        return False
    from retentive.cli.draw.console import draw
    from retentive.cli.draw.dashboard import make_beginning

    draw(make_beginning(f"{where} (created with the first memory)", ()))
    return True


def _collect_overview(memory: Retentive) -> "Overview":
    from retentive.cli.draw.dashboard import Overview

    return Overview(
        figures=memory.stats(),
        newest=memory.list(NEWEST),
        days=memory.timeline(DASHBOARD_DAYS),
        waiting=describe_waiting(memory),
        now=datetime.now(UTC),
    )


def describe_waiting(memory: Retentive) -> str:
    """Describe how many proposals wait, and how to look at them."""
    from retentive.cli.draw.figures import NO_PROPOSALS

    count = len(memory.proposals.list(MAX_COUNTED_PROPOSALS))
    if not count:
        return NO_PROPOSALS
    number = f"{count} or more" if count == MAX_COUNTED_PROPOSALS else str(count)
    return f"{number} waiting: retentive review"


def _stats(memory: Retentive, arguments: Any) -> int:
    """Print ten lines for people; all figures with --all, and in a pipe."""
    figures = memory.stats()
    if is_json(arguments):
        output.print_json(figures)
    elif getattr(arguments, "all", False) or not sys.stdout.isatty():
        output.print_table(("figure", "value"), _flatten(figures))
    else:
        from retentive.cli.draw.console import draw
        from retentive.cli.draw.figures import list_figures, make_facts

        draw(make_facts(list_figures(figures, describe_waiting(memory))))
    return 0


def _flatten(figures: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in figures.items():
        if isinstance(value, dict):
            yield from _flatten(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", json.dumps(value, ensure_ascii=False) if isinstance(value, list | float) else value


def _timeline(memory: Retentive, arguments: Any) -> int:
    days = memory.timeline(arguments.days, **pick_options(arguments, FILTER_OPTIONS))
    if is_json(arguments):
        output.print_json({"days": [serialize.timeline_day(each) for each in days]})
        return 0
    busy = [each for each in days if not each.is_empty]
    if not sys.stdout.isatty():
        names = ("day", "made", "replaced", "forgotten", "sessions", "messages")
        output.print_table((), [[getattr(each, name) for name in names] for each in busy])
    elif busy:
        from retentive.cli.draw.console import draw
        from retentive.cli.draw.figures import make_timeline

        draw(make_timeline(busy))
    else:
        output.print_line(f"nothing happened in {format_count(len(days), 'day')}; --days looks further back")
    return 0


VERBS: dict[str, Callable[[Retentive, Any], int]] = {
    "dashboard": show_dashboard,
    "stats": _stats,
    "timeline": _timeline,
}
