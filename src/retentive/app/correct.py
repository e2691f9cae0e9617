"""What a new memory corrects, as far as its words tell: by the rules of `learn`, compared with what is near."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from retentive import clock
from retentive.app.filters import scope
from retentive.app.legs import having_words
from retentive.app.parts import Parts
from retentive.learn.statements.statement import LONGEST, Reading
from retentive.model import Draft, Kind, Memory, Replacement, Status, Traits, from_micros
from retentive.text.sentences import spans

CANDIDATES = 30  # memories of the same areas of life looked at for what a new one puts an end to
# Known by an id of their own: they correct nothing and are not corrected.
AS_THEY_ARE = frozenset({Kind.NOTE, Kind.FILE})


def corrected(parts: Parts, draft: Draft, near: Iterable[Memory]) -> Draft:
    """With the slot it fills, the memories it puts an end to, or the one that has taken its place already.

    `near` are memories that share its words; those of the same areas are looked up. A slot that the caller gave
    decides alone.
    """
    if not parts.config.corrections or draft.traits.kind in AS_THEY_ARE:
        return draft
    draft = draft._replace(traits=_bounded(parts, draft))
    traits = draft.traits
    if traits.slot:
        return draft
    reading = parts.rules().read(draft.content)
    if reading.apart:
        return draft
    known = _known(parts, reading, traits, near)
    when = traits.valid_from or from_micros(clock.now())
    older = [memory for memory in known if memory.valid_from <= when]
    ends = [older[at].id for at in parts.rules().superseded(draft.content, [memory.content for memory in older])]
    slot = _free_slot(reading, known, ends, when)
    later = next((memory for memory in known if memory.valid_from > when and _ended_by(parts, draft, memory)), None)
    return draft._replace(
        traits=replace(traits, slot=slot) if slot else traits,
        corrects=tuple(Replacement(id, "words", "its words put an end to it") for id in ends),
        ended_by=later.id if later and not slot else None,
    )


def _bounded(parts: Parts, draft: Draft) -> Traits:
    """With the times between which it holds by its own words, as far as the caller did not give them.

    Words about the one sentence of a memory: the end of one of several is not the end of the others.
    """
    traits, said = draft.traits, draft.traits.valid_from or from_micros(clock.now())
    if traits.expires or len(draft.content) > LONGEST or len([*spans(draft.content)]) > 1:
        return traits
    begun, end = parts.rules().ends(draft.content, said)
    if end is None:
        return traits
    return replace(traits, valid_from=traits.valid_from or begun, expires=end)


def _known(parts: Parts, reading: Reading, traits: Traits, near: Iterable[Memory]) -> Sequence[Memory]:
    """The active ones of the same scope: near, of the same areas, or holding the same slot."""
    found = {memory.id: memory for memory in near}
    now = clock.now()
    if words := parts.rules().about(reading):
        within = scope([parts.namespace], session=traits.session, include="memories")
        found |= {memory.id: memory for memory in having_words(parts, words, within, CANDIDATES)}
    if reading.slot:
        found |= {each.id: each for each in parts.memories.same_slot(parts.namespace, [reading.slot.name], now)}
    return [
        memory
        for memory in found.values()
        if memory.session == traits.session and memory.status is Status.ACTIVE and memory.kind not in AS_THEY_ARE
    ]


def _free_slot(reading: Reading, known: Sequence[Memory], ends: Sequence[str], when: datetime) -> str | None:
    """The slot that the words name, unless one that says the same more or less closely holds it."""
    if reading.slot is None or reading.adds or reading.hearsay:
        return None
    holders = [memory for memory in known if memory.slot == reading.slot.name]
    held = any(memory.id not in ends and memory.valid_from <= when for memory in holders)
    return None if held else reading.slot.name


def _ended_by(parts: Parts, draft: Draft, newer: Memory) -> bool:
    return bool(parts.rules().superseded(newer.content, [draft.content]))
