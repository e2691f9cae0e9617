"""Plan a write: decide what each draft becomes, given the memories that exist. Pure: values in, values out.

- A known text is not written twice.
- A memory with a slot replaces the memory that holds the slot. One that corrects others replaces those.
- A draft about an earlier time than the slot's holder is about the past: it is inserted there, already superseded.
- A pair of texts that somebody rejected is neither replaced nor proposed again, unless the caller names the older one.

Drafts come here after `trust.py` has limited what they may end by their source.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, NamedTuple, Self

from retentive.errors import Conflict, Invalid
from retentive.ids import new_ids
from retentive.model import (
    ConsolidationRule,
    Draft,
    Kind,
    Memory,
    Proposal,
    ReplacedMemory,
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

REPLACES = "replaces"  # rule: the caller named the older memory
RESTATED = "restated"  # rule: the user states what was known only from a less trusted source
CONSOLIDATION = "consolidation"
ACTORS = {"model": "model", **dict.fromkeys(map(str, ConsolidationRule), CONSOLIDATION)}
"""The actor in the history, by rule; for all others it is `rules`."""
TIMELESS_RULES = frozenset({REPLACES, *map(str, ConsolidationRule)})
"""Rules by which a draft replaces also a memory of a later time."""


class WriteResult(NamedTuple):
    """The outcome for one draft."""

    id: str
    created: bool
    superseded: tuple[str, ...] = ()
    pending: bool = False
    """Whether its vector is still to come. A plan leaves it False; `write.py` sets it."""
    replaced: tuple[ReplacedMemory, ...] = ()
    """The superseded memories, with their texts and the reasons."""
    proposals: tuple[Proposal, ...] = ()
    memory: Memory | None = None
    """The written memory, if it is new and was the only draft."""


@dataclass(slots=True)
class Plan:
    """The decisions about a batch of drafts."""

    results: list[WriteResult] = field(default_factory=list)
    """One for each draft, in their order."""
    new_indexes: list[int] = field(default_factory=list)
    """Indexes of the drafts that become new memories."""
    steps: list[Step] = field(default_factory=list)
    """Changes of existing memories."""
    successors: dict[int, Memory] = field(default_factory=dict)
    """Indexes of drafts about the past, each with the memory that superseded it before it was written."""
    proposals: list[NewProposal] = field(default_factory=list)
    proposals_about_known_texts: list[NewProposal] = field(default_factory=list)
    """Some of them may be stored already."""

    def add_new(self, result: WriteResult) -> None:
        """Add the result of a draft that becomes a new memory."""
        self.new_indexes.append(len(self.results))
        self.results.append(result)


@dataclass(slots=True)
class Existing:
    """The memories that drafts repeat, share a slot with, or name.

    They are active, or expired but not marked so yet; `decode_memory` gives those the status EXPIRED.
    """

    same_text: dict[Any, Memory] = field(default_factory=dict)
    """By session and content hash."""
    same_slot: dict[Any, Memory] = field(default_factory=dict)
    """The holders of slots, by session and slot."""
    named: dict[str, Memory] = field(default_factory=dict)
    """By id."""
    slot_histories: dict[Any, list[Memory]] = field(default_factory=dict)
    """By session and slot, if a draft is about the past: all memories that held the slot, oldest first."""
    rejected: set[tuple[str, str]] = field(default_factory=set)
    """Pairs of content hashes (newer, older) that must not replace each other."""


def plan_all_new(drafts: Sequence[Draft], now: int) -> Plan | None:
    """Plan a bulk load without looking at existing memories. None if two drafts have the same text."""
    distinct = {(draft.traits.session, draft.content_hash) for draft in drafts}
    if len(distinct) < len(drafts):
        return None
    return Plan([WriteResult(id, created=True) for id in new_ids(now, len(drafts))], [*range(len(drafts))])


def make_plan(drafts: Sequence[Draft], existing: Existing, now: int, actor: str) -> Plan:
    """Decide about the drafts in order, up to the first one that depends on the outcome of an earlier one."""
    plan, ids = Plan(), new_ids(now, len(drafts))
    same_text, same_slot = existing.same_text, existing.same_slot
    first_places: dict[tuple[str | None, str], int] = {}
    touched: set[str | tuple[str | None, str]] = set()  # ids and slots that an earlier draft may change
    for index, draft in enumerate(drafts):
        session, slot = draft.traits.session, draft.traits.slot
        if draft.traits.kind is Kind.NOTE:
            first, same = index, None  # a note is identified by its id: two may have the same text
        else:
            first = first_places.setdefault((session, draft.content_hash), index)
            same = same_text.get((session, draft.content_hash))
        is_repeated = first != index
        if not is_repeated and same is None and slot is None and not _needs_decision(draft):
            plan.add_new(WriteResult(ids[index], created=True))
            continue
        holder = same_slot.get((session, slot)) if slot else None
        corrected = [existing.named[each.id] for each in draft.corrects if each.id in existing.named]
        olds = [old for old in (same, holder, *corrected) if old]
        touches = _find_touched(draft, olds)
        if is_repeated:
            depends = bool(slot or draft.corrects or _may_change_first(draft, drafts[first]))
        else:
            depends = not touches.isdisjoint(touched)
        if depends:
            break  # this draft and the rest are left to the next transaction, which sees the outcome
        touched |= touches
        if holder and holder.id in {each.id for each in draft.untrusted_successors}:
            plan.steps += _release_slot_steps(holder, now, actor)
            olds = [old for old in olds if old.id != holder.id]
            holder = None
        if is_repeated:
            plan.results.append(WriteResult(plan.results[first].id, created=False))
        elif same is None and (successor := _find_successor_of_past(draft, holder, existing)):
            _insert_into_past(plan, draft, ids[index], successor, existing, now, actor)
        elif not olds:
            plan.add_new(WriteResult(ids[index], created=True))
            _propose(plan, draft, existing, now)
        else:
            _replace_olds(plan, draft, ids[index], same, olds, now, actor)
            _propose(plan, draft, existing, now)
    return plan


def _find_touched(draft: Draft, olds: Sequence[Memory]) -> set[str | tuple[str | None, str]]:
    """The ids and the slot that a draft reads or changes."""
    touched: set[str | tuple[str | None, str]] = {old.id for old in olds}
    touched |= {each.id for each in (*draft.proposes, *draft.untrusted_replacements, *draft.untrusted_successors)}
    if draft.traits.slot:
        touched.add((draft.traits.session, draft.traits.slot))
    return touched


def _needs_decision(draft: Draft) -> bool:
    """Whether a draft may end other memories, be ended by one, or belong elsewhere."""
    return bool(
        draft.corrects
        or draft.proposes
        or draft.untrusted_replacements
        or draft.untrusted_successors
        or draft.ended_by
        or draft.proposed_move
    )


def _may_change_first(draft: Draft, first: Draft) -> bool:
    """Whether the same text once more in a batch may change the memory that the first one became."""
    return first.traits.expires is not None or draft.traits.source is not first.traits.source


def check_replaced(draft: Draft, old: Memory) -> None:
    """Raise if the draft cannot replace this memory, although the caller asks for it."""
    if old.kind in (Kind.NOTE, Kind.FILE):
        raise Invalid(f"{old.id} is a {old.kind}: it keeps its id and is changed under it")
    if old.status is not Status.ACTIVE:
        raise Conflict(f"{old.id} is {old.status}, so nothing can replace it", _hint_instead_of(old))
    if (old.session, old.content_hash) == (draft.traits.session, draft.content_hash):
        raise Invalid(f"{old.id} says the same as its replacement", "Name the memory with the older text.")


def _hint_instead_of(old: Memory) -> str:
    if old.status is Status.SUPERSEDED and old.superseded_by:
        return f"It was replaced by {old.superseded_by}: name that one."
    if old.status is Status.FORGOTTEN:
        return f"Leave it out, or restore it first: `restore({old.id!r})`."
    return "Leave it out."


def without_rejected(draft: Draft, existing: Existing) -> Draft:
    """The draft without the replacements that somebody rejected for the same two texts."""
    if not existing.rejected or not (draft.corrects or draft.proposes or draft.traits.slot):
        return draft
    traits = draft.traits
    holder = existing.same_slot.get((traits.session, traits.slot))
    named_by_caller = {each.id for each in draft.corrects if each.rule == REPLACES}
    found_by_rules = {each.id for each in draft.corrects} - named_by_caller
    if holder and holder.id not in named_by_caller and is_rejected(draft, holder, existing):
        # A slot that the caller gave is obeyed; one that was derived from the text is not taken.
        is_derived = holder.id in found_by_rules or traits.source is not Source.EXPLICIT
        if is_derived:
            traits = replace(traits, slot=None)
    corrects = [each for each in draft.corrects if each.id in named_by_caller or _is_allowed(draft, each, existing)]
    proposes = [each for each in draft.proposes if _is_allowed(draft, each, existing)]
    return draft._replace(traits=traits, corrects=tuple(corrects), proposes=tuple(proposes))


def _is_allowed(draft: Draft, older: Replacement, existing: Existing) -> bool:
    old = existing.named.get(older.id)
    return old is None or not is_rejected(draft, old, existing)


def is_rejected(draft: Draft, old: Memory, existing: Existing) -> bool:
    return (draft.content_hash, old.content_hash) in existing.rejected


def _propose(plan: Plan, draft: Draft, existing: Existing, now: int) -> None:
    """Add the proposals of the last planned draft. For a known text, only those that its source may not carry out."""
    result = plan.results[-1]
    valid_from = draft.traits.valid_from or from_micros(now)
    own = ProposalSide(result.id, draft.content, draft.content_hash, valid_from, draft.traits.source)
    candidates = (*draft.untrusted_replacements, *draft.proposes) if result.created else draft.untrusted_replacements
    by_id = {each.id: each for each in candidates if each.id in existing.named and each.id not in result.superseded}
    made = []
    for each in by_id.values():
        old = existing.named[each.id]
        made.append(make_proposal(old.namespace, own, ProposalSide.of(old), each.rule, each.reason, now))
    if not result.created:
        plan.proposals_about_known_texts += made
        return
    made += [*_propose_move(draft, own, existing, now), *_propose_successors(draft, own, existing, now)]
    plan.proposals += made
    plan.results[-1] = result._replace(proposals=tuple(each.proposal for each in made))


def _propose_move(draft: Draft, own: "ProposalSide", existing: Existing, now: int) -> Iterator[NewProposal]:
    move = draft.proposed_move
    # A rejected move is stored as the text paired with itself.
    if move and (draft.content_hash, draft.content_hash) not in existing.rejected:
        yield make_proposal(move.source, own, own, move.rule, move.reason, now, move.target)


def _propose_successors(draft: Draft, own: "ProposalSide", existing: Existing, now: int) -> Iterator[NewProposal]:
    """Propose that memories of a later time replace the draft."""
    for each in draft.untrusted_successors:
        newer = existing.named[each.id]
        if (newer.content_hash, draft.content_hash) not in existing.rejected:
            yield make_proposal(newer.namespace, ProposalSide.of(newer), own, each.rule, each.reason, now)


class ProposalSide(NamedTuple):
    """One of the two memories of a proposal."""

    id: str
    content: str
    content_hash: str
    valid_from: datetime
    source: Source

    @classmethod
    def of(cls, memory: Memory) -> Self:
        return cls(memory.id, memory.content, memory.content_hash, memory.valid_from, memory.source)


def make_proposal(
    namespace: str,
    newer: ProposalSide,
    older: ProposalSide,
    rule: str,
    reason: str,
    now: int,
    move_to: str | None = None,
) -> NewProposal:
    """Propose that `newer` replaces `older`. With `move_to`, propose to move the one memory that is both."""
    proposal = Proposal(
        id=new_ids(now, 1)[0],
        namespace=namespace,
        newer_id=newer.id,
        newer=newer.content,
        newer_time=newer.valid_from,
        older_id=older.id,
        older=older.content,
        older_time=older.valid_from,
        rule=rule,
        reason=reason,
        created=from_micros(now),
        move_to=move_to,
        is_held=is_held(rule, newer.source, older.source),
    )
    return NewProposal(proposal, newer.content_hash, older.content_hash)


def is_about_the_past(draft: Draft, holder: Memory | None) -> bool:
    """Whether a draft is about an earlier time than the active holder of its slot."""
    return bool(
        holder
        and holder.status is Status.ACTIVE
        and draft.traits.valid_from
        and draft.traits.valid_from < holder.valid_from
    )


def _find_successor_of_past(draft: Draft, holder: Memory | None, existing: Existing) -> Memory | None:
    """The memory that supersedes a draft about the past; never one that the draft surely replaces."""
    replaced = {each.id for each in draft.corrects if each.rule in TIMELESS_RULES}
    if draft.ended_by:
        return existing.named.get(draft.ended_by) if draft.ended_by not in replaced else None
    if holder is None or not is_about_the_past(draft, holder) or holder.id in replaced:
        return None
    return find_successor(draft, holder, existing)


def find_successor(draft: Draft, holder: Memory, existing: Existing) -> Memory | None:
    """The first memory that held the slot after the draft's time, and whose source may end the draft."""
    chain = existing.slot_histories.get((draft.traits.session, draft.traits.slot), [])
    start = draft.traits.valid_from
    later = [memory for memory in chain if start is None or memory.valid_from > start]
    may_end = (memory for memory in (*later, holder) if may_replace(memory.source, draft.traits.source))
    return next(may_end, None)


