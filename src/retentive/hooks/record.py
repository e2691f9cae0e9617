"""Record the conversation as a session of the store: each line of its transcript once, even after a crash."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from retentive.errors import Busy, Conflict, NotFound, SecretFound
from retentive.fs.regular_files import open_regular
from retentive.hooks.recall import can_embed_at_once
from retentive.hooks.request import CLIENT, NO_EMBEDDER, HookCall, HookOptions, find_target
from retentive.hooks.transcript import TranscriptMessage, find_first_folder, parse_transcript
from retentive.model import Role

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from retentive.api import Retentive
    from retentive.hooks.state import HookState
    from retentive.model import Event, Session

MAX_RECENT_EVENTS = 50  # newest messages of the session in which the last recorded line is looked for
PAGE_SIZE = 1000
MAX_ATTEMPTS = 5
MAX_TRANSCRIPT_BYTES = 2_000_000_000  # a conversation of months has some hundred million


def record_conversation(call: HookCall, options: HookOptions, *, is_ended: bool = False) -> int:
    """Store what was said since the last call. Return the number of messages.

    No model is waited for: the next server makes vectors and memories in the background. Only at the end of a
    conversation the hook itself learns from it, without a language model.
    """
    if call.transcript is None or not call.transcript.exists():
        return 0
    with open_regular(call.transcript, MAX_TRANSCRIPT_BYTES) as lines:
        folder = find_first_folder(lines)
        lines.seek(0)
        messages = parse_transcript(lines)
    target = find_target(call, options, Path(folder) if folder else None)
    session = call.session_name
    with target.open(NO_EMBEDDER) as memory:
        new = _record_messages(memory, session, messages, target.state) if messages else []
        _log_used(memory, session, new, target.served.also_read)
        can_learn = is_ended and target.settings.llm == "none" and _find_session(memory, session) is not None
    if can_learn and can_embed_at_once(target.settings, target.settings.embedder):
        with target.open(target.settings.embedder) as memory:  # learning judges sentences by their vectors
            memory.learn(session)
    return len(new)


def _log_used(memory: Retentive, session: str, new: Iterable[TranscriptMessage], also_read: Sequence[str]) -> None:
    """Log which of the memories shown the new answers used."""
    new = [*new]
    answers = "\n".join(each.text for each in new if each.role == Role.ASSISTANT)
    said = "\n".join(each.text for each in new if each.role == Role.USER)
    if answers:
        memory.injections.log_used(session, answers, said, also_read)


def _record_messages(
    memory: Retentive, name: str, messages: Sequence[TranscriptMessage], state: HookState
) -> Sequence[TranscriptMessage]:
    for _ in range(MAX_ATTEMPTS):
        last, new = _find_new(memory, name, messages, state.load_last_recorded())
        try:
            _append(memory, name, new, last)
        except Conflict:  # another hook of the conversation was first: its messages are no longer new
            continue
        state.save_last_recorded(messages[-1].uuid)
        return new
    raise Busy(f"others kept appending to session {name!r}", "The next hook continues.")


def _find_new(
    memory: Retentive, name: str, messages: Sequence[TranscriptMessage], last_recorded: str | None
) -> tuple[int, list[TranscriptMessage]]:
    """Return the last sequence of the session, and the messages after the last one that was recorded.

    The session is read first: if another hook appends in between, the numbers that follow are a `Conflict`. A
    transcript only grows. If it has none of the newest messages, it was rewritten, and every line is looked up.
    """
    session = _find_session(memory, name)
    events = memory.sessions.events(name, MAX_RECENT_EVENTS) if session and session.events else []
    known = {*map(_get_uuid, events), last_recorded}
    recorded = [number for number, each in enumerate(messages) if each.uuid in known]
    if events and not recorded:
        known |= {*map(_get_uuid, _iterate_events(memory, name))}
    rest = messages[max(recorded) + 1 :] if recorded else messages
    return session.last_sequence if session else 0, [each for each in rest if each.uuid not in known]


def _append(memory: Retentive, name: str, new: Sequence[TranscriptMessage], last: int) -> None:
    if not new:
        return
    if not last:
        memory.sessions.put(name, agent=CLIENT)
    messages = [_build_message(each, sequence) for sequence, each in enumerate(new, start=last + 1)]
    try:
        memory.sessions.append_many(name, messages)
    except SecretFound:  # messages with secrets are refused; the others are stored
        _append_each(memory, name, messages)


def _append_each(memory: Retentive, name: str, messages: Iterable[dict[str, Any]]) -> None:
    for message in messages:
        try:
            memory.sessions.append_many(name, [message])
        except SecretFound:
            continue


def _build_message(each: TranscriptMessage, sequence: int) -> dict[str, Any]:
    """Make the message to append. Its payload has the uuid of its line, which also survives a purge."""
    return {
        "role": each.role,
        "content": each.text,
        "time": each.time,
        "sequence": sequence,
        "payload": {"id": each.uuid},
    }


def _get_uuid(event: Event) -> str | None:
    return event.payload.get("id") if isinstance(event.payload, dict) else None


def _iterate_events(memory: Retentive, name: str) -> Iterable[Event]:
    after = 0
    while events := memory.sessions.events(name, PAGE_SIZE, after=after):
        yield from events
        after = events[-1].sequence


def _find_session(memory: Retentive, name: str) -> Session | None:
    try:
        return memory.sessions.get(name)
    except NotFound:
        return None
