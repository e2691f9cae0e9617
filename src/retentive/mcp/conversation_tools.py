"""The tools of conversations and notes."""

from collections.abc import Mapping, Sequence
from typing import Any

from retentive import serialize
from retentive.conversations.turns import is_foreign
from retentive.errors import Invalid, RetentiveError
from retentive.mcp import render
from retentive.mcp.caller import Reached
from retentive.mcp.tool import Answer, Tool, choice, flag, several, text, thing, whole
from retentive.model import Event, Heard, Memory, Role
from retentive.text.quote import flatten, indent, quote

SESSION = text("Name of the conversation")
READ = 20  # messages of a session read at a time, unless asked otherwise


def append(reached: Reached, session: str, messages: Sequence[Mapping[str, Any]]) -> Answer:
    """In their order, each durable before the next."""
    events: list[Event] = []
    for each in messages:
        try:
            events.append(reached.memory.sessions.append(session, **each))
        except RetentiveError as error:
            if events:
                kept = f"The first {len(events)} were kept, up to {events[-1].id}. {error.hint}".strip()
                raise type(error)(str(error), kept) from error
            raise
    heard = [one for event in events for one in event.heard]
    told = [f"Kept {len(events)} up to {events[-1].id}.", *map(_heeded, heard)]
    data = {
        "first": events[0].sequence,
        "last": events[-1].sequence,
        "heard": [serialize.heard(each) for each in heard],
    }
    return Answer("\n".join(told), data)


def _heeded(heard: Heard) -> str:
    """What was done about a request in the words."""
    if heard.refused:
        return f"Not kept: {heard.refused}"
    if heard.memories:
        return f"{'Remembered' if heard.verb == 'keep' else 'Forgotten'}: {heard.text}"
    meant = "; ".join(f"[{each.id}] {render.line(each.content)}" for each in heard.candidates)
    return f"Unclear what to forget by {heard.text!r}: {meant or 'nothing like it is known'}"


def note(
    reached: Reached, action: str | None = None, note_id: str | None = None, text: str | None = None, **options: Any
) -> Answer:
    """Without an action: what the other arguments are for."""
    action = action or ("put" if text else "get" if note_id else "list")
    if action == "list":
        rows = [render.memory(each) for each in reached.memory.notes.list(**options)]
        return Answer(render.listed(rows) or "No notes.", {"notes": rows})
    if action == "put":
        if not text:
            raise Invalid("a note needs text", "To read one, use action get.")
        return _noted(reached.memory.notes.put(text, note_id, **options))
    if note_id is None:
        raise Invalid(f"{action} needs a note_id", "note with action list shows them.")
    if action == "get":
        return _noted(reached.first(lambda memory: memory.notes.get(note_id)))
    done = reached.memory.notes.delete(note_id)
    return Answer("Deleted." if done else f"There was no note {note_id}.", {"notes": [], "done": done})


def _noted(found: Memory) -> Answer:
    return Answer(f"[{found.id}] {found.content}", {"notes": [render.whole(found)]})


def sessions(reached: Reached, limit: int = 20, before: str | None = None) -> Answer:
    rows = [serialize.shown(each) for each in reached.memory.sessions.list(limit, before)]
    told = [f"{row['id']}: {row['events']} messages, last on {row['active'][:10]}" for row in rows]
    return Answer("\n".join(told) or "None.", {"sessions": rows})


def read(reached: Reached, session: str, limit: int = READ, **where: Any) -> Answer:
    events = reached.first(lambda memory: memory.sessions.events(session, limit, **where))
    told = [_said(each) for each in events]
    return Answer("\n".join(told) or "No messages there.", {"messages": [render.whole(each) for each in events]})


def _said(event: Event) -> str:
    mark = "(forgotten) " if event.is_hidden else ""
    who, words = flatten(event.speaker or event.role), indent(event.content)
    if is_foreign(event):
        words = quote(event.content)
    return f"#{event.sequence} {event.time:%Y-%m-%d %H:%M} {who}: {mark}{words}"


