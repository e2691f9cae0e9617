"""Finds what a purge removes, and which copies of its text stay. This module reads only."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from retentive import clock
from retentive.errors import NotFound
from retentive.memories.fingerprints import Fingerprints, find_phrases, make_fingerprints
from retentive.memories.provenance import load_messages, load_or_explain
from retentive.model import RECORDS, Event, Memory, RemainingCopy
from retentive.purge.logged_questions import extract_words, reveals_any
from retentive.records import erase
from retentive.storage.tables.files import FileRow
from retentive.storage.tables.learning import LearningState
from retentive.storage.tables.memories import json_or_none, snapshot
from retentive.storage.tables.purges import TextPlace
from retentive.storage.tables.records import RecordRow
from retentive.store import OpenStore, validate
from retentive.store.origins import parse_sequence
from retentive.store.person import may_read
from retentive.store.views import can_write
from retentive.surface.memory import FREE_TEXT_FIELDS, SLOT
from retentive.text.messages import extract_text
from retentive.text.purged_message import PURGED

LABEL_FIELDS = (*FREE_TEXT_FIELDS, SLOT.name)  # of a memory: what other memories may share
MAX_LEARNED = 1000  # memories that were learned from one session
STAYING_PLACES = {"memory", "session", "file", *RECORDS, *(f"{type} history" for type in RECORDS)}
"""Places that a purge reports, and leaves as they are."""


class PendingClaims(NamedTuple):
    """The claims of a session that are still to be applied."""

    state: LearningState
    kept: list[Any]
    """The claims without those that a purge removes."""


@dataclass(slots=True)
class PurgeTargets:
    """What a purge deletes, blanks or rewrites, and what repeats it."""

    memories: list[Memory] = field(default_factory=list)
    events: dict[str, Event] = field(default_factory=dict)
    """By id."""
    quarantined_ids: list[str] = field(default_factory=list)
    """Given ids that name only rows in the quarantine."""
    unfinished: list[str] = field(default_factory=list)
    """Ids whose rows an earlier purge deleted, but whose bytes may still be there."""
    summaries: list[str] = field(default_factory=list)
    """Names of the sessions whose summaries are removed."""
    questions: list[TextPlace] = field(default_factory=list)
    """Logged questions."""
    expectations: list[str] = field(default_factory=list)
    """Ids of expectations whose question repeats the text."""
    proposals: list[str] = field(default_factory=list)
    """Ids of proposals whose reason repeats the text. The reason is cleared."""
    quarantine_entry_ids: list[str] = field(default_factory=list)
    """Ids of rows in the quarantine that repeat the text or have an id that is purged."""
    claims: list[PendingClaims] = field(default_factory=list)
    remaining: list[RemainingCopy] = field(default_factory=list)
    records: list[RecordRow] = field(default_factory=list)
    files: list[FileRow] = field(default_factory=list)
    """Rows of the index. The files on disk stay."""
    foreign_events: list[Event] = field(default_factory=list)
    """Messages of other namespaces from which the memories of a person were learned."""
    fingerprints: Fingerprints = field(default_factory=lambda: Fingerprints((), (), ()))

    @property
    def ids(self) -> list[str]:
        row_ids = (row.id for rows in (self.memories, self.records, self.files) for row in rows)
        return [*self.unfinished, *self.quarantined_ids, *row_ids, *self.events]


def find_targets(store: OpenStore, ids: Sequence[str], *, with_origin: bool) -> PurgeTargets:
    """Find what goes with these ids.

    `with_origin` adds the messages that a memory was learned from, those that repeat its whole text, their summaries,
    and expectations.
    """
    targets = PurgeTargets()
    for id in dict.fromkeys(validate.require_text(each, "id") for each in ids):
        _add_target(store, id, targets)
    versions = [version for memory in targets.memories for version in _list_versions(store, memory)]
    texts = [*_list_texts(store, targets, versions)]
    labels = [*_list_labels(versions)]
    targets.fingerprints = make_fingerprints(texts, labels)
    places = _find_repeats(store, targets)
    targets.proposals = _list_names(places, "proposal")
    targets.quarantine_entry_ids = _find_damaged_rows(store, targets, places)

    origins = _load_origins(store, targets.memories)
    own_origins = {event.id: event for event in origins if event.namespace == store.namespace}
    foreign_left: list[Event] = []
    for event in origins:
        if event.namespace != store.namespace:
            is_removed = with_origin and can_write(store, event.namespace)
            (targets.foreign_events if is_removed else foreign_left).append(event)
    repeating = {event.id: event for event in _load_repeating_messages(store, places)}
    summaries_left = _find_covering_summaries(store, {**own_origins, **targets.events}, places)
    if with_origin:
        targets.events |= own_origins
        targets.events |= {id: event for id, event in repeating.items() if _repeats_whole_text(event, texts)}
        targets.expectations = _list_names(places, "expectation")
        targets.summaries = _find_covering_summaries(store, targets.events, places)
        targets.fingerprints = _add_message_pieces(targets.fingerprints, targets.events.values())
        summaries_left = []
    targets.claims = [*_find_claims(store, targets, texts, places)]
    texts += _list_message_texts(targets)  # only questions are compared with them, too
    targets.questions = _find_questions(store, {*targets.ids}, [*texts, *labels], places)
    targets.remaining = [
        *(RemainingCopy("message", id) for id in {**own_origins, **repeating} if id not in targets.events),
        *(RemainingCopy("message", event.id, namespace=event.namespace) for event in foreign_left),
        *_find_learned_elsewhere(store, targets.events),
        *(RemainingCopy("summary", name) for name in summaries_left),
        *_list_repeating_claims(targets),
        *_list_staying_places(store, targets, places),
    ]
    return targets


def list_purgeable_namespaces(store: OpenStore) -> list[str]:
    """The namespace of the store and, except in a view, the empty one: damaged rows may have lost theirs."""
    return [store.namespace] if store.bounds else [store.namespace, ""]


def to_json_text(value: Any) -> str:
    """JSON, or the empty text for nothing."""
    return json_or_none(value) or ""


def _add_target(store: OpenStore, id: str, targets: PurgeTargets) -> None:
    """Find what an id names: a message, memory, record, file, damaged row, or a purge that is not finished."""
    session, _, number = id.rpartition("#")
    sequence = parse_sequence(number) if session else None
    if sequence is not None:
        event = store.tables.conversations.load_event(store.namespace, session, sequence)
        if event is not None and event.content != PURGED:
            targets.events[id] = event
            return
    try:
        targets.memories.append(load_or_explain(store, id))
    except NotFound:
        if records := erase.find_records(store, id):
            targets.records += [row for row in records if row not in targets.records]
        elif file := store.tables.files.get(store.namespace, id):
            targets.files.append(file)
        elif store.tables.quarantine.list_entry_ids(store.namespace, id):
            targets.quarantined_ids.append(id)
        else:
            earlier = store.tables.purges.get(store.namespace, id)
            if earlier is None or earlier.gone is not None:
                raise
            targets.unfinished.append(id)


def _list_versions(store: OpenStore, memory: Memory) -> Iterator[Mapping[str, Any]]:
    """A memory as it is, and as it was before each change."""
    yield snapshot(memory)
    changes = store.tables.memories.list_history(memory.namespace, memory.id)
    yield from (change.before for change in changes if change.before)


def _list_texts(store: OpenStore, targets: PurgeTargets, versions: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    yield from (version["content"] for version in versions)
    yield from _list_message_texts(targets)
    for row in targets.records:
        yield from erase.iter_texts(store, row)
    for file in targets.files:
        yield from (passage.content for passage in store.tables.files.list_all_passages(file))


def _list_message_texts(targets: PurgeTargets) -> Iterator[str]:
    return (extract_text(event.content, event.payload) for event in targets.events.values())


def _list_labels(versions: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Context, tags, slot and metadata, which other memories may share."""
    for version in versions:
        for name in LABEL_FIELDS:
            value = version[name]
            match value:
                case list():
                    yield from value
                case str():
                    yield value
                case _:
                    yield to_json_text(value)


