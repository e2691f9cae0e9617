"""The tools of memories: keep, find, read, correct, forget."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from retentive import serialize
from retentive.api import Retentive
from retentive.errors import Conflict, Invalid, NotFound
from retentive.mcp import render
from retentive.mcp.caller import Reached
from retentive.mcp.tool import Answer, Tool, choice, flag, several, text, whole
from retentive.memories.proposals import check_may_accept
from retentive.model import (
    AGENT,
    Added,
    CitedMemory,
    Consolidation,
    Ended,
    Event,
    Kind,
    Memory,
    Passage,
    Proposal,
    Record,
    Source,
    Status,
)

NOISE = 0.15  # relevance below which a hit only costs: what has nothing to do with a question has .05 to .11
PROFILE = "profile"  # the id of every profile
AROUND = 5  # messages shown with one that was asked for

KINDS = tuple(kind.value for kind in Kind if kind not in (Kind.NOTE, Kind.FILE))
ID = text(most=300)
IDS = several(ID, 20)
CONTENT = text('One self-contained statement in the third person: "The user\'s dog is called Rex".', 20_000)
KIND = choice(KINDS, "fact")
TAGS = several(text(most=60), 20, least=0)
IMPORTANCE = whole(1, 10, 5, "9-10: always shown to you")
SLOT = text("What it is the value of, e.g. user.dog.name: replaces the value before")
SOURCE = choice(("file", "tool", "assistant"), description="If the user did not say it")
TIME = text(most=40)
LIMIT = whole(1, 50, 8)
PASSAGES = 20  # of a file that are shown whole: some 3,000 tokens
INCLUDED = ("memories", "events", "files", "contacts", "projects", "skills")
_VIEW = {"kind": choice(tuple(Kind)), "tags": TAGS, "since": TIME, "until": TIME, "session": text()}


def add(reached: Reached, content: str, *, personal: bool = False, **options: Any) -> Answer:
    """A value that is the same everywhere needs no warning: only what is new or replaced is told."""
    added = reached.keeping(personal=personal).add(content, actor=AGENT, **options)
    return Answer(_told(added), _brief(added))


def _told(added: Added) -> str:
    told = [f"{'Kept' if added.created else 'Known already'}: {added.id}"]
    told += [f"Replaced [{each.id}] {render.line(each.content)} ({_why(each)})" for each in added.ended]
    told += [_describe_doubt(each) for each in added.proposals]
    if added.memory.expires and added.memory.expires <= added.memory.updated:
        told.append(f"It expired on {added.memory.expires:%Y-%m-%d}, so it is not found: memory_update corrects that.")
    told += [f"Resembles [{each.id}] {render.line(each.content)}" for each in added.resembles]
    return "\n".join(told)


def _describe_doubt(each: Proposal) -> str:
    """What a new memory may replace, and what to do about it."""
    older = f"[{each.older_id}] {render.line(each.older)} ({_why(each)})"
    if each.is_held:
        how = f"if they say so, keep it as their word: memory_add with replaces=[{each.older_id}]"
        return f"Not replaced: {older}. Ask the user; {how}"
    return f"May replace {older}; if so call memory_add again with replaces=[{each.older_id}]"


def _brief(added: Added) -> dict[str, Any]:
    alike = [{"id": each.id, "text": render.line(each.content)} for each in added.resembles]
    return {
        "id": added.id,
        "created": added.created,
        "superseded": [*added.superseded],
        "ended": [{"id": each.id, "text": render.line(each.content), "why": _why(each)} for each in added.ended],
        "proposals": [_proposal(each) for each in added.proposals],
        "resembles": alike,
    }


def _why(each: Ended | Proposal) -> str:
    return render.line(f"{each.rule}: {each.reason}")


def _proposal(each: Proposal) -> dict[str, Any]:
    return {
        "id": each.id,
        "newer_id": each.newer_id,
        "newer": render.line(each.newer),
        "older_id": each.older_id,
        "older": render.line(each.older),
        "move_to": each.move_to,
        "is_held": each.is_held,
        "why": _why(each),
    }


def review(
    reached: Reached, accept: Sequence[str] = (), reject: Sequence[str] = (), limit: int = 20, before: str | None = None
) -> Answer:
    """What is decided is looked up first: an id that is not there changes nothing."""
    if both := {*accept} & {*reject}:
        raise Invalid(f"{min(both)} is to be accepted and rejected", "Name it once.")
    accepted = [(_deciding(reached, id), id) for id in dict.fromkeys(accept)]
    for memory, id in accepted:
        check_may_accept(memory.proposals.get(id), AGENT)
    rejected = [(_deciding(reached, id), id) for id in dict.fromkeys(reject)]
    done = [memory.proposals.accept(id, AGENT) for memory, id in accepted]
    told = [_describe_accepted(each) for each in done]
    kept = [memory.proposals.reject(id) for memory, id in rejected]
    told += [_describe_rejected(each) for each in kept]
    found = [each for memory in _writable(reached) for each in memory.proposals.list(limit, before)][:limit]
    told += [_describe_open(each) for each in found]
    data = {"accepted": [*dict.fromkeys(accept)], "rejected": [*dict.fromkeys(reject)]}
    return Answer("\n".join(told) or "Nothing to review.", {**data, "proposals": [_proposal(each) for each in found]})


def _describe_open(each: Proposal) -> str:
    older = f"[{each.older_id}] {render.line(each.older)}"
    if each.move_to:
        return f"{each.id}: {older} may belong to {each.move_to!r} ({_why(each)})"
    who = "; only the user decides" if each.is_held else ""
    return f"{each.id}: [{each.newer_id}] {render.line(each.newer)} may replace {older} ({_why(each)}{who})"


def _describe_accepted(each: Proposal) -> str:
    older = f"[{each.older_id}] {render.line(each.older)}"
    return f"Moved {older} to {each.move_to!r} as [{each.newer_id}]" if each.move_to else f"Replaced {older}"


def _describe_rejected(each: Proposal) -> str:
    return f"It stays: [{each.older_id}]" if each.move_to else f"Both stay: [{each.newer_id}] and [{each.older_id}]"


def _deciding(reached: Reached, id: str) -> Retentive:
    """The namespace that holds this proposal."""
    missing: NotFound | None = None
    for memory in _writable(reached):
        try:
            memory.proposals.get(id)
        except NotFound as error:
            missing = missing or error
        else:
            return memory
    raise missing or NotFound(f"no proposal {id}")


def _writable(reached: Reached) -> Iterator[Retentive]:
    """One's own namespace, and that of the person."""
    yield reached.memory
    if reached.person and reached.person != reached.memory.namespace:
        yield reached.memory.in_namespace(reached.person)


