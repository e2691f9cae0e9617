"""A claim found in talk, or a request in plain words: compared with what is known, and done."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from retentive import clock
from retentive.errors import Busy, Invalid, SecretFound, Stale
from retentive.judgement.likeness import overlap
from retentive.memories.add import near
from retentive.memories.corrections import NOT_COMPARED, NOT_ENDED_BY_WORDS, apply_corrections
from retentive.memories.forget import candidates
from retentive.memories.hide import Forgetting, hide_request_steps, hide_steps
from retentive.memories.write import write_memories
from retentive.model import (
    Claim,
    Draft,
    Ended,
    Heard,
    Memory,
    Move,
    Proposal,
    Replacement,
    Resemblance,
    Role,
    Source,
    Status,
    from_micros,
    may_replace,
    to_micros,
)
from retentive.model.proposals import SLOT
from retentive.storage import Step
from retentive.storage.tables import chunks, memories
from retentive.store import OpenStore, secret_policy, validate
from retentive.store.person import MIN_DOUBTFUL, MIN_SURE, REASON, RULE, find_person
from retentive.store.write import MAX_ATTEMPTS
from retentive.text.terms import words

SURER = 0.5  # of what a memory lacks to certainty goes with each time it is said again, by the new one's confidence
FIRM = 0.95  # the most that saying again makes of a confidence
VITAL = 9  # importance of what is in every context
LATELY = 4  # messages back in which the user's last one is looked for
MODEL, SAYS_SO = "model", "the language model says so"  # rule and reason of its verdicts
MIN_CLAUSE_WORDS = 3  # of a correction that is a statement by itself

Also = Callable[[], Iterable[Step]]
"""Steps that must commit with the deed. Called anew for each try."""


class Deed(NamedTuple):
    """Something to keep, to forget or to correct, from a message of a session."""

    verb: str
    claim: Claim
    source: Source
    talk: str = ""
    """The namespace of the session, if what comes of it is kept in another one."""
    move_to: str = ""
    """The namespace that it may belong to instead of the session's."""

    @property
    def sequence(self) -> int:
        return self.claim.events[-1]


class Outcome(NamedTuple):
    heard: Heard
    superseded: tuple[str, ...] = ()
    reinforced: bool = False
    """It was known already."""
    ended: tuple[Ended, ...] = ()
    proposals: tuple[Proposal, ...] = ()


def act(store: OpenStore, session: str, deed: Deed, also: Also) -> Outcome:
    match deed.verb:
        case "forget":
            return Outcome(_forget(store, session, deed, also))
        case "correct":
            return _correct(store, session, deed, also)
        case _:
            return _keep_at_home(store, session, deed, also)


def _keep_at_home(store: OpenStore, session: str, deed: Deed, also: Also) -> Outcome:
    """Keep a claim where it belongs: with the person if that is sure, else in the project, with a proposal in doubt.

    What a claim changes decides before what it is about: a correction goes where the memory is that it replaces.
    """
    person, claim = find_person(store), deed.claim
    if person is None or claim.personal < MIN_DOUBTFUL:
        return _keep(store, session, deed, also)
    there = deed._replace(talk=store.namespace)
    is_sure = claim.personal >= MIN_SURE and not claim.tentative and not claim.is_guess
    if _concerns(person, session, there) or (is_sure and not _concerns(store, session, deed, repeated=False)):
        return _in_namespace(_keep(person, session, there, also), person.namespace)
    return _keep(store, session, deed._replace(move_to=person.namespace), also)


def _concerns(store: OpenStore, session: str, deed: Deed, *, repeated: bool = True) -> bool:
    """Whether a claim surely replaces a memory of a namespace, or repeats one, or one that was forgotten."""
    claim = deed.claim
    if claim.replaces and store.tables.memories.named(store.namespace, claim.replaces, clock.now()):
        return True
    try:
        draft = _draft(store, session, deed)
    except Invalid:
        return repeated
    known = [memory for memory in near(store, draft) if memory.kind not in NOT_COMPARED]
    if repeated and any(_stands_for(store, memory, draft) for memory in known):
        return True
    draft = apply_corrections(store, draft, known, judge=not claim.among_people)
    return bool(draft.corrects or (claim.tentative and draft.proposes))


def _in_namespace(outcome: Outcome, namespace: str) -> Outcome:
    return outcome._replace(heard=replace(outcome.heard, namespace=namespace))


