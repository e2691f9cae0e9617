"""A claim found in talk, or a request in plain words: compared with what is known, and done."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from retentive import clock
from retentive.app import check, guard
from retentive.app.add import near
from retentive.app.correct import AS_THEY_ARE, corrected
from retentive.app.forget import candidates
from retentive.app.keep import TRIES, keep
from retentive.app.parts import Parts
from retentive.errors import Busy, Invalid, SecretFound, Stale
from retentive.learn.likeness import overlap
from retentive.model import Claim, Draft, Heard, Memory, Resemblance, Role, Source, Status, from_micros
from retentive.storage import Step, chunks, memories
from retentive.text.terms import words

SURER = 0.5  # of what a memory lacks to certainty goes with each time it is said again, by the new one's confidence
FIRM = 0.95  # the most that saying again makes of a confidence
VITAL = 9  # importance of what is in every context
LATELY = 4  # messages back in which the user's last one is looked for

Also = Callable[[], Iterable[Step]]
"""Steps that must commit with the deed. Called anew for each try."""


class Deed(NamedTuple):
    """Something to keep or to forget, from a message of a session."""

    verb: str
    claim: Claim
    source: Source

    @property
    def sequence(self) -> int:
        return self.claim.events[-1]


class Outcome(NamedTuple):
    heard: Heard
    superseded: tuple[str, ...] = ()
    reinforced: bool = False
    """It was known already."""


def act(parts: Parts, session: str, deed: Deed, also: Also) -> Outcome:
    if deed.verb == "forget":
        return Outcome(_forget(parts, session, deed, also))
    return _keep(parts, session, deed, also)


def _keep(parts: Parts, session: str, deed: Deed, also: Also) -> Outcome:
    claim = deed.claim
    try:
        draft = _draft(parts, session, deed)
    except Invalid as error:
        _pass_over(parts, also)
        return Outcome(Heard("keep", claim.content, refused=str(error)))
    known = [memory for memory in near(parts, draft) if memory.kind not in AS_THEY_ARE]
    same = next((memory for memory in known if parts.rules().repeats(memory.content, draft.content)), None)
    if same and _is_told_by(same, session, claim):
        _pass_over(parts, also)
        return Outcome(Heard("keep", claim.content), reinforced=True)
    if same:
        _reinforce(parts, same.id, draft.traits.confidence, also)
        return Outcome(Heard("keep", claim.content, (same.id,)), reinforced=True)
    (kept,) = keep(parts, [_findable(parts, corrected(parts, draft, known))], "learning", lambda _: also())
    return Outcome(Heard("keep", draft.content, (kept.id,)), kept.superseded, reinforced=not kept.created)


def _is_told_by(memory: Memory, session: str, claim: Claim) -> bool:
    """It came from this very message: kept on request when it was said, and now found in it once more."""
    origin = memory.origin or {}
    return origin.get("session") == session and set(claim.events) <= {*origin.get("events", ())}


def _findable(parts: Parts, draft: Draft) -> Draft:
    """With the words in which people ask for it: "moved to Linz" does not say where someone lives."""
    asked = parts.rules().asked_for(draft.traits.slot or "")
    if asked is None or draft.traits.context:
        return draft
    return draft._replace(traits=replace(draft.traits, context=asked))


def _forgotten_since(parts: Parts, draft: Draft, said: datetime) -> bool:
    """What is forgotten stays so, though the message that told it is still there to be read."""
    gone = (memory for memory in near(parts, draft, Status.FORGOTTEN) if _forgotten_at(memory) >= said)
    return any(
        memory.content_hash == draft.content_hash or parts.rules().repeats(memory.content, draft.content)
        for memory in gone
    )


def _forgotten_at(memory: Memory) -> datetime:
    """When it was asked for in a message, then: what is said after that in the same old log is said anew."""
    return memory.updated if memory.superseded_by or not memory.valid_to else memory.valid_to


def _draft(parts: Parts, session: str, deed: Deed) -> Draft:
    """As it may be kept; `Invalid` if it may not."""
    claim = deed.claim
    if guard.REDACTED in claim.content:
        rule = claim.content.partition(guard.REDACTED)[2].partition("]")[0]
        raise SecretFound(f"the message held a secret ({rule})")
    traits = check.traits(
        max_content=parts.config.max_content,
        kind=claim.kind,
        source=deed.source,
        confidence=claim.confidence,
        importance=max(claim.importance, VITAL if parts.rules().vital(claim.content) else 1),
        slot=claim.slot,
        expires=claim.expires,
        valid_from=claim.valid_from or claim.said,
        origin={"session": session, "events": [*claim.events]},
    )
    draft = guard.draft(parts, check.draft(claim.content, traits, parts.config.max_content))
    if _forgotten_since(parts, draft, claim.said):
        raise Invalid("it was forgotten later")
    return draft


def _reinforce(parts: Parts, id: str, confidence: float, also: Also) -> None:
    """Said again: surer than before."""
    for _ in range(TRIES):
        now = clock.now()
        old = parts.memories.get(parts.namespace, id, now)
        steps = [*also()]
        if old and old.status is Status.ACTIVE:
            surer = min(max(FIRM, old.confidence), old.confidence + (1 - old.confidence) * SURER * confidence)
            new = replace(old, confidence=round(surer, 3), updated=from_micros(now), version=old.version + 1)
            steps += [*memories.update_steps(old, new, "learning", "said again"), chunks.refresh_step(new)]
        try:
            return _apply(parts, steps)
        except Stale:
            continue
    raise Busy(f"others kept changing {id}", "Retry in a moment.")


def _forget(parts: Parts, session: str, deed: Deed, also: Also) -> Heard:
    """One that is surely meant; otherwise nothing, and what may be."""
    wish = deed.claim.content
    for _ in range(TRIES):
        meant, near = _meant(parts, session, deed)
        now = from_micros(clock.now())
        steps = [*also()]
        if len(meant) == 1:
            old, end = meant[0], meant[0].valid_to or deed.claim.said
            ended = replace(old, status=Status.FORGOTTEN, valid_to=end, updated=now, version=old.version + 1)
            steps += memories.status_steps(old, ended, "user", f"asked in {session}#{deed.sequence}")
        try:
            _apply(parts, steps)
        except Stale:
            continue
        if len(meant) == 1:
            return Heard("forget", wish, (meant[0].id,))
        return Heard("forget", wish, candidates=tuple(_resembling(parts, wish, meant or near)))
    raise Busy("others kept changing the same memories", "Retry in a moment.")


def _meant(parts: Parts, session: str, deed: Deed) -> tuple[Sequence[Memory], Sequence[Memory]]:
    """What the words mean of what was known when they fell, and what is like it."""
    if deed.claim.content:
        found = candidates(parts, deed.claim.content, {"until": deed.claim.said + timedelta(microseconds=1)})
        return found.memories, found.nearest
    # "Scratch that", without a word of what: what was learned from the user's message before, and from no earlier one.
    before = parts.conversations.newest(parts.namespace, session, LATELY, before=deed.sequence)
    last = next((event.sequence for event in reversed(before) if event.role is Role.USER), None)
    told = parts.memories.learned(parts.namespace, session, clock.now())
    return [memory for memory in told if memory.status is Status.ACTIVE and _last_event(memory) == last], []


def _last_event(memory: Memory) -> int | None:
    events = (memory.origin or {}).get("events")
    return max(events, default=None) if isinstance(events, list) else None


def _resembling(parts: Parts, wish: str, found: Iterable[Memory]) -> Iterable[Resemblance]:
    tokens = parts.engine.tokens
    own = tokens(" ".join(words(wish)))
    for memory in found:
        share = overlap(own, tokens(" ".join(words(memory.content)))) if own else 0.0
        yield Resemblance(memory.id, memory.content, round(share, 2))


def _pass_over(parts: Parts, also: Also) -> None:
    """Nothing but what must be noted."""
    for _ in range(TRIES):
        with suppress(Stale):
            return _apply(parts, also())
    raise Busy("others kept changing the same session", "Retry in a moment.")


def _apply(parts: Parts, steps: Iterable[Step]) -> None:
    parts.engine.apply([*steps])
    parts.journal.wrote = True


def written(deed: Deed) -> dict[str, Any]:
    """As JSON."""
    claim = deed.claim
    times = {"said": claim.said, "valid_from": claim.valid_from, "expires": claim.expires}
    return {
        "verb": deed.verb,
        "source": deed.source,
        "content": claim.content,
        "kind": claim.kind,
        "events": [*claim.events],
        "slot": claim.slot,
        "confidence": claim.confidence,
        "importance": claim.importance,
        **{name: time and time.isoformat() for name, time in times.items()},
    }


def read(value: dict[str, Any]) -> Deed:
    """What `written` wrote."""
    rest = dict(value)
    verb, source = rest.pop("verb"), Source(rest.pop("source"))
    times = {name: rest[name] and check.moment(rest[name], name) for name in ("said", "valid_from", "expires")}
    return Deed(verb, Claim(**{**rest, **times, "events": tuple(rest["events"])}), source)
