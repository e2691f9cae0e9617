"""Consolidate old memories, print what was merged, and undo a run."""

import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from retentive import serialize
from retentive.api import Retentive
from retentive.cli import output
from retentive.cli.args import is_json
from retentive.errors import Invalid
from retentive.hints import for_terminal
from retentive.model import ConsolidatedGroup, Consolidation


def _consolidate(memory: Retentive, arguments: Any) -> int:
    if arguments.undo is not None:
        return _undo(memory, arguments)
    with output.show_progress("comparing", "memories") as progress:
        done = memory.consolidate(
            older_than=arguments.older_than,
            limit=arguments.limit,
            dry_run=arguments.dry_run,
            progress=lambda scanned, _: progress.report(scanned),
        )
    if sys.stderr.isatty():
        sys.stderr.write("\n")
    if is_json(arguments):
        output.print_json(serialize.consolidation(done))
    else:
        _print_consolidation(done)
    return 0


def _print_consolidation(done: Consolidation) -> None:
    for each in done.groups:
        _print_group(each, is_done=done.done)
    merged = sum(len(each.cited) for each in done.groups)
    verb = "became" if done.done else "would become"
    if done.groups:
        output.print_line(f"{output.format_count(merged, 'memory', 'memories')} {verb} {len(done.groups)}")
    else:
        output.print_raw(
            f"nothing to consolidate in {output.format_count(done.scanned, 'memory', 'memories')} old enough"
        )
    if not done.complete:
        output.print_line("there may be more: run it again")
    if done.run:
        output.print_line(f"undo: retentive consolidate --undo {done.run}")
    output.print_notes(done.notes)


def _print_group(each: ConsolidatedGroup, *, is_done: bool) -> None:
    head = output.show_id(each.id) if each.id and is_done else "would be created"
    output.print_line(f"{each.rule}  {head}")
    for text in each.text.splitlines():
        output.print_line(f"  = {text}")
    for cited in each.cited:
        output.print_line(f"    {cited.time:%Y-%m-%d}  {output.show_id(cited.id)}  {cited.content}")


def _undo(memory: Retentive, arguments: Any) -> int:
    if arguments.dry_run:
        raise Invalid("--undo has no dry run", "Leave out --dry-run.")
    undone = memory.undo_consolidation(arguments.undo)
    undone = replace(undone, left=tuple(map(for_terminal, undone.left)))
    if is_json(arguments):
        output.print_json(serialize.undo_consolidation_result(undone))
        return 0
    restored = output.format_count(len(undone.restored), "memory", "memories")
    output.print_line(f"{restored} active again; forgotten: {', '.join(undone.forgotten) or 'none'}")
    for each in undone.left:
        output.print_line(f"left as it is: {each}")
    return 0


VERBS: dict[str, Callable[[Retentive, Any], int]] = {"consolidate": _consolidate}