def _keep(store: OpenStore, session: str, deed: Deed, also: Also) -> Outcome:
    claim = deed.claim
    try:
        draft = _draft(store, session, deed)
    except Invalid as error:
        _pass_over(store, also)
        return Outcome(Heard("keep", claim.content, refused=str(error)))
    known = [memory for memory in near(store, draft) if memory.kind not in NOT_COMPARED]
    same = _find_same(store, draft, claim, known)
    is_held = same and (_is_told_by(same, session, deed) or not may_replace(deed.source, same.source))
    if is_held or (same and claim.is_guess):
        _pass_over(store, also)
        return Outcome(Heard("keep", claim.content), reinforced=True)
    if same:
        _reinforce(store, same.id, draft.traits.confidence, also)
        return Outcome(Heard("keep", claim.content, (same.id,)), reinforced=True)
    draft = apply_corrections(store, draft, known, judge=not claim.among_people)
    draft = _apply_verdict(store, draft, claim)
    if claim.tentative and not draft.corrects and not draft.proposes:
        _pass_over(store, also)
        return Outcome(Heard("keep", claim.content))
    return _write(store, draft, also)


def _write(store: OpenStore, draft: Draft, also: Also) -> Outcome:
    (kept,) = write_memories(store, [_findable(store, draft)], "learning", lambda _: also())
    heard = Heard("keep", draft.content, (kept.id,))
    return Outcome(heard, kept.superseded, not kept.created, kept.ended, kept.proposals)


def _find_same(store: OpenStore, draft: Draft, claim: Claim, known: Sequence[Memory]) -> Memory | None:
    """The memory that says the same, by the words or by a language model's verdict."""
    if claim.repeats:
        named = store.tables.memories.named(store.namespace, [claim.repeats], clock.now()).get(claim.repeats)
        if named and named.status is Status.ACTIVE and may_replace(named.source, draft.traits.source):
            return named
    return next((memory for memory in known if _stands_for(store, memory, draft)), None)


def _apply_verdict(store: OpenStore, draft: Draft, claim: Claim) -> Draft:
    """With what a language model says of the claim, as far as it goes with what the words say."""
    if claim.is_guess:
        held = (*draft.proposes, *draft.corrects)
        bare = replace(draft.traits, slot=None)
        return _propose(draft._replace(traits=bare, corrects=(), proposes=held, ended_by=None), claim.proposes)
    named = store.tables.memories.named(store.namespace, claim.replaces, clock.now()) if claim.replaces else {}
    ended = [id for id in claim.replaces if id in named and named[id].kind not in NOT_ENDED_BY_WORDS]
    more = tuple(Replacement(id, MODEL, SAYS_SO) for id in ended if id not in {each.id for each in draft.corrects})
    others = tuple(each for each in draft.proposes if each.id not in ended)
    draft = draft._replace(corrects=(*draft.corrects, *more), proposes=others)
    draft = _propose(draft, [*claim.proposes, *(id for id in claim.replaces if id not in ended)])
    return _fill_slot(store, draft, claim.slot) if claim.slot and not draft.traits.slot else draft


def _propose(draft: Draft, ids: Iterable[str], rule: str = MODEL, reason: str = SAYS_SO) -> Draft:
    """With proposals for these memories, unless they are ended or proposed already."""
    seen = {each.id for each in (*draft.corrects, *draft.proposes)}
    more = tuple(Replacement(id, rule, reason) for id in dict.fromkeys(ids) if id not in seen)
    return draft._replace(proposes=(*draft.proposes, *more))


def _fill_slot(store: OpenStore, draft: Draft, slot: str) -> Draft:
    """With a slot that a language model names, unless a memory that is not ended holds it: then that is proposed."""
    gone = {each.id for each in draft.corrects}
    when = draft.traits.valid_from or from_micros(clock.now())
    holders = [
        memory
        for memory in store.tables.memories.same_slot(store.namespace, [slot], clock.now())
        if memory.id not in gone and memory.session == draft.traits.session and memory.valid_from <= when
    ]
    if holders:
        return _propose(draft, [memory.id for memory in holders], SLOT, f"same slot {slot}")
    return draft._replace(traits=replace(draft.traits, slot=slot))


def _correct(store: OpenStore, session: str, deed: Deed, also: Also) -> Outcome:
    """Change the value of the last statement of the session that has one of the same kind."""
    text = deed.claim.content
    learned = _find_learned(store, session)
    active = [
        memory for memory in learned if memory.status is Status.ACTIVE and (_last_event(memory) or 0) <= deed.sequence
    ]
    for memory in sorted(active, key=lambda memory: -(_last_event(memory) or 0)):
        content = store.rules().correct_value(memory.content, text)
        if content is None:
            continue
        claim = replace(deed.claim, content=content, kind=memory.kind, importance=memory.importance)
        home = replace(store, namespace=memory.namespace)
        talk = store.namespace if memory.namespace != store.namespace else ""
        try:
            draft = _draft(home, session, deed._replace(claim=claim, talk=talk))
        except Invalid as error:
            _pass_over(store, also)
            return Outcome(Heard("correct", text, refused=str(error)))
        replaced = Replacement(memory.id, "correction", f'the user said "{text}"')
        outcome = _write(home, draft._replace(corrects=(replaced,)), also)
        return _in_namespace(outcome, home.namespace) if talk else outcome
    if len(text.split()) >= MIN_CLAUSE_WORDS:
        return _keep_at_home(store, session, deed._replace(verb="keep"), also)
    _pass_over(store, also)
    return Outcome(Heard("correct", text))


