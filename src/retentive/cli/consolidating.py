"""Old memories merged and summed up, shown before or after; and a run undone."""

import sys
from collections.abc import Callable
from typing import Any

from retentive import wire
from retentive.app import Retentive
from retentive.cli import show
from retentive.cli.given import is_json
from retentive.errors import Invalid
from retentive.model import ConsolidatedGroup, Consolidation


def _consolidate(memory: Retentive, arguments: Any) -> int:
    if arguments.undo is not None:
        return _undo(memory, arguments)
    show_scanned = show.progress(None, "memories read")
    done = memory.consolidate(
        older_than=arguments.older_than,
        limit=arguments.limit,
        dry_run=arguments.dry_run,
        progress=lambda scanned, _: show_scanned(scanned),
    )
    if sys.stderr.isatty():
        sys.stderr.write("\n")
    if is_json(arguments):
        show.as_json(wire.consolidation(done))
    else:
        _show(done)
    return 0


def _show(done: Consolidation) -> None:
    for each in done.groups:
        _show_group(each, is_done=done.done)
    merged = sum(len(each.cited) for each in done.groups)
    verb = "became" if done.done else "would become"
    if done.groups:
        show.say(f"{show.counted(merged, 'memory', 'memories')} {verb} {len(done.groups)}")
    else:
        show.say(f"nothing to consolidate in {show.counted(done.scanned, 'memory', 'memories')} old enough")
    if not done.complete:
        show.say("there may be more: run it again")
    if done.run:
        show.say(f"undo: retentive consolidate --undo {done.run}")
    show.notes(done.notes)


def _show_group(each: ConsolidatedGroup, *, is_done: bool) -> None:
    head = each.id if each.id and is_done else "would be made"
    show.say(show.line(f"{each.rule}  {head}"))
    for text in each.text.splitlines():
        show.say(f"  = {show.line(text)}")
    for cited in each.cited:
        show.say(show.line(f"    {cited.time:%Y-%m-%d}  {cited.id}  {cited.content}"))


def _undo(memory: Retentive, arguments: Any) -> int:
    if arguments.dry_run:
        raise Invalid("--undo has no dry run", "Leave out --dry-run.")
    undone = memory.undo_consolidation(arguments.undo)
    if is_json(arguments):
        show.as_json(wire.undone_consolidation(undone))
        return 0
    restored = show.counted(len(undone.restored), "memory", "memories")
    show.say(f"{restored} active again; forgotten: {', '.join(undone.forgotten) or 'none'}")
    for each in undone.left:
        show.say(show.line(f"left as it is: {each}"))
    return 0


VERBS: dict[str, Callable[[Retentive, Any], int]] = {"consolidate": _consolidate}
