"""Removing for good: rows and history, full text, vectors and logs, and the bytes they leave behind.

What goes is decided first, with all that repeats its text; then it goes in one batch, whole or not at all. After that
the engine removes the bytes (`Engine.scrub`) and the files are looked through for what must not be there any more. If
somebody still holds an old state, or the process is killed, the line of the purge stays open and upkeep tries again;
the text itself is not kept for that.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from glob import escape
from pathlib import Path
from typing import Any

from retentive import clock
from retentive.conversations import summaries
from retentive.conversations.append import anew_steps
from retentive.errors import Busy, Invalid, NotFound, Stale, StorageError
from retentive.memories import daily_log
from retentive.memories.fingerprints import Traces, phrases, traces
from retentive.memories.provenance import found, said_in
from retentive.model import RECORDS, Event, Memory, Purged, Repeat, Type
from retentive.purge.logged_questions import read_text, tells_of
from retentive.records import erase
from retentive.storage import Step
from retentive.storage.byte_scan import scan
from retentive.storage.tables import expectations, hidden, learning, proposals, quarantine
from retentive.storage.tables import purges as forgetting
from retentive.storage.tables.files import Row as File
from retentive.storage.tables.files import delete_steps
from retentive.storage.tables.learning import State
from retentive.storage.tables.memories import as_json, snapshot
from retentive.storage.tables.purges import Place
from retentive.storage.tables.records import Row
from retentive.storage.tables.records import delete_steps as record_steps
from retentive.store import OpenStore, validate
from retentive.store.origins import sequence_of
from retentive.store.person import may_read
from retentive.store.views import can_write
from retentive.store.write import MAX_ATTEMPTS
from retentive.text.messages import readable
from retentive.text.purged_message import PURGED, blanked
from retentive.transfer import leftover_files
from retentive.transfer.backups import store_file

PATIENCE = 2.0  # seconds to wait for others who read an older state: their questions take milliseconds
MOST_LEARNED = 1000  # memories that were learned from one session
UNKNOWN = "the store was rewritten; what it said is no longer known, so it was not looked for"

Progress = Callable[[str, int, int], None]


@dataclass(slots=True)
class Doomed:
    """What is to go, and what repeats it."""

    memories: list[Memory] = field(default_factory=list)
    events: dict[str, Event] = field(default_factory=dict)
    """By id."""
    damaged: list[str] = field(default_factory=list)
    """Ids of what is in the quarantine alone."""
    begun: list[str] = field(default_factory=list)
    """Ids of which an earlier purge left nothing but, perhaps, bytes."""
    summaries: list[str] = field(default_factory=list)
    """Of these sessions."""
    queries: list[Place] = field(default_factory=list)
    expectations: list[str] = field(default_factory=list)
    """Ids of those whose question repeats it."""
    proposals: list[str] = field(default_factory=list)
    """Ids of those whose reason repeats it."""
    quarantine: list[str] = field(default_factory=list)
    """Ids of damaged rows that repeat it, or were it."""
    claims: list[tuple[State, list[Any]]] = field(default_factory=list)
    """What is about to be learned from sessions, with what is left of it."""
    remaining: list[Repeat] = field(default_factory=list)
    records: list[Row] = field(default_factory=list)
    files: list[File] = field(default_factory=list)
    """Of the index; on disk they stay."""
    elsewhere: list[Event] = field(default_factory=list)
    """The messages of other namespaces that go: those a person's memories were learned from."""
    traces: Traces = field(default_factory=lambda: Traces((), (), ()))

    @property
    def ids(self) -> list[str]:
        named = (each.id for some in (self.memories, self.records, self.files) for each in some)
        return [*self.begun, *self.damaged, *named, *self.events]