def delete(reached: Reached, session: str, *, dry_run: bool = True) -> Answer:
    gone = reached.memory.sessions.delete(session, dry_run=dry_run)
    told = f"{'Would delete' if dry_run else 'Deleted'} {gone.events} messages and {gone.memories} memories of its own"
    return Answer(f"{told}; {gone.kept} learned from it stay.", {**serialize.shown(gone), "done": not dry_run})


def summary(reached: Reached, session: str, *, make: bool = False) -> Answer:
    found = (
        reached.memory.sessions.summarise(session)
        if make
        else reached.first(lambda memory: memory.sessions.summary(session))
    )
    return Answer(found.text or "It is short: there is no summary yet.", serialize.shown(found))


def learn(reached: Reached, session: str | None = None) -> Answer:
    done = [serialize.learned(each) for each in reached.memory.learn(session)]
    told = [f"{each['session']}: {each['events']} messages, {len(each['kept'])} memories kept" for each in done]
    return Answer("\n".join(told) or "Nothing to learn from yet.", {"sessions": done})


def tools(*, writes: bool) -> Sequence[Tool]:
    actions = ("put", "get", "list", "delete") if writes else ("get", "list")
    message = thing(
        {"role": choice(tuple(Role)), "content": text("", 1_000_000), "speaker": text(), "time": text("", 40)},
        ("role", "content"),
    )
    return (
        Tool(
            "session_append", "Log messages",
            "Log what was said, in order, so that it can be recalled and learned from later. Use it when you are "
            "asked to log or remember a conversation; not where your client logs it by itself.",
            append, {"session": SESSION, "messages": several(message, 100)}, ("session", "messages"),
            {"first": "integer", "last": "integer", "heard": "array"},
        ),
        Tool(
            "note", "Notes",
            "A document under an id of your choice, replaced whole: plans, checklists, working notes."
            + (" For single facts use memory_add." if writes else ""),
            note,
            {"action": choice(actions), "note_id": text(),
             **({"text": text("", 100_000)} if writes else {}), "tags": several(text(most=60), 20, least=0),
             "session": text()},
            (), {"notes": "array"}, reads=not writes, destroys=writes, repeatable=True,
        ),
    )  # fmt: skip


def more(*, writes: bool) -> Sequence[Tool]:
    """Those of the full set."""
    condense = {"make": flag("Condense first, if it is time")} if writes else {}
    return (
        Tool(
            "session_list", "List conversations", "The conversations there are, the most recently active first.",
            sessions, {"limit": whole(1, 100, 20), "before": SESSION}, (), {"sessions": "array"}, reads=True,
        ),
        Tool(
            "session_read", "Read a conversation",
            "Messages of a conversation in order: the newest, or those before, after or around a sequence number.",
            read,
            {"session": SESSION, "limit": whole(1, 200, READ), "before": whole(1, 10**12), "after": whole(0, 10**12),
             "around": whole(1, 10**12)},
            ("session",), {"messages": "array"}, reads=True,
        ),
        Tool(
            "session_summary", "Summary of a conversation",
            "What the older messages of a long conversation came to.",
            summary, {"session": SESSION, **condense}, ("session",),
            {"session": "string", "text": "string", "upto": "integer", "epoch": "integer"},
            reads=not writes, repeatable=True, long=True,
        ),
        Tool(
            "session_delete", "Delete a conversation",
            "Remove a conversation for good, with its own memories; those learned from it for all stay. Only when the "
            "user asks. A dry run unless dry_run is false.",
            delete, {"session": SESSION, "dry_run": flag("Only tell what would go", default=True)}, ("session",),
            {"session": "string", "events": "integer", "memories": "integer", "done": "boolean"},
            destroys=True, repeatable=True,
        ),
        Tool(
            "session_learn", "Learn from conversations",
            "Read what was said since the last time and keep what is worth keeping: of one session at once, or of all "
            "that are idle. The server does it by itself when a conversation rests.",
            learn, {"session": SESSION}, (), {"sessions": "array"}, repeatable=True, long=True,
        ),
    )  # fmt: skip
