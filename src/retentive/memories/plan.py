"""What is to become of memories that are about to be kept: pure decisions on what is there.

A text that is known is not kept twice. A memory with a slot takes the place of the one that holds it, and one whose
words put an end to others takes theirs; unless it tells of an earlier time than they do: then it comes late, and is
kept as what held before. A pair of texts that somebody rejected is neither replaced nor proposed again, unless the
caller names the older memory. Drafts come here after they were weighed (`weigh.py`): what they name, they may end.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, NamedTuple

from retentive.errors import Conflict, Invalid
from retentive.ids import new_ids
from retentive.model import (
    ConsolidationRule,
    Draft,
    Ended,
    Kind,
    Memory,
    Proposal,
    Replacement,
    Source,
    Status,
    Traits,
    from_micros,
    is_held,
    may_replace,
)
from retentive.model.proposals import SLOT
from retentive.storage import Step
from retentive.storage.tables import chunks, memories
from retentive.storage.tables.proposals import NewProposal

REPLACES = "replaces"  # the rule of memories that the caller named
RESTATED = "restated"  # the rule by which the user's own words take the place of the same text from elsewhere
CONSOLIDATION = "consolidation"
ACTORS = {"model": "model"} | dict.fromkeys(map(str, ConsolidationRule), CONSOLIDATION)  # words are read by rules
SURELY_NAMED = frozenset({REPLACES, *map(str, ConsolidationRule)})  # rules that name a memory, whatever its time


class WriteResult(NamedTuple):
    """What became of a draft."""

    id: str
    created: bool
    superseded: tuple[str, ...] = ()
    pending: bool = False
    ended: tuple[Ended, ...] = ()
    """The same as `superseded`, with texts and reasons."""
    proposals: tuple[Proposal, ...] = ()
    memory: Memory | None = None
    """As it was written, if it is new and came alone."""


@dataclass(slots=True)
class Plan:
    """What is to become of a batch."""

    kept: list[WriteResult] = field(default_factory=list)
    fresh: list[int] = field(default_factory=list)
    """The places in the batch of what is new."""
    steps: list[Step] = field(default_factory=list)
    """What happens to memories that are there already."""
    ended: dict[int, Memory] = field(default_factory=dict)
    """The places of what came late, each with the memory that has taken its place already."""
    proposals: list[NewProposal] = field(default_factory=list)
    proposals_of_known: list[NewProposal] = field(default_factory=list)
    """About memories that are there already: some may have been made before."""


@dataclass(slots=True)
class Existing:
    """What is active now, by session and hash, and by session and slot; and what drafts name."""

    same_text: dict[Any, Memory] = field(default_factory=dict)
    same_slot: dict[Any, Memory] = field(default_factory=dict)
    named: dict[str, Memory] = field(default_factory=dict)
    chains: dict[Any, list[Memory]] = field(default_factory=dict)
    """Of slots to which something comes late: all that held them, the oldest first."""
    rejected: set[tuple[str, str]] = field(default_factory=set)
    """The hashes of pairs of texts, newer and older, that must stay apart."""


def plan_all_new(drafts: Sequence[Draft], now: int) -> Plan | None:
    """Of drafts that depend on nothing, if no two say the same: the quick way of a load."""
    distinct = {(draft.traits.session, draft.content_hash) for draft in drafts}
    if len(distinct) < len(drafts):
        return None
    return Plan([WriteResult(id, created=True) for id in new_ids(now, len(drafts))], [*range(len(drafts))])


def make_plan(drafts: Sequence[Draft], present: Existing, now: int, actor: str) -> Plan:
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
        if twin == at and same is None and slot is None and not _names_others(draft):
            plan.kept.append(WriteResult(ids[at], created=True))
            plan.fresh.append(at)
            continue
        holder = same_slot.get((session, slot)) if slot else None
        corrected = [present.named[each.id] for each in draft.corrects if each.id in present.named]
        olds = [old for old in (same, holder, *corrected) if old]
        touches = {old.id for old in olds} | ({(session, slot)} if slot else set())
        touches |= {each.id for each in (*draft.proposes, *draft.held, *draft.outlived)}
        depends = touches & touched if twin == at else slot or draft.corrects or _differs(draft, drafts[twin])
        if depends:
            break
        touched |= touches
        if holder and holder.id in {each.id for each in draft.outlived}:
            plan.steps += _give_up_slot(holder, now, actor)
            olds = [old for old in olds if old.id != holder.id]
            holder = None
        if twin != at:
            plan.kept.append(WriteResult(plan.kept[twin].id, created=False))
        elif same is None and (later := _later(draft, holder, present)):
            _come_late(plan, at, draft, ids[at], later, present, now, actor)
        elif not olds:
            plan.kept.append(WriteResult(ids[at], created=True))
            plan.fresh.append(at)
            _propose(plan, at, draft, present, now)
        else:
            _correct(plan, at, draft, ids[at], same, olds, now, actor)
            _propose(plan, at, draft, present, now)
    return plan


def _names_others(draft: Draft) -> bool:
    return bool(draft.corrects or draft.proposes or draft.held or draft.outlived or draft.ended_by or draft.move)


def _differs(draft: Draft, twin: Draft) -> bool:
    """Whether the same text once more in a batch may change what the first became."""
    return twin.traits.expires is not None or draft.traits.source is not twin.traits.source


def check_replaced(draft: Draft, old: Memory) -> None:
    """Raise if the caller may not have this memory replaced by the draft."""
    if old.kind in (Kind.NOTE, Kind.FILE):
        raise Invalid(f"{old.id} is a {old.kind}: it has an id of its own and is changed under it")
    if old.status is not Status.ACTIVE:
        raise Conflict(f"{old.id} is {old.status}, so nothing can replace it", _replaceable_instead(old))
    if (old.session, old.content_hash) == (draft.traits.session, draft.content_hash):
        raise Invalid(f"{old.id} says the same as what is to replace it", "Name the memory with the older text.")


def _replaceable_instead(old: Memory) -> str:
    if old.status is Status.SUPERSEDED and old.superseded_by:
        return f"It was replaced by {old.superseded_by}: name that one."
    if old.status is Status.FORGOTTEN:
        return f"Leave it out, or bring it back first: retentive restore {old.id}"
    return "Leave it out."


def without_rejected(draft: Draft, present: Existing) -> Draft:
    """The draft without the replacements that somebody rejected for the same two texts."""
    if not present.rejected or not (draft.corrects or draft.proposes or draft.traits.slot):
        return draft
    traits, holder = draft.traits, present.same_slot.get((draft.traits.session, draft.traits.slot))
    by_caller = {each.id for each in draft.corrects if each.rule == REPLACES}
    by_words = {each.id for each in draft.corrects} - by_caller
    if holder and holder.id not in by_caller and is_rejected(draft, holder, present):
        # A slot that the caller gave is obeyed; one that was read out of the words is not taken.
        was_read = holder.id in by_words or traits.source is not Source.EXPLICIT
        traits = replace(traits, slot=None) if was_read else traits
    return draft._replace(
        traits=traits,
        corrects=tuple(each for each in draft.corrects if each.id in by_caller or _may_end(draft, each, present)),
        proposes=tuple(each for each in draft.proposes if _may_end(draft, each, present)),
    )


def _may_end(draft: Draft, older: Replacement, present: Existing) -> bool:
    old = present.named.get(older.id)
    return old is None or not is_rejected(draft, old, present)


def is_rejected(draft: Draft, old: Memory, present: Existing) -> bool:
    return (draft.content_hash, old.content_hash) in present.rejected


def _propose(plan: Plan, at: int, draft: Draft, present: Existing, now: int) -> None:
    """Add the proposals of a memory: all if it is new, else those that its source keeps from being done."""
    kept = plan.kept[-1]
    begun = draft.traits.valid_from or from_micros(now)
    own = Side(kept.id, draft.content, draft.content_hash, begun, draft.traits.source)
    named = (*draft.held, *draft.proposes) if kept.created else draft.held
    olds = {each.id: each for each in named if each.id in present.named and each.id not in kept.superseded}
    made = []
    for each in olds.values():
        old = present.named[each.id]
        made.append(make_proposal(old.namespace, own, Side.of(old), each.rule, each.reason, now))
    if not kept.created:
        plan.proposals_of_known += made
        return
    move = draft.move
    if move and (draft.content_hash, draft.content_hash) not in present.rejected:
        made.append(make_proposal(move.source, own, own, move.rule, move.reason, now, move.target))
    for each in draft.outlived:
        newer = present.named[each.id]
        if (newer.content_hash, draft.content_hash) not in present.rejected:
            made.append(make_proposal(newer.namespace, Side.of(newer), own, each.rule, each.reason, now))
    plan.proposals += made
    plan.kept[at] = kept._replace(proposals=tuple(each.proposal for each in made))


class Side(NamedTuple):
    """One of the two memories of a proposal."""

    id: str
    content: str
    content_hash: str
    begun: datetime
    source: Source

    @classmethod
    def of(cls, memory: Memory) -> "Side":
        return cls(memory.id, memory.content, memory.content_hash, memory.valid_from, memory.source)


def make_proposal(
    namespace: str, newer: Side, older: Side, rule: str, reason: str, now: int, move_to: str | None = None
) -> NewProposal:
    """A proposal that one memory replaces another; or that one is moved, which is then both of the two."""
    proposal = Proposal(
        id=new_ids(now, 1)[0],
        namespace=namespace,
        newer_id=newer.id,
        newer=newer.content,
        newer_time=newer.begun,
        older_id=older.id,
        older=older.content,
        older_time=older.begun,
        rule=rule,
        reason=reason,
        created=from_micros(now),
        move_to=move_to,
        is_held=is_held(rule, newer.source, older.source),
    )
    return NewProposal(proposal, newer.content_hash, older.content_hash)


def is_late(draft: Draft, holder: Memory | None) -> bool:
    """Does it tell of a time before that of what holds its slot?"""
    return bool(
        holder
        and holder.status is Status.ACTIVE
        and draft.traits.valid_from
        and draft.traits.valid_from < holder.valid_from
    )


def _later(draft: Draft, holder: Memory | None, present: Existing) -> Memory | None:
    """What had taken a late draft's place before it came; nothing that the caller has it replace."""
    named = {each.id for each in draft.corrects if each.rule in SURELY_NAMED}
    if draft.ended_by:
        return present.named.get(draft.ended_by) if draft.ended_by not in named else None
    if holder is None or not is_late(draft, holder) or holder.id in named:
        return None
    return find_successor(draft, holder, present)


