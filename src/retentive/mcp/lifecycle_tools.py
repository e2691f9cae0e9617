"""The tools for what becomes of memories: history, restore, decisions on proposals, merging, purging."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from retentive import serialize
from retentive.api import Retentive
from retentive.errors import Invalid, NotFound
from retentive.hints import for_tools
from retentive.mcp import render
from retentive.mcp.caller import Caller
from retentive.mcp.memory_tools import ID, IDS, describe_reason, serialize_proposal
from retentive.mcp.tool import Answer, Tool, flag, integer, several, text
from retentive.memories.proposals import check_may_accept
from retentive.model import AGENT, Consolidation, Event, Memory, Proposal


def show_history(caller: Caller, id: str) -> Answer:
    found = caller.find_first(lambda memory: memory.why(id))
    changes = [serialize.history_entry(each) for each in found.changes]
    lines = [f"{each.at:%Y-%m-%d %H:%M} {each.action} by {each.actor}: {each.reason or '-'}" for each in found.changes]
    lines += [f"replaced [{each.id}] {render.shorten(each.content)}" for each in found.replaced]
    lines += [f"replaced by [{each.id}] {render.shorten(each.content)}" for each in found.replaced_by]
    lines += [f"learned from [{each.id}] {render.shorten(each.content)}" for each in found.messages]
    others: Mapping[str, Sequence[Memory | Event]] = {
        "messages": found.messages,
        "replaced": found.replaced,
        "replaced_by": found.replaced_by,
    }
    ids = {name: [each.id for each in some] for name, some in others.items()}
    return Answer("\n".join(lines), {"changes": changes, **ids})


def restore(caller: Caller, id: str, reason: str | None = None) -> Answer:
    """Restore a memory, and report what it replaces: a slot has one value at a time."""
    view = caller.find_changeable(id)
    before = {each.id for each in view.why(id).replaced}
    back = view.restore(id, reason, AGENT)
    replaced = [each for each in view.why(id).replaced if each.id not in before]
    lines = [f"Restored {render.join_rows([render.serialize_memory(back)])}"]
    lines += [f"Replaced [{each.id}] {render.shorten(each.content)}" for each in replaced]
    return Answer("\n".join(lines), {"memory": render.serialize_item(back), "replaced": [each.id for each in replaced]})


def review(
    caller: Caller, accept: Sequence[str] = (), reject: Sequence[str] = (), limit: int = 20, after: str | None = None
) -> Answer:
    """Accept and reject proposals. All are looked up first, so an unknown id changes nothing."""
    if both := {*accept} & {*reject}:
        raise Invalid(f"{min(both)} is in both accept and reject", "Name it once.")
    accepted = [(_find_proposal_view(caller, id), id) for id in dict.fromkeys(accept)]
    for memory, id in accepted:
        check_may_accept(memory.proposals.get(id), AGENT)
    rejected = [(_find_proposal_view(caller, id), id) for id in dict.fromkeys(reject)]
    done = [memory.proposals.accept(id, AGENT) for memory, id in accepted]
    lines = [_describe_accepted(each) for each in done]
    kept = [memory.proposals.reject(id) for memory, id in rejected]
    lines += [_describe_rejected(each) for each in kept]
    pages = [memory.proposals.list(limit, after) for memory in _writable_views(caller)]
    found = sorted(chain.from_iterable(pages), key=lambda each: each.id, reverse=True)[:limit]  # newest first
    lines += [describe_open(each) for each in found]
    data = {"accepted": [*dict.fromkeys(accept)], "rejected": [*dict.fromkeys(reject)]}
    return Answer(
        "\n".join(lines) or "Nothing to review.", {**data, "proposals": [serialize_proposal(each) for each in found]}
    )


def describe_open(each: Proposal) -> str:
    older = f"[{each.older_id}] {render.shorten(each.older)}"
    if each.move_to:
        return f"{each.id}: {older} may belong to {each.move_to!r} ({describe_reason(each)})"
    who = "; only the user decides" if each.is_held else ""
    return (
        f"{each.id}: [{each.newer_id}] {render.shorten(each.newer)} may replace {older} ({describe_reason(each)}{who})"
    )


def _describe_accepted(each: Proposal) -> str:
    older = f"[{each.older_id}] {render.shorten(each.older)}"
    return f"Moved {older} to {each.move_to!r} as [{each.newer_id}]" if each.move_to else f"Replaced {older}"


def _describe_rejected(each: Proposal) -> str:
    return f"It stays: [{each.older_id}]" if each.move_to else f"Both stay: [{each.newer_id}] and [{each.older_id}]"


def _find_proposal_view(caller: Caller, id: str) -> Retentive:
    """The namespace that holds this proposal."""
    missing: NotFound | None = None
    for memory in _writable_views(caller):
        try:
            memory.proposals.get(id)
        except NotFound as error:
            missing = missing or error
        else:
            return memory
    raise missing or NotFound(f"no proposal {id}")


def _writable_views(caller: Caller) -> Iterator[Retentive]:
    """The caller's own namespace, and that of the person."""
    yield caller.memory
    if caller.person and caller.person != caller.memory.namespace:
        yield caller.memory.in_namespace(caller.person)


