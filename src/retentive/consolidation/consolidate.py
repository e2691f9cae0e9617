"""Consolidate old memories: merge those that say the same, and sum up many small outcomes.

One pass over the namespace, a page at a time, gives each memory a key (`same_meaning.py`); memories with one key
are a group. So the work grows with the number of memories and not with its square. Each group is read again and written
in one transaction, with a guard on the version of each memory that it replaces. A stopped run leaves whole groups, and
the next run finds the rest.

The merged memory cites the others in its `origin`, with the id of the run. `undo` makes them active again and forgets
the merged one. The pair then counts as rejected, so it is not merged again.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, NamedTuple

from retentive import clock
from retentive.consolidation import outcomes
from retentive.errors import NotFound, RetentiveError
from retentive.ids import new_ids
from retentive.memories import edit
from retentive.memories.plan import CONSOLIDATION
from retentive.memories.write import write_memories
from retentive.model import (
    ConsolidatedGroup,
    Consolidation,
    ConsolidationRule,
    Draft,
    Memory,
    MergedMemory,
    ProposalStatus,
    Replacement,
    Status,
    Traits,
    UndoConsolidationResult,
    find_lowest_trust,
    from_micros,
)
from retentive.storage import Step
from retentive.storage.tables import memories
from retentive.storage.tables.metrics import usage_step
from retentive.storage.tables.proposals import keep_apart_step
from retentive.store import OpenStore, secret_policy, validate
from retentive.store.write import Decision, write
from retentive.surface.memory import MAX_TAGS
from retentive.text.normalize import hash_content

PAGE_SIZE = 500  # memories read at once
MAX_GROUPS = 1000  # in one run, if the caller does not say otherwise
MAX_DAYS = 36_500
MICROS_PER_DAY = 86_400_000_000
FIRST_VERSION = 1
CONSOLIDATIONS = "consolidations"  # the counter of the runs of background work on a day

Progress = Callable[[int, int], None]
"""Called with the number of scanned memories and of merged groups."""


class _ChangedError(Exception):
    """A memory of the group was meanwhile changed, ended or proposed for replacement."""


class ConsolidationRequest(NamedTuple):
    """The validated arguments of a run."""

    run: str
    until: int
    """Memories made after this moment (in microseconds) are not consolidated."""
    limit: int
    dry_run: bool


class RunPiece(NamedTuple):
    """A part of a run: a page that was read, or a group that was merged."""

    scanned: int = 0
    group: ConsolidatedGroup | None = None
    note: str = ""


@dataclass(slots=True)
class _Scan:
    """The result of one pass over a namespace. It holds ids, not texts."""

    forms: Any
    """A `FormIndex`."""
    outcomes: dict[Any, list[str]] = field(default_factory=dict)
    """By project and month."""


def make_request(store: OpenStore, older_than: float | None, limit: int, *, dry_run: bool) -> ConsolidationRequest:
    days = (
        store.config.consolidate_after
        if older_than is None
        else validate.parse_days(older_than, "older_than", MAX_DAYS)
    )
    now = clock.now()
    until = now - round(days * MICROS_PER_DAY)
    return ConsolidationRequest(new_ids(now, 1)[0], until, validate.positive_int(limit), dry_run=dry_run)


def consolidate(store: OpenStore, request: ConsolidationRequest, progress: Progress | None = None) -> Consolidation:
    scanned, groups, notes = 0, list[ConsolidatedGroup](), list[str]()
    for piece in consolidate_pieces(store, request):
        scanned += piece.scanned
        if piece.group:
            groups.append(piece.group)
        if piece.note:
            notes.append(piece.note)
        if progress:
            progress(scanned, len(groups))
    has_changed = bool(groups) and not request.dry_run
    return Consolidation(
        run=request.run if has_changed else None,
        done=not request.dry_run,
        groups=tuple(groups),
        scanned=scanned,
        complete=len(groups) < request.limit,
        notes=tuple(dict.fromkeys(notes)),
    )


def consolidate_pieces(store: OpenStore, request: ConsolidationRequest) -> Iterator[RunPiece]:
    """Consolidate piece by piece. Stopping between two pieces loses nothing."""
    from retentive.consolidation.same_meaning import FormIndex  # compiling its patterns takes some time

    scan = _Scan(FormIndex())
    for page in _read_pages(store, request.until):
        for memory in page:
            scan.forms.add(memory)
            if outcomes.is_small_outcome(memory) and not _is_summary(memory):
                scan.outcomes.setdefault(outcomes.find_project(memory), []).append(memory.id)
        yield RunPiece(scanned=len(page))
    done = 0
    merged: set[str] = set()
    for piece in _consolidate_groups(store, request, scan, merged):
        yield piece
        done += piece.group is not None
        if done >= request.limit:
            return


def find_due_namespaces(store: OpenStore) -> list[str]:
    """The namespaces that background work has not consolidated today, in any process."""
    day = clock.now() // MICROS_PER_DAY
    tables = store.tables
    return [each for each in tables.memories.list_namespaces() if not tables.metrics.usage(each, CONSOLIDATIONS, day)]


def note_daily_run(store: OpenStore) -> None:
    """Record that the namespace was consolidated today."""
    store.engine.apply([usage_step(store.namespace, CONSOLIDATIONS, clock.now() // MICROS_PER_DAY, 1)])


def _read_pages(store: OpenStore, until: int) -> Iterator[list[Memory]]:
    after = ""
    while page := store.tables.memories.list_created_before(store.namespace, until, clock.now(), after, PAGE_SIZE):
        yield page
        after = page[-1].id


def _is_summary(memory: Memory) -> bool:
    origin = memory.origin or {}
    return CONSOLIDATION in origin and origin.get("rule") == ConsolidationRule.OUTCOMES


def _consolidate_groups(
    store: OpenStore, request: ConsolidationRequest, scan: _Scan, merged: set[str]
) -> Iterator[RunPiece]:
    for ids in scan.forms.groups():
        piece = _merge_group(store, request, ids)
        if piece.group:
            merged |= {each.id for each in piece.group.cited}
        if piece.group or piece.note:
            yield piece
    for ids in scan.outcomes.values():
        if len(ids) >= outcomes.MIN_OUTCOMES:
            yield from _summarise_project(store, request, [id for id in ids if id not in merged])


def _merge_group(store: OpenStore, request: ConsolidationRequest, ids: Sequence[str]) -> RunPiece:
    """Merge the memories of a group into one."""
    from retentive.consolidation.same_meaning import make_group

    members, is_apart = _read_members(store, ids)
    if is_apart:
        return RunPiece()
    group = make_group(members)
    if group is None:
        return RunPiece()
    base = next(each for each in reversed(group.memories) if each.content == group.text)
    merged = ConsolidatedGroup(group.rule, group.text, _list_merged(group.memories))
    traits = _merge_traits(store, group.memories, base, request.run, group.rule)
    return _write_merged(store, request, merged, traits, group.memories)


def _summarise_project(store: OpenStore, request: ConsolidationRequest, ids: Sequence[str]) -> Iterator[RunPiece]:
    """Sum up the outcomes of one project and month, in one summary or more."""
    members, _ = _read_members(store, ids, needs_all=False)
    for part in outcomes.split_outcomes(members):
        summary = _write_summary(store, part, is_dry_run=request.dry_run)
        merged = ConsolidatedGroup(ConsolidationRule.OUTCOMES, summary.text, _list_merged(part), summary.by)
        latest = part[-1]
        traits = _merge_traits(store, part, latest, request.run, ConsolidationRule.OUTCOMES)
        piece = _write_merged(store, request, merged, replace(traits, valid_from=latest.valid_from), part)
        yield piece._replace(note=piece.note or summary.note)


def _read_members(store: OpenStore, ids: Sequence[str], *, needs_all: bool = True) -> tuple[list[Memory], bool]:
    """The memories that are still active and in no proposal; and whether two of them must stay apart.

    Without `needs_all`, a memory that was restored once is left out: somebody wants it as it is.
    """
    found = store.tables.memories.load_by_ids(store.namespace, ids, clock.now()).values()
    active = [each for each in found if each.status is Status.ACTIVE]
    pairs = store.tables.proposals.list_of_memories(store.namespace, [each.id for each in active])
    proposed = {id for each in pairs if each.status == ProposalStatus.OPEN for id in (each.newer_id, each.older_id)}
    free = [each for each in active if each.id not in proposed]
    if not needs_all:
        restored = {each.older_id for each in pairs if each.status == ProposalStatus.REJECTED}
        return [each for each in free if each.id not in restored], False
    hashes = sorted({each.content_hash for each in free})
    apart = store.tables.proposals.find_rejected(store.namespace, hashes)
    return free, any(older in hashes for _, older in apart)


class _Summary(NamedTuple):
    text: str
    by: str = "sentences"
    """How it was made: `sentences` if they were chosen, else the name of a language model."""
    note: str = ""


def _write_summary(store: OpenStore, part: Sequence[Memory], *, is_dry_run: bool) -> _Summary:
    """Sum up outcomes. A dry run asks no language model: that costs money."""
    chosen = outcomes.summarise_outcomes(part)
    llm = store.llm()
    if llm is None:
        return _Summary(chosen)
    if is_dry_run:
        return _Summary(
            chosen, note=f"the summary of outcomes will be written by {llm.name}; this preview shows plain sentences"
        )

    def ask(instructions: str, material: str, tokens: int) -> str:
        return llm.complete(instructions, material, None, max_tokens=tokens).text

    try:
        text = outcomes.write_outcomes(part, ask)
        if text is not None:
            return _Summary(secret_policy.apply_policy(store, text, "memory"), llm.name)
        note = f"the text of {llm.name} was not used: it was too long, or contained a number that is not in the sources"
    except RetentiveError as error:
        store.journal.record_failure("consolidation", error)
        note = f"{llm.name} was not used: {error}"
    return _Summary(chosen, note=note)


def _list_merged(members: Sequence[Memory]) -> tuple[MergedMemory, ...]:
    return tuple(MergedMemory(each.id, each.content, each.valid_from) for each in members)


def _merge_traits(
    store: OpenStore, members: Sequence[Memory], base: Memory, run: str, rule: ConsolidationRule
) -> Traits:
    """The traits of the merged memory: the best of all members, the lowest trust, and their ids."""
    tags = dict.fromkeys(tag for each in members for tag in each.tags)
    metadata: dict[str, Any] = {}
    for each in members:
        metadata |= each.metadata
    return Traits(
        kind=base.kind,
        tags=tuple(tags)[:MAX_TAGS],
        importance=max(each.importance for each in members),
        confidence=max(each.confidence for each in members),
        source=find_lowest_trust(each.source for each in members),
        context=base.context,
        session=base.session,
        slot=next((each.slot for each in members if each.slot), None),
        expires=None,
        valid_from=_find_start(store, members),
        metadata=metadata if rule is not ConsolidationRule.OUTCOMES else {},
        origin={CONSOLIDATION: run, "rule": str(rule), "memories": [each.id for each in members]},
    )


def _find_start(store: OpenStore, members: Sequence[Memory]) -> datetime:
    """The earliest start of the members; that of the slot's holder if the slot had another value since."""
    earliest = min(each.valid_from for each in members)
    holder = next((each for each in members if each.slot), None)
    if holder is None:
        return earliest
    ids = {each.id for each in members}
    holders = store.tables.memories.load_slot_history(holder.namespace, holder.session, holder.slot, clock.now())
    others = [each for each in holders if each.id not in ids]
    is_taken = any(each.valid_to is None or each.valid_to > earliest for each in others)
    return holder.valid_from if is_taken else earliest