def _repeats(store: OpenStore, memory: Memory, draft: Draft) -> bool:
    """Whether the draft says no more than a memory does."""
    rules = store.rules()
    return rules.is_restatement(rules.parse(memory.content), rules.parse(draft.content))


def _stands_for(store: OpenStore, memory: Memory, draft: Draft) -> bool:
    """Whether a memory says all that the draft does, and is trusted as much: no import stands for the user's word."""
    return may_replace(memory.source, draft.traits.source) and _repeats(store, memory, draft)


def _is_told_by(memory: Memory, session: str, deed: Deed) -> bool:
    """It came from this very message: kept on request when it was said, and now found in it once more."""
    origin = memory.origin or {}
    is_same = origin.get("session") == session and origin.get("namespace", "") == deed.talk
    return is_same and set(deed.claim.events) <= {*origin.get("events", ())}


def _findable(store: OpenStore, draft: Draft) -> Draft:
    """With the words in which people ask for it: "moved to Linz" does not say where someone lives."""
    asked = store.rules().find_question_words(draft.traits.slot or "")
    if asked is None or draft.traits.context:
        return draft
    return draft._replace(traits=replace(draft.traits, context=asked), vector=None)


def _forgotten_since(store: OpenStore, draft: Draft, said: datetime) -> bool:
    """What is forgotten stays so, though the message that told it is still there to be read."""
    gone = (memory for memory in near(store, draft, Status.FORGOTTEN) if _forgotten_at(memory) >= said)
    return any(memory.content_hash == draft.content_hash or _repeats(store, memory, draft) for memory in gone)


def _forgotten_at(memory: Memory) -> datetime:
    """When it was asked for in a message, then: what is said after that in the same old log is said anew."""
    return memory.updated if memory.superseded_by or not memory.valid_to else memory.valid_to


def _draft(store: OpenStore, session: str, deed: Deed) -> Draft:
    """As it may be kept; `Invalid` if it may not."""
    claim = deed.claim
    if secret_policy.REDACTED in claim.content:
        rule = claim.content.partition(secret_policy.REDACTED)[2].partition("]")[0]
        raise SecretFound(f"the message held a secret ({rule})")
    traits = validate.traits(
        max_content=store.config.max_content,
        kind=claim.kind,
        source=deed.source,
        confidence=claim.confidence,
        importance=_find_importance(store, claim),
        expires=claim.expires,
        valid_from=claim.valid_from or claim.said,
        origin=_make_origin(session, deed),
    )
    draft = secret_policy.draft(store, validate.draft(claim.content, traits, store.config.max_content))
    if deed.move_to:
        draft = draft._replace(move=Move(store.namespace, deed.move_to, RULE, REASON))
    if _forgotten_since(store, draft, claim.said):
        raise Invalid("it was forgotten later")
    return draft


def _find_importance(store: OpenStore, claim: Claim) -> int:
    is_vital = not claim.is_guess and store.rules().is_vital(claim.content)
    return max(claim.importance, VITAL) if is_vital else claim.importance


def _make_origin(session: str, deed: Deed) -> dict[str, Any]:
    """The messages that a claim came from, and the language model that found it there."""
    claim = deed.claim
    elsewhere = {"namespace": deed.talk} if deed.talk else {}
    finder = {"model": claim.model, "prompt": claim.prompt} if claim.model else {}
    return {**elsewhere, "session": session, "events": [*claim.events], **finder}


def _reinforce(store: OpenStore, id: str, confidence: float, also: Also) -> None:
    """Said again: surer than before."""
    for _ in range(MAX_ATTEMPTS):
        now = clock.now()
        old = store.tables.memories.get(store.namespace, id, now)
        steps = [*also()]
        if old and old.status is Status.ACTIVE:
            surer = min(max(FIRM, old.confidence), old.confidence + (1 - old.confidence) * SURER * confidence)
            new = replace(old, confidence=round(surer, 3), updated=from_micros(now), version=old.version + 1)
            steps += [*memories.update_steps(old, new, "learning", "said again"), chunks.refresh_step(new)]
        try:
            return _apply(store, steps)
        except Stale:
            continue
    raise Busy(f"others kept changing {id}", "Retry in a moment.")


