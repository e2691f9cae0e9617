"""Old memories are consolidated: those that say the same become one, and many small outcomes become a summary.

One pass over the namespace, a page at a time, gives each memory a key (`same_meaning.py`); memories with one key
are a group. So the work grows with the number of memories and not with its square. Each group is read again and written
in one transaction, with a guard on the version of each memory that it replaces. A run that is stopped leaves whole
groups, and the next run finds the rest.

The memory that is made cites the others in its `origin`, with the id of the run. `undo` makes them active again and
forgets what the run made. Both texts then count as rejected, so they are not merged again.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, NamedTuple

from retentive import clock
from retentive.consolidation import outcomes as summaries
from retentive.errors import Busy, NotFound, RetentiveError, Stale
from retentive.ids import new_ids
from retentive.memories import edit, write
from retentive.memories.plan import CONSOLIDATION
from retentive.model import (
    CitedMemory,
    ConsolidatedGroup,
    Consolidation,
    ConsolidationRule,
    Draft,
    Memory,
    ProposalStatus,
    Replacement,
    Status,
    Traits,
    UndoneConsolidation,
    find_lowest_trust,
    from_micros,
)
from retentive.storage import Step
from retentive.storage.tables import memories
from retentive.storage.tables.metrics import usage_step
from retentive.storage.tables.proposals import keep_apart_step
from retentive.store import OpenStore, secret_policy, validate
from retentive.store.write import MAX_ATTEMPTS
from retentive.text.normalize import content_hash

PAGE_SIZE = 500  # memories read at once
MAX_GROUPS = 1000  # in one run, if the caller does not say otherwise
MAX_DAYS = 36_500
MICROS_PER_DAY = 86_400_000_000
FIRST_VERSION = 1
CONSOLIDATIONS = "consolidations"  # the counter of the runs of background work on a day

Progress = Callable[[int, int], None]
"""It hears how many memories were looked at, and how many groups were made."""


class _ChangedError(Exception):
    """A memory of the group was changed, ended or proposed meanwhile."""


class Request(NamedTuple):
    """What a run was asked to do, checked."""

    run: str
    until: int
    """Memories made after this moment are left alone."""
    limit: int
    dry_run: bool


class Piece(NamedTuple):
    """A part of a run: a page that was read, or a group that was made."""

    scanned: int = 0
    group: ConsolidatedGroup | None = None
    note: str = ""


@dataclass(slots=True)
class _Scan:
    """What one pass over a namespace found. It holds ids, not texts."""

    forms: Any
    """A `FormIndex`."""
    outcomes: dict[Any, list[str]] = field(default_factory=dict)
    """By project and month."""


def make_request(store: OpenStore, older_than: float | None, limit: int, *, dry_run: bool) -> Request:
    days = store.config.consolidate_after if older_than is None else validate.days(older_than, "older_than", MAX_DAYS)
    now = clock.now()
    return Request(new_ids(now, 1)[0], now - round(days * MICROS_PER_DAY), validate.limit_of(limit), dry_run)


def consolidate(store: OpenStore, request: Request, progress: Progress | None = None) -> Consolidation:
    scanned, groups, notes = 0, list[ConsolidatedGroup](), list[str]()
    for piece in consolidate_pieces(store, request):
        scanned += piece.scanned
        groups += [piece.group] if piece.group else []
        notes += [piece.note] if piece.note else []
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


def consolidate_pieces(store: OpenStore, request: Request) -> Iterator[Piece]:
    """Do it piece by piece. Whoever stops between two pieces loses nothing."""
    from retentive.consolidation.same_meaning import FormIndex  # compiling its patterns takes some time

    scan = _Scan(FormIndex())
    for page in _read_pages(store, request.until):
        for memory in page:
            scan.forms.add(memory)
            if summaries.is_small_outcome(memory) and not _is_summary(memory):
                scan.outcomes.setdefault(summaries.find_project(memory), []).append(memory.id)
        yield Piece(scanned=len(page))
    done = 0
    merged: set[str] = set()
    for piece in _consolidate_groups(store, request, scan, merged):
        yield piece
        done += piece.group is not None
        if done >= request.limit:
            return


def find_due_namespaces(store: OpenStore) -> list[str]:
    """The namespaces that no background work has consolidated today, in whichever process."""
    day = clock.now() // MICROS_PER_DAY
    return [
        each for each in store.tables.memories.namespaces() if not store.tables.metrics.usage(each, CONSOLIDATIONS, day)
    ]


def note_daily_run(store: OpenStore) -> None:
    """Have the namespace count as consolidated today."""
    store.engine.apply([usage_step(store.namespace, CONSOLIDATIONS, clock.now() // MICROS_PER_DAY, 1)])


def _read_pages(store: OpenStore, until: int) -> Iterator[list[Memory]]:
    after = ""
    while page := store.tables.memories.old(store.namespace, until, clock.now(), after, PAGE_SIZE):
        yield page
        after = page[-1].id


def _is_summary(memory: Memory) -> bool:
    origin = memory.origin or {}
    return CONSOLIDATION in origin and origin.get("rule") == ConsolidationRule.OUTCOMES


def _consolidate_groups(store: OpenStore, request: Request, scan: _Scan, merged: set[str]) -> Iterator[Piece]:
    for ids in scan.forms.groups():
        piece = _merge_group(store, request, ids)
        if piece.group:
            merged |= {each.id for each in piece.group.cited}
        if piece.group or piece.note:
            yield piece
    for ids in scan.outcomes.values():
        if len(ids) >= summaries.MIN_OUTCOMES:
            yield from _summarise_project(store, request, [id for id in ids if id not in merged])


def _merge_group(store: OpenStore, request: Request, ids: Sequence[str]) -> Piece:
    """Make one memory of those that say the same."""
    from retentive.consolidation.same_meaning import make_group

    members, is_apart = _read_members(store, ids)
    if is_apart:
        return Piece()
    group = make_group(members)
    if group is None:
        return Piece()
    base = next(each for each in reversed(group.memories) if each.content == group.text)
    made = ConsolidatedGroup(group.rule, group.text, _cite(group.memories))
    traits = _merge_traits(store, group.memories, base, request.run, group.rule)
    return _write(store, request, made, traits, group.memories)


def _summarise_project(store: OpenStore, request: Request, ids: Sequence[str]) -> Iterator[Piece]:
    """Make one summary or more of the outcomes of one project and month."""
    members, _ = _read_members(store, ids, needs_all=False)
    for part in summaries.split_outcomes(members):
        text, by, note = _write_summary(store, part, is_asked=not request.dry_run)
        made = ConsolidatedGroup(ConsolidationRule.OUTCOMES, text, _cite(part), by)
        latest = part[-1]
        traits = _merge_traits(store, part, latest, request.run, ConsolidationRule.OUTCOMES)
        piece = _write(store, request, made, replace(traits, valid_from=latest.valid_from), part)
        yield piece._replace(note=piece.note or note)


def _read_members(store: OpenStore, ids: Sequence[str], *, needs_all: bool = True) -> tuple[list[Memory], bool]:
    """The memories that are still active and in no proposal; and whether two of them must stay apart.

    Without `needs_all`, a memory that was restored once is left out: somebody wants it as it is.
    """
    found = store.tables.memories.named(store.namespace, ids, clock.now()).values()
    active = [each for each in found if each.status is Status.ACTIVE]
    pairs = store.tables.proposals.of_memories(store.namespace, [each.id for each in active])
    proposed = {id for each in pairs if each.status == ProposalStatus.OPEN for id in (each.newer_id, each.older_id)}
    free = [each for each in active if each.id not in proposed]
    if not needs_all:
        restored = {each.older_id for each in pairs if each.status == ProposalStatus.REJECTED}
        return [each for each in free if each.id not in restored], False
    hashes = sorted({each.content_hash for each in free})
    apart = store.tables.proposals.rejected(store.namespace, hashes)
    return free, any(older in hashes for _, older in apart)


def _write_summary(store: OpenStore, part: Sequence[Memory], *, is_asked: bool) -> tuple[str, str, str]:
    """The text, who wrote it, and a note. A dry run asks no language model: it would be charged."""
    chosen = summaries.summarise_outcomes(part)
    writer = store.writer()
    if writer is None:
        return chosen, "sentences", ""
    if not is_asked:
        return chosen, "sentences", f"the summary of outcomes will be written by {writer.name}; here sentences stand"

    def ask(instructions: str, material: str, tokens: int) -> str:
        return writer.write(instructions, material, None, tokens=tokens).text

    try:
        text = summaries.write_outcomes(part, ask)
        if text is not None:
            return secret_policy.guarded(store, text, "memory"), writer.name, ""
        note = f"what {writer.name} wrote was not used: it was too long, or had a number of its own"
    except RetentiveError as error:
        store.journal.failed("consolidation", error)
        note = f"{writer.name} was not used: {error}"
    return chosen, "sentences", note


def _cite(members: Sequence[Memory]) -> tuple[CitedMemory, ...]:
    return tuple(CitedMemory(each.id, each.content, each.valid_from) for each in members)


def _merge_traits(
    store: OpenStore, members: Sequence[Memory], base: Memory, run: str, rule: ConsolidationRule
) -> Traits:
    """What is said of the memory that is made: the best of each but for the source, and what it came from."""
    tags = dict.fromkeys(tag for each in members for tag in each.tags)
    metadata: dict[str, Any] = {}
    for each in members:
        metadata |= each.metadata
    return Traits(
        kind=base.kind,
        tags=tuple(tags)[: validate.MAX_TAGS],
        importance=max(each.importance for each in members),
        confidence=max(each.confidence for each in members),
        source=find_lowest_trust(each.source for each in members),
        context=base.context,
        session=base.session,
        slot=next((each.slot for each in members if each.slot), None),
        expires=None,
        valid_from=_find_begin(store, members),
        metadata=metadata if rule is not ConsolidationRule.OUTCOMES else {},
        origin={CONSOLIDATION: run, "rule": str(rule), "memories": [each.id for each in members]},
    )


def _find_begin(store: OpenStore, members: Sequence[Memory]) -> datetime:
    """The earliest time of any; of a slot that had another value since then, the time of the one that holds it."""
    earliest = min(each.valid_from for each in members)
    holder = next((each for each in members if each.slot), None)
    if holder is None:
        return earliest
    ids = {each.id for each in members}
    chain = store.tables.memories.chain(holder.namespace, holder.session, holder.slot, clock.now())
    others = [each for each in chain if each.id not in ids and each.status is not Status.FORGOTTEN]
    is_taken = any(each.valid_to is None or each.valid_to > earliest for each in others)
    return holder.valid_from if is_taken else earliest


def _write(
    store: OpenStore, request: Request, made: ConsolidatedGroup, traits: Traits, members: Sequence[Memory]
) -> Piece:
    """Write the memory and end those that it cites, in one transaction."""
    if request.dry_run:
        return Piece(group=made)
    reason = f"one of {len(members)} memories that became one; undo: retentive consolidate --undo {request.run}"
    draft = Draft(
        content=made.text,
        content_hash=content_hash(made.text),
        traits=traits,
        vector=None,
        corrects=tuple(Replacement(each.id, made.rule, reason) for each in members),
    )
    try:
        kept = write.write_memories(store, [draft], CONSOLIDATION, lambda _: _guard_members(store, members))[0]
    except _ChangedError:
        return Piece(note=f"left as they are, because one was changed meanwhile: {', '.join(e.id for e in members)}")
    return Piece(group=replace(made, id=kept.id))


def _guard_members(store: OpenStore, members: Sequence[Memory]) -> Iterator[Step]:
    """Steps that fail unless each memory is as it was; raise if one is not, so that nobody tries again."""
    ids = [each.id for each in members]
    found, is_apart = _read_members(store, ids)
    now = {each.id: each.version for each in found}
    if is_apart or any(now.get(each.id) != each.version for each in members):
        raise _ChangedError
    for each in members:
        yield memories.unchanged_step(each)


def undo(store: OpenStore, run: str, actor: str) -> UndoneConsolidation:
    """Make what a run replaced active again, and forget what it made."""
    run = validate.plain(run, "run")
    made = store.tables.memories.of_run(store.namespace, run, clock.now())
    if not made:
        hint = "`retentive why ID` of a memory that was made shows it as `consolidation`."
        raise NotFound(f"no consolidation {run[:60]!r} in namespace {store.namespace!r}", hint)
    forgotten, restored, left = list[str](), list[str](), list[str]()
    for each in made:
        undone = _undo_memory(store, each.id, actor, run)
        restored += undone.restored
        left += undone.left
        forgotten += [each.id] if undone.is_done else []
    return UndoneConsolidation(run, tuple(forgotten), tuple(restored), tuple(left))


class _Undone(NamedTuple):
    """What undoing did to one memory that was made."""

    is_done: bool
    restored: Sequence[str] = ()
    left: Sequence[str] = ()


def _undo_memory(store: OpenStore, id: str, actor: str, run: str) -> _Undone:
    """Read, decide, apply; again if someone else was first."""
    for _ in range(MAX_ATTEMPTS):
        now = clock.now()
        made = edit.load(store, id)
        if reason := _find_obstacle(store, made):
            return _Undone(is_done=False, left=[f"{id} {reason}; what it replaced stays as it is"])
        originals, left = _find_originals(store, made, now)
        steps = _undo_steps(made, originals, actor, run, now)
        try:
            store.engine.apply(steps)
        except Stale:
            continue
        store.journal.wrote = True
        store.sync_profile(store, [made.slot, *(each.slot for each in originals)])
        return _Undone(True, [each.id for each in originals], left)
    raise Busy(f"others kept changing {id}", "Retry in a moment.")


def _find_obstacle(store: OpenStore, made: Memory) -> str:
    """Why a memory that was made cannot be undone: somebody did something else with it since."""
    if made.status is Status.SUPERSEDED:
        by = store.tables.memories.get(made.namespace, made.superseded_by or "", clock.now())
        later = (by.origin or {}).get(CONSOLIDATION) if by else None
        how = f"; undo that first: retentive consolidate --undo {later}" if later else ""
        return f"was replaced since by {made.superseded_by}{how}"
    if made.status is not Status.ACTIVE:
        return f"is {made.status} since"
    return "was changed since" if made.version != FIRST_VERSION else ""


def _find_originals(store: OpenStore, made: Memory, now: int) -> tuple[list[Memory], list[str]]:
    """The memories that can be active again, and why the others cannot."""
    ids: Sequence[str] = (made.origin or {}).get("memories", ())
    found = store.tables.memories.named(made.namespace, ids, now)
    originals, left = list[Memory](), [f"{id} is gone" for id in ids if id not in found]
    for each in found.values():
        if each.status is Status.ACTIVE:
            continue  # restored by hand
        if each.status is not Status.SUPERSEDED or each.superseded_by != made.id:
            left.append(f"{each.id} is {each.status} since")
        elif other := _find_rival(store, each, made, now):
            left.append(f"{each.id} stays replaced: {other.id} says the same or holds its slot")
        else:
            originals.append(each)
    return originals, left


def _find_rival(store: OpenStore, old: Memory, made: Memory, now: int) -> Memory | None:
    """Another active memory with the same text or slot: there is one for each."""
    same = store.tables.memories.same_text(old.namespace, [old.content_hash], now)
    same += store.tables.memories.same_slot(old.namespace, [old.slot], now) if old.slot else []
    others = [each for each in same if each.session == old.session and each.id not in (old.id, made.id)]
    return others[0] if others else None


def _undo_steps(made: Memory, originals: Sequence[Memory], actor: str, run: str, now: int) -> list[Step]:
    moment = from_micros(now)
    reason = f"consolidation {run} undone"
    steps = [*memories.status_steps(made, replace(made, status=Status.FORGOTTEN, updated=moment), actor, reason)]
    for old, pair in zip(originals, new_ids(now, len(originals)), strict=True):
        active = replace(old, status=Status.ACTIVE, superseded_by=None, valid_to=None, updated=moment)
        steps += memories.status_steps(old, active, actor, reason)
        steps.append(keep_apart_step(pair, made, old, CONSOLIDATION, now))
    return steps