def find_successor(draft: Draft, holder: Memory, present: Existing) -> Memory | None:
    """What has held a late draft's slot since its time, as far as its source may end the draft."""
    chain = present.chains.get((draft.traits.session, draft.traits.slot), [])
    begun = draft.traits.valid_from
    later = [memory for memory in chain if begun is None or memory.valid_from > begun]
    may_end = (memory for memory in (*later, holder) if may_replace(memory.source, draft.traits.source))
    return next(may_end, None)


def _come_late(
    plan: Plan, at: int, draft: Draft, id: str, later: Memory, present: Existing, now: int, actor: str
) -> None:
    """Between what held the slot before its time and what has held it since."""
    plan.fresh.append(at)
    plan.ended[at] = later
    chain = present.chains.get((draft.traits.session, draft.traits.slot), [])
    from_when = draft.traits.valid_from or from_micros(now)
    earlier = [memory for memory in chain if memory.valid_from <= from_when and memory.status is Status.SUPERSEDED]
    for old in (each for each in earlier[-1:] if may_replace(draft.traits.source, each.source)):
        plan.steps += _superseding(old, id, draft.traits, now, actor, _why(draft, old))
    named = {each.id: present.named[each.id] for each in draft.corrects if each.rule == REPLACES}
    for old in named.values():
        plan.steps += _superseding(old, id, draft.traits, now, actor, _why(draft, old))
    ended = tuple(_ended(old, _why(draft, old)) for old in named.values())
    plan.kept.append(WriteResult(id, created=True, superseded=tuple(named), ended=ended))