def _add_message_pieces(fingerprints: Fingerprints, events: Iterable[Event]) -> Fingerprints:
    """Add the pieces of purged messages, which must not stay in the bytes of the store's files either."""
    of_messages = make_fingerprints(extract_text(event.content, event.payload) for event in events)
    return fingerprints._replace(pieces=tuple(dict.fromkeys((*fingerprints.pieces, *of_messages.pieces))))


def _find_repeats(store: OpenStore, targets: PurgeTargets) -> list[TextPlace]:
    """Other places that have a phrase of the text, or a word that no other memory has."""
    removed_names = {*targets.ids, *(file.path for file in targets.files)}
    found: list[TextPlace] = []
    for text in (*targets.fingerprints.phrases, *targets.fingerprints.words):
        repeats = [
            place
            for namespace in list_purgeable_namespaces(store)
            for place in store.tables.purges.list_repeats(namespace, text)
            if place.name not in removed_names
        ]
        is_phrase = text in targets.fingerprints.phrases
        if is_phrase or not any(place.place == "memory" for place in repeats):
            found += repeats
    return [place for place in dict.fromkeys(found) if f"{place.name}#{place.number}" not in targets.events]


def _list_names(places: Iterable[TextPlace], kind: str) -> list[str]:
    """The distinct names of the places of one kind."""
    return [*dict.fromkeys(place.name for place in places if place.place == kind)]


def _find_damaged_rows(store: OpenStore, targets: PurgeTargets, places: Iterable[TextPlace]) -> list[str]:
    own = [row for id in targets.ids for row in store.tables.quarantine.list_entry_ids(store.namespace, id)]
    return [*dict.fromkeys((*own, *_list_names(places, "quarantine")))]


def _load_origins(store: OpenStore, memories: Iterable[Memory]) -> list[Event]:
    """The messages that memories were learned from, without those that are purged already."""
    return [event for memory in memories for event in load_messages(store, memory) if event.content != PURGED]


def _load_repeating_messages(store: OpenStore, places: Iterable[TextPlace]) -> Iterator[Event]:
    for place in places:
        if place.place == "message":
            event = store.tables.conversations.load_event(store.namespace, place.name, place.number)
            if event and event.content != PURGED:
                yield event