def purge(
    store: OpenStore,
    ids: Sequence[str],
    *,
    with_origin: bool,
    dry_run: bool,
    reason: str | None,
    actor: str,
    progress: Progress | None,
) -> Purged:
    """With what is in other namespaces: first that, so that a purge that is stopped in between can be repeated."""
    validate.why(reason, actor)
    store.journal.flush()
    options: dict[str, Any] = {"with_origin": with_origin, "dry_run": dry_run, "reason": reason, "actor": actor}
    groups: dict[str, list[str]] = {}
    for event in _doomed(store, ids, with_origin).elsewhere if with_origin else ():
        groups.setdefault(event.namespace, []).append(event.id)
    done = [
        _purge(replace(store, namespace=name), events, **options, progress=progress) for name, events in groups.items()
    ]
    return _joined([*done, _purge(store, ids, **options, progress=progress)])


def _joined(several: Sequence[Purged]) -> Purged:
    """One answer of those for several namespaces; the proof is that of the last, which was looked for after all."""
    *others, last = several
    removed = Counter(last.removed)
    for each in others:
        removed.update(each.removed)
    ids = [id for each in reversed(several) for id in each.ids]
    remaining = [repeat for each in reversed(several) for repeat in each.remaining]
    complete = all(each.complete for each in several)
    return Purged(tuple(ids), dict(removed), tuple(dict.fromkeys(remaining)), last.proof, complete)


def _purge(
    store: OpenStore,
    ids: Sequence[str],
    *,
    with_origin: bool,
    dry_run: bool,
    reason: str | None,
    actor: str,
    progress: Progress | None,
) -> Purged:
    tell = progress or (lambda _, __, ___: None)
    lines = 0
    for _ in range(MAX_ATTEMPTS):
        doomed = _doomed(store, ids, with_origin)
        if not dry_run:
            doomed.records = [erase.unlinked(store, row, actor) for row in doomed.records]
        if reason and doomed.traces.are_in(reason):
            raise Invalid("the reason repeats what is to be purged", "It stays on record: give one that does not.")
        removed = _removed(store, doomed)
        # Before the rows and once more after them: killed in between, it can be purged again; and one that was kept a
        # moment ago by another process may get its line only now.
        lines += daily_log.strike(store, doomed.memories, dry_run=dry_run).lines
        removed |= {"log": lines} if lines else {}
        if dry_run:
            return Purged(tuple(doomed.ids), removed, tuple(doomed.remaining), "a dry run: all is as it was", False)
        try:
            store.engine.apply([*_steps(store, doomed, reason, actor)])
        except Stale:
            continue
        _let_go(store, doomed)
        proof, complete, elsewhere = _proven(store, doomed.traces, tell)
        left = [Repeat("log", name) for name in daily_log.strike(store, doomed.memories).left]
        return Purged(tuple(doomed.ids), removed, (*doomed.remaining, *elsewhere, *left), proof, complete)
    raise Busy("others kept changing what is to be purged", "Retry in a moment.")


def finish(store: OpenStore) -> tuple[int, str]:
    """See to the bytes of purges that were not complete; the text is not known any more, so they are not looked for.

    How many are complete now; or what keeps them from it.
    """
    due = store.tables.purges.due()
    if not due:
        return 0, ""
    if leftover_files.sweep(store).busy:
        return 0, "in a copy of the store that is being written"
    scrubbed = store.engine.scrub(patience=0)
    if not scrubbed.done:
        return 0, scrubbed.detail
    store.engine.apply([forgetting.gone_step(due, clock.now())])
    return len(due), ""