def add_many(reached: Reached, contents: Sequence[str], *, personal: bool = False, **options: Any) -> Answer:
    loaded = reached.keeping(personal=personal).add_many(contents, actor=AGENT, **options)
    refusals = [each._asdict() for each in loaded.refusals]
    data = {"ids": [*loaded.ids], "created": loaded.created, "repeated": loaded.repeated, "refusals": refusals}
    told = [f"Kept {loaded.created}, known already {loaded.repeated}."]
    told += [f"Not kept: {each.place}, {each.reason}." for each in loaded.refusals]
    return Answer("\n".join(told), data)


def search(reached: Reached, query: str, limit: int = 8, **options: Any) -> Answer:
    found = reached.memory.search(query, limit, namespaces=reached.also, **options)
    hits = [render.hit(each) for each in found if each.relevance >= NOISE]
    told, notes = render.listed(hits) or "Nothing found: nothing about this is known.", reached.noted(found.notes)
    return Answer("\n".join([told, *notes]), {"hits": hits, "tier": found.tier, "notes": notes})


def search_conversations(reached: Reached, query: str, limit: int = 8, **options: Any) -> Answer:
    return search(reached, query, limit, include="events", **options)


def get(reached: Reached, ids: Sequence[str]) -> Answer:
    """Some that are there are better than an error for one that is not."""
    found: list[Memory | Event | Record | Passage] = []
    missing: list[str] = []
    for id in ids:
        try:
            found += _one(reached, id)
        except NotFound:
            missing.append(id)
    if not found:
        raise NotFound(f"no memory has the id {', '.join(missing)}", "Ids are those that memory_search gives.")
    items = [render.whole(each) for each in found]
    told = [render.told(each, item) for each, item in zip(found, items, strict=True)]
    told += [f"There is no {id}." for id in missing]
    return Answer("\n".join(told), {"items": items, "missing": missing})