def _write_merged(
    store: OpenStore,
    request: ConsolidationRequest,
    merged: ConsolidatedGroup,
    traits: Traits,
    members: Sequence[Memory],
) -> RunPiece:
    """Write the merged memory and end its members, in one transaction."""
    if request.dry_run:
        return RunPiece(group=merged)
    reason = f"one of {len(members)} memories that became one; undo: `undo_consolidation('{request.run}')`"
    draft = Draft(
        content=merged.text,
        content_hash=hash_content(merged.text),
        traits=traits,
        vector=None,
        corrects=tuple(Replacement(each.id, merged.rule, reason) for each in members),
    )
    try:
        (result,) = write_memories(store, [draft], CONSOLIDATION, lambda: _guard_members(store, members))
    except _ChangedError:
        return RunPiece(note=f"left as they are, because one was changed meanwhile: {', '.join(e.id for e in members)}")
    return RunPiece(group=replace(merged, id=result.id))


def _guard_members(store: OpenStore, members: Sequence[Memory]) -> Iterator[Step]:
    """Steps that fail unless each memory is unchanged. Raises if one has changed, so that no attempt follows."""
    ids = [each.id for each in members]
    found, is_apart = _read_members(store, ids)
    now = {each.id: each.version for each in found}
    if is_apart or any(now.get(each.id) != each.version for each in members):
        raise _ChangedError
    for each in members:
        yield memories.require_unchanged_step(each)


