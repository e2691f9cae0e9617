"""Limit what a new memory may end, by the trust in its source. Every write passes here.

A memory ends another only if its source is trusted at least as much (`model/trust.py`). Otherwise both stay, with a
proposal. This holds for slots, for corrections and for memories that an agent names. It holds in both directions of
time: a later import does not end what the user said about an earlier time. A memory that a person names is ended,
whatever the sources.

A known text is stored once. If the user states what was known only from an import, the statement becomes a memory of
its own and replaces the imported one: the source of a memory never changes. An agent that repeats a text may have read
it here, so its statement does that only if it names what it replaces.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from retentive.memories.plan import REPLACES, RESTATED, Existing, find_successor, is_about_the_past, is_rejected
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


class _Split(NamedTuple):
    """The replacements that a source may carry out, and those that it may only propose."""

    allowed: tuple[Replacement, ...]
    untrusted: tuple[Replacement, ...]


def limit_by_trust(draft: Draft, existing: Existing, actor: str) -> Draft:
    """The draft with only those replacements that its source allows. The others become proposals."""
    twin = _find_twin(draft, existing)
    source = draft.traits.source
    if twin and _is_own_statement(draft, twin, existing, actor):
        draft = _replace_twin(draft, twin, existing)
        twin = None
    if twin:
        source = find_lowest_trust([source, twin.source])  # the existing twin is the memory that would end others
    draft = _limit_named(draft, existing, source, actor)
    draft = _limit_slot(draft, existing, source, is_known=twin is not None)
    return draft if twin else _limit_successors(draft, existing)


def _find_twin(draft: Draft, existing: Existing) -> Memory | None:
    """The active memory with the same text. Notes have none: they are identified by their ids."""
    if draft.traits.kind is Kind.NOTE:
        return None
    found = existing.same_text.get((draft.traits.session, draft.content_hash))
    return found if found and found.status is Status.ACTIVE else None


def _is_own_statement(draft: Draft, twin: Memory, existing: Existing, actor: str) -> bool:
    """Whether a known text now comes from a more trusted source, and is not about the past."""
    if find_trust(draft.traits.source) <= find_trust(twin.source) or draft.ended_by:
        return False
    if is_about_the_past(draft, _find_holder(draft, existing)):
        return False
    return actor != AGENT or any(each.rule == REPLACES for each in draft.corrects)


def _find_holder(draft: Draft, existing: Existing) -> Memory | None:
    """The memory that holds the slot of a draft."""
    return existing.same_slot.get((draft.traits.session, draft.traits.slot)) if draft.traits.slot else None


def _replace_twin(draft: Draft, twin: Memory, existing: Existing) -> Draft:
    """Have a draft replace the less trusted memory with the same text."""
    if twin.id in {each.id for each in draft.corrects}:
        return draft
    existing.named[twin.id] = twin
    return draft._replace(corrects=(*draft.corrects, Replacement(twin.id, RESTATED, "the same, from a better source")))


def _limit_named(draft: Draft, existing: Existing, source: Source, actor: str) -> Draft:
    """Turn corrections that the source may not carry out into proposals."""
    split = _split_by_trust(draft.corrects, existing, source, actor)
    if not split.untrusted:
        return draft
    ids = {each.id for each in split.untrusted}
    others = tuple(each for each in draft.proposes if each.id not in ids)
    return draft._replace(corrects=split.allowed, proposes=others, untrusted_replacements=split.untrusted)


def _split_by_trust(corrects: Sequence[Replacement], existing: Existing, source: Source, actor: str) -> _Split:
    allowed, untrusted = list[Replacement](), list[Replacement]()
    for each in corrects:
        old = existing.named.get(each.id)
        is_named_by_person = each.rule == REPLACES and actor != AGENT
        if old is None or is_named_by_person or may_replace(source, old.source):
            allowed.append(each)
        else:
            untrusted.append(_add_refusal(each, source, old.source))
    return _Split(tuple(allowed), tuple(untrusted))


def _limit_slot(draft: Draft, existing: Existing, source: Source, *, is_known: bool) -> Draft:
    """Take the slot from a draft if its holder is trusted more. A new one about the past ends nothing and keeps it."""
    slot, holder = draft.traits.slot, _find_holder(draft, existing)
    if holder is None or holder.status is not Status.ACTIVE or holder.content_hash == draft.content_hash:
        return draft
    is_ended = holder.id in {each.id for each in draft.corrects}
    ends_nothing = is_about_the_past(draft, holder) and not is_known
    if is_ended or ends_nothing or may_replace(source, holder.source):
        return draft
    untrusted = draft.untrusted_replacements
    if holder.id not in {each.id for each in untrusted} and not is_rejected(draft, holder, existing):
        existing.named[holder.id] = holder
        refused = _add_refusal(Replacement(holder.id, SLOT, f"same slot {slot}"), source, holder.source)
        untrusted = (*untrusted, refused)
    others = tuple(each for each in draft.proposes if each.id != holder.id)
    return draft._replace(traits=replace(draft.traits, slot=None), proposes=others, untrusted_replacements=untrusted)


def _limit_successors(draft: Draft, existing: Existing) -> Draft:
    """Keep a draft active beside a memory of a later time that is trusted less."""
    source = draft.traits.source
    found: list[Replacement] = []
    successor = existing.named.get(draft.ended_by or "")
    if successor and not may_replace(successor.source, source):
        draft = draft._replace(ended_by=None)
        found.append(
            _add_refusal(Replacement(successor.id, LATER, "it refers to a later time"), successor.source, source)
        )
    holder = _find_holder(draft, existing)
    if holder and is_about_the_past(draft, holder) and find_successor(draft, holder, existing) is None:
        existing.named[holder.id] = holder
        reason = Replacement(holder.id, SLOT, f"same slot {draft.traits.slot}, of a later time")
        found.append(_add_refusal(reason, holder.source, source))
    return draft._replace(untrusted_successors=tuple(found)) if found else draft


def _add_refusal(each: Replacement, new: Source, old: Source) -> Replacement:
    """The replacement with the reason why the new source may not end the old one."""
    return each._replace(reason=f"{each.reason}; {describe_refusal(new, old)}")
