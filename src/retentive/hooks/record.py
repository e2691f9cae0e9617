"""The conversation, kept as a session of the store: each line of its transcript once, whatever happens in between."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from retentive.errors import Busy, Conflict, NotFound, SecretFound
from retentive.fs.regular_files import open_regular
from retentive.hooks.recall import is_model_ready
from retentive.hooks.request import Called, Options, place
from retentive.hooks.transcript import Said, first_folder, said

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from retentive.api import Retentive
    from retentive.hooks.state import Marks
    from retentive.model import Event, Session

CLIENT = "claude-code"
RECENT = 50  # messages of a session that are looked at for how far it was kept
PAGE = 1000
TRIES = 5
MAX_TRANSCRIPT_BYTES = 2_000_000_000  # a conversation of months has some hundred million


def keep(call: Called, options: Options, *, ended: bool = False) -> int:
    """Keep what was said since the last time, and say how many messages that were.

    No model is waited for: vectors and memories are made of it in the background, by whichever server runs next. Only
    at the end of a conversation it is learned from, without a language model.
    """
    if call.transcript is None or not call.transcript.exists():
        return 0
    with open_regular(call.transcript, MAX_TRANSCRIPT_BYTES) as lines:
        folder = first_folder(lines)
        lines.seek(0)
        talk = [*said(lines)]
    here, name = place(call, options, Path(folder) if folder else None), f"{CLIENT}/{call.session}"
    with here.open("none") as memory:
        kept = _kept(memory, name, talk, here.marks) if talk else 0
        is_due = ended and here.settings.llm == "none" and _session(memory, name) is not None
    if is_due and is_model_ready(here.settings, here.settings.embedder):
        with here.open(here.settings.embedder) as memory:  # what is worth keeping shows in the vectors of its sentences
            memory.learn(name)
    return kept


def _kept(memory: Retentive, name: str, talk: Sequence[Said], marks: Marks) -> int:
    for _ in range(TRIES):
        last, fresh = _fresh(memory, name, talk, marks.through())
        try:
            _append(memory, name, fresh, last)
        except Conflict:  # another hook of the same conversation was first: what it kept is not fresh any more
            continue
        marks.reach(talk[-1].uuid)
        return len(fresh)
    raise Busy(f"others kept appending to session {name!r}", "The next hook goes on with it.")


def _fresh(memory: Retentive, name: str, talk: Sequence[Said], through: str | None) -> tuple[int, list[Said]]:
    """The last number of the session, and what comes after the last line that was kept.

    Read in this order, so that who appends between the two makes the numbers that follow a `Conflict`. A transcript
    only grows. If none of the last messages is in it, it was written anew: then every line is looked up.
    """
    session = _session(memory, name)
    events = memory.sessions.events(name, RECENT) if session and session.events else []
    known = {*map(_uuid, events), through}
    ends = [at for at, each in enumerate(talk) if each.uuid in known]
    if events and not ends:
        known |= {*map(_uuid, _all(memory, name))}
    after = talk[max(ends) + 1 :] if ends else talk
    return session.last_sequence if session else 0, [each for each in after if each.uuid not in known]


def _append(memory: Retentive, name: str, fresh: Sequence[Said], last: int) -> None:
    if not fresh:
        return
    if not last:
        memory.sessions.put(name, agent=CLIENT)
    messages = [_message(each, number) for number, each in enumerate(fresh, start=last + 1)]
    try:
        memory.sessions.append_many(name, messages)
    except SecretFound:  # where such messages are refused, the others are kept
        _append_each(memory, name, messages)


def _append_each(memory: Retentive, name: str, messages: Iterable[dict[str, Any]]) -> None:
    for message in messages:
        try:
            memory.sessions.append_many(name, [message])
        except SecretFound:
            continue


def _message(each: Said, number: int) -> dict[str, Any]:
    """With the name of its line, by which it is known the next time; one that is purged keeps it."""
    return {
        "role": each.role,
        "content": each.text,
        "time": each.time,
        "sequence": number,
        "payload": {"id": each.uuid},
    }


def _uuid(event: Event) -> str | None:
    return event.payload.get("id") if isinstance(event.payload, dict) else None


def _all(memory: Retentive, name: str) -> Iterable[Event]:
    after = 0
    while events := memory.sessions.events(name, PAGE, after=after):
        yield from events
        after = events[-1].sequence


def _session(memory: Retentive, name: str) -> Session | None:
    try:
        return memory.sessions.get(name)
    except NotFound:
        return None