def _doomed(store: OpenStore, ids: Sequence[str], with_origin: bool) -> Doomed:
    doomed = Doomed()
    for id in dict.fromkeys(validate.plain(each, "id") for each in ids):
        _look_up(store, id, doomed)
    versions = [version for memory in doomed.memories for version in _versions(store, memory)]
    texts = [each["content"] for each in versions]
    texts += [readable(event.content, event.payload) for event in doomed.events.values()]
    texts += [text for row in doomed.records for text in erase.texts(store, row)]
    texts += [passage.content for file in doomed.files for passage in store.tables.files.all_passages(file)]
    about = [*_about(versions)]
    doomed.traces = traces(texts, about)
    places = _places(store, doomed)
    doomed.proposals = [*dict.fromkeys(place.name for place in places if place.place == "proposal")]
    own = [id for each in doomed.ids for id in store.tables.quarantine.of(store.namespace, each)]
    repeating = (place.name for place in places if place.place == "quarantine")
    doomed.quarantine = [*dict.fromkeys((*own, *repeating))]
    learned = [event for memory in doomed.memories for event in said_in(store, memory) if event.content != PURGED]
    origins = {event.id: event for event in learned if event.namespace == store.namespace}
    others = [event for event in learned if event.namespace != store.namespace]
    doomed.elsewhere = [event for event in others if with_origin and can_write(store, event.namespace)]
    elsewhere = [event for event in others if not with_origin or not can_write(store, event.namespace)]
    said = {event.id: event for event in _events(store, places)}
    covering = _covering(store, {**origins, **doomed.events}, places)
    if with_origin:
        doomed.events |= origins
        doomed.events |= {id: event for id, event in said.items() if _repeats(event, texts)}
        doomed.expectations = [*dict.fromkeys(place.name for place in places if place.place == "expectation")]
        doomed.summaries = _covering(store, doomed.events, places)
        doomed.traces = _with(doomed.traces, doomed.events.values())
        covering = []
    doomed.claims = [*_claims(store, doomed, texts, places)]
    texts += [readable(event.content, event.payload) for event in doomed.events.values()]
    doomed.queries = _questions(store, {*doomed.ids}, [*texts, *about], places)
    profile = erase.profile_left(store, {memory.id for memory in doomed.memories})
    places = [each for each in places if not each.place.startswith("profile") or doomed.traces.are_in(profile)]
    doomed.remaining = [
        *(Repeat("message", id) for id in {**origins, **said} if id not in doomed.events),
        *(Repeat("message", event.id, namespace=event.namespace) for event in elsewhere),
        *(Repeat("memory", each.id, namespace=each.namespace) for each in _learned_elsewhere(store, doomed.events)),
        *(Repeat("summary", name) for name in covering),
        *(Repeat("claim", state.session) for state, rest in doomed.claims if doomed.traces.are_in(_json(rest))),
        *(Repeat(place.place, place.name) for place in places if _stays(store, place, doomed)),
    ]
    return doomed


def _learned_elsewhere(store: OpenStore, events: Mapping[str, Event]) -> Iterator[Memory]:
    """The memories in the namespaces of persons that were learned from messages."""
    for name in dict.fromkeys(event.session for event in events.values()):
        session = store.tables.conversations.get(store.namespace, name)
        person = session.person if session else None
        if person and person != store.namespace and may_read(store, person):
            found = store.tables.memories.learned(person, name, clock.now(), store.namespace, MOST_LEARNED)
            yield from (each for each in found if any(event.id in events for event in said_in(store, each)))


def _stays(store: OpenStore, place: Place, doomed: Doomed) -> bool:
    if place.place == "history":
        return _history_stays(store, place.name, doomed)
    expected = place.place == "expectation" and place.name not in doomed.expectations
    return expected or place.place in _STAYING


def _history_stays(store: OpenStore, id: str, doomed: Doomed) -> bool:
    """Whether a history still repeats it without the reasons why a memory gave way to one that goes."""
    changes = store.tables.memories.history(store.namespace, id)
    memory = store.tables.memories.get(store.namespace, id, clock.now())
    successors = {
        memory.superseded_by if memory else None,
        *((each.before or {}).get("superseded_by") for each in changes),
    }
    gave_way = bool(successors & {*doomed.ids})
    left = [_json(each.before) for each in changes]
    left += [each.reason or "" for each in changes if not (gave_way and each.action == "superseded")]
    return any(doomed.traces.are_in(text) for text in left)


_OF_RECORDS = (f"{type}{more}" for type in RECORDS for more in ("", " history"))
_STAYING = ("memory", "session", "file", *_OF_RECORDS)