def purge(
    caller: Caller, ids: Sequence[str], *, with_origin: bool = False, dry_run: bool = True, reason: str | None = None
) -> Answer:
    gone = caller.memory.purge(ids, with_origin=with_origin, dry_run=dry_run, reason=reason, actor=AGENT)
    summary = f"{'Would purge' if dry_run else 'Purged'} {', '.join(gone.ids)}. {gone.proof}"
    left = [f"Still repeated in {each.place} {each.id}".strip() for each in gone.remaining]
    return Answer("\n".join([summary, *left]), {**serialize.purge_result(gone), "done": not dry_run})


def consolidate(
    caller: Caller, *, dry_run: bool = True, limit: int = 20, undo: str | None = None, **options: Any
) -> Answer:
    if undo is not None:
        undone = caller.memory.undo_consolidation(undo, AGENT)
        left = [for_tools(f"Left as it is: {each}", ("memory_consolidate",)) for each in undone.left]
        lines = [f"Active again: {len(undone.restored)}", *left]
        return Answer("\n".join(lines), {"done": True, "groups": [], **serialize.undo_consolidation_result(undone)})
    done = caller.memory.consolidate(dry_run=dry_run, limit=limit, **options)
    lines = [f"{'Made' if done.done else 'Would make'} {len(done.groups)} of {_count_sources(done)}."]
    lines += [
        f"{each.rule}: {render.shorten(each.text)} <- {', '.join(one.id for one in each.cited)}" for each in done.groups
    ]
    lines += [f"Undo with undo={done.run}"] if done.run else []
    return Answer("\n".join([*lines, *done.notes]), serialize.consolidation(done))


def _count_sources(done: Consolidation) -> str:
    count = sum(len(each.cited) for each in done.groups)
    return f"{count} memories, of {done.scanned} old ones read"


def list_tools() -> Sequence[Tool]:
    return (
        Tool(
            "memory_history", "Where a memory came from",
            "The changes of a memory, what it replaced or was replaced by, and the messages it was learned from.",
            show_history, {"id": ID}, ("id",),
            {"changes": "array", "messages": "array", "replaced": "array", "replaced_by": "array"}, reads=True,
        ),
        Tool(
            "memory_restore", "Restore a memory",
            "Undo memory_delete, or a replacement: the older memory is current again.",
            restore, {"id": ID, "reason": text()}, ("id",), {"memory": "object"}, repeatable=True,
        ),
        Tool(
            "memory_review", "Decide on proposals",
            "Proposals: newer memories that may replace older ones, or that may be about the user rather than the "
            "project. List them, accept (the older one ends, or moves) or reject (both stay, for good). Decide only "
            "clear cases; otherwise ask the user.",
            review,
            {"accept": several(ID, 20, "Ids of proposals"), "reject": several(ID, 20, "Ids of proposals"),
             "limit": integer(1, 100, 20), "after": ID},
            (), {"accepted": "array", "rejected": "array", "proposals": "array"},
        ),
        Tool(
            "memory_consolidate", "Merge old memories",
            "Merge old memories that say the same into one that cites them, and summarise many small outcomes. "
            "Only previews unless dry_run is false: show the user first. undo reverts a run by its id.",
            consolidate,
            {"dry_run": flag("Preview only", default=True), "limit": integer(1, 100, 20),
             "older_than": integer(0, 36_500, None, "Days"), "undo": text("Id of a run")},
            (), {"done": "boolean", "groups": "array"},
        ),
        Tool(
            "memory_purge", "Remove permanently",
            "Remove memories, or messages (session#7), permanently, down to the last byte. Cannot be undone: only when "
            "the user asks for exactly that. Only previews unless dry_run is false.",
            purge,
            {"ids": IDS, "with_origin": flag("Also the messages, summaries and questions that say it"),
             "dry_run": flag("Preview only", default=True), "reason": text()},
            ("ids",), {"ids": "array", "done": "boolean"}, destroys=True, repeatable=True,
        ),
    )  # fmt: skip
