"""Import chat logs as sessions. An import that was interrupted, or whose file has grown, is continued."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from retentive.conversations.formats.detect import Conversation, Format, read_conversations
from retentive.conversations.formats.source import MAX_FILE_BYTES, as_file
from retentive.conversations.imported import MARK_KEY, UPTO_KEY
from retentive.errors import Conflict, Invalid
from retentive.fs.paths import parse_path
from retentive.model import ImportLogResult, ImportTrust, Message, Session, iso
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
) -> ImportLogResult:
    """Import all conversations of a file. Messages that are there already are skipped."""
    is_vouched = validate.parse_choice(ImportTrust, trust, "trust") is ImportTrust.USER
    expected_format = None if format is None else validate.parse_choice(Format, format, "format")
    path = parse_path(source) if isinstance(source, str | Path) else source
    with as_file(path, MAX_FILE_BYTES) as file:
        found = [*read_conversations(file, expected_format, me)]
    if session is not None:
        name = source if isinstance(source, str | Path) else "the input"
        found = [_require_single(found, name)._replace(id=validate.require_name(session, "session"))]
    pending = [(each, _validate_messages(store, each), _count_existing(store, each)) for each in found]
    total = sum(len(each.messages) for each in found)
    done = sum(skipped for _, _, skipped in pending)
    imported = 0
    for each, messages, skipped in pending:
        rest = messages[skipped:]
        if rest or is_vouched:
            _mark_session(sessions, each, is_vouched=is_vouched)
        if rest:
            report = None if progress is None else lambda count, before=done: progress(before + count, total)
            imported += _append(sessions, each.id, rest, report)
            done += len(rest)
    return ImportLogResult(tuple(each.id for each in found), imported, total - imported)


def _append(
    sessions: "Sessions", session_id: str, messages: Sequence[Message], report: Callable[[int], None] | None
) -> int:
    try:
        return sessions.append_many(session_id, messages, report).events
    except Conflict as error:
        hint = "Is another import of it running? Repeat this one afterwards: it continues where it stopped."
        raise Conflict(f"session {session_id!r} grew during the import", hint) from error


def _require_single(found: list[Conversation], path: str | Path) -> Conversation:
    if len(found) != 1:
        raise Invalid(
            f"{path} holds {len(found)} conversations", "Leave out the session: each becomes a session of its own."
        )
    return found[0]


def _count_existing(store: OpenStore, given: Conversation) -> int:
    """Return how many messages of a conversation are stored. `Conflict` if the session holds another conversation."""
    session = store.tables.conversations.get(store.namespace, given.id)
    if session is None or not session.events:
        return 0
    if not _continues_session(store, session, given):
        hint = "Import it under another name: `session=NAME`."
        longer = MARK_KEY in session.metadata and session.last_sequence > len(given.messages)
        what = "and has messages that are not in the file" if longer else "and another conversation"
        raise Conflict(f"session {given.id!r} exists already, {what}", hint)
    return session.last_sequence


def _continues_session(store: OpenStore, session: Session, given: Conversation) -> bool:
    """Return whether the file contains every message of the session."""
    if MARK_KEY not in session.metadata or session.last_sequence > len(given.messages):
        return False
    stored = store.tables.conversations.list_oldest(session.namespace, session.id, limit=session.events, after=0)
    for event in stored:
        message = given.messages[event.sequence - 1]
        if event.content != PURGED and not (
            event.speaker == message.speaker and _is_same_text(event.content, message.content)
        ):
            return False
    return True


def _is_same_text(stored: str, given: str) -> bool:
    """Compare texts, except for secrets, which may have been redacted."""
    from retentive.text import secrets

    if stored == given:
        return True
    redacted = [secrets.redact_secrets(text, secrets.find_secrets(text)) for text in (stored, given)]
    return redacted[0] == redacted[1]


def _validate_messages(store: OpenStore, given: Conversation) -> Sequence[Message]:
    try:
        return [
            secret_policy.apply_policy_to_message(store, each)
            for each in validate.parse_messages(given.messages, store.config.max_message)
        ]
    except Invalid as error:
        raise type(error)(f"conversation {given.id!r}, {error}", error.hint) from error


def _mark_session(sessions: "Sessions", given: Conversation, *, is_vouched: bool) -> None:
    """Note in the metadata of a session where it came from, and whether the user vouches for it."""
    values: dict[str, Any] = {"title": given.title, "begun": iso(given.created)}
    values[UPTO_KEY] = 0 if is_vouched else len(given.messages)
    mark = {name: value for name, value in values.items() if value not in (None, "")}
    session = sessions.put(given.id)
    if session.metadata.get(MARK_KEY) != mark:
        sessions.put(given.id, metadata={**session.metadata, MARK_KEY: mark})