def undo_consolidation(store: OpenStore, run: str, actor: str) -> UndoConsolidationResult:
    """Make what a run replaced active again, and forget what it made."""
    run = validate.require_text(run, "run")
    merged = store.tables.memories.load_of_run(store.namespace, run, clock.now())
    if not merged:
        hint = "`why(ID)` of a memory that was made shows it as `consolidation`."
        raise NotFound(f"no consolidation {run[:60]!r} in namespace {store.namespace!r}", hint)
    forgotten, restored, left = list[str](), list[str](), list[str]()
    for each in merged:
        undo_result = _undo_memory(store, each.id, actor, run)
        restored += undo_result.restored
        left += undo_result.left
        forgotten += [each.id] if undo_result.is_done else []
    return UndoConsolidationResult(run, tuple(forgotten), tuple(restored), tuple(left))


class _UndoResult(NamedTuple):
    """The result of undoing one merged memory."""

    is_done: bool
    restored: Sequence[str] = ()
    left: Sequence[str] = ()


def _undo_memory(store: OpenStore, id: str, actor: str, run: str) -> _UndoResult:
    def decide(now: int) -> Decision[_UndoResult]:
        merged = edit.load(store, id)
        if reason := _find_obstacle(store, merged):
            left = [f"{id} {reason}; what it replaced stays as it is"]
            return Decision((), _UndoResult(is_done=False, left=left))
        originals, left = _find_originals(store, merged, now)
        steps = _undo_steps(merged, originals, actor, run, now)
        result = _UndoResult(is_done=True, restored=[each.id for each in originals], left=left)
        return Decision(steps, result, [merged.slot, *(each.slot for each in originals)])

    return write(store, decide, f"others kept changing {id}")