def _insert_into_past(
    plan: Plan, draft: Draft, id: str, successor: Memory, existing: Existing, now: int, actor: str
) -> None:
    """Add a draft about the past between the memory that held the slot before its time and its successor."""
    plan.successors[len(plan.results)] = successor
    chain = existing.slot_histories.get((draft.traits.session, draft.traits.slot), [])
    start = draft.traits.valid_from or from_micros(now)
    earlier = [memory for memory in chain if memory.valid_from <= start and memory.status is Status.SUPERSEDED]
    if earlier and may_replace(draft.traits.source, earlier[-1].source):
        _supersede(plan, earlier[-1], draft, id, now, actor)
    named = {each.id: existing.named[each.id] for each in draft.corrects if each.rule == REPLACES}
    replaced = tuple([_supersede(plan, old, draft, id, now, actor) for old in named.values()])
    plan.add_new(WriteResult(id, created=True, superseded=tuple(named), replaced=replaced))


def _replace_olds(
    plan: Plan, draft: Draft, id: str, same: Memory | None, olds: Sequence[Memory], now: int, actor: str
) -> None:
    """Add a draft that meets existing memories: the same text, another value of the slot, or ones it corrects."""
    is_known = same and same.status is Status.ACTIVE and same.id not in {each.id for each in draft.corrects}
    known = same if is_known else None
    result_id = known.id if known else id
    others = {old.id: old for old in olds if old.id != result_id}
    replaced: list[ReplacedMemory] = []
    for old in others.values():
        if old.status is not Status.ACTIVE:  # its time ran out, and nobody has marked it yet
            plan.steps += expiry_steps(old, now, actor)
        else:
            replaced.append(_supersede(plan, old, draft, result_id, now, actor))
    superseded = tuple(each.id for each in replaced)
    result = WriteResult(result_id, known is None, superseded, replaced=tuple(replaced))
    if known is None:
        plan.add_new(result)
    else:
        plan.results.append(result)
        plan.steps += _restate_steps(known, draft.traits, now, actor)