def _forget(store: OpenStore, session: str, deed: Deed, also: Also) -> Heard:
    """One that is surely meant; otherwise nothing, and what may be."""
    wish = deed.claim.content
    for _ in range(MAX_ATTEMPTS):
        meant, near = _meant(store, session, deed)
        person = find_person(store) if deed.claim.content and not meant else None
        if person:
            meant, more = _meant(person, session, deed)
            near = [*near, *more]
        if deed.claim.tentative:  # asked in a long message: nothing is forgotten before somebody confirms it
            meant, near = [], meant or near
        now = from_micros(clock.now())
        steps = [*also()]
        if len(meant) == 1:
            old, end = meant[0], meant[0].valid_to or deed.claim.said
            ended = replace(old, status=Status.FORGOTTEN, valid_to=end, updated=now, version=old.version + 1)
            steps += memories.status_steps(old, ended, "user", f"asked in {session}#{deed.sequence}")
            forgetting = Forgetting(old, (session, deed.sequence), deed.claim.said)
            steps += hide_steps(store, [forgetting], to_micros(now))
        elif not meant:
            steps += _hide_late_request(store, session, deed, to_micros(now))
        try:
            _apply(store, steps)
        except Stale:
            continue
        if len(meant) == 1:
            elsewhere = meant[0].namespace if meant[0].namespace != store.namespace else None
            return Heard("forget", wish, (meant[0].id,), namespace=elsewhere)
        return Heard("forget", wish, candidates=tuple(_resembling(store, wish, meant or near)))
    raise Busy("others kept changing the same memories", "Retry in a moment.")


def _hide_late_request(store: OpenStore, session: str, deed: Deed, now: int) -> Iterable[Step]:
    """A request may be logged after somebody forgot what it names: then it must not show the value either."""
    if not deed.claim.content or deed.claim.tentative:
        return []
    forgotten = candidates(store, deed.claim.content, {"status": [Status.FORGOTTEN]}).memories
    request = (session, deed.sequence)
    return [each for memory in forgotten for each in hide_request_steps(store, memory, request, now)]


def _meant(store: OpenStore, session: str, deed: Deed) -> tuple[Sequence[Memory], Sequence[Memory]]:
    """What the words mean of what was known when they fell, and what is like it."""
    if deed.claim.content:
        found = candidates(store, deed.claim.content, {"until": deed.claim.said + timedelta(microseconds=1)})
        return found.memories, found.nearest
    # "Scratch that", without a word of what: what was learned from the user's message before, and from no earlier one.
    before = store.tables.conversations.newest(store.namespace, session, LATELY, before=deed.sequence)
    last = next((event.sequence for event in reversed(before) if event.role is Role.USER), None)
    told = _find_learned(store, session)
    return [memory for memory in told if memory.status is Status.ACTIVE and _last_event(memory) == last], []


def _find_learned(store: OpenStore, session: str) -> list[Memory]:
    """The memories that came from a session, in its namespace and in the person's."""
    person, now = find_person(store), clock.now()
    there = person.tables.memories.learned(person.namespace, session, now, store.namespace) if person else []
    return [*store.tables.memories.learned(store.namespace, session, now), *there]


def _last_event(memory: Memory) -> int | None:
    events = (memory.origin or {}).get("events")
    return max(events, default=None) if isinstance(events, list) else None


def _resembling(store: OpenStore, wish: str, found: Iterable[Memory]) -> Iterable[Resemblance]:
    tokens = store.engine.tokens
    own = tokens(" ".join(words(wish)))
    for memory in found:
        share = overlap(own, tokens(" ".join(words(memory.content)))) if own else 0.0
        yield Resemblance(memory.id, memory.content, round(share, 2))


def _pass_over(store: OpenStore, also: Also) -> None:
    """Nothing but what must be noted."""
    for _ in range(MAX_ATTEMPTS):
        with suppress(Stale):
            return _apply(store, also())
    raise Busy("others kept changing the same session", "Retry in a moment.")


def _apply(store: OpenStore, steps: Iterable[Step]) -> None:
    store.engine.apply([*steps])
    store.journal.wrote = True


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
        "among_people": claim.among_people,
        "tentative": claim.tentative,
        "personal": claim.personal,
        "replaces": [*claim.replaces],
        "proposes": [*claim.proposes],
        "repeats": claim.repeats,
        "is_guess": claim.is_guess,
        "model": claim.model,
        "prompt": claim.prompt,
        **{name: time and time.isoformat() for name, time in times.items()},
    }


def read(value: dict[str, Any]) -> Deed:
    """What `written` wrote."""
    rest = dict(value)
    verb, source = rest.pop("verb"), Source(rest.pop("source"))
    times = {name: rest[name] and validate.moment(rest[name], name) for name in ("said", "valid_from", "expires")}
    lists = {name: tuple(rest.get(name, ())) for name in ("events", "replaces", "proposes")}
    return Deed(verb, Claim(**{**rest, **times, **lists}), source)
