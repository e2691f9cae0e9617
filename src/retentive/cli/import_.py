"""What the verb does that brings in memories from elsewhere."""

import sys
from collections.abc import Callable
from typing import Any

from retentive import serialize
from retentive.api import Retentive
from retentive.cli import output
from retentive.cli.args import given, is_json, source_of
from retentive.model import ImportedMemories


def _import(memory: Retentive, arguments: Any) -> int:
    done = memory.import_memories(
        source_of(arguments.path, "memories"),
        arguments.format,
        trust=arguments.trust,
        dry_run=arguments.dry_run,
        progress=_progress(),
        **given(arguments, ("session", "tags")),
    )
    if is_json(arguments):
        output.as_json(serialize.imported(done))
    else:
        _told(arguments.path, done)
    return 0


def _progress() -> Callable[[int, int | None], None]:
    """What is read; then, of an export, the vectors that are made."""
    reading, making, is_read = output.progress(None, "read"), output.progress(None, "embedded"), False

    def tell(done: int, of: int | None) -> None:
        nonlocal is_read
        (making if is_read else reading)(done, of)
        is_read = is_read or done == of

    return tell


def _told(path: str, done: ImportedMemories) -> None:
    kept = "would be kept" if done.dry_run else "kept"
    counted = {
        "proposed": done.proposed,
        "known already": done.known,
        "superseded": done.superseded,
        "refused": done.refused,
    }
    more = "".join(f", {number} {what}" for what, number in counted.items() if number)
    output.say(f"{path} ({done.format}): {output.counted(done.created, 'memory', 'memories')} {kept}{more}")
    if done.lines:
        output.table(("what", "became", "number"), _became(done))
    if done.dry_run:
        for text in (*_kinds(done), *done.examples):
            output.say(f"  {output.line(text)[:200]}")
    if done.proposed and not done.dry_run:
        output.say("what may replace what you said: `retentive review` shows it")
    if done.pending:
        output.say(f"vectors pending: {done.pending}; `retentive backfill` makes them")
    output.refusals(done.refusals)
    if done.refused > len(done.refusals):
        sys.stderr.write(f"and {done.refused - len(done.refusals)} more\n")
    output.notes(map(output.line, done.notes))


def _became(done: ImportedMemories) -> list[tuple[str, str, int]]:
    return [(type, outcome, number) for type, counts in done.lines.items() for outcome, number in counts.items()]


def _kinds(done: ImportedMemories) -> list[str]:
    return [", ".join(f"{number} {kind}" for kind, number in done.kinds.items())] if done.kinds else []


VERBS: dict[str, Callable[[Retentive, Any], int]] = {"import": _import}
