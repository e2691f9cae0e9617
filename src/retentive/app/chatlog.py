"""Chat logs that people have, kept as sessions."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from retentive.app import check
from retentive.app.parts import Parts
from retentive.errors import Conflict, Invalid
from retentive.model import Event, Imported, Session, iso
from retentive.transfer.chatlogs import Conversation, Format, read

if TYPE_CHECKING:
    from retentive.app.sessions import Sessions

Progress = Callable[[int, int], None]
MARK = "imported"  # among a session's metadata: what was brought in, and may be brought in again


def import_log(
    parts: Parts,
    sessions: "Sessions",
    path: str | Path,
    format: str | None,
    session: str | None,
    me: str | None,
    progress: Progress | None,
) -> Imported:
    known = None if format is None else check.one_of(Format, format, "format")
    found = [*read(Path(path).expanduser(), known, me)]
    if session is not None:
        found = [_only(found, path)._replace(id=check.required(session, "session"))]
    wanting = [(each, _already(parts, each)) for each in found]
    total = sum(len(each.messages) for each in found)
    done = sum(skipped for _, skipped in wanting)
    kept = 0
    for each, skipped in wanting:
        rest = check.messages(each.messages, parts.config.max_message)[skipped:]
        if rest:
            _describe(sessions, each)
            begun = done
            tell = None if progress is None else lambda count, begun=begun: progress(begun + count, total)
            kept += sessions.append_many(each.id, rest, tell).events
            done += len(rest)
    return Imported(tuple(each.id for each in found), kept, total - kept)


def _only(found: list[Conversation], path: str | Path) -> Conversation:
    if len(found) != 1:
        raise Invalid(f"{path} holds {len(found)} conversations", "Leave the session out: each becomes one of its own.")
    return found[0]


def _already(parts: Parts, given: Conversation) -> int:
    """How many of its messages are here. A session of that name that is another conversation is a `Conflict`."""
    session = parts.conversations.get(parts.namespace, given.id)
    if session is None or not session.events:
        return 0
    last = parts.conversations.newest(parts.namespace, given.id, 1)[0]
    if not _is_of(session, last, given):
        hint = "Import it under another name: --session NAME."
        raise Conflict(f"session {given.id!r} is there already, and another conversation", hint)
    return last.sequence


def _is_of(session: Session, last: Event, given: Conversation) -> bool:
    if MARK not in session.metadata or last.sequence > len(given.messages):
        return False
    same = given.messages[last.sequence - 1]
    return (same.content, same.speaker) == (last.content, last.speaker)


def _describe(sessions: "Sessions", given: Conversation) -> None:
    about: dict[str, Any] = {"title": given.title, "begun": iso(given.created)}
    told = {name: value for name, value in about.items() if value}
    here = sessions.put(given.id)
    if here.metadata.get(MARK) != told:
        sessions.put(given.id, metadata={**here.metadata, MARK: told})
