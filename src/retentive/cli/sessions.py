"""What the verbs of conversations, notes and contexts do."""

import json
import sys
from collections.abc import Callable
from typing import Any

from retentive import serialize
from retentive.api import Retentive
from retentive.cli import output
from retentive.cli.args import MOMENTS, agreed, given, is_json, json_of, source_of, text_of
from retentive.cli.learn import heard
from retentive.errors import Invalid
from retentive.model import Deleted, Event, Session
from retentive.text.messages import readable


def _append(memory: Retentive, arguments: Any) -> int:
    payload = json_of(arguments.payload, "--payload")
    text = None if arguments.text is None and payload is not None else text_of(arguments.text, "text").rstrip("\n")
    said = given(arguments, ("role", "speaker", "time", "sequence"))
    kept = memory.sessions.append(arguments.session, content=text, payload=payload, **said)
    if is_json(arguments):
        output.as_json(serialize.event(kept))
    else:
        output.say(f"kept {kept.id}")
        heard(kept.heard)
    return 0


def _put(memory: Retentive, arguments: Any) -> int:
    about = given(arguments, ("agent", "tags", "metadata"))
    about |= {"agent": about["agent"] or None} if "agent" in about else {}
    about |= {"tags": [tag for tag in about["tags"] if tag]} if "tags" in about else {}
    if "metadata" in about:
        about["metadata"] = json_of(about["metadata"], "--metadata")
    kept = memory.sessions.put(arguments.session, **about)
    if is_json(arguments):
        output.as_json(serialize.shown(kept))
    else:
        output.say(f"kept session {kept.id}")
    return 0


def _list(memory: Retentive, arguments: Any) -> int:
    found = memory.sessions.list(arguments.limit, arguments.before)
    if is_json(arguments):
        output.as_json({"sessions": [serialize.shown(each) for each in found]})
        return 0
    if found or not sys.stdout.isatty():
        output.table(("session", "messages", "last", "agent", "tags", "title"), map(_session, found))
        if len(found) == arguments.limit:
            output.aside(f"perhaps more: retentive session list --before {found[-1].id}")
    else:
        output.say('nothing yet: retentive session append NAME "..." begins a session')
    return 0


def _session(each: Session) -> tuple[Any, ...]:
    title = each.metadata.get("imported", {}).get("title")
    return each.id, each.events, f"{each.active:%Y-%m-%d %H:%M}", each.agent, " ".join(each.tags), title


def _show(memory: Retentive, arguments: Any) -> int:
    places = {name: getattr(arguments, name) for name in ("before", "after", "around")}
    events = memory.sessions.events(arguments.session, arguments.limit, **places)
    if is_json(arguments):
        output.as_json({"events": [serialize.event(each) for each in events]})
    else:
        output.table(("sequence", "time", "who", "said"), [_row(each) for each in events])
    return 0


def _row(event: Event) -> tuple[Any, ...]:
    said = readable(event.content, event.payload) or json.dumps(event.payload, ensure_ascii=False)
    mark = "(forgotten) " if event.is_hidden else ""
    return event.sequence, f"{event.time:%Y-%m-%d %H:%M}", event.speaker or event.role, f"{mark}{said}"


def _replay(memory: Retentive, arguments: Any) -> int:
    replayed = memory.sessions.replay(arguments.session, arguments.budget)
    if is_json(arguments):
        output.as_json(serialize.replay(replayed))
        return 0
    output.body(replayed.text)
    left = f", {replayed.left_out} older messages left out" if replayed.left_out else ""
    output.aside(f"{replayed.tokens} of {arguments.budget} tokens{left}")
    return 0


def _summary(memory: Retentive, arguments: Any) -> int:
    name = arguments.session
    if arguments.budget is not None and not arguments.condense:
        raise Invalid("--budget is for --condense", "It says how much is left word for word.")
    if arguments.write is not None:
        if arguments.upto is None or arguments.epoch is None:
            raise Invalid("--write needs --upto and --epoch", "`retentive session summary` shows the present ones.")
        found = memory.sessions.set_summary(name, arguments.write, upto=arguments.upto, epoch=arguments.epoch)
    elif arguments.condense:
        found = memory.sessions.summarise(name, arguments.budget)
    else:
        found = memory.sessions.summary(name)
    if is_json(arguments):
        output.as_json(serialize.shown(found))
        return 0
    if found.text:
        output.body(found.text)
    output.aside(f"up to message {found.upto}, epoch {found.epoch}" if found.epoch else "no summary yet")
    return 0