def _find_obstacle(store: OpenStore, merged: Memory) -> str:
    """Why a merged memory cannot be undone: somebody changed, ended or replaced it since."""
    if merged.status is Status.SUPERSEDED:
        by = store.tables.memories.get(merged.namespace, merged.superseded_by or "", clock.now())
        later = (by.origin or {}).get(CONSOLIDATION) if by else None
        how = f"; undo that first: `undo_consolidation({later!r})`" if later else ""
        return f"was replaced since by {merged.superseded_by}{how}"
    if merged.status is not Status.ACTIVE:
        return f"is {merged.status} since"
    return "was changed since" if merged.version != FIRST_VERSION else ""


def _find_originals(store: OpenStore, merged: Memory, now: int) -> tuple[list[Memory], list[str]]:
    """The memories that can be active again, and why the others cannot."""
    ids: Sequence[str] = (merged.origin or {}).get("memories", ())
    found = store.tables.memories.load_by_ids(merged.namespace, ids, now)
    originals, left = list[Memory](), [f"{id} is gone" for id in ids if id not in found]
    for each in found.values():
        if each.status is Status.ACTIVE:
            continue  # restored by hand
        if each.status is not Status.SUPERSEDED or each.superseded_by != merged.id:
            left.append(f"{each.id} is {each.status} since")
        elif other := _find_rival(store, each, merged, now):
            left.append(f"{each.id} stays replaced: {other.id} says the same or holds its slot")
        else:
            originals.append(each)
    return originals, left


def _find_rival(store: OpenStore, old: Memory, merged: Memory, now: int) -> Memory | None:
    """Another active memory with the same text or slot, of which there can be only one."""
    same = store.tables.memories.load_active_by_text(old.namespace, [old.content_hash], now)
    same += store.tables.memories.load_active_by_slot(old.namespace, [old.slot], now) if old.slot else []
    others = [each for each in same if each.session == old.session and each.id not in (old.id, merged.id)]
    return others[0] if others else None


def _undo_steps(merged: Memory, originals: Sequence[Memory], actor: str, run: str, now: int) -> list[Step]:
    moment = from_micros(now)
    reason = f"consolidation {run} undone"
    steps = [*memories.status_steps(merged, replace(merged, status=Status.FORGOTTEN, updated=moment), actor, reason)]
    for old, pair in zip(originals, new_ids(now, len(originals)), strict=True):
        active = replace(old, status=Status.ACTIVE, superseded_by=None, valid_to=None, updated=moment)
        steps += memories.status_steps(old, active, actor, reason)
        steps.append(keep_apart_step(pair, merged, old, CONSOLIDATION, now))
    return steps