def _one(reached: Reached, id: str) -> Sequence[Memory | Event | Record | Passage]:
    """A memory; a message, with those around it; what is known in fields; or a file."""
    session, mark, sequence = id.rpartition("#")
    if mark and sequence.isdecimal():
        return reached.first(lambda memory: _around(memory, session, int(sequence)))
    with suppress(NotFound):
        return [reached.first(lambda memory: _kept(memory, id))]
    return reached.first(lambda memory: _of_file(memory, id))


def _of_file(memory: Retentive, id: str) -> Sequence[Passage]:
    """How a file begins. By id alone: the name of a file tells nobody anything here."""
    found = memory.files.passages(id)[:PASSAGES]
    if not found or found[0].id != id:
        raise NotFound(f"there is no {id}")
    return found


def _kept(memory: Retentive, id: str) -> Memory | Record:
    """By id alone: what is called so may be something else."""
    for look in (memory.contacts.get, memory.projects.get, memory.skills.get):
        with suppress(NotFound, Conflict):
            record: Record = look(id)
            if record.id == id:
                return record
    return memory.profile.get() if id == PROFILE else memory.get(id)


def _around(memory: Retentive, session: str, sequence: int) -> Sequence[Event]:
    """Of another namespace's session of the same name, if it is not in one's own."""
    events = memory.sessions.events(session, AROUND, around=sequence)
    if all(each.sequence != sequence for each in events):
        raise NotFound(f"session {session!r} has no message {sequence}")
    return [each for each in events if not each.is_hidden or each.sequence == sequence]


def update(reached: Reached, id: str, reason: str | None = None, **changes: Any) -> Answer:
    if not changes:
        raise Invalid("nothing to change", "Give content, kind, tags, importance, slot or expires.")
    changed = reached.changing(id).update(id, reason=reason, actor=AGENT, **_taken_away(changes))
    return Answer(f"Updated {render.listed([render.memory(changed)])}", {"memory": render.whole(changed)})


def _taken_away(changes: dict[str, Any]) -> dict[str, Any]:
    """An empty slot or expiry takes it away."""
    return {name: None if each == "" else each for name, each in changes.items()}