def _correct(
    plan: Plan, at: int, draft: Draft, id: str, same: Memory | None, olds: Sequence[Memory], now: int, actor: str
) -> None:
    """Something is there already: the same text, another value of the slot, or what its words put an end to."""
    is_known = same and same.status is Status.ACTIVE and same.id not in {each.id for each in draft.corrects}
    known = same if is_known else None
    ended: list[Ended] = []
    for old in {old.id: old for old in olds if old is not known}.values():
        if old.status is not Status.ACTIVE:
            plan.steps += expiry(old, now, actor)
        elif known is None or old.id != known.id:
            why = _why(draft, old)
            ended.append(_ended(old, why))
            plan.steps += _superseding(old, known.id if known else id, draft.traits, now, actor, why)
    superseded = tuple(each.id for each in ended)
    plan.kept.append(WriteResult(known.id if known else id, known is None, superseded, ended=tuple(ended)))
    if known is None:
        plan.fresh.append(at)
    else:
        plan.steps += _said_again(known, draft.traits, now, actor)


def _why(draft: Draft, old: Memory) -> Replacement:
    """Why an older memory gives way: what the draft says of it, or else their common slot."""
    slot = Replacement(old.id, SLOT, f"same slot {draft.traits.slot}")
    return next((each for each in draft.corrects if each.id == old.id), slot)


def _ended(old: Memory, why: Replacement) -> Ended:
    return Ended(old.id, old.content, why.rule, why.reason)


def _said_again(known: Memory, traits: Traits, now: int, actor: str) -> Iterator[Step]:
    """A known text may take a slot, and may now hold for longer."""
    if not may_replace(traits.source, known.source):
        yield memories.touch_step(known, now)
        return
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


def _give_up_slot(holder: Memory, now: int, actor: str) -> Iterator[Step]:
    """Have a memory stay without its slot: what is trusted more takes that."""
    changed = replace(holder, slot=None, updated=from_micros(now), version=holder.version + 1)
    yield from memories.update_steps(holder, changed, actor, f"the slot {holder.slot} is taken by a better source")
    yield chunks.refresh_step(changed)


def _superseding(old: Memory, by: str, traits: Traits, now: int, actor: str, why: Replacement) -> Iterator[Step]:
    moment = from_micros(now)
    end = max(old.valid_from, traits.valid_from or moment)
    ended = replace(old, status=Status.SUPERSEDED, superseded_by=by, valid_to=end, updated=moment)
    if why.rule == SLOT:
        return memories.status_steps(old, ended, actor, why.reason)
    by_whom = actor if why.rule in (REPLACES, RESTATED) else ACTORS.get(why.rule, "rules")
    return memories.status_steps(old, ended, by_whom, f"{why.rule}: {why.reason}")


def expiry(memory: Memory, now: int, actor: str) -> Iterator[Step]:
    ended = replace(memory, status=Status.EXPIRED, valid_to=memory.expires, updated=from_micros(now))
    return memories.status_steps(memory, ended, actor, "its time ran out")
