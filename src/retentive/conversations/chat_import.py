"""Chat logs that people have, kept as sessions."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from retentive.conversations.formats.detect import Conversation, Format, read
from retentive.conversations.formats.source import LARGEST, as_file
from retentive.conversations.imported import MARK, UPTO
from retentive.errors import Conflict, Invalid
from retentive.fs.paths import parse_path
from retentive.model import Imported, ImportTrust, Message, Session, iso
from retentive.store import OpenStore, secret_policy, validate
from retentive.text.purged_message import PURGED

if TYPE_CHECKING:
    from retentive.conversations.sessions import Sessions

Progress = Callable[[int, int], None]


def import_log(
    store: OpenStore,
    sessions: "Sessions",
    source: str | Path | IO[bytes],
    format: str | None,
    session: str | None,
    me: str | None,
    trust: str,
    progress: Progress | None,
) -> Imported:
    is_vouched = validate.one_of(ImportTrust, trust, "trust") is ImportTrust.USER
    known = None if format is None else validate.one_of(Format, format, "format")
    path = parse_path(source) if isinstance(source, str | Path) else source
    with as_file(path, LARGEST) as file:
        found = [*read(file, known, me)]
    if session is not None:
        name = source if isinstance(source, str | Path) else "the input"
        found = [_only(found, name)._replace(id=validate.required(session, "session"))]
    wanting = [(each, _checked(store, each), _already(store, each)) for each in found]
    total = sum(len(each.messages) for each in found)
    done = sum(skipped for _, _, skipped in wanting)
    kept = 0
    for each, messages, skipped in wanting:
        rest = messages[skipped:]
        if rest or is_vouched:
            _describe(sessions, each, is_vouched=is_vouched)
        if rest:
            begun = done
            tell = None if progress is None else lambda count, begun=begun: progress(begun + count, total)
            kept += _appended(sessions, each.id, rest, tell)
            done += len(rest)
    return Imported(tuple(each.id for each in found), kept, total - kept)


def _appended(sessions: "Sessions", name: str, messages: Sequence[Message], tell: Callable[[int], None] | None) -> int:
    try:
        return sessions.append_many(name, messages, tell).events
    except Conflict as error:
        hint = "Is another import of it running? Repeat this one afterwards: it goes on where it is."
        raise Conflict(f"session {name!r} grew during the import", hint) from error


def _only(found: list[Conversation], path: str | Path) -> Conversation:
    if len(found) != 1:
        raise Invalid(f"{path} holds {len(found)} conversations", "Leave the session out: each becomes one of its own.")
    return found[0]


def _already(store: OpenStore, given: Conversation) -> int:
    """How many of its messages are here. A session of that name that is another conversation is a `Conflict`."""
    session = store.tables.conversations.get(store.namespace, given.id)
    if session is None or not session.events:
        return 0
    if not _is_of(store, session, given):
        hint = "Import it under another name: --session NAME."
        longer = MARK in session.metadata and session.last_sequence > len(given.messages)
        what = "and has messages that are not in the file" if longer else "and another conversation"
        raise Conflict(f"session {given.id!r} is there already, {what}", hint)
    return session.last_sequence


def _is_of(store: OpenStore, session: Session, given: Conversation) -> bool:
    """Whether all that is here is in the file, too."""
    if MARK not in session.metadata or session.last_sequence > len(given.messages):
        return False
    here = store.tables.conversations.oldest(session.namespace, session.id, session.events, 0)
    told = ((event, given.messages[event.sequence - 1]) for event in here if event.content != PURGED)
    return all(event.speaker == message.speaker and _is_same(event.content, message.content) for event, message in told)


def _is_same(here: str, given: str) -> bool:
    """But for secrets, which may have been redacted."""
    from retentive.text import secrets

    return here == given or secrets.redact(here, secrets.find(here)) == secrets.redact(given, secrets.find(given))


def _checked(store: OpenStore, given: Conversation) -> Sequence[Message]:
    try:
        return [
            secret_policy.message(store, each) for each in validate.messages(given.messages, store.config.max_message)
        ]
    except Invalid as error:
        raise type(error)(f"conversation {given.id!r}, {error}", error.hint) from error


def _describe(sessions: "Sessions", given: Conversation, *, is_vouched: bool) -> None:
    about: dict[str, Any] = {"title": given.title, "begun": iso(given.created)}
    about[UPTO] = 0 if is_vouched else len(given.messages)
    told = {name: value for name, value in about.items() if value not in (None, "")}
    here = sessions.put(given.id)
    if here.metadata.get(MARK) != told:
        sessions.put(given.id, metadata={**here.metadata, MARK: told})
