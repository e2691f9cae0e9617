"""The tools of memories: keep, find, read, correct, forget."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any

from retentive.api import Retentive
from retentive.errors import Conflict, Invalid, NotFound
from retentive.mcp import render
from retentive.mcp.caller import Caller
from retentive.mcp.tool import Answer, Tool, choice, flag, from_field, integer, several, text
from retentive.model import AGENT, AddResult, Event, Memory, Passage, Proposal, Record, ReplacedMemory
from retentive.surface import memory as fields

MIN_RELEVANCE = 0.15  # relevance below which a hit only costs: what has nothing to do with a question has .05 to .11
PROFILE_ID = "profile"  # the id of every profile
MESSAGES_AROUND = 5  # shown with the requested one
MAX_PASSAGES = 20  # of a file that are shown whole: some 3,000 tokens
MAX_CONTENT_CHARS = 20_000

OTHER_KINDS = ("note", "file")  # made by other tools
MAX_ID_CHARS = 300  # of a message: the name of its session and a number
ID = text(most=MAX_ID_CHARS)
IDS = several(ID, 20)
CONTENT = text('A self-contained statement in the third person: "The user\'s dog is called Rex"', MAX_CONTENT_CHARS)
KIND = from_field(fields.KIND, without=OTHER_KINDS)
TAGS = from_field(fields.TAGS)
SOURCE = choice(("file", "tool", "assistant"), description=fields.SOURCE.tool_help)
TIME = text(most=40)
LIMIT = integer(1, 50, 8)
INCLUDED = ("memories", "events", "files", "contacts", "projects", "skills")
_FILTERS = {
    "kind": from_field(fields.KIND, default=False), "tags": TAGS, "since": TIME, "until": TIME, "session": text(),
}  # fmt: skip


def add(caller: Caller, content: str, *, personal: bool = False, **options: Any) -> Answer:
    """Add a memory; the answer reports only what is new or replaced."""
    added = caller.choose_view(personal=personal).add(content, actor=AGENT, **options)
    return Answer(_describe_added(added), _serialize_added(added))


def _describe_added(added: AddResult) -> str:
    lines = [f"{'Saved' if added.created else 'Already known'}: {added.id}"]
    lines += describe_replaced(added.replaced)
    lines += [_describe_doubt(each) for each in added.proposals]
    if added.memory.expires and added.memory.expires <= added.memory.updated:
        lines.append(f"It expired on {added.memory.expires:%Y-%m-%d}: searches skip it. memory_update corrects that.")
    lines += [f"Resembles [{each.id}] {render.shorten(each.content)}" for each in added.similar]
    return "\n".join(lines)


def _describe_doubt(each: Proposal) -> str:
    """Describe what a new memory may replace, and what to do about it."""
    older = f"[{each.older_id}] {render.shorten(each.older)} ({describe_reason(each)})"
    if each.is_held:
        how = f"if they confirm, save it as their word: memory_add with replaces=[{each.older_id}]"
        return f"Not replaced: {older}. Ask the user; {how}"
    return f"May replace {older}; if it does, call memory_add again with replaces=[{each.older_id}]"


def _serialize_added(added: AddResult) -> dict[str, Any]:
    alike = [{"id": each.id, "text": render.shorten(each.content)} for each in added.similar]
    return {
        "id": added.id,
        "created": added.created,
        "superseded": [*added.superseded],
        "replaced": [
            {"id": each.id, "text": render.shorten(each.content), "why": describe_reason(each)}
            for each in added.replaced
        ],
        "proposals": [serialize_proposal(each) for each in added.proposals],
        "similar": alike,
    }


def describe_replaced(replaced: Iterable[ReplacedMemory]) -> list[str]:
    """A line for each memory that a newer one ended, with its text and why."""
    return [f"Replaced [{each.id}] {render.shorten(each.content)} ({describe_reason(each)})" for each in replaced]


def describe_reason(each: ReplacedMemory | Proposal) -> str:
    return render.shorten(f"{each.rule}: {each.reason}")


def serialize_proposal(each: Proposal) -> dict[str, Any]:
    return {
        "id": each.id,
        "newer_id": each.newer_id,
        "newer": render.shorten(each.newer),
        "older_id": each.older_id,
        "older": render.shorten(each.older),
        "move_to": each.move_to,
        "is_held": each.is_held,
        "why": describe_reason(each),
    }


def add_many(caller: Caller, contents: Sequence[str], *, personal: bool = False, **options: Any) -> Answer:
    loaded = caller.choose_view(personal=personal).add_many(contents, actor=AGENT, **options)
    refusals = [each._asdict() for each in loaded.refusals]
    data = {"ids": [*loaded.ids], "created": loaded.created, "repeated": loaded.repeated, "refusals": refusals}
    lines = [f"Saved {loaded.created}, already known {loaded.repeated}."]
    lines += [f"Not saved: {each.place}, {each.reason}." for each in loaded.refusals]
    return Answer("\n".join(lines), data)


def search(caller: Caller, query: str, limit: int = 8, **options: Any) -> Answer:
    found = caller.memory.search(query, limit, namespaces=caller.also_read, **options)
    hits = [render.serialize_hit(each) for each in found if each.relevance >= MIN_RELEVANCE]
    summary = render.join_rows(hits) or "Nothing found: nothing is known about this."
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
            found += load_item(caller, id)
        except NotFound:
            missing.append(id)
    if not found:
        raise NotFound(f"no memory has the id {', '.join(missing)}", "Ids are those that memory_search gives.")
    items = [render.serialize_item(each) for each in found]
    lines = [render.describe_item(each, item) for each, item in zip(found, items, strict=True)]
    lines += [f"There is no {id}." for id in missing]
    return Answer("\n".join(lines), {"items": items, "missing": missing})


def load_item(caller: Caller, id: str) -> Sequence[Memory | Event | Record | Passage]:
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
    view = caller.find_changeable(id)
    before = view.get(id)
    changed = view.update(id, reason=reason, actor=AGENT, **_clear_empty_values(changes))
    lines = [f"Updated {render.join_rows([render.serialize_memory(changed)])}"]
    if before.content != changed.content:
        lines.append(f"Replaced [{id}] {render.shorten(before.content)}")
    return Answer("\n".join(lines), {"memory": render.serialize_item(changed)})


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
        raise Invalid("ids or words are needed, not both", "ids: the memories to forget. words: all that contain them.")
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


def context(
    caller: Caller, query: str = "", session: str | None = None, budget: int = 1500, top_k: int | None = None
) -> Answer:
    recent = 10 if session else 0
    found = caller.memory.context(query, session, budget, recent, top_k=top_k, namespaces=caller.also_read)
    summary = found.text or "Nothing relevant is known."
    notes = caller.render_notes(found.notes)
    data = {"text": found.text, "tokens": found.tokens, "cites": [*found.cites], "notes": notes}
    return Answer("\n".join([summary, *notes]), data)


def list_memories(caller: Caller, limit: int = 20, after: str | None = None, **filters: Any) -> Answer:
    page = caller.memory.list(limit, after, **filters)
    rows = [render.serialize_memory(each) for each in page]
    more = [f"More: after={page.next}"] if page.next else []
    lines = [render.join_rows(rows) or "None.", *more, *caller.render_notes(page.notes)]
    return Answer("\n".join(lines), {"memories": rows, "next": page.next})


def list_default_tools(*, person: bool) -> Sequence[Tool]:
    """The memory tools. With `person`, a memory may be marked as about the person, not the project."""
    personal = {"personal": flag("About the user, not this project")} if person else {}
    return (
        Tool(
            "memory_add", "Remember",
            "Save one lasting fact, preference, decision or instruction. Do it unprompted, as soon as the user shares "
            "something about themselves, their people or their work that will matter in later conversations, or "
            "corrects something (the old memory is replaced). Skip small talk, secrets and what matters only now.",
            add,
            {"content": CONTENT, "kind": KIND, "tags": TAGS, "importance": from_field(fields.IMPORTANCE),
             "slot": from_field(fields.SLOT), "replaces": several(text(), 20, fields.REPLACES.tool_help),
             "source": SOURCE, "valid_from": TIME, "expires": TIME, "session": from_field(fields.SESSION), **personal},
            ("content",),
            {"id": "string", "created": "boolean", "superseded": "array", "replaced": "array", "proposals": "array",
             "similar": "array"},
            repeatable=True,
        ),
        Tool(
            "memory_search", "Search memory",
            "Search memories and past conversations by meaning and keywords. Do it before answering anything that may "
            "depend on earlier conversations, people, preferences or decisions, and before asking the user for "
            "something they may have told you. Returns a line per hit; memory_get returns the full text.",
            search,
            {"query": text("A question or keywords", 2000), "limit": LIMIT,
             "include": several(choice(INCLUDED), len(INCLUDED), "events: past messages"),
             **_FILTERS, "scope": choice(("session",), description="Only this session"),
             "as_of": text("What was true then", 40)},
            ("query",), {"hits": "array", "tier": "string", "notes": "array"}, reads=True,
        ),
        Tool(
            "memory_get", "Read memories",
            "Read memories, messages or records in full by id, with dates, source and status.",
            get, {"ids": IDS}, ("ids",), {"items": "array", "missing": "array"}, reads=True,
        ),
        Tool(
            "memory_update", "Edit a memory",
            "Fix a memory's wording, kind, tags or importance. If the fact itself changed, use memory_add: it keeps "
            "the old one as history.",
            update,
            {"id": ID, "content": text(most=MAX_CONTENT_CHARS),
             "kind": from_field(fields.KIND, without=OTHER_KINDS, default=False),
             "tags": TAGS, "importance": integer(1, 10), "slot": text(least=0), "expires": text(most=40, least=0),
             "reason": text()},
            ("id",), {"memory": "object"}, repeatable=True,
        ),
        Tool(
            "memory_delete", "Forget",
            "Forget memories by id, or every memory with all of the given words. Only when the user asks. Can be "
            "undone. If words match several, preview with dry_run, then confirm.",
            delete,
            {"ids": IDS, "words": text(), "dry_run": flag("Preview only"), "confirm": flag("Forget several"),
             "reason": text()},
            (), {"memories": "array", "done": "boolean"}, destroys=True, repeatable=True,
        ),
        Tool(
            "memory_context", "Recall for a task",
            "What to know before an answer or a task, within a token budget: standing instructions, profile, relevant "
            "memories and past messages, and a session's summary. Call it when a conversation or task starts; without "
            "a query it gives the profile, vital and recent memories. For single facts use memory_search.",
            context,
            {"query": text("What you are about to answer or do", 4000, 0), "session": text(),
             "budget": integer(100, 20_000, 1500, "Tokens"), "top_k": integer(1, 200, None, "Memories at most")},
            (), {"text": "string", "tokens": "integer", "cites": "array", "notes": "array"}, reads=True,
        ),
        Tool(
            "memory_list", "List memories",
            "List memories, newest first, by filters. To look something up, use memory_search.",
            list_memories,
            {"limit": integer(1, 100, 20), "after": ID, **_FILTERS,
             "status": choice(fields.STATUSES), "min_importance": integer(1, 10)},
            (), {"memories": "array"}, reads=True,
        ),
    )  # fmt: skip


def list_further_tools(*, person: bool) -> Sequence[Tool]:
    """Tools of the full set only."""
    personal = {"personal": flag("About the user, not this project")} if person else {}
    return (
        Tool(
            "memory_add_many", "Remember many",
            "Save many statements at once, such as imported notes. For single ones use memory_add: it also notices "
            "what a statement corrects.",
            add_many,
            {"contents": several(CONTENT, 500), "kind": KIND, "tags": TAGS, "source": SOURCE, **personal},
            ("contents",),
            {"ids": "array", "created": "integer", "repeated": "integer"}, repeatable=True,
        ),
        Tool(
            "conversation_search", "Search conversations",
            "Search the messages of past conversations, quoted word for word.",
            search_conversations,
            {"query": text(most=2000), "limit": LIMIT, "session": text(), "since": TIME, "until": TIME},
            ("query",), {"hits": "array", "tier": "string", "notes": "array"}, reads=True,
        ),
    )  # fmt: skip
