"""Import memories of other products, or an export."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from retentive import serialize
from retentive.api import Retentive
from retentive.cli import output
from retentive.cli.args import is_json, open_source, pick_options
from retentive.model import ImportMemoriesResult


def _import(memory: Retentive, arguments: Any) -> int:
    source = open_source(arguments.path, "memories")
    with output.show_progress("importing", "entries") as progress:
        progress.show_name(Path(arguments.path).name)
        done = memory.import_memories(
            source,
            arguments.format,
            trust=arguments.trust,
            into=arguments.into,
            dry_run=arguments.dry_run,
            progress=_make_reporter(progress),
            **pick_options(arguments, ("session", "tags")),
        )
    if is_json(arguments):
        output.print_json(serialize.import_result(done))
    else:
        _print_import(arguments.path, done)
    return output.PARTLY_DONE_EXIT_CODE if done.refused else 0


def _make_reporter(progress: output.Progress) -> Callable[[int, int | None], None]:
    """Report the progress of reading; then, for an export, of embedding."""
    is_read = False

    def report(done: int, total: int | None) -> None:
        nonlocal is_read
        progress.report_stage("embedding" if is_read else "importing", done, total)
        is_read = is_read or done == total

    return report


def _print_import(path: str, done: ImportMemoriesResult) -> None:
    kept = "would be imported" if done.dry_run else "imported"
    counted = {
        "proposed": done.proposed,
        "already known": done.known,
        "superseded": done.superseded,
        "refused": done.refused,
    }
    more = "".join(f", {number} {what}" for what, number in counted.items() if number)
    output.print_line(f"{path} ({done.format}): {output.format_count(done.created, 'memory', 'memories')} {kept}{more}")
    if done.lines:
        output.print_table(("what", "became", "number"), _build_outcome_rows(done))
    if done.dry_run:
        for text in (*_format_kinds(done), *done.examples):
            output.print_line(f"  {text[:200]}")
    if done.proposed and not done.dry_run:
        output.print_line("some may replace what you said: `retentive review` shows them")
    if done.pending:
        output.print_line(f"vectors pending: {done.pending}; `retentive backfill` computes them")
    output.print_refusals(done.refusals)
    if done.refused > len(done.refusals):
        sys.stderr.write(f"and {done.refused - len(done.refusals)} more\n")
    output.print_notes(done.notes)


def _build_outcome_rows(done: ImportMemoriesResult) -> list[tuple[str, str, int]]:
    return [(type, outcome, number) for type, counts in done.lines.items() for outcome, number in counts.items()]


def _format_kinds(done: ImportMemoriesResult) -> list[str]:
    return [", ".join(f"{number} {kind}" for kind, number in done.kinds.items())] if done.kinds else []


VERBS: dict[str, Callable[[Retentive, Any], int]] = {"import": _import}
