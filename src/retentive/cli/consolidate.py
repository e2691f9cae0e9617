"""Old memories merged and summed up, shown before or after; and a run undone."""

import sys
from collections.abc import Callable
from typing import Any

from retentive import serialize
from retentive.api import Retentive
from retentive.cli import output
from retentive.cli.args import is_json
from retentive.errors import Invalid
from retentive.model import ConsolidatedGroup, Consolidation


def _consolidate(memory: Retentive, arguments: Any) -> int:
    if arguments.undo is not None:
        return _undo(memory, arguments)
    show_scanned = output.progress(None, "memories read")
    done = memory.consolidate(
        older_than=arguments.older_than,
        limit=arguments.limit,
        dry_run=arguments.dry_run,
        progress=lambda scanned, _: show_scanned(scanned),
    )
    if sys.stderr.isatty():
        sys.stderr.write("\n")
    if is_json(arguments):
        output.as_json(serialize.consolidation(done))
    else:
        _show(done)
    return 0


def _show(done: Consolidation) -> None:
    for each in done.groups:
        _show_group(each, is_done=done.done)
    merged = sum(len(each.cited) for each in done.groups)
    verb = "became" if done.done else "would become"
    if done.groups:
        output.say(f"{output.counted(merged, 'memory', 'memories')} {verb} {len(done.groups)}")
    else:
        output.say(f"nothing to consolidate in {output.counted(done.scanned, 'memory', 'memories')} old enough")
    if not done.complete:
        output.say("there may be more: run it again")
    if done.run:
        output.say(f"undo: retentive consolidate --undo {done.run}")
    output.notes(done.notes)


def _show_group(each: ConsolidatedGroup, *, is_done: bool) -> None:
    head = each.id if each.id and is_done else "would be made"
    output.say(output.line(f"{each.rule}  {head}"))
    for text in each.text.splitlines():
        output.say(f"  = {output.line(text)}")
    for cited in each.cited:
        output.say(output.line(f"    {cited.time:%Y-%m-%d}  {cited.id}  {cited.content}"))


def _undo(memory: Retentive, arguments: Any) -> int:
    if arguments.dry_run:
        raise Invalid("--undo has no dry run", "Leave out --dry-run.")
    undone = memory.undo_consolidation(arguments.undo)
    if is_json(arguments):
        output.as_json(serialize.undone_consolidation(undone))
        return 0
    restored = output.counted(len(undone.restored), "memory", "memories")
    output.say(f"{restored} active again; forgotten: {', '.join(undone.forgotten) or 'none'}")
    for each in undone.left:
        output.say(output.line(f"left as it is: {each}"))
    return 0


VERBS: dict[str, Callable[[Retentive, Any], int]] = {"consolidate": _consolidate}
