"""Forgetting, purging, and where a memory came from."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from retentive import serialize
from retentive.api import Retentive
from retentive.cli import output
from retentive.cli.args import FILTERS, agreed, given, is_json
from retentive.errors import Invalid
from retentive.model import Event, Forgotten, Memory, Provenance, Purged, Repeat

_LISTED = 20  # before a person is asked


def _forget(memory: Retentive, arguments: Any) -> int:
    doomed = _meant(memory, arguments)
    if arguments.dry_run:
        return _told(arguments, Forgotten(tuple(doomed), done=False))
    if len(doomed) > 1 and not arguments.yes and not _agreed(doomed):
        output.say("nothing was forgotten")
        return 1
    tell = output.progress(len(doomed), "forgotten")
    done = []
    for each in doomed:
        done.append(memory.forget(each.id, arguments.reason))
        tell(len(done)) if len(doomed) > _LISTED else None
    return _told(arguments, Forgotten(tuple(done), done=True))


def _meant(memory: Retentive, arguments: Any) -> Sequence[Memory]:
    filters = given(arguments, FILTERS)
    if arguments.ids and (arguments.words is not None or filters):
        raise Invalid("both ids and words or filters", "Give ids, or what to go by.")
    if arguments.ids:
        return [memory.why(id).memory for id in dict.fromkeys(arguments.ids)]
    if arguments.words is None and not filters:
        raise Invalid("nothing to forget", "Give an ID, --words, or filters such as --tag: see `retentive forget -h`.")
    return memory.forget_matching(arguments.words, dry_run=True, **filters).memories


def _agreed(doomed: Sequence[Memory]) -> bool:
    many = output.counted(len(doomed), "memory", "memories")
    question = f"Forget these {many}?"
    listed = [f"  {each.id}  {output.line(each.content[:100])}" for each in doomed[:_LISTED]]
    more = [f"  ... and {len(doomed) - _LISTED} more"] if len(doomed) > _LISTED else []
    return agreed("\n".join((*listed, *more, question)), f"this would forget {many}")


def _told(arguments: Any, forgotten: Forgotten) -> int:
    if is_json(arguments):
        output.as_json(serialize.forgotten(forgotten))
        return 0
    if not forgotten.memories:
        output.say("nothing matches")
    for each in forgotten.memories:
        content = "" if arguments.ids and forgotten.done else f"  {each.content}"
        output.say(output.line(f"{each.status if forgotten.done else 'would forget'} {each.id}{content}"))
    return 0


def _purge(memory: Retentive, arguments: Any) -> int:
    options: dict[str, Any] = {"with_origin": arguments.with_origin, "reason": arguments.reason}
    doomed = memory.purge(arguments.ids, **options, dry_run=True)
    if not arguments.dry_run:
        if not arguments.yes and not _sure(doomed):
            output.say("nothing was purged")
            return 1
        doomed = memory.purge(arguments.ids, **options, progress=_progress())
    if is_json(arguments):
        output.as_json(serialize.purged(doomed))
    else:
        output.table(("what", "which"), _purged(doomed, dry_run=arguments.dry_run))
    return 0


def _sure(doomed: Purged) -> bool:
    return agreed(f"Purge {', '.join(doomed.ids)} ({_counts(doomed)}) for good?", "purging cannot be undone")


def _progress() -> Callable[[str, int, int], None]:
    lines: dict[str, Callable[..., None]] = {}

    def tell(stage: str, done: int, of: int) -> None:
        lines.setdefault(stage, output.progress(None, stage))(done, of)

    return tell


def _purged(purged: Purged, *, dry_run: bool) -> Iterator[tuple[str, str]]:
    yield from (("would purge" if dry_run else "purged", id) for id in purged.ids)
    yield "removed" if not dry_run else "would remove", _counts(purged)
    yield from (("remaining", _repeat(each)) for each in purged.remaining)
    yield "proof", purged.proof


def _counts(purged: Purged) -> str:
    return ", ".join(f"{place}: {count}" for place, count in purged.removed.items()) or "no row"


def _repeat(each: Repeat) -> str:
    return {
        "message": f"message {each.id}",
        "summary": f"the summary of session {each.id}",
        "claim": f"what is about to be learned from session {each.id}",
        "history": f"the history of {each.id}",
        "log": f"a line of the daily log, {each.id}",
    }.get(each.place, f"{each.place} {each.id}")


def _why(memory: Retentive, arguments: Any) -> int:
    told = memory.why(arguments.id)
    if is_json(arguments):
        output.as_json(serialize.provenance(told))
    else:
        output.table(("what", "when", "which", "text"), _story(told))
    return 0


def _story(told: Provenance) -> Iterator[tuple[Any, ...]]:
    """From what was before it to what came after."""
    yield from (("replaced", _day(each), each.id, each.content) for each in told.replaced)
    yield from (("message", f"{each.time:%Y-%m-%d}", each.id, _said(each)) for each in told.messages)
    yield from (("message", "", id, "no longer there") for id in told.missing)
    for name, value in (told.memory.origin or {}).items():
        if name not in ("session", "event", "events", "sequence"):
            yield name, "", "", value
    yield told.memory.source, _day(told.memory), told.memory.id, told.memory.content
    yield from (
        (each.action, f"{each.at:%Y-%m-%d}", each.actor, each.reason)
        for each in told.changes
        if each.before is not None
    )
    yield from (("replaced by", _day(each), each.id, each.content) for each in told.replaced_by)


def _day(memory: Memory) -> str:
    return f"{memory.created:%Y-%m-%d}"


def _said(event: Event) -> str:
    return f"{event.speaker or event.role}: {event.content}"


VERBS: dict[str, Callable[[Retentive, Any], int]] = {"forget": _forget, "purge": _purge, "why": _why}