def _supersede(plan: Plan, old: Memory, draft: Draft, by: str, now: int, actor: str) -> ReplacedMemory:
    """End a memory in favour of a draft, by the draft's own reason or by their common slot. `by` is the new id."""
    slot = Replacement(old.id, SLOT, f"same slot {draft.traits.slot}")
    reason = next((each for each in draft.corrects if each.id == old.id), slot)
    plan.steps += _supersede_steps(old, by, draft.traits, now, actor, reason)
    return ReplacedMemory(old.id, old.content, reason.rule, reason.reason)


def _restate_steps(known: Memory, traits: Traits, now: int, actor: str) -> Iterator[Step]:
    """Steps for a text that is stated again: it may take a slot, and expire later."""
    if not may_replace(traits.source, known.source):
        yield memories.restated_step(known, now)
        return
    lasts_longer = known.expires is not None and (traits.expires is None or traits.expires > known.expires)
    changed = replace(
        known,
        slot=traits.slot or known.slot,
        expires=traits.expires if lasts_longer else known.expires,
        updated=from_micros(now),
    )
    if (changed.slot, changed.expires) == (known.slot, known.expires):
        yield memories.restated_step(known, now)
    else:
        yield from memories.update_steps(known, changed, actor, "said again")
        yield chunks.refresh_step(changed)