def delete(
    reached: Reached,
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
        gone = reached.memory.forget_matching(words, confirm=confirm, dry_run=dry_run, reason=reason, actor=AGENT)
        return _gone(gone.memories, done=gone.done)
    places = [(reached.changing(id), id) for id in dict.fromkeys(ids)]
    if dry_run:
        return _gone([memory.get(id) for memory, id in places], done=False)
    return _gone([memory.forget(id, reason, AGENT) for memory, id in places], done=True)


def _gone(memories: Sequence[Memory], *, done: bool) -> Answer:
    rows = [render.memory(each) for each in memories]
    told = f"{'Forgotten' if done else 'Would be forgotten'}: {len(rows)}"
    return Answer("\n".join([told, render.listed(rows)]).strip(), {"memories": rows, "done": done})


def context(reached: Reached, query: str = "", session: str | None = None, budget: int = 1500) -> Answer:
    recent = 10 if session else 0
    found = reached.memory.context(query, session, budget, recent, namespaces=reached.also)
    told, notes = found.text or "Nothing that bears on this is known.", reached.noted(found.notes)
    data = {"text": found.text, "tokens": found.tokens, "cites": [*found.cites], "notes": notes}
    return Answer("\n".join([told, *notes]), data)


def listing(reached: Reached, limit: int = 20, before: str | None = None, **filters: Any) -> Answer:
    page = reached.memory.list(limit, before, **filters)
    rows = [render.memory(each) for each in page]
    more = [f"More: before={page.next}"] if page.next else []
    told = [render.listed(rows) or "None.", *more, *reached.noted(page.notes)]
    return Answer("\n".join(told), {"memories": rows, "next": page.next})


def history(reached: Reached, id: str) -> Answer:
    found = reached.first(lambda memory: memory.why(id))
    changes = [serialize.change(each) for each in found.changes]
    told = [f"{each.at:%Y-%m-%d %H:%M} {each.action} by {each.actor}: {each.reason or '-'}" for each in found.changes]
    told += [f"took the place of [{each.id}] {render.line(each.content)}" for each in found.replaced]
    told += [f"replaced by [{each.id}] {render.line(each.content)}" for each in found.replaced_by]
    told += [f"learned from [{each.id}] {render.line(each.content)}" for each in found.messages]
    others: Mapping[str, Sequence[Memory | Event]] = {
        "messages": found.messages,
        "replaced": found.replaced,
        "replaced_by": found.replaced_by,
    }
    ids = {name: [each.id for each in some] for name, some in others.items()}
    return Answer("\n".join(told), {"changes": changes, **ids})


def restore(reached: Reached, id: str, reason: str | None = None) -> Answer:
    back = reached.changing(id).restore(id, reason, AGENT)
    return Answer(f"Restored {render.listed([render.memory(back)])}", {"memory": render.whole(back)})


def purge(
    reached: Reached, ids: Sequence[str], *, with_origin: bool = False, dry_run: bool = True, reason: str | None = None
) -> Answer:
    gone = reached.memory.purge(ids, with_origin=with_origin, dry_run=dry_run, reason=reason, actor=AGENT)
    told = f"{'Would purge' if dry_run else 'Purged'} {', '.join(gone.ids)}. {gone.proof}"
    left = [f"Still repeated in {each.place} {each.id}".strip() for each in gone.remaining]
    return Answer("\n".join([told, *left]), {**serialize.purged(gone), "done": not dry_run})


def consolidate(
    reached: Reached, *, dry_run: bool = True, limit: int = 20, undo: str | None = None, **options: Any
) -> Answer:
    if undo is not None:
        undone = reached.memory.undo_consolidation(undo, AGENT)
        told = [f"Active again: {len(undone.restored)}", *(f"Left as it is: {each}" for each in undone.left)]
        return Answer("\n".join(told), {"done": True, "groups": [], **serialize.undone_consolidation(undone)})
    done = reached.memory.consolidate(dry_run=dry_run, limit=limit, **options)
    told = [f"{'Made' if done.done else 'Would make'} {len(done.groups)} of {_cited(done)}."]
    told += [
        f"{each.rule}: {render.line(each.text)} <- {', '.join(one.id for one in each.cited)}" for each in done.groups
    ]
    told += [f"Undo with undo={done.run}"] if done.run else []
    return Answer("\n".join([*told, *done.notes]), serialize.consolidation(done))


def _ids(cited: Sequence[CitedMemory]) -> str:
    return ", ".join(each.id for each in cited)


def _cited(done: Consolidation) -> str:
    count = sum(len(each.cited) for each in done.groups)
    return f"{count} memories, of {done.scanned} old ones read"


def tools(*, person: bool) -> Sequence[Tool]:
    """Those of `memory_...`. With `person`, what is kept may be said to concern the person and not the project."""
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
            {"id": "string", "created": "boolean", "superseded": "array", "ended": "array", "proposals": "array",
             "resembles": "array"},
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
             **_VIEW, "as_of": text("What was true at this time", 40)},
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
            {"id": ID, "content": CONTENT, "kind": choice(KINDS), "tags": TAGS, "importance": whole(1, 10),
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
             "budget": whole(100, 20_000, 1500, "Tokens")},
            (), {"text": "string", "tokens": "integer", "cites": "array", "notes": "array"}, reads=True,
        ),
    )  # fmt: skip


def more(*, person: bool) -> Sequence[Tool]:
    """Those of the full set."""
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
            listing,
            {"limit": whole(1, 100, 20), "before": ID, **_VIEW, "status": choice(tuple(Status)),
             "source": choice(tuple(Source)), "min_importance": whole(1, 10)},
            (), {"memories": "array"}, reads=True,
        ),
        Tool(
            "memory_history", "Where a memory came from",
            "What happened to a memory: its changes, what it replaced or was replaced by, the messages it was learned "
            "from.",
            history, {"id": ID}, ("id",),
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
             "limit": whole(1, 100, 20), "before": ID},
            (), {"accepted": "array", "rejected": "array", "proposals": "array"},
        ),
        Tool(
            "memory_consolidate", "Merge old memories",
            "Merge old memories that say the same into one that cites them, and sum up many small outcomes. A dry run "
            "unless dry_run is false: show it to the user first. undo takes the id of a run back.",
            consolidate,
            {"dry_run": flag("Only show what would be merged", default=True), "limit": whole(1, 100, 20),
             "older_than": whole(0, 36_500, None, "Days"), "undo": text("Id of a run")},
            (), {"done": "boolean", "groups": "array"},
        ),
        Tool(
            "memory_purge", "Remove for good",
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
