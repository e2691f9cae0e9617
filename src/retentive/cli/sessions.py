"""Store and read conversations and notes, build contexts, and import chats."""

import json
import sys
from collections.abc import Callable
from typing import Any

from retentive import serialize
from retentive.api import Retentive
from retentive.cli import output
from retentive.cli.args import PAST_OPTIONS, confirm, is_json, open_source, parse_json, pick_options, read_text
from retentive.cli.learn import print_handled_requests
from retentive.errors import Invalid
from retentive.model import DeleteSessionResult, Event, Session
from retentive.text.messages import extract_text


def _append(memory: Retentive, arguments: Any) -> int:
    payload = parse_json(arguments.payload, "--payload")
    text = None if arguments.text is None and payload is not None else read_text(arguments.text, "text").rstrip("\n")
    options = pick_options(arguments, ("speaker", "time", "sequence", "tags"))
    kept = memory.sessions.append(arguments.session, arguments.role, content=text, payload=payload, **options)
    if is_json(arguments):
        output.print_json(serialize.event(kept))
    else:
        output.print_line(f"added {kept.id}")
        print_handled_requests(kept.requests)
    return 0


def _put(memory: Retentive, arguments: Any) -> int:
    changes = pick_options(arguments, ("agent", "tags", "metadata"))
    changes |= {"agent": changes["agent"] or None} if "agent" in changes else {}
    changes |= {"tags": [tag for tag in changes["tags"] if tag]} if "tags" in changes else {}
    if "metadata" in changes:
        changes["metadata"] = parse_json(changes["metadata"], "--metadata")
    kept = memory.sessions.put(arguments.session, **changes)
    if is_json(arguments):
        output.print_json(serialize.encode_fields(kept))
    else:
        output.print_line(f"saved session {kept.id}")
    return 0


def _list(memory: Retentive, arguments: Any) -> int:
    found = memory.sessions.list(arguments.limit, arguments.after)
    if is_json(arguments):
        output.print_json({"sessions": [serialize.encode_fields(each) for each in found]})
        return 0
    if found or not sys.stdout.isatty():
        output.print_table(("session", "messages", "last", "agent", "tags", "title"), map(_build_session_row, found))
        if len(found) == arguments.limit:
            output.print_hint(f"there may be more: retentive session list --after {found[-1].id}")
    else:
        output.print_line('nothing yet: retentive session append NAME "..." starts a session')
    return 0


def _build_session_row(each: Session) -> tuple[Any, ...]:
    title = each.metadata.get("imported", {}).get("title")
    return each.id, each.events, f"{each.active:%Y-%m-%d %H:%M}", each.agent, " ".join(each.tags), title


def _show(memory: Retentive, arguments: Any) -> int:
    places = {name: getattr(arguments, name) for name in ("before", "after", "around")}
    events = memory.sessions.events(arguments.session, arguments.limit, **places)
    if is_json(arguments):
        output.print_json({"events": [serialize.event(each) for each in events]})
    else:
        output.print_table(
            ("sequence", "time", "who", "said"), [_build_message_row(each) for each in events], wraps=True
        )
    return 0


def _build_message_row(event: Event) -> tuple[Any, ...]:
    text = extract_text(event.content, event.payload) or json.dumps(event.payload, ensure_ascii=False)
    mark = "(forgotten) " if event.is_hidden else ""
    return event.sequence, f"{event.time:%Y-%m-%d %H:%M}", event.speaker or event.role, f"{mark}{text}"


def _replay(memory: Retentive, arguments: Any) -> int:
    replayed = memory.sessions.replay(arguments.session, arguments.budget)
    if is_json(arguments):
        output.print_json(serialize.replay(replayed))
        return 0
    output.print_text(replayed.text)
    left = f", {replayed.left_out} older messages left out" if replayed.left_out else ""
    output.print_hint(f"{replayed.tokens} of {arguments.budget} tokens{left}")
    return 0


def _summary(memory: Retentive, arguments: Any) -> int:
    name = arguments.session
    if arguments.budget is not None and not arguments.condense:
        raise Invalid("--budget is for --condense", "It is the number of tokens that are not condensed.")
    if arguments.write is not None:
        if arguments.upto is None or arguments.epoch is None:
            raise Invalid("--write needs --upto and --epoch", "`retentive session summary` shows the present ones.")
        found = memory.sessions.set_summary(name, arguments.write, upto=arguments.upto, epoch=arguments.epoch)
    elif arguments.condense:
        found = memory.sessions.summarise(name, arguments.budget)
    else:
        found = memory.sessions.summary(name)
    if is_json(arguments):
        output.print_json(serialize.encode_fields(found))
        return 0
    if found.text:
        output.print_text(found.text)
    output.print_hint(f"up to message {found.upto}, epoch {found.epoch}" if found.epoch else "no summary yet")
    return 0


