"""What a new memory may end, by its source: the one place where all that is kept is weighed.

A memory ends another only if its source is trusted as much (`model/trust.py`). Otherwise both stay, with a proposal.
That holds for a slot, for words, for what an agent names, and in both directions of time: what the user tells of an
earlier time is not ended by what was imported of a later one. What a person names is ended, whatever the sources.

A text that is known is kept once. If the user says what only an import said so far, theirs is a statement of its own,
which takes the place of the other: no source is ever raised. An agent that repeats a text may have read it here, so it
does that only if the agent names what the statement replaces.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from retentive.memories.plan import REPLACES, RESTATED, Existing, find_successor, is_late, is_rejected
from retentive.model import (
    AGENT,
    Draft,
    Kind,
    Memory,
    Replacement,
    Source,
    Status,
    describe_refusal,
    find_lowest_trust,
    find_trust,
    may_replace,
)
from retentive.model.proposals import LATER, SLOT


class _Weighed(NamedTuple):
    """What a draft may end, and what is only proposed."""

    ended: tuple[Replacement, ...]
    held: tuple[Replacement, ...]


def weigh(draft: Draft, present: Existing, actor: str) -> Draft:
    """The draft as its source allows."""
    twin = _find_twin(draft, present)
    source = draft.traits.source
    if twin and _is_own_statement(draft, twin, present, actor):
        draft = _replace_twin(draft, twin, present)
        twin = None
    if twin:
        source = find_lowest_trust([source, twin.source])  # what ends another is then the memory that is here
    draft = _hold_named(draft, present, source, actor)
    draft = _hold_slot(draft, present, source, is_known=twin is not None)
    return draft if twin else _hold_successors(draft, present)


def _find_twin(draft: Draft, present: Existing) -> Memory | None:
    """The active memory that says the same; notes are known by their ids."""
    if draft.traits.kind is Kind.NOTE:
        return None
    found = present.same_text.get((draft.traits.session, draft.content_hash))
    return found if found and found.status is Status.ACTIVE else None


def _is_own_statement(draft: Draft, twin: Memory, present: Existing, actor: str) -> bool:
    """Whether a text that is known from elsewhere is now said by somebody who is trusted more, and not of the past."""
    if find_trust(draft.traits.source) <= find_trust(twin.source) or draft.ended_by:
        return False
    if is_late(draft, _find_holder(draft, present)):
        return False
    return actor != AGENT or any(each.rule == REPLACES for each in draft.corrects)


def _find_holder(draft: Draft, present: Existing) -> Memory | None:
    """The memory that holds the slot of the draft."""
    return present.same_slot.get((draft.traits.session, draft.traits.slot)) if draft.traits.slot else None


def _replace_twin(draft: Draft, twin: Memory, present: Existing) -> Draft:
    if twin.id in {each.id for each in draft.corrects}:
        return draft
    present.named[twin.id] = twin
    return draft._replace(corrects=(*draft.corrects, Replacement(twin.id, RESTATED, "the same, from a better source")))


def _hold_named(draft: Draft, present: Existing, source: Source, actor: str) -> Draft:
    """Propose what the words or an agent name, if the source may not end it."""
    weighed = _split(draft.corrects, present, source, actor)
    if not weighed.held:
        return draft
    ids = {each.id for each in weighed.held}
    others = tuple(each for each in draft.proposes if each.id not in ids)
    return draft._replace(corrects=weighed.ended, proposes=others, held=weighed.held)


def _split(corrects: Sequence[Replacement], present: Existing, source: Source, actor: str) -> _Weighed:
    ended, held = list[Replacement](), list[Replacement]()
    for each in corrects:
        old = present.named.get(each.id)
        is_named_by_person = each.rule == REPLACES and actor != AGENT
        if old is None or is_named_by_person or may_replace(source, old.source):
            ended.append(each)
        else:
            held.append(_refuse(each, source, old.source))
    return _Weighed(tuple(ended), tuple(held))


def _hold_slot(draft: Draft, present: Existing, source: Source, *, is_known: bool) -> Draft:
    """Keep it without its slot, if what holds that is trusted more. What is new and comes late ends nothing anyway."""
    slot, holder = draft.traits.slot, _find_holder(draft, present)
    if holder is None or holder.status is not Status.ACTIVE or holder.content_hash == draft.content_hash:
        return draft
    is_ended = holder.id in {each.id for each in draft.corrects}
    comes_late = is_late(draft, holder) and not is_known
    if is_ended or comes_late or may_replace(source, holder.source):
        return draft
    held = draft.held
    if holder.id not in {each.id for each in held} and not is_rejected(draft, holder, present):
        present.named[holder.id] = holder
        held = (*held, _refuse(Replacement(holder.id, SLOT, f"same slot {slot}"), source, holder.source))
    others = tuple(each for each in draft.proposes if each.id != holder.id)
    return draft._replace(traits=replace(draft.traits, slot=None), proposes=others, held=held)


def _hold_successors(draft: Draft, present: Existing) -> Draft:
    """Keep it current beside what tells of a later time, if that is trusted less."""
    source = draft.traits.source
    found: list[Replacement] = []
    later = present.named.get(draft.ended_by or "")
    if later and not may_replace(later.source, source):
        draft = draft._replace(ended_by=None)
        found.append(_refuse(Replacement(later.id, LATER, "it tells of a later time"), later.source, source))
    holder = _find_holder(draft, present)
    if holder and is_late(draft, holder) and find_successor(draft, holder, present) is None:
        present.named[holder.id] = holder
        reason = Replacement(holder.id, SLOT, f"same slot {draft.traits.slot}, of a later time")
        found.append(_refuse(reason, holder.source, source))
    return draft._replace(outlived=tuple(found)) if found else draft


def _refuse(each: Replacement, new: Source, old: Source) -> Replacement:
    return each._replace(reason=f"{each.reason}; {describe_refusal(new, old)}")