def _release_slot_steps(holder: Memory, now: int, actor: str) -> Iterator[Step]:
    """Steps that take the slot from a memory that stays active: a more trusted one gets it."""
    changed = replace(holder, slot=None, updated=from_micros(now), version=holder.version + 1)
    yield from memories.update_steps(holder, changed, actor, f"the slot {holder.slot} is taken by a better source")
    yield chunks.refresh_step(changed)


def _supersede_steps(old: Memory, by: str, traits: Traits, now: int, actor: str, reason: Replacement) -> Iterator[Step]:
    """Steps that end a memory in favour of the one with the id `by`."""
    moment = from_micros(now)
    end = max(old.valid_from, traits.valid_from or moment)
    ended = replace(old, status=Status.SUPERSEDED, superseded_by=by, valid_to=end, updated=moment)
    if reason.rule == SLOT:
        return memories.status_steps(old, ended, actor, reason.reason)
    by_whom = actor if reason.rule in (REPLACES, RESTATED) else ACTORS.get(reason.rule, "rules")
    return memories.status_steps(old, ended, by_whom, f"{reason.rule}: {reason.reason}")


def expiry_steps(memory: Memory, now: int, actor: str) -> Iterator[Step]:
    """Steps that mark a memory as expired."""
    ended = replace(memory, status=Status.EXPIRED, valid_to=memory.expires, updated=from_micros(now))
    return memories.status_steps(memory, ended, actor, "its time ran out")