def _delete(memory: Retentive, arguments: Any) -> int:
    doomed = [memory.sessions.delete(name, dry_run=True) for name in arguments.sessions]
    if not all(arguments.yes or _confirm_delete(each) for each in doomed):
        output.print_line("nothing was deleted")
        return 1
    gone = [memory.sessions.delete(name) for name in arguments.sessions]
    if is_json(arguments):
        output.print_json({"deleted": [serialize.encode_fields(each) for each in gone]})
        return 0
    for each in gone:
        kept = f"; {each.kept} global memories learned from it stay" if each.kept else ""
        output.print_line(f"deleted {each.session}: {_format_extent(each)}{kept}")
    return 0


def _format_extent(result: DeleteSessionResult) -> str:
    memories = output.format_count(result.memories, "memory", "memories")
    return f"{output.format_count(result.events, 'message')}, {memories}"


def _confirm_delete(doomed: DeleteSessionResult) -> bool:
    return confirm(
        f"Delete session {doomed.session} with {_format_extent(doomed)} permanently?",
        f"deleting session {doomed.session!r} cannot be undone",
    )


def _note_put(memory: Retentive, arguments: Any) -> int:
    text = read_text(arguments.text, "text")
    note = memory.notes.put(text, note_id=arguments.id, session=arguments.session, tags=arguments.tags)
    if is_json(arguments):
        output.print_json(serialize.memory(note))
    else:
        output.print_line(f"saved note {output.show_id(note.id)}")
    return 0


def _note_get(memory: Retentive, arguments: Any) -> int:
    note = memory.notes.get(arguments.id)
    if is_json(arguments):
        output.print_json(serialize.memory(note))
    else:
        output.print_memory(note)
    return 0


def _note_list(memory: Retentive, arguments: Any) -> int:
    page = memory.notes.list(arguments.limit, arguments.after, arguments.session, tags=arguments.tags)
    if is_json(arguments):
        output.print_json(serialize.page(page))
    elif page or not sys.stdout.isatty():
        output.print_table(
            ("id", "created", "note"),
            [(output.show_id(each.id), f"{each.created:%Y-%m-%d}", each.content) for each in page],
        )
        if page.next:
            output.print_hint(f"more: retentive note list --after {output.show_id(page.next)}")
    else:
        output.print_line('nothing yet: retentive note put "..." adds the first note')
    output.print_notes(page.notes)
    return 0


def _note_delete(memory: Retentive, arguments: Any) -> int:
    deleted = memory.notes.delete(arguments.id)
    if is_json(arguments):
        output.print_json({"deleted": deleted})
    else:
        output.print_line(f"{'deleted' if deleted else 'there is no note'} {arguments.id}")
    return 0 if deleted else 3


def _context(memory: Retentive, arguments: Any) -> int:
    options = {
        name: getattr(arguments, name) for name in ("session", "budget", "recent", "min_similarity", "min_relevance")
    }
    made = memory.context(
        arguments.query,
        namespaces=arguments.also,
        **options,
        **pick_options(arguments, (*PAST_OPTIONS, "now", "top_k")),
    )
    if is_json(arguments):
        output.print_json(serialize.context(made))
        return 0
    output.print_text(made.text)
    left = f", {len(made.left_out)} left out" if made.left_out else ""
    output.print_hint(f"{made.tokens} of {made.budget} tokens{left}")
    output.print_notes(made.notes)
    return 0


def _import(memory: Retentive, arguments: Any) -> int:
    if arguments.session and len(arguments.files) > 1:
        raise Invalid("--session names one conversation; there are several files", "Import them one at a time.")
    imported = []
    for file in arguments.files:
        source = open_source(file, "conversations")
        with output.show_progress("importing", "messages") as progress:
            progress.show_name(file)
            done = memory.sessions.import_log(
                source, arguments.format, arguments.session, arguments.me, progress.report, trust=arguments.trust
            )
        imported.append({"file": file, **serialize.encode_fields(done)})
        if not is_json(arguments):
            known = f", {done.known} already known" if done.known else ""
            where = output.format_count(len(done.sessions), "session")
            output.print_line(f"{file}: {output.format_count(done.events, 'message')} imported in {where}{known}")
    if is_json(arguments):
        output.print_json({"imported": imported})
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