def _delete(memory: Retentive, arguments: Any) -> int:
    doomed = [memory.sessions.delete(name, dry_run=True) for name in arguments.sessions]
    if not all(arguments.yes or _agreed(each) for each in doomed):
        output.say("nothing was deleted")
        return 1
    gone = [memory.sessions.delete(name) for name in arguments.sessions]
    if is_json(arguments):
        output.as_json({"deleted": [serialize.shown(each) for each in gone]})
        return 0
    for each in gone:
        kept = f"; {each.kept} global memories learned from it stay" if each.kept else ""
        output.say(f"deleted {each.session}: {_extent(each)}{kept}")
    return 0


def _extent(of: Deleted) -> str:
    return f"{output.counted(of.events, 'message')}, {output.counted(of.memories, 'memory', 'memories')}"


def _agreed(doomed: Deleted) -> bool:
    return agreed(
        f"Delete session {doomed.session} with {_extent(doomed)} for good?",
        f"deleting session {doomed.session!r} cannot be undone",
    )


def _note_put(memory: Retentive, arguments: Any) -> int:
    text = text_of(arguments.text, "text")
    note = memory.notes.put(text, arguments.id, arguments.session, tags=arguments.tags)
    if is_json(arguments):
        output.as_json(serialize.memory(note))
    else:
        output.say(f"kept {note.id}")
    return 0


def _note_get(memory: Retentive, arguments: Any) -> int:
    note = memory.notes.get(arguments.id)
    if is_json(arguments):
        output.as_json(serialize.memory(note))
    else:
        output.memory(note)
    return 0


def _note_list(memory: Retentive, arguments: Any) -> int:
    page = memory.notes.list(arguments.limit, arguments.before, arguments.session, tags=arguments.tags)
    if is_json(arguments):
        output.as_json(serialize.page(page))
    elif page or not sys.stdout.isatty():
        output.table(("id", "made", "note"), [(each.id, f"{each.created:%Y-%m-%d}", each.content) for each in page])
        if page.next:
            output.aside(f"more: retentive note list --before {page.next}")
    else:
        output.say('nothing yet: retentive note put "..." keeps a first note')
    output.notes(page.notes)
    return 0


def _note_delete(memory: Retentive, arguments: Any) -> int:
    deleted = memory.notes.delete(arguments.id)
    if is_json(arguments):
        output.as_json({"deleted": deleted})
    else:
        output.say(f"{'deleted' if deleted else 'there is no note'} {arguments.id}")
    return 0 if deleted else 3


def _context(memory: Retentive, arguments: Any) -> int:
    options = {
        name: getattr(arguments, name) for name in ("session", "budget", "recent", "min_similarity", "min_relevance")
    }
    made = memory.context(arguments.query, namespaces=arguments.also, **options, **given(arguments, (*MOMENTS, "now")))
    if is_json(arguments):
        output.as_json(serialize.context(made))
        return 0
    output.body(made.text)
    left = f", {len(made.left_out)} left out" if made.left_out else ""
    output.aside(f"{made.tokens} of {made.budget} tokens{left}")
    output.notes(made.notes)
    return 0


def _import(memory: Retentive, arguments: Any) -> int:
    if arguments.session and len(arguments.files) > 1:
        raise Invalid("--session names one conversation; there are several files", "Import them one at a time.")
    told = []
    for file in arguments.files:
        progress = output.progress(None, file)
        source = source_of(file, "conversations")
        done = memory.sessions.import_log(
            source, arguments.format, arguments.session, arguments.me, progress, trust=arguments.trust
        )
        told.append({"file": file, **serialize.shown(done)})
        if not is_json(arguments):
            known = f", {done.known} known already" if done.known else ""
            where = output.counted(len(done.sessions), "session")
            output.say(f"{file}: {output.counted(done.events, 'message')} kept in {where}{known}")
    if is_json(arguments):
        output.as_json({"imported": told})
    return 0


VERBS: dict[str, Callable[[Retentive, Any], int]] = {
    "session append": _append,
    "session put": _put,
    "session list": _list,
    "session show": _show,
    "session replay": _replay,
    "session summary": _summary,
    "session delete": _delete,
    "note put": _note_put,
    "note get": _note_get,
    "note list": _note_list,
    "note delete": _note_delete,
    "context": _context,
    "chat-log import": _import,
}
