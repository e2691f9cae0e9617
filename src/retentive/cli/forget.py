"""Forget and purge memories, and explain where a memory came from."""

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from retentive import serialize
from retentive.api import Retentive
from retentive.cli import output
from retentive.cli.args import FILTER_OPTIONS, confirm, is_json, pick_options
from retentive.errors import Invalid
from retentive.model import Event, ForgetResult, Memory, Provenance, PurgeResult, RemainingCopy

_MAX_LISTED = 20  # of memories before the question whether to forget them


def _forget(memory: Retentive, arguments: Any) -> int:
    doomed = _find_doomed(memory, arguments)
    if arguments.dry_run:
        return _print_forgotten(arguments, ForgetResult(tuple(doomed), done=False))
    if len(doomed) > 1 and not arguments.yes and not _confirm_forget(doomed):
        output.print_line("nothing was forgotten")
        return 1
    done: list[Memory] = []
    with output.show_progress("forgetting", "memories", len(doomed)) as progress:
        for each in doomed:
            done.append(memory.forget(each.id, arguments.reason))
            progress.report(len(done))
    return _print_forgotten(arguments, ForgetResult(tuple(done), done=True))


def _find_doomed(memory: Retentive, arguments: Any) -> Sequence[Memory]:
    filters = pick_options(arguments, FILTER_OPTIONS)
    if arguments.ids and (arguments.words is not None or filters):
        raise Invalid("both ids and words or filters", "Give ids, or words and filters, but not both.")
    if arguments.ids:
        return [memory.why(id).memory for id in dict.fromkeys(arguments.ids)]
    if arguments.words is None and not filters:
        raise Invalid("nothing to forget", "Give an ID, --words, or filters such as --tag: see `retentive forget -h`.")
    return memory.forget_matching(arguments.words, dry_run=True, **filters).memories


def _confirm_forget(doomed: Sequence[Memory]) -> bool:
    many = output.format_count(len(doomed), "memory", "memories")
    question = f"Forget these {many}?"
    listed = [f"  {output.show_id(each.id)}  {output.sanitise(each.content[:100])}" for each in doomed[:_MAX_LISTED]]
    more = [f"  ... and {len(doomed) - _MAX_LISTED} more"] if len(doomed) > _MAX_LISTED else []
    return confirm("\n".join((*listed, *more, question)), f"this would forget {many}")


def _print_forgotten(arguments: Any, forgotten: ForgetResult) -> int:
    if is_json(arguments):
        output.print_json(serialize.forget_result(forgotten))
        return 0
    if not forgotten.memories:
        output.print_line("nothing matches")
    for each in forgotten.memories:
        verb = each.status if forgotten.done else "would forget"
        output.print_line(f"{verb} {output.show_id(each.id)}  {each.content}")
    if forgotten.done and forgotten.memories:
        ids = " ".join(output.show_id(each.id) for each in forgotten.memories[:_MAX_LISTED])
        output.print_hint(f"undo: retentive restore {ids}")
    return 0


def _purge(memory: Retentive, arguments: Any) -> int:
    options: dict[str, Any] = {"with_origin": arguments.with_origin, "reason": arguments.reason}
    doomed = memory.purge(arguments.ids, **options, dry_run=True)
    if not arguments.dry_run:
        if not arguments.yes and not _confirm_purge(doomed):
            output.print_line("nothing was purged")
            return 1
        with output.show_progress("deleting") as progress:
            doomed = memory.purge(arguments.ids, **options, progress=progress.report_stage)
    if is_json(arguments):
        output.print_json(serialize.purge_result(doomed))
    else:
        output.print_table(("what", "which"), _build_purge_rows(doomed, dry_run=arguments.dry_run))
    return 0


def _confirm_purge(doomed: PurgeResult) -> bool:
    return confirm(f"Purge {', '.join(doomed.ids)} ({_format_counts(doomed)}) permanently?", "purging cannot be undone")


def _build_purge_rows(purged: PurgeResult, *, dry_run: bool) -> Iterator[tuple[str, str]]:
    yield from (("would purge" if dry_run else "purged", output.show_id(id)) for id in purged.ids)
    yield "removed" if not dry_run else "would remove", _format_counts(purged)
    yield from (("remaining", _describe_copy(each)) for each in purged.remaining)
    yield "proof", purged.proof


def _format_counts(purged: PurgeResult) -> str:
    return ", ".join(f"{place}: {count}" for place, count in purged.removed.items()) or "no row"


def _describe_copy(each: RemainingCopy) -> str:
    return {
        "message": f"message {each.id}",
        "summary": f"the summary of session {each.id}",
        "claim": f"what is about to be learned from session {each.id}",
        "history": f"the history of {each.id}",
        "log": f"a line of the daily log, {each.id}",
    }.get(each.place, f"{each.place} {each.id}")


def _why(memory: Retentive, arguments: Any) -> int:
    provenance = memory.why(arguments.id)
    if is_json(arguments):
        output.print_json(serialize.provenance(provenance))
    elif sys.stdout.isatty():
        from retentive.cli.draw.console import draw
        from retentive.cli.draw.stories import make_provenance

        draw(make_provenance(provenance))
    else:
        output.print_table((), _build_story(provenance))
    return 0


def _build_story(provenance: Provenance) -> Iterator[tuple[Any, ...]]:
    """Yield rows from what the memory replaced to what replaced it."""
    yield from (("replaced", _format_day(each), each.id, each.content) for each in provenance.replaced)
    yield from (("message", f"{each.time:%Y-%m-%d}", each.id, _format_message(each)) for each in provenance.messages)
    yield from (("message", "", id, "no longer there") for id in provenance.missing)
    for name, value in (provenance.memory.origin or {}).items():
        if name not in ("session", "event", "events", "sequence"):
            yield name, "", "", value
    yield provenance.memory.source, _format_day(provenance.memory), provenance.memory.id, provenance.memory.content
    yield from (
        (each.action, f"{each.at:%Y-%m-%d}", each.actor, each.reason)
        for each in provenance.changes
        if each.before is not None
    )
    yield from (("replaced by", _format_day(each), each.id, each.content) for each in provenance.replaced_by)


def _format_day(memory: Memory) -> str:
    return f"{memory.created:%Y-%m-%d}"


def _format_message(event: Event) -> str:
    return f"{event.speaker or event.role}: {event.content}"


VERBS: dict[str, Callable[[Retentive, Any], int]] = {"forget": _forget, "purge": _purge, "why": _why}
