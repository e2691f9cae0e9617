"""What is to become of memories that are about to be kept: pure decisions on what is there.

A text that is known is not kept twice. A memory with a slot takes the place of the one that holds it, and one whose
words put an end to others takes theirs; unless it tells of an earlier time than they do: then it comes late, and is
kept as what held before.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from retentive.ids import new_ids
from retentive.model import Draft, Kind, Memory, Status, Traits, from_micros
from retentive.storage import Step, chunks, memories


class Kept(NamedTuple):
    """What became of a draft."""

    id: str
    created: bool
    superseded: tuple[str, ...] = ()
    pending: bool = False


@dataclass(slots=True)
class Plan:
    """What is to become of a batch."""

    kept: list[Kept] = field(default_factory=list)
    fresh: list[int] = field(default_factory=list)
    """The places in the batch of what is new."""
    steps: list[Step] = field(default_factory=list)
    """What happens to memories that are there already."""
    ended: dict[int, Memory] = field(default_factory=dict)
    """The places of what came late, each with the memory that has taken its place already."""


@dataclass(slots=True)
class Present:
    """What is active now, by session and hash, and by session and slot; and what drafts name."""

    same_text: dict[Any, Memory] = field(default_factory=dict)
    same_slot: dict[Any, Memory] = field(default_factory=dict)
    named: dict[str, Memory] = field(default_factory=dict)
    chains: dict[Any, list[Memory]] = field(default_factory=dict)
    """Of slots to which something comes late: all that held them, the oldest first."""


def all_new(drafts: Sequence[Draft], now: int) -> Plan | None:
    """Of drafts that depend on nothing, if no two say the same: the quick way of a load."""
    distinct = {(draft.traits.session, draft.content_hash) for draft in drafts}
    if len(distinct) < len(drafts):
        return None
    return Plan([Kept(id, created=True) for id in new_ids(now, len(drafts))], [*range(len(drafts))])


def planned(drafts: Sequence[Draft], present: Present, now: int, actor: str) -> Plan:
    """Up to the first draft that depends on what becomes of an earlier one."""
    plan, ids = Plan(), new_ids(now, len(drafts))
    same_text, same_slot = present.same_text, present.same_slot
    seen: dict[tuple[str | None, str], int] = {}
    touched: set[str | tuple[str | None, str]] = set()
    for at, draft in enumerate(drafts):
        session, slot = draft.traits.session, draft.traits.slot
        if draft.traits.kind is Kind.NOTE:
            twin, same = at, None  # a note is known by its id: two may say the same
        else:
            twin = seen.setdefault((session, draft.content_hash), at)
            same = same_text.get((session, draft.content_hash))
        if twin == at and same is None and slot is None and not draft.corrects and not draft.ended_by:
            plan.kept.append(Kept(ids[at], created=True))
            plan.fresh.append(at)
            continue
        holder = same_slot.get((session, slot)) if slot else None
        corrected = [present.named[each.id] for each in draft.corrects if each.id in present.named]
        olds = [old for old in (same, holder, *corrected) if old]
        touches = {old.id for old in olds} | ({(session, slot)} if slot else set())
        depends = touches & touched if twin == at else slot or drafts[twin].traits.expires
        if depends:
            break
        touched |= touches
        if twin != at:
            plan.kept.append(Kept(plan.kept[twin].id, created=False))
        elif same is None and (later := _later(draft, holder, present, now)):
            _come_late(plan, at, draft, ids[at], later, present, now, actor)
        elif not olds:
            plan.kept.append(Kept(ids[at], created=True))
            plan.fresh.append(at)
        else:
            _correct(plan, at, draft, ids[at], same, olds, now, actor)
    return plan


def is_late(draft: Draft, holder: Memory | None) -> bool:
    """Does it tell of a time before that of what holds its slot?"""
    return bool(
        holder
        and holder.status is Status.ACTIVE
        and draft.traits.valid_from
        and draft.traits.valid_from < holder.valid_from
    )


def _later(draft: Draft, holder: Memory | None, present: Present, now: int) -> Memory | None:
    """What had taken a late draft's place before it came."""
    if draft.ended_by:
        return present.named.get(draft.ended_by)
    if not is_late(draft, holder):
        return None
    chain = present.chains.get((draft.traits.session, draft.traits.slot), [])
    from_when = draft.traits.valid_from or from_micros(now)
    return next((memory for memory in chain if memory.valid_from > from_when), holder)


def _come_late(
    plan: Plan, at: int, draft: Draft, id: str, later: Memory, present: Present, now: int, actor: str
) -> None:
    """Between what held the slot before its time and what has held it since."""
    plan.kept.append(Kept(id, created=True))
    plan.fresh.append(at)
    plan.ended[at] = later
    chain = present.chains.get((draft.traits.session, draft.traits.slot), [])
    from_when = draft.traits.valid_from or from_micros(now)
    for old in [memory for memory in chain if memory.valid_from <= from_when and memory.status is Status.SUPERSEDED][
        -1:
    ]:
        plan.steps += _superseding(old, id, draft.traits, now, actor)


def _correct(
    plan: Plan, at: int, draft: Draft, id: str, same: Memory | None, olds: Sequence[Memory], now: int, actor: str
) -> None:
    """Something is there already: the same text, another value of the slot, or what its words put an end to."""
    known = same if same and same.status is Status.ACTIVE else None
    superseded: list[str] = []
    for old in {old.id: old for old in olds if old is not known}.values():
        if old.status is not Status.ACTIVE:
            plan.steps += expiry(old, now, actor)
        elif known is None or old.id != known.id:
            superseded.append(old.id)
            plan.steps += _superseding(old, known.id if known else id, draft.traits, now, actor)
    plan.kept.append(Kept(known.id if known else id, known is None, tuple(superseded)))
    if known is None:
        plan.fresh.append(at)
    else:
        plan.steps += _said_again(known, draft.traits, now, actor)


def _said_again(known: Memory, traits: Traits, now: int, actor: str) -> Iterator[Step]:
    """A known text may take a slot, and may now hold for longer."""
    longer = known.expires is not None and (traits.expires is None or traits.expires > known.expires)
    changed = replace(
        known,
        slot=traits.slot or known.slot,
        expires=traits.expires if longer else known.expires,
        updated=from_micros(now),
    )
    if (changed.slot, changed.expires) == (known.slot, known.expires):
        yield memories.touch_step(known, now)
    else:
        yield from memories.update_steps(known, changed, actor, "said again")
        yield chunks.refresh_step(changed)


def _superseding(old: Memory, by: str, traits: Traits, now: int, actor: str) -> Iterator[Step]:
    moment = from_micros(now)
    end = max(old.valid_from, traits.valid_from or moment)
    ended = replace(old, status=Status.SUPERSEDED, superseded_by=by, valid_to=end, updated=moment)
    return memories.status_steps(old, ended, actor, None)


def expiry(memory: Memory, now: int, actor: str) -> Iterator[Step]:
    ended = replace(memory, status=Status.EXPIRED, valid_to=memory.expires, updated=from_micros(now))
    return memories.status_steps(memory, ended, actor, "its time ran out")
