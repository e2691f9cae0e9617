"""Removes data permanently: rows and history, full text, vectors and logs, and the bytes they leave in files.

1. `targets.py` finds what goes, and what repeats its text.
2. All of it is deleted in one transaction. A log of the purge stays, without the text. Two things are removed before,
   each by itself, and a purge that is repeated finds them removed: a contact is deleted as a user deletes it, so that
   projects let go of it, and the lines of the daily log are taken out of its files.
3. `proof.py` overwrites the bytes and looks for the text in the files. If somebody still reads an older state, or the
   process is killed, the record stays open and maintenance tries again (`scrub_pending`).
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from retentive.conversations import summaries
from retentive.conversations.append import reindex_steps
from retentive.errors import Invalid
from retentive.memories import daily_log
from retentive.model import Event, ItemType, PurgeResult, RemainingCopy
from retentive.purge.proof import Progress, scrub_and_prove
from retentive.purge.targets import PurgeTargets, find_targets, list_purgeable_namespaces, to_json_text
from retentive.records import erase
from retentive.records.profile_sync import SLOT_PREFIX
from retentive.storage import Step
from retentive.storage.tables import expectations, files, hidden, learning, proposals, purges, quarantine, records
from retentive.store import OpenStore, validate
from retentive.store.write import Decision, write
from retentive.text.caches import clear_text_caches
from retentive.text.purged_message import PURGED, purge_payload


class PurgeRequest(NamedTuple):
    ids: Sequence[str]
    with_origin: bool
    dry_run: bool
    reason: str | None
    actor: str


def purge(store: OpenStore, request: PurgeRequest, progress: Progress | None) -> PurgeResult:
    """Purge these ids. Messages in other namespaces go first, so that a purge that was stopped can be repeated."""
    validate.check_reason(request.reason, request.actor)
    store.journal.flush()
    foreign = [*_split_foreign(store, request)] if request.with_origin else []
    for foreign_store, messages in foreign:
        _find_allowed_targets(foreign_store, messages)  # refuses before the first of them is purged
    report = progress or (lambda _stage, _done, _total: None)
    return _merge_results([_purge_namespace(*part, report) for part in (*foreign, (store, request))])


def _split_foreign(store: OpenStore, request: PurgeRequest) -> Iterator[tuple[OpenStore, PurgeRequest]]:
    """Yield what to purge in each other namespace: the messages from which the memories were learned."""
    ids_by_namespace: dict[str, list[str]] = {}
    for event in _find_allowed_targets(store, request).foreign_events:
        ids_by_namespace.setdefault(event.namespace, []).append(event.id)
    for namespace, ids in ids_by_namespace.items():
        yield replace(store, namespace=namespace), request._replace(ids=ids)


def _find_allowed_targets(store: OpenStore, request: PurgeRequest) -> PurgeTargets:
    """Find what goes; `Invalid` if the reason, which stays on record, repeats its text."""
    targets = find_targets(store, request.ids, with_origin=request.with_origin)
    if request.reason and targets.fingerprints.are_in(request.reason):
        raise Invalid(
            "the reason repeats what is to be purged", "The reason stays on record: give one without the text."
        )
    return targets


def _merge_results(results: Sequence[PurgeResult]) -> PurgeResult:
    """One result for several namespaces. The proof is the last one: it was made when everything was gone."""
    removed: Counter[str] = Counter()
    ids: list[str] = []
    remaining: dict[RemainingCopy, None] = {}
    for result in reversed(results):
        removed.update(result.removed)
        ids += result.ids
        remaining |= dict.fromkeys(result.remaining)
    return PurgeResult(
        ids=tuple(ids),
        removed=dict(removed),
        remaining=tuple(remaining),
        proof=results[-1].proof,
        complete=all(result.complete for result in results),
    )


def _purge_namespace(store: OpenStore, request: PurgeRequest, progress: Progress) -> PurgeResult:
    targets, removed = PurgeTargets(), dict[str, int]()
    log_lines = 0

    def decide(now: int) -> Decision[None]:
        nonlocal targets, removed, log_lines
        targets = _find_allowed_targets(store, request)
        if not request.dry_run:
            targets.records = [erase.delete_if_contact(store, row, request.actor) for row in targets.records]
        removed = _count_removed(store, targets)
        # The lines of the daily log go before the rows, so that a purge that was killed can be repeated. They are
        # looked for again afterwards: another process may have written the line of a new memory only now.
        log_lines += daily_log.remove_memories(store, targets.memories, dry_run=request.dry_run).lines
        return Decision(() if request.dry_run else [*_delete_steps(store, targets, request, now)], None)

    write(store, decide, "others kept changing what is to be purged")
    if log_lines:
        removed["log"] = log_lines
    ids = tuple(targets.ids)
    if request.dry_run:
        return PurgeResult(ids, removed, tuple(targets.remaining), "a dry run: nothing was changed", complete=False)
    _clear_caches(store)
    _rewrite_summaries(store, targets.summaries)
    proof = scrub_and_prove(store, targets.fingerprints, progress)
    unwritable_logs = daily_log.remove_memories(store, targets.memories).failed_files
    if _has_profile(targets):
        store.sync_profile_slots(store, [SLOT_PREFIX])  # facts that stay are in the profile again
    log_copies = [RemainingCopy("log", name) for name in unwritable_logs]
    remaining = (*targets.remaining, *proof.remaining, *log_copies)
    return PurgeResult(ids, removed, remaining, proof=proof.text, complete=proof.is_complete)


def _has_profile(targets: PurgeTargets) -> bool:
    return any(row.type == ItemType.PROFILE for row in targets.records)


def _count_removed(store: OpenStore, targets: PurgeTargets) -> dict[str, int]:
    sizes = [store.tables.purges.count_rows(memory) for memory in targets.memories]
    counts = {
        "memories": len(targets.memories),
        "records": len(targets.records),
        "files": len(targets.files),
        "history": sum(each.history for each in sizes),
        "chunks": sum(each.chunks for each in sizes),
        "accesses": sum(each.accesses for each in sizes),
        "messages": len(targets.events),
        "summaries": len(targets.summaries),
        "queries": len(targets.questions),
        "expectations": len(targets.expectations),
        "proposals": sum(each.proposals for each in sizes),
        "quarantine": len(targets.quarantine_entry_ids),
        "claims": sum(state.claims_left - len(kept) for state, kept in targets.claims),
    }
    return {name: count for name, count in counts.items() if count}


def _delete_steps(store: OpenStore, targets: PurgeTargets, request: PurgeRequest, now: int) -> Iterator[Step]:
    """Yield the steps that delete the targets, blank the messages and log the purge."""
    namespace = store.namespace
    for memory in targets.memories:
        yield from purges.delete_memory_steps(memory)
    if targets.memories and not _has_profile(targets):  # a purged profile takes its values along
        yield from erase.profile_steps(store, {memory.id for memory in targets.memories}, now)
    for row in targets.records:
        yield from records.delete_steps(row)
    for file in targets.files:
        yield from files.delete_steps(file)
    sessions = dict.fromkeys(event.session for event in targets.events.values())
    for session in sessions:
        yield from _blank_steps(store, session, targets.events)
    yield purges.cancel_summaries_step(namespace, sorted({*sessions} - {*targets.summaries}))
    yield purges.clear_summaries_step(namespace, targets.summaries)
    yield purges.delete_questions_step(namespace, targets.questions)
    yield expectations.delete_step(namespace, targets.expectations)
    yield proposals.clear_reasons_step(namespace, targets.proposals)
    for purgeable_namespace in list_purgeable_namespaces(store):
        yield quarantine.delete_step(purgeable_namespace, targets.quarantine_entry_ids)
    for state, kept in targets.claims:
        yield learning.replace_claims_step(namespace, state, to_json_text(kept), len(kept))
    newly_purged = [id for id in targets.ids if id not in targets.unfinished]
    yield purges.log_purges_step(namespace, newly_purged, now, request.actor, request.reason)


def _blank_steps(store: OpenStore, name: str, purged: Mapping[str, Event]) -> Iterator[Step]:
    """Blank the purged messages of a session, and rebuild its chunks: those of their neighbours quote them."""
    blank = [_blank_event(event) for event in purged.values() if event.session == name]
    yield purges.replace_events_step(blank)
    yield hidden.delete_hidden_marks_step(blank)
    session = store.tables.conversations.get(store.namespace, name)
    if session is None:
        return  # deleted meanwhile: the first step fails as stale
    events = store.tables.conversations.list_oldest(store.namespace, name, session.events, 0)
    left = [_blank_event(event) if event.id in purged else event for event in events]
    space = store.space.name if store.space else ""
    yield from reindex_steps(store, session, left, store.tables.purges.vectors(store.namespace, name, space))


def _blank_event(event: Event) -> Event:
    return replace(event, content=PURGED, payload=purge_payload(event.payload))


def _rewrite_summaries(store: OpenStore, sessions: Sequence[str]) -> None:
    for session in sessions:
        store.tokens_at_failed_summary.pop((store.namespace, session), None)
        summaries.summarise_if_due(store, session)


def _clear_caches(store: OpenStore) -> None:
    """Remove the purged texts from the memory of this process."""
    clear_text_caches()
    if store.engine.uses_local_index:
        store.images().erase(store.namespace, [space for space, _ in store.tables.chunks.list_spaces()])
