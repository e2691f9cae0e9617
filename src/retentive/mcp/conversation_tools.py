"""The tools of conversations and notes."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from retentive import serialize
from retentive.conversations.turns import is_foreign
from retentive.errors import Invalid, RetentiveError
from retentive.mcp import render
from retentive.mcp.caller import Caller
from retentive.mcp.lifecycle_tools import describe_open
from retentive.mcp.memory_tools import TAGS, describe_replaced
from retentive.mcp.tool import Answer, Tool, choice, flag, integer, several, text, thing
from retentive.model import Event, HandledRequest, Memory, Role
from retentive.text.quote import indent_lines, join_lines, quote_lines

SESSION_NAME = text("Name of the conversation")
MESSAGES_PER_READ = 20  # messages of a session read at a time, unless asked otherwise


def append_messages(caller: Caller, session: str, messages: Sequence[Mapping[str, Any]]) -> Answer:
    """Append messages in order, each durable before the next."""
    events: list[Event] = []
    for each in messages:
        try:
            events.append(caller.memory.sessions.append(session, **each))
        except RetentiveError as error:
            if events:
                kept = f"The first {len(events)} were saved, up to {events[-1].id}. {error.hint}".strip()
                raise type(error)(str(error), kept) from error
            raise
    requests = [one for event in events for one in event.requests]
    lines = [f"Saved {len(events)} up to {events[-1].id}."]
    lines += [line for each in requests for line in _describe_request(caller, each)]
    data = {
        "first": events[0].sequence,
        "last": events[-1].sequence,
        "requests": [serialize.handled_request(each) for each in requests],
    }
    return Answer("\n".join(lines), data)


def _describe_request(caller: Caller, request: HandledRequest) -> Iterator[str]:
    """Report what was done about a request found in a message, with the texts of the memories that it ended."""
    if request.refused:
        yield f"Not saved: {request.refused}"
    elif request.memories and request.verb == "forget":
        yield from (f"Forgotten [{id}] {_read_content(caller, id)}" for id in request.memories)
    elif request.memories:
        yield f"Remembered: {request.text}"
        yield from describe_replaced(request.replaced)
    else:
        meant = "; ".join(f"[{each.id}] {render.shorten(each.content)}" for each in request.candidates)
        yield f"Unclear what to forget by {request.text!r}: {meant or 'nothing similar is known'}"


def _read_content(caller: Caller, id: str) -> str:
    return render.shorten(caller.find_first(lambda memory: memory.get(id)).content)


def note(
    caller: Caller, action: str | None = None, note_id: str | None = None, text: str | None = None, **options: Any
) -> Answer:
    """Read or write a note. Without an action, the other arguments decide."""
    action = action or ("put" if text else "get" if note_id else "list")
    if action == "list":
        rows = [render.serialize_memory(each) for each in caller.memory.notes.list(**options)]
        return Answer(render.join_rows(rows) or "No notes.", {"notes": rows})
    if action == "put":
        if not text:
            raise Invalid("a note needs text", "To read one, use action get.")
        return _answer_note(caller.memory.notes.put(text, note_id=note_id, **options))
    if note_id is None:
        raise Invalid(f"{action} needs a note_id", "note with action list shows them.")
    if action == "get":
        return _answer_note(caller.find_first(lambda memory: memory.notes.get(note_id)))
    done = caller.memory.notes.delete(note_id)
    return Answer("Deleted." if done else f"There is no note {note_id}.", {"notes": [], "done": done})


def _answer_note(found: Memory) -> Answer:
    return Answer(f"[{found.id}] {found.content}", {"notes": [render.serialize_item(found)]})


def list_sessions(caller: Caller, limit: int = 20, after: str | None = None) -> Answer:
    rows = [serialize.encode_fields(each) for each in caller.memory.sessions.list(limit, after)]
    lines = [f"{row['id']}: {row['events']} messages, last on {row['active'][:10]}" for row in rows]
    return Answer("\n".join(lines) or "None.", {"sessions": rows})


def read_session(caller: Caller, session: str, limit: int = MESSAGES_PER_READ, **where: Any) -> Answer:
    events = caller.find_first(lambda memory: memory.sessions.events(session, limit, **where))
    lines = [_render_message(each) for each in events]
    return Answer(
        "\n".join(lines) or "No messages there.", {"messages": [render.serialize_item(each) for each in events]}
    )


def _render_message(event: Event) -> str:
    mark = "(forgotten) " if event.is_hidden else ""
    speaker, words = join_lines(event.speaker or event.role), indent_lines(event.content)
    if is_foreign(event):
        words = quote_lines(event.content)
    return f"#{event.sequence} {event.time:%Y-%m-%d %H:%M} {speaker}: {mark}{words}"


def delete_session(caller: Caller, session: str, *, dry_run: bool = True) -> Answer:
    gone = caller.memory.sessions.delete(session, dry_run=dry_run)
    verb = "Would delete" if dry_run else "Deleted"
    summary = (
        f"{verb} {gone.events} messages and {gone.memories} memories of its own; {gone.kept} learned from it stay."
    )
    return Answer(summary, {**serialize.encode_fields(gone), "done": not dry_run})


def show_summary(caller: Caller, session: str, *, make: bool = False) -> Answer:
    found = (
        caller.memory.sessions.summarise(session)
        if make
        else caller.find_first(lambda memory: memory.sessions.summary(session))
    )
    return Answer(found.text or "It is short: there is no summary yet.", serialize.encode_fields(found))


def learn_sessions(caller: Caller, session: str | None = None) -> Answer:
    done = caller.memory.learn(session)
    lines: list[str] = []
    for each in done:
        lines.append(f"{each.session}: {each.events} messages, {len(each.kept)} memories saved")
        lines += describe_replaced(each.replaced)
        lines += map(describe_open, each.proposals)
        lines += [f"Forgotten [{id}] {_read_content(caller, id)}" for id in each.forgotten]
    return Answer("\n".join(lines) or "Nothing to learn from yet.", {"sessions": [*map(serialize.learn_result, done)]})


def list_default_tools(*, writes: bool) -> Sequence[Tool]:
    actions = ("put", "get", "list", "delete") if writes else ("get", "list")
    message = thing(
        {
            "role": choice(tuple(Role)),
            "content": text("", 1_000_000),
            "speaker": text(),
            "time": text("", 40),
            "tags": TAGS,
        },
        ("role", "content"),
    )
    return (
        Tool(
            "session_append", "Log messages",
            "Log messages of a conversation, in order, to recall and learn from later. Only when asked to log or "
            "remember a conversation, and not if your client logs it already.",
            append_messages, {"session": SESSION_NAME, "messages": several(message, 100)}, ("session", "messages"),
            {"first": "integer", "last": "integer", "requests": "array"},
        ),
        Tool(
            "note", "Notes",
            "A document under an id you choose, replaced as a whole: plans, checklists, working notes."
            + (" For single facts use memory_add." if writes else ""),
            note,
            {"action": choice(actions), "note_id": text(),
             **({"text": text("", 100_000)} if writes else {}), "tags": TAGS,
             "session": text()},
            (), {"notes": "array"}, reads=not writes, destroys=writes, repeatable=True,
        ),
    )  # fmt: skip


def list_further_tools(*, writes: bool) -> Sequence[Tool]:
    """Tools of the full set only."""
    condense = {"make": flag("Update it first, if due")} if writes else {}
    return (
        Tool(
            "session_list", "List conversations", "List conversations, the most recently active first.",
            list_sessions, {"limit": integer(1, 100, 20), "after": SESSION_NAME}, (), {"sessions": "array"}, reads=True,
        ),
        Tool(
            "session_read", "Read a conversation",
            "Read messages of a conversation in order: the newest, or those before, after or around a number.",
            read_session,
            {"session": SESSION_NAME, "limit": integer(1, 200, MESSAGES_PER_READ), "before": integer(1, 10**12),
             "after": integer(0, 10**12),
             "around": integer(1, 10**12)},
            ("session",), {"messages": "array"}, reads=True,
        ),
        Tool(
            "session_summary", "Summary of a conversation",
            "Read the summary of a long conversation's older messages.",
            show_summary, {"session": SESSION_NAME, **condense}, ("session",),
            {"session": "string", "text": "string", "upto": "integer", "epoch": "integer"},
            reads=not writes, repeatable=True, long=True,
        ),
        Tool(
            "session_delete", "Delete a conversation",
            "Delete a conversation permanently, with the memories of that session; memories learned from it stay. Only "
            "when the user asks. Only previews unless dry_run is false.",
            delete_session,
            {"session": SESSION_NAME, "dry_run": flag("Preview only", default=True)}, ("session",),
            {"session": "string", "events": "integer", "memories": "integer", "done": "boolean"},
            destroys=True, repeatable=True,
        ),
        Tool(
            "session_learn", "Learn from conversations",
            "Extract memories from new messages: of one session now, or of all idle ones. The server does this on its "
            "own when a conversation goes quiet.",
            learn_sessions, {"session": SESSION_NAME}, (), {"sessions": "array"}, repeatable=True, long=True,
        ),
    )  # fmt: skip
