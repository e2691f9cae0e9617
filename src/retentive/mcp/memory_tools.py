"""The tools of memories: keep, find, read, correct, forget."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from typing import Any

from retentive import serialize
from retentive.api import Retentive
from retentive.errors import Conflict, Invalid, NotFound
from retentive.hints import for_tools
from retentive.mcp import render
from retentive.mcp.caller import Caller
from retentive.mcp.tool import Answer, Tool, choice, flag, integer, several, text
from retentive.memories.proposals import check_may_accept
from retentive.model import (
    AGENT,
    AddResult,
    Consolidation,
    Event,
    Kind,
    Memory,
    Passage,
    Proposal,
    Record,
    ReplacedMemory,
    Source,
    Status,
)

MIN_RELEVANCE = 0.15  # relevance below which a hit only costs: what has nothing to do with a question has .05 to .11
PROFILE_ID = "profile"  # the id of every profile
MESSAGES_AROUND = 5  # shown with the requested one

KINDS = tuple(kind.value for kind in Kind if kind not in (Kind.NOTE, Kind.FILE))
ID = text(most=300)
IDS = several(ID, 20)
CONTENT = text('One self-contained statement in the third person: "The user\'s dog is called Rex".', 20_000)
KIND = choice(KINDS, "fact")
TAGS = several(text(most=60), 20, least=0)
IMPORTANCE = integer(1, 10, 5, "9-10: always shown to you")
SLOT = text("What it is the value of, e.g. user.dog.name: replaces the value before")
SOURCE = choice(("file", "tool", "assistant"), description="If the user did not say it")
TIME = text(most=40)
LIMIT = integer(1, 50, 8)
MAX_PASSAGES = 20  # of a file that are shown whole: some 3,000 tokens
INCLUDED = ("memories", "events", "files", "contacts", "projects", "skills")
_FILTERS = {"kind": choice(tuple(Kind)), "tags": TAGS, "since": TIME, "until": TIME, "session": text()}


def add(caller: Caller, content: str, *, personal: bool = False, **options: Any) -> Answer:
    """Add a memory; the answer reports only what is new or replaced."""
    added = caller.choose_view(personal=personal).add(content, actor=AGENT, **options)
    return Answer(_describe_added(added), _serialize_added(added))


def _describe_added(added: AddResult) -> str:
    lines = [f"{'Kept' if added.created else 'Known already'}: {added.id}"]
    lines += [
        f"Replaced [{each.id}] {render.shorten(each.content)} ({_describe_reason(each)})" for each in added.replaced
    ]
    lines += [_describe_doubt(each) for each in added.proposals]
    if added.memory.expires and added.memory.expires <= added.memory.updated:
        lines.append(f"It expired on {added.memory.expires:%Y-%m-%d}, so it is not found: memory_update corrects that.")
    lines += [f"Resembles [{each.id}] {render.shorten(each.content)}" for each in added.similar]
    return "\n".join(lines)


def _describe_doubt(each: Proposal) -> str:
    """Describe what a new memory may replace, and what to do about it."""
    older = f"[{each.older_id}] {render.shorten(each.older)} ({_describe_reason(each)})"
    if each.is_held:
        how = f"if they say so, keep it as their word: memory_add with replaces=[{each.older_id}]"
        return f"Not replaced: {older}. Ask the user; {how}"
    return f"May replace {older}; if so call memory_add again with replaces=[{each.older_id}]"


def _serialize_added(added: AddResult) -> dict[str, Any]:
    alike = [{"id": each.id, "text": render.shorten(each.content)} for each in added.similar]
    return {
        "id": added.id,
        "created": added.created,
        "superseded": [*added.superseded],
        "replaced": [
            {"id": each.id, "text": render.shorten(each.content), "why": _describe_reason(each)}
            for each in added.replaced
        ],
        "proposals": [_serialize_proposal(each) for each in added.proposals],
        "similar": alike,
    }


def _describe_reason(each: ReplacedMemory | Proposal) -> str:
    return render.shorten(f"{each.rule}: {each.reason}")


def _serialize_proposal(each: Proposal) -> dict[str, Any]:
    return {
        "id": each.id,
        "newer_id": each.newer_id,
        "newer": render.shorten(each.newer),
        "older_id": each.older_id,
        "older": render.shorten(each.older),
        "move_to": each.move_to,
        "is_held": each.is_held,
        "why": _describe_reason(each),
    }


def review(
    caller: Caller, accept: Sequence[str] = (), reject: Sequence[str] = (), limit: int = 20, after: str | None = None
) -> Answer:
    """Accept and reject proposals. All are looked up first, so an unknown id changes nothing."""
    if both := {*accept} & {*reject}:
        raise Invalid(f"{min(both)} is to be accepted and rejected", "Name it once.")
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
    lines += [_describe_open(each) for each in found]
    data = {"accepted": [*dict.fromkeys(accept)], "rejected": [*dict.fromkeys(reject)]}
    return Answer(
        "\n".join(lines) or "Nothing to review.", {**data, "proposals": [_serialize_proposal(each) for each in found]}
    )


def _describe_open(each: Proposal) -> str:
    older = f"[{each.older_id}] {render.shorten(each.older)}"
    if each.move_to:
        return f"{each.id}: {older} may belong to {each.move_to!r} ({_describe_reason(each)})"
    who = "; only the user decides" if each.is_held else ""
    return (
        f"{each.id}: [{each.newer_id}] {render.shorten(each.newer)} may replace {older} ({_describe_reason(each)}{who})"
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


def add_many(caller: Caller, contents: Sequence[str], *, personal: bool = False, **options: Any) -> Answer:
    loaded = caller.choose_view(personal=personal).add_many(contents, actor=AGENT, **options)
    refusals = [each._asdict() for each in loaded.refusals]
    data = {"ids": [*loaded.ids], "created": loaded.created, "repeated": loaded.repeated, "refusals": refusals}
    lines = [f"Kept {loaded.created}, known already {loaded.repeated}."]
    lines += [f"Not kept: {each.place}, {each.reason}." for each in loaded.refusals]
    return Answer("\n".join(lines), data)


def search(caller: Caller, query: str, limit: int = 8, **options: Any) -> Answer:
    found = caller.memory.search(query, limit, namespaces=caller.also_read, **options)
    hits = [render.serialize_hit(each) for each in found if each.relevance >= MIN_RELEVANCE]
    summary = render.join_rows(hits) or "Nothing found: nothing about this is known."
    notes = caller.render_notes(found.notes)
    return Answer("\n".join([summary, *notes]), {"hits": hits, "tier": found.tier, "notes": notes})


def search_conversations(caller: Caller, query: str, limit: int = 8, **options: Any) -> Answer:
    return search(caller, query, limit, include="events", **options)


def get(caller: Caller, ids: Sequence[str]) -> Answer:
    """Read items by id; missing ids are reported beside those found."""
    found: list[Memory | Event | Record | Passage] = []
    missing: list[str] = []
    for id in ids:
        try:
            found += _load_item(caller, id)
        except NotFound:
            missing.append(id)
    if not found:
        raise NotFound(f"no memory has the id {', '.join(missing)}", "Ids are those that memory_search gives.")
    items = [render.serialize_item(each) for each in found]
    lines = [render.describe_item(each, item) for each, item in zip(found, items, strict=True)]
    lines += [f"There is no {id}." for id in missing]
    return Answer("\n".join(lines), {"items": items, "missing": missing})


def _load_item(caller: Caller, id: str) -> Sequence[Memory | Event | Record | Passage]:
    """Load a memory, a message with those around it, a record, or the passages of a file."""
    session, mark, sequence = id.rpartition("#")
    if mark and sequence.isdecimal():
        return caller.find_first(lambda memory: _load_messages_around(memory, session, int(sequence)))
    with suppress(NotFound):
        return [caller.find_first(lambda memory: _load_memory_or_record(memory, id))]
    return caller.find_first(lambda memory: _load_passages(memory, id))


def _load_passages(memory: Retentive, id: str) -> Sequence[Passage]:
    """Load the first passages of a file, by id only: file names must not be probed."""
    found = memory.files.passages(id)[:MAX_PASSAGES]
    if not found or found[0].id != id:
        raise NotFound(f"there is no {id}")
    return found


def _load_memory_or_record(memory: Retentive, id: str) -> Memory | Record:
    """Load by id only: a record of that name may be another one."""
    for look in (memory.contacts.get, memory.projects.get, memory.skills.get):
        with suppress(NotFound, Conflict):
            record: Record = look(id)
            if record.id == id:
                return record
    return memory.profile.get() if id == PROFILE_ID else memory.get(id)


def _load_messages_around(memory: Retentive, session: str, sequence: int) -> Sequence[Event]:
    """Load a message with those around it; `NotFound` lets the caller try a session of that name elsewhere."""
    events = memory.sessions.events(session, MESSAGES_AROUND, around=sequence)
    if all(each.sequence != sequence for each in events):
        raise NotFound(f"session {session!r} has no message {sequence}")
    return [each for each in events if not each.is_hidden or each.sequence == sequence]


def update(caller: Caller, id: str, reason: str | None = None, **changes: Any) -> Answer:
    if not changes:
        raise Invalid("nothing to change", "Give content, kind, tags, importance, slot or expires.")
    changed = caller.find_changeable(id).update(id, reason=reason, actor=AGENT, **_clear_empty_values(changes))
    return Answer(
        f"Updated {render.join_rows([render.serialize_memory(changed)])}", {"memory": render.serialize_item(changed)}
    )


def _clear_empty_values(changes: dict[str, Any]) -> dict[str, Any]:
    """Turn empty values into None: an empty slot or expiry is removed."""
    return {name: None if each == "" else each for name, each in changes.items()}


def delete(
    caller: Caller,
    ids: Sequence[str] = (),
    words: str | None = None,
    *,
    dry_run: bool = False,
    confirm: bool = False,
    reason: str | None = None,
) -> Answer:
    if bool(ids) == bool(words):
        raise Invalid("say what to forget", "Give either ids or words.")
    if words:
        gone = caller.memory.forget_matching(words, confirm=confirm, dry_run=dry_run, reason=reason, actor=AGENT)
        return _answer_forgotten(gone.memories, done=gone.done)
    places = [(caller.find_changeable(id), id) for id in dict.fromkeys(ids)]
    if dry_run:
        return _answer_forgotten([memory.get(id) for memory, id in places], done=False)
    return _answer_forgotten([memory.forget(id, reason, AGENT) for memory, id in places], done=True)


def _answer_forgotten(memories: Sequence[Memory], *, done: bool) -> Answer:
    rows = [render.serialize_memory(each) for each in memories]
    summary = f"{'Forgotten' if done else 'Would be forgotten'}: {len(rows)}"
    return Answer("\n".join([summary, render.join_rows(rows)]).strip(), {"memories": rows, "done": done})


def context(caller: Caller, query: str = "", session: str | None = None, budget: int = 1500) -> Answer:
    recent = 10 if session else 0
    found = caller.memory.context(query, session, budget, recent, namespaces=caller.also_read)
    summary = found.text or "Nothing that bears on this is known."
    notes = caller.render_notes(found.notes)
    data = {"text": found.text, "tokens": found.tokens, "cites": [*found.cites], "notes": notes}
    return Answer("\n".join([summary, *notes]), data)


def list_memories(caller: Caller, limit: int = 20, after: str | None = None, **filters: Any) -> Answer:
    page = caller.memory.list(limit, after, **filters)
    rows = [render.serialize_memory(each) for each in page]
    more = [f"More: after={page.next}"] if page.next else []
    lines = [render.join_rows(rows) or "None.", *more, *caller.render_notes(page.notes)]
    return Answer("\n".join(lines), {"memories": rows, "next": page.next})


def show_history(caller: Caller, id: str) -> Answer:
    found = caller.find_first(lambda memory: memory.why(id))
    changes = [serialize.history_entry(each) for each in found.changes]
    lines = [f"{each.at:%Y-%m-%d %H:%M} {each.action} by {each.actor}: {each.reason or '-'}" for each in found.changes]
    lines += [f"took the place of [{each.id}] {render.shorten(each.content)}" for each in found.replaced]
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
    back = caller.find_changeable(id).restore(id, reason, AGENT)
    return Answer(
        f"Restored {render.join_rows([render.serialize_memory(back)])}", {"memory": render.serialize_item(back)}
    )


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


def list_default_tools(*, person: bool) -> Sequence[Tool]:
    """The memory tools. With `person`, a memory may be marked as about the person, not the project."""
    personal = {"personal": flag("About the user, not this project")} if person else {}
    return (
        Tool(
            "memory_add", "Remember",
            "Keep one lasting fact, preference, decision or instruction. Use it unasked, at once, when the user says "
            "something about themselves, their people or their work that will matter in another conversation, or "
            "corrects what is known (the old fact is replaced). Not for passing remarks, secrets, or what is only of "
            "use now.",
            add,
            {"content": CONTENT, "kind": KIND, "tags": TAGS, "importance": IMPORTANCE, "slot": SLOT,
             "replaces": several(text(), 20, "Ids it surely replaces"), "source": SOURCE,
             "valid_from": TIME, "expires": TIME, "session": text("For this session only"), **personal},
            ("content",),
            {"id": "string", "created": "boolean", "superseded": "array", "replaced": "array", "proposals": "array",
             "similar": "array"},
            repeatable=True,
        ),
        Tool(
            "memory_search", "Search memory",
            "Find what is known, by meaning and words. Use it before answering anything that may depend on earlier "
            "conversations, people, preferences or decisions, and before asking the user for what they may have told. "
            "Gives one line each; memory_get has the whole.",
            search,
            {"query": text("A question or keywords", 2000), "limit": LIMIT,
             "include": several(choice(INCLUDED), len(INCLUDED), "events: what was said in conversations"),
             **_FILTERS, "as_of": text("What was true at this time", 40)},
            ("query",), {"hits": "array", "tier": "string", "notes": "array"}, reads=True,
        ),
        Tool(
            "memory_get", "Read memories",
            "The whole of memories or messages by id, with their dates, source and state; messages with those around "
            "them.",
            get, {"ids": IDS}, ("ids",), {"items": "array", "missing": "array"}, reads=True,
        ),
        Tool(
            "memory_update", "Change a memory",
            "Mend a memory's wording, kind, tags or importance. If the fact itself changed in the world, use "
            "memory_add instead: then the old one stays known as the past.",
            update,
            {"id": ID, "content": CONTENT, "kind": choice(KINDS), "tags": TAGS, "importance": integer(1, 10),
             "slot": text(least=0), "expires": text(most=40, least=0), "reason": text()},
            ("id",), {"memory": "object"}, repeatable=True,
        ),
        Tool(
            "memory_delete", "Forget",
            "Forget memories by id, or all that have every one of some words. Only when the user asks for it. Several "
            "by words need confirm; look first with dry_run. It can be undone.",
            delete,
            {"ids": IDS, "words": text(), "dry_run": flag("Only show what would go"),
             "confirm": flag("Yes, several"), "reason": text()},
            (), {"memories": "array", "done": "boolean"}, destroys=True, repeatable=True,
        ),
        Tool(
            "memory_context", "Recall for a task",
            "Everything worth reading before an answer or a task, within a budget of tokens: standing instructions, "
            "memories and excerpts that bear on it, and with a session its summary and newest messages. Use it at the "
            "start of a conversation or task; memory_search for single facts.",
            context,
            {"query": text("What you are about to answer or do", 4000, 0), "session": text(),
             "budget": integer(100, 20_000, 1500, "Tokens")},
            (), {"text": "string", "tokens": "integer", "cites": "array", "notes": "array"}, reads=True,
        ),
    )  # fmt: skip


def list_further_tools(*, person: bool) -> Sequence[Tool]:
    """Tools of the full set only."""
    personal = {"personal": flag("About the user, not this project")} if person else {}
    return (
        Tool(
            "memory_add_many", "Remember many",
            "Keep many statements at once, e.g. notes brought from elsewhere. For single ones use memory_add: it also "
            "sees what a statement corrects.",
            add_many,
            {"contents": several(CONTENT, 500), "kind": KIND, "tags": TAGS, "source": SOURCE, **personal},
            ("contents",),
            {"ids": "array", "created": "integer", "repeated": "integer"}, repeatable=True,
        ),
        Tool(
            "memory_list", "List memories", "Browse memories, newest first, by filters; to find one, search.",
            list_memories,
            {"limit": integer(1, 100, 20), "after": ID, **_FILTERS, "status": choice(tuple(Status)),
             "source": choice(tuple(Source)), "min_importance": integer(1, 10)},
            (), {"memories": "array"}, reads=True,
        ),
        Tool(
            "memory_history", "Where a memory came from",
            "What happened to a memory: its changes, what it replaced or was replaced by, the messages it was learned "
            "from.",
            show_history, {"id": ID}, ("id",),
            {"changes": "array", "messages": "array", "replaced": "array", "replaced_by": "array"}, reads=True,
        ),
        Tool(
            "memory_restore", "Bring back",
            "Undo a memory_delete, or a replacement: what was superseded holds again.",
            restore, {"id": ID, "reason": text()}, ("id",), {"memory": "object"}, repeatable=True,
        ),
        Tool(
            "memory_review", "Decide what replaces what",
            "Newer memories that may replace older ones, or that may be about the user rather than the project: list "
            "them, accept (the older one ends, or moves) or reject (all stays, and it is not proposed again). Decide "
            "only what is clear; else ask the user.",
            review,
            {"accept": several(ID, 20, "Ids of proposals"), "reject": several(ID, 20, "Ids of proposals"),
             "limit": integer(1, 100, 20), "after": ID},
            (), {"accepted": "array", "rejected": "array", "proposals": "array"},
        ),
        Tool(
            "memory_consolidate", "Merge old memories",
            "Merge old memories that say the same into one that cites them, and sum up many small outcomes. A dry run "
            "unless dry_run is false: show it to the user first. undo takes the id of a run back.",
            consolidate,
            {"dry_run": flag("Only show what would be merged", default=True), "limit": integer(1, 100, 20),
             "older_than": integer(0, 36_500, None, "Days"), "undo": text("Id of a run")},
            (), {"done": "boolean", "groups": "array"},
        ),
        Tool(
            "memory_purge", "Remove permanently",
            "Remove memories, or messages (session#7), to the last byte. It cannot be undone: only when the user asks "
            "for exactly that. A dry run unless dry_run is false.",
            purge,
            {"ids": IDS, "with_origin": flag("Also the messages, summaries and questions that say it"),
             "dry_run": flag("Only show what would go", default=True), "reason": text()},
            ("ids",), {"ids": "array", "done": "boolean"}, destroys=True, repeatable=True,
        ),
        Tool(
            "conversation_search", "Search conversations",
            "Find what was said in earlier conversations, word for word.",
            search_conversations,
            {"query": text(most=2000), "limit": LIMIT, "session": text(), "since": TIME, "until": TIME},
            ("query",), {"hits": "array", "tier": "string", "notes": "array"}, reads=True,
        ),
    )  # fmt: skip