def _look_up(store: OpenStore, id: str, doomed: Doomed) -> None:
    session, _, number = id.rpartition("#")
    sequence = sequence_of(number) if session else None
    if sequence is not None:
        event = store.tables.conversations.event(store.namespace, session, sequence)
        if event is not None and event.content != PURGED:
            doomed.events[id] = event
            return
    try:
        doomed.memories.append(found(store, id))
    except NotFound:
        if rows := erase.found(store, id):
            doomed.records += [row for row in rows if row not in doomed.records]
            return
        if file := store.tables.files.get(store.namespace, id):
            doomed.files.append(file)
            return
        if store.tables.quarantine.of(store.namespace, id):
            doomed.damaged.append(id)
            return
        line = store.tables.purges.of(store.namespace, id)
        if line is None or line.gone is not None:
            raise
        doomed.begun.append(id)


def _versions(store: OpenStore, memory: Memory) -> Iterator[Mapping[str, Any]]:
    """As it is, and as it was before each change."""
    yield snapshot(memory)
    yield from (change.before for change in store.tables.memories.history(memory.namespace, memory.id) if change.before)


def _about(versions: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    for each in versions:
        yield from (each["context"] or "", *each["tags"], each["slot"] or "", _json(each["metadata"]))


def _with(own: Traces, events: Iterable[Event]) -> Traces:
    """And what must not be in a file of the messages that go, too."""
    said = traces(readable(event.content, event.payload) for event in events)
    return own._replace(pieces=tuple(dict.fromkeys((*own.pieces, *said.pieces))))


def _places(store: OpenStore, doomed: Doomed) -> list[Place]:
    """What else has a phrase of it, or a word that no other memory has."""
    going = {*doomed.ids, *(file.path for file in doomed.files)}
    found: list[Place] = []
    for text in (*doomed.traces.phrases, *doomed.traces.words):
        repeats = [each for name in _purged_namespaces(store) for each in store.tables.purges.repeats(name, text)]
        places = [each for each in repeats if each.name not in going]
        if text in doomed.traces.phrases or not any(each.place == "memory" for each in places):
            found += places
    return [*dict.fromkeys(each for each in found if f"{each.name}#{each.number}" not in doomed.events)]


def _purged_namespaces(store: OpenStore) -> list[str]:
    """That of the purge, and the empty one, which has damaged rows whose own cannot be read: not for a view."""
    return [store.namespace] if store.bounds else [store.namespace, ""]


def _questions(store: OpenStore, going: set[str], texts: Iterable[str], places: Iterable[Place]) -> list[Place]:
    """The logged questions that have a phrase or a rare word of it, or give it away in another manner."""
    known = [read_text(text) for text in dict.fromkeys(texts)]
    repeating = {place for place in places if place.place == "query"}
    telling: dict[str, bool] = {}
    found: list[Place] = []
    for place, question in store.tables.purges.questions(store.namespace):
        if question not in telling:
            telling[question] = tells_of(question, known)
        if place.name not in going and (place in repeating or telling[question]):
            found.append(place)
    return found


def _events(store: OpenStore, places: Iterable[Place]) -> Iterator[Event]:
    for place in places:
        if place.place == "message":
            event = store.tables.conversations.event(store.namespace, place.name, place.number)
            if event and event.content != PURGED:
                yield event


def _repeats(event: Event, texts: Iterable[str]) -> bool:
    return _says(f"{event.content}\n{_json(event.payload)}", texts)


def _says(said: str, texts: Iterable[str]) -> bool:
    """All of a text, not just a name or a line of it: what many messages end with is no reason to purge them."""
    lower = said.casefold()
    return any(whole and all(line.casefold() in lower for line in whole) for whole in map(phrases, texts))


def _claims(
    store: OpenStore, doomed: Doomed, texts: Sequence[str], places: Iterable[Place]
) -> Iterator[tuple[State, list[Any]]]:
    """What would be learned again from what goes, or says the same, is not learned."""
    names = [place.name for place in places if place.place == "claim"]
    for name in dict.fromkeys((*names, *(event.session for event in doomed.events.values()))):
        state = store.tables.learning.get(store.namespace, name)
        if state and state.left:
            waiting = json.loads(state.claims)[-state.left :]
            yield state, [each for each in waiting if not _is_of(each, name, doomed, texts)]


def _is_of(claim: Mapping[str, Any], session: str, doomed: Doomed, texts: Sequence[str]) -> bool:
    said = any(f"{session}#{number}" in doomed.events for number in claim["events"])
    return said or _says(claim["content"], texts)


def _json(value: Any) -> str:
    return as_json(value) or ""


def _covering(store: OpenStore, events: dict[str, Event], places: Iterable[Place]) -> list[str]:
    """Sessions whose summary covers one of the events, whatever it made of it, or has the words themselves."""
    names = dict.fromkeys(place.name for place in places if place.place == "summary")
    for event in events.values():
        state = store.tables.conversations.summary(store.namespace, event.session)
        if state and state.text and state.upto >= event.sequence:
            names[event.session] = None
    return [*names]


def _removed(store: OpenStore, doomed: Doomed) -> dict[str, int]:
    sizes = [store.tables.purges.sizes(memory) for memory in doomed.memories]
    counts = {
        "memories": len(doomed.memories),
        "records": len(doomed.records),
        "files": len(doomed.files),
        "history": sum(each.history for each in sizes),
        "slices": sum(each.slices for each in sizes),
        "accesses": sum(each.accesses for each in sizes),
        "messages": len(doomed.events),
        "summaries": len(doomed.summaries),
        "queries": len(doomed.queries),
        "expectations": len(doomed.expectations),
        "proposals": sum(each.proposals for each in sizes),
        "quarantine": len(doomed.quarantine),
        "claims": sum(state.left - len(rest) for state, rest in doomed.claims),
    }
    return {place: count for place, count in counts.items() if count}


def _steps(store: OpenStore, doomed: Doomed, reason: str | None, actor: str) -> Iterator[Step]:
    namespace = store.namespace
    for memory in doomed.memories:
        yield from forgetting.memory_steps(memory)
    if doomed.memories and not any(row.type == Type.PROFILE for row in doomed.records):
        yield from erase.profile_steps(store, {memory.id for memory in doomed.memories}, clock.now())
    for row in doomed.records:
        yield from record_steps(row)
    for file in doomed.files:
        yield from delete_steps(file)
    for name in dict.fromkeys(event.session for event in doomed.events.values()):
        yield from _blank_steps(store, name, doomed.events)
    others = {event.session for event in doomed.events.values()} - {*doomed.summaries}
    yield Step("summary_stop", [{"namespace": namespace, "session": name} for name in sorted(others)])
    yield Step("summary_clear", [{"namespace": namespace, "session": name} for name in doomed.summaries])
    yield Step("query_delete", [{"namespace": namespace, "n": place.number} for place in doomed.queries])
    yield expectations.delete_step(namespace, doomed.expectations)
    yield proposals.unquote_step(namespace, doomed.proposals)
    yield from (quarantine.delete_step(name, doomed.quarantine) for name in _purged_namespaces(store))
    for state, rest in doomed.claims:
        yield learning.put_step(namespace, state, _json(rest), len(rest))
    gone = [id for id in doomed.ids if id not in doomed.begun]
    yield forgetting.line_step(namespace, gone, clock.now(), actor, reason)


def _blank_steps(store: OpenStore, name: str, doomed: dict[str, Event]) -> Iterator[Step]:
    """Its messages without their words, and the index without what their neighbours heard of them."""
    session = store.tables.conversations.get(store.namespace, name)
    if session is None:
        raise Stale(f"session {name!r} was deleted meanwhile")
    events = store.tables.conversations.oldest(store.namespace, name, session.events, 0)
    left = [_blank(event) if event.id in doomed else event for event in events]
    space = store.space.name if store.space else ""
    vectors = store.tables.purges.vectors(store.namespace, name, space)
    blank = [event for event in left if event.id in doomed]
    yield forgetting.event_step(blank)
    yield hidden.unhide_step(blank)
    yield from anew_steps(store, session, left, vectors)


def _blank(event: Event) -> Event:
    return replace(event, content=PURGED, payload=blanked(event.payload))


def _let_go(store: OpenStore, doomed: Doomed) -> None:
    """What this process holds of it, and summaries anew where they are due."""
    store.journal.wrote = True
    summaries.forget()
    for name in doomed.summaries:
        store.sessions_without_progress.pop((store.namespace, name), None)
        summaries.keep_up(store, name)
    if store.engine.in_process:
        store.images().erase(store.namespace, [space for space, _ in store.tables.chunks.spaces()])


def _proven(store: OpenStore, known: Traces, tell: Progress) -> tuple[str, bool, list[Repeat]]:
    """The proof, whether it is complete, and in which other namespaces the text was found."""
    purges = store.tables.purges
    due = purges.due()
    copies = leftover_files.sweep(store)
    tell("rewriting", 0, 1)
    try:
        scrubbed = store.engine.scrub(PATIENCE)
    except StorageError as error:  # no room, no time: the rows are gone, and upkeep tries again
        return f"incomplete: {error}", False, []
    tell("rewriting", 1, 1)
    if not scrubbed.done:
        return f"incomplete: {scrubbed.detail}", False, []
    proof, elsewhere = scrubbed.detail, list[Repeat]()
    if scrubbed.files:
        proof, elsewhere = _looked_through(store, [*scrubbed.files, *_cached(store)], known, tell)
    if copies.busy:
        proof = f"incomplete: another process writes a copy of the store, {copies.busy[0].name}"
    complete = not proof.startswith("incomplete")
    if complete:
        store.engine.apply([forgetting.gone_step(due, clock.now())])
    return leftover_files.describe(copies) + proof if complete else proof, complete, elsewhere


def _looked_through(store: OpenStore, files: Sequence[Path], known: Traces, tell: Progress) -> tuple[str, list[Repeat]]:
    if not known.pieces:
        return UNKNOWN, []
    seen = scan(files, known.pieces, lambda done, of: tell("scanning", done, of))
    where = {piece: [*_rows_with(store, piece.decode())] for piece in seen.found}
    looked = f"scanned {seen.files} files, {seen.size} bytes"
    strays = [piece for piece, names in where.items() if not names and not store.tables.purges.is_name(piece.decode())]
    if strays:
        return f"incomplete: {looked}: still in {seen.found[strays[0]].name}", []
    others = {name for names in where.values() for name in names} - {store.namespace}
    gone = [piece for piece in known.pieces if piece not in seen.found]
    kept = [path for path in _kept_files(store) if scan([path], gone, lambda _, __: None).found]
    proof = f"{looked}: found only where rows still say it" if any(where.values()) else f"{looked}: nothing found"
    if kept:
        proof += f"; still in {len(kept)} old files that a repair or restore kept: delete them"
    return proof, [
        *(Repeat("namespace", name) for name in sorted(others)),
        *(Repeat("kept file", str(path)) for path in kept),
    ]


def _rows_with(store: OpenStore, text: str) -> Iterator[str]:
    """The namespaces that have it in a row: what is found in a file is then no remnant."""
    purges = store.tables.purges
    return (name for name in store.tables.memories.namespaces() if purges.repeats(name, text))


def _kept_files(store: OpenStore) -> list[Path]:
    """What repairs and restores kept of the store as it was, with the logs."""
    file = store_file(store)
    return sorted(file.parent.glob(f"{escape(file.name)}.before-*")) if file else []


def _cached(store: OpenStore) -> list[Path]:
    """The graphs beside the store."""
    folder = Path(store.config.cache).expanduser() / "index"
    return [*folder.glob("*.hnsw")] if folder.is_dir() else []