def _find_covering_summaries(store: OpenStore, events: Mapping[str, Event], places: Iterable[TextPlace]) -> list[str]:
    """Sessions whose summary covers one of the events, in whatever words, or repeats the text."""
    names = dict.fromkeys(_list_names(places, "summary"))
    for event in events.values():
        state = store.tables.conversations.load_summary(store.namespace, event.session)
        if state and state.text and state.upto >= event.sequence:
            names[event.session] = None
    return [*names]


def _repeats_whole_text(event: Event, texts: Iterable[str]) -> bool:
    return _contains_any(f"{event.content}\n{to_json_text(event.payload)}", texts)


def _contains_any(container: str, texts: Iterable[str]) -> bool:
    """Whether all phrases of one of the texts are there. A name or a line alone is no reason to purge a message."""
    lower = container.casefold()
    phrases_of_texts = (find_phrases(text) for text in texts)
    return any(phrases and all(each.casefold() in lower for each in phrases) for phrases in phrases_of_texts)


def _find_claims(
    store: OpenStore, targets: PurgeTargets, texts: Sequence[str], places: Iterable[TextPlace]
) -> Iterator[PendingClaims]:
    """Sessions with pending claims that may come from purged messages, or say the same."""
    sessions = (*_list_names(places, "claim"), *(event.session for event in targets.events.values()))
    for session in dict.fromkeys(sessions):
        state = store.tables.learning.get(store.namespace, session)
        if state and state.claims_left:
            kept = [
                claim for claim in state.list_claims_left() if not _is_removed_claim(claim, session, targets, texts)
            ]
            yield PendingClaims(state, kept)


def _is_removed_claim(claim: Mapping[str, Any], session: str, targets: PurgeTargets, texts: Sequence[str]) -> bool:
    is_from_message = any(f"{session}#{number}" in targets.events for number in claim["events"])
    return is_from_message or _contains_any(claim["content"], texts)


def _find_questions(
    store: OpenStore, removed_ids: set[str], texts: Iterable[str], places: Iterable[TextPlace]
) -> list[TextPlace]:
    """Logged questions that have a phrase or rare word of the text, or give it away otherwise."""
    words_of_texts = [extract_words(text) for text in dict.fromkeys(texts)]
    repeating = {place for place in places if place.place == "query"}
    reveals: dict[str, bool] = {}
    found: list[TextPlace] = []
    for place, question in store.tables.purges.list_questions(store.namespace):
        if question not in reveals:
            reveals[question] = reveals_any(question, words_of_texts)
        if place.name not in removed_ids and (place in repeating or reveals[question]):
            found.append(place)
    return found


def _find_learned_elsewhere(store: OpenStore, events: Mapping[str, Event]) -> Iterator[RemainingCopy]:
    """Memories in the namespaces of persons that were learned from these messages."""
    for name in dict.fromkeys(event.session for event in events.values()):
        session = store.tables.conversations.get(store.namespace, name)
        person = session.person if session else None
        if not person or person == store.namespace or not may_read(store, person):
            continue
        for memory in store.tables.memories.list_learned(person, name, clock.now(), store.namespace, MAX_LEARNED):
            if any(event.id in events for event in load_messages(store, memory)):
                yield RemainingCopy("memory", memory.id, namespace=memory.namespace)


def _list_repeating_claims(targets: PurgeTargets) -> Iterator[RemainingCopy]:
    for state, kept in targets.claims:
        if targets.fingerprints.are_in(to_json_text(kept)):
            yield RemainingCopy("claim", state.session)


def _list_staying_places(
    store: OpenStore, targets: PurgeTargets, places: Iterable[TextPlace]
) -> Iterator[RemainingCopy]:
    """The places that still repeat the text after the purge."""
    profile_left = erase.render_profile_left(store, {memory.id for memory in targets.memories})
    is_in_profile = targets.fingerprints.are_in(profile_left)
    for place in places:
        if place.place.startswith("profile") and not is_in_profile:
            continue
        if _stays(store, place, targets):
            yield RemainingCopy(place.place, place.name)


def _stays(store: OpenStore, place: TextPlace, targets: PurgeTargets) -> bool:
    if place.place == "history":
        return _history_stays(store, place.name, targets)
    if place.place == "expectation":
        return place.name not in targets.expectations
    return place.place in STAYING_PLACES


def _history_stays(store: OpenStore, id: str, targets: PurgeTargets) -> bool:
    """Whether a history repeats the text. The reason why a memory gave way to a purged one is removed, too."""
    changes = store.tables.memories.list_history(store.namespace, id)
    memory = store.tables.memories.get(store.namespace, id, clock.now())
    successors = {(change.before or {}).get("superseded_by") for change in changes}
    if memory:
        successors.add(memory.superseded_by)
    gave_way = not successors.isdisjoint(targets.ids)
    texts = [to_json_text(change.before) for change in changes]
    texts += [change.reason or "" for change in changes if not (gave_way and change.action == "superseded")]
    return any(targets.fingerprints.are_in(text) for text in texts)
