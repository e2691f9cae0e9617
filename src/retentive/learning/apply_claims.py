"""Apply an action to the store: a claim that was found in a conversation, or a request of a user."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from retentive import clock
from retentive.errors import Invalid, SecretFound
from retentive.judgement.likeness import compute_overlap
from retentive.memories.add import find_keyword_tokens, find_related
from retentive.memories.corrections import NOT_COMPARED, NOT_ENDED_BY_WORDS, apply_corrections
from retentive.memories.forget import find_forget_candidates
from retentive.memories.hide import Forgetting, hide_request_steps, hide_steps
from retentive.memories.write import write_memories
from retentive.model import (
    VITAL_IMPORTANCE,
    Claim,
    Draft,
    HandledRequest,
    Memory,
    Move,
    Proposal,
    ReplacedMemory,
    Replacement,
    Role,
    SimilarMemory,
    Source,
    Status,
    from_micros,
    may_replace,
)
from retentive.model.proposals import SLOT
from retentive.storage import Step
from retentive.storage.tables import chunks, memories
from retentive.store import OpenStore, secret_policy, validate
from retentive.store.person import MIN_DOUBTFUL, MIN_SURE, MOVE_REASON, MOVE_RULE, open_person_store
from retentive.store.traits import parse_traits
from retentive.store.write import Decision, write

REINFORCEMENT_SHARE = 0.5  # of the missing certainty that a repetition adds, times its own confidence
MAX_REINFORCED_CONFIDENCE = 0.95  # that repetitions can reach
MAX_MESSAGES_BACK = 4  # among which the user's last message is looked for
LLM_RULE, LLM_REASON = "model", "the language model says so"  # rule and reason of its verdicts
MIN_CLAUSE_WORDS = 3  # of a correction that is a statement by itself
SESSION_BUSY = "others kept changing the same session"

DoneSteps = Callable[[], Iterable[Step]]
"""Returns the steps that finish the action in the state of learning. It is called again for each attempt."""


class Action(NamedTuple):
    """A claim of a message to keep, to forget or to correct."""

    verb: str
    claim: Claim
    source: Source
    session_namespace: str = ""
    """The namespace of the session, if the memory is kept in another one."""
    move_to: str = ""
    """The namespace that the memory may belong to instead of the session's."""

    @property
    def sequence(self) -> int:
        return self.claim.events[-1]


class ClaimOutcome(NamedTuple):
    """The result of an action."""

    handled: HandledRequest
    """What was done. It is filled also for a claim that was found in talk, which nobody requested."""
    superseded: tuple[str, ...] = ()
    was_known: bool = False
    """Whether the claim was known already, whether or not that made it more certain."""
    replaced: tuple[ReplacedMemory, ...] = ()
    proposals: tuple[Proposal, ...] = ()


def apply_claim(store: OpenStore, session: str, action: Action, done_steps: DoneSteps) -> ClaimOutcome:
    match action.verb:
        case "forget":
            return ClaimOutcome(_forget(store, session, action, done_steps))
        case "correct":
            return _correct(store, session, action, done_steps)
        case _:
            return _keep_with_person_or_project(store, session, action, done_steps)


def _keep_with_person_or_project(store: OpenStore, session: str, action: Action, done_steps: DoneSteps) -> ClaimOutcome:
    """Keep a claim with the person if it surely is about them, otherwise in the project. In doubt, propose a move.

    A claim that changes a memory goes where that memory is, whatever the claim is about.
    """
    person_store, claim = open_person_store(store), action.claim
    if person_store is None or claim.personal < MIN_DOUBTFUL:
        return _keep(store, session, action, done_steps)
    in_person = action._replace(session_namespace=store.namespace)
    is_sure = claim.personal >= MIN_SURE and not claim.is_tentative and not claim.is_guess
    if _relates_to_known(person_store, session, in_person) or (
        is_sure and not _relates_to_known(store, session, action, count_repeats=False)
    ):
        return _mark_namespace(_keep(person_store, session, in_person, done_steps), person_store.namespace)
    return _keep(store, session, action._replace(move_to=person_store.namespace), done_steps)


def _relates_to_known(store: OpenStore, session: str, action: Action, *, count_repeats: bool = True) -> bool:
    """Whether a claim surely replaces a memory of a namespace, or repeats one, active or forgotten.

    Without `count_repeats`, only whether it replaces one.
    """
    claim = action.claim
    if claim.replaces and store.tables.memories.load_by_ids(store.namespace, claim.replaces, clock.now()):
        return True
    try:
        draft = _make_draft(store, session, action)
    except Invalid:  # it was forgotten here, which counts as a repeat, or is refused as a secret
        return count_repeats
    known = [memory for memory in find_related(store, draft) if memory.kind not in NOT_COMPARED]
    if count_repeats and any(_covers(store, memory, draft) for memory in known):
        return True
    draft = apply_corrections(store, draft, known, judge=not claim.among_people)
    return bool(draft.corrects or (claim.is_tentative and draft.proposes))


def _mark_namespace(outcome: ClaimOutcome, namespace: str) -> ClaimOutcome:
    return outcome._replace(handled=replace(outcome.handled, namespace=namespace))


def _keep(store: OpenStore, session: str, action: Action, done_steps: DoneSteps) -> ClaimOutcome:
    claim = action.claim
    try:
        draft = _make_draft(store, session, action)
    except Invalid as error:
        _mark_done(store, done_steps)
        return ClaimOutcome(HandledRequest("keep", claim.content, refused=str(error)))
    known = [memory for memory in find_related(store, draft) if memory.kind not in NOT_COMPARED]
    same = _find_same(store, draft, claim, known)
    is_left_alone = same and (_is_from_message(same, session, action) or not may_replace(action.source, same.source))
    if is_left_alone or (same and claim.is_guess):
        _mark_done(store, done_steps)
        return ClaimOutcome(HandledRequest("keep", claim.content), was_known=True)
    if same:
        _reinforce(store, same.id, draft.traits.confidence, done_steps)
        return ClaimOutcome(HandledRequest("keep", claim.content, (same.id,)), was_known=True)
    draft = apply_corrections(store, draft, known, judge=not claim.among_people)
    draft = _apply_llm_verdict(store, draft, claim)
    if claim.is_tentative and not draft.corrects and not draft.proposes:
        _mark_done(store, done_steps)
        return ClaimOutcome(HandledRequest("keep", claim.content))
    return _write(store, draft, done_steps)


def _write(store: OpenStore, draft: Draft, done_steps: DoneSteps) -> ClaimOutcome:
    (result,) = write_memories(store, [_add_question_words(store, draft)], "learning", done_steps)
    return ClaimOutcome(
        handled=HandledRequest("keep", draft.content, (result.id,), replaced=result.replaced),
        superseded=result.superseded,
        was_known=not result.created,
        replaced=result.replaced,
        proposals=result.proposals,
    )


def _find_same(store: OpenStore, draft: Draft, claim: Claim, known: Sequence[Memory]) -> Memory | None:
    """The memory that says the same, by its words or by a language model's verdict."""
    if claim.repeats:
        named = store.tables.memories.load_by_ids(store.namespace, [claim.repeats], clock.now()).get(claim.repeats)
        if named and named.status is Status.ACTIVE and may_replace(named.source, draft.traits.source):
            return named
    return next((memory for memory in known if _covers(store, memory, draft)), None)


def _apply_llm_verdict(store: OpenStore, draft: Draft, claim: Claim) -> Draft:
    """Add the verdict of a language model to a draft. It never ends instructions and decisions; a guess only proposes.

    `learning/llm` has compared the verdict with the words already.
    """
    if claim.is_guess:
        proposes = (*draft.proposes, *draft.corrects)
        traits = replace(draft.traits, slot=None)
        return _propose(draft._replace(traits=traits, corrects=(), proposes=proposes, ended_by=None), claim.proposes)
    named = store.tables.memories.load_by_ids(store.namespace, claim.replaces, clock.now()) if claim.replaces else {}
    replaced = [id for id in claim.replaces if id in named and named[id].kind not in NOT_ENDED_BY_WORDS]
    more = tuple(
        Replacement(id, LLM_RULE, LLM_REASON) for id in replaced if id not in {each.id for each in draft.corrects}
    )
    others = tuple(each for each in draft.proposes if each.id not in replaced)
    draft = draft._replace(corrects=(*draft.corrects, *more), proposes=others)
    draft = _propose(draft, [*claim.proposes, *(id for id in claim.replaces if id not in replaced)])
    return _fill_slot(store, draft, claim.slot) if claim.slot and not draft.traits.slot else draft


def _propose(draft: Draft, ids: Iterable[str], rule: str = LLM_RULE, reason: str = LLM_REASON) -> Draft:
    """Add proposals to replace these memories, unless the draft ends or proposes them already."""
    seen = {each.id for each in (*draft.corrects, *draft.proposes)}
    more = tuple(Replacement(id, rule, reason) for id in dict.fromkeys(ids) if id not in seen)
    return draft._replace(proposes=(*draft.proposes, *more))


def _fill_slot(store: OpenStore, draft: Draft, slot: str) -> Draft:
    """Give a draft the slot that a language model names; if an active memory holds the slot, only propose that."""
    gone = {each.id for each in draft.corrects}
    when = draft.traits.valid_from or from_micros(clock.now())
    holders = [
        memory
        for memory in store.tables.memories.load_active_by_slot(store.namespace, [slot], clock.now())
        if memory.id not in gone and memory.session == draft.traits.session and memory.valid_from <= when
    ]
    if holders:
        return _propose(draft, [memory.id for memory in holders], SLOT, f"same slot {slot}")
    return draft._replace(traits=replace(draft.traits, slot=slot))


def _correct(store: OpenStore, session: str, action: Action, done_steps: DoneSteps) -> ClaimOutcome:
    """Replace the value of the newest statement learned in the session that has a value of the same kind.

    If there is none, a clause of three words or more is kept as a claim.
    """
    text = action.claim.content
    learned = _find_newly_learned(store, session)
    active = [
        memory
        for memory in learned
        if memory.status is Status.ACTIVE and (_last_sequence(memory) or 0) <= action.sequence
    ]
    for memory in sorted(active, key=lambda memory: -(_last_sequence(memory) or 0)):
        content = store.rules().correct_value(memory.content, text)
        if content is None:
            continue
        claim = replace(action.claim, content=content, kind=memory.kind, importance=memory.importance)
        home = replace(store, namespace=memory.namespace)
        session_namespace = store.namespace if memory.namespace != store.namespace else ""
        try:
            draft = _make_draft(home, session, action._replace(claim=claim, session_namespace=session_namespace))
        except Invalid as error:
            _mark_done(store, done_steps)
            return ClaimOutcome(HandledRequest("correct", text, refused=str(error)))
        replaced = Replacement(memory.id, "correction", f'the user said "{text}"')
        outcome = _write(home, draft._replace(corrects=(replaced,)), done_steps)
        return _mark_namespace(outcome, home.namespace) if session_namespace else outcome
    if len(text.split()) >= MIN_CLAUSE_WORDS:
        return _keep_with_person_or_project(store, session, action._replace(verb="keep"), done_steps)
    _mark_done(store, done_steps)
    return ClaimOutcome(HandledRequest("correct", text))


def _is_repeated(store: OpenStore, memory: Memory, draft: Draft) -> bool:
    """Whether a memory already says what a draft says."""
    rules = store.rules()
    return rules.is_restatement(rules.parse(memory.content), rules.parse(draft.content))


def _covers(store: OpenStore, memory: Memory, draft: Draft) -> bool:
    """Whether a memory says what a draft says and is trusted as much: an import does not cover the user's word."""
    return may_replace(memory.source, draft.traits.source) and _is_repeated(store, memory, draft)


def _is_from_message(memory: Memory, session: str, action: Action) -> bool:
    """Whether a memory came from the message of an action: it was kept on request, and is now found again."""
    origin = memory.origin or {}
    is_same = origin.get("session") == session and origin.get("namespace", "") == action.session_namespace
    return is_same and set(action.claim.events) <= {*origin.get("events", ())}


def _add_question_words(store: OpenStore, draft: Draft) -> Draft:
    """Add the words of questions as context: "moved to Linz" does not contain "where someone lives"."""
    asked = store.rules().find_question_words(draft.traits.slot or "")
    if asked is None or draft.traits.context:
        return draft
    return draft._replace(traits=replace(draft.traits, context=asked), vector=None)


def _was_forgotten_since(store: OpenStore, draft: Draft, said: datetime) -> bool:
    """Whether the statement was forgotten after it was said. It stays forgotten if its message is read again."""
    for memory in find_related(store, draft, Status.FORGOTTEN):
        is_same = memory.content_hash == draft.content_hash or _is_repeated(store, memory, draft)
        if is_same and _find_forgotten_time(memory) >= said:
            return True
    return False


def _find_forgotten_time(memory: Memory) -> datetime:
    """The time of the request to forget. A statement said later is a new one, even in a log that is imported.

    A message that forgets a valid memory sets `valid_to` to its own time. Otherwise the time is that of the change:
    `forget` leaves `valid_to` as it is, and what was superseded or has expired had its end before.
    """
    is_superseded = memory.superseded_by is not None
    if memory.valid_to is None or is_superseded or memory.valid_to == memory.expires:
        return memory.updated
    return memory.valid_to


def _make_draft(store: OpenStore, session: str, action: Action) -> Draft:
    """Make the draft of a claim. Raises `Invalid` if it may not be kept."""
    claim = action.claim
    if secret_policy.REDACTION_PREFIX in claim.content:
        rule = claim.content.partition(secret_policy.REDACTION_PREFIX)[2].partition("]")[0]
        raise SecretFound(f"the message held a secret ({rule})")
    traits = parse_traits(
        max_content=store.config.max_content,
        kind=claim.kind,
        source=action.source,
        confidence=claim.confidence,
        importance=_find_importance(store, claim),
        expires=claim.expires,
        valid_from=claim.valid_from or claim.said,
        origin=_make_origin(session, action),
    )
    draft = secret_policy.apply_policy_to_draft(
        store, validate.make_draft(claim.content, traits, store.config.max_content)
    )
    if action.move_to:
        draft = draft._replace(proposed_move=Move(store.namespace, action.move_to, MOVE_RULE, MOVE_REASON))
    if _was_forgotten_since(store, draft, claim.said):
        raise Invalid("it was forgotten later")
    return draft


def _find_importance(store: OpenStore, claim: Claim) -> int:
    is_vital = not claim.is_guess and store.rules().is_vital(claim.content)
    return max(claim.importance, VITAL_IMPORTANCE) if is_vital else claim.importance


def _make_origin(session: str, action: Action) -> dict[str, Any]:
    """The messages that a claim came from, and the language model that found it there."""
    claim = action.claim
    namespace = {"namespace": action.session_namespace} if action.session_namespace else {}
    finder = {"model": claim.model, "prompt": claim.prompt} if claim.model else {}
    return {**namespace, "session": session, "events": [*claim.events], **finder}


def _reinforce(store: OpenStore, id: str, confidence: float, done_steps: DoneSteps) -> None:
    """Raise the confidence of a memory that was said again."""

    def decide(now: int) -> Decision[None]:
        old = store.tables.memories.get(store.namespace, id, now)
        steps = [*done_steps()]
        if old and old.status is Status.ACTIVE:
            gain = (1 - old.confidence) * REINFORCEMENT_SHARE * confidence
            surer = min(max(MAX_REINFORCED_CONFIDENCE, old.confidence), old.confidence + gain)
            new = replace(old, confidence=round(surer, 3), updated=from_micros(now), version=old.version + 1)
            steps += [*memories.update_steps(old, new, "learning", "said again"), chunks.refresh_step(new)]
        return Decision(steps, None)

    write(store, decide, f"others kept changing {id}")


def _forget(store: OpenStore, session: str, action: Action, done_steps: DoneSteps) -> HandledRequest:
    """Forget the memory that a request surely names; otherwise forget nothing and list the candidates."""
    text = action.claim.content

    def decide(now: int) -> Decision[HandledRequest]:
        found, near = _find_memories_to_forget(store, session, action)
        person_store = open_person_store(store) if text and not found else None
        if person_store:
            found, more = _find_memories_to_forget(person_store, session, action)
            near = [*near, *more]
        if action.claim.is_tentative:  # in a long, quoted or imported message: somebody has to confirm it first
            found, near = [], found or near
        steps = [*done_steps()]
        if len(found) == 1:
            (memory,) = found
            steps += _forget_steps(store, memory, session, action, now)
            namespace = memory.namespace if memory.namespace != store.namespace else None
            return Decision(steps, HandledRequest("forget", text, (memory.id,), namespace=namespace))
        if not found:
            steps += _repeated_request_steps(store, session, action, now)
        candidates = tuple(_list_resemblances(store, text, found or near))
        return Decision(steps, HandledRequest("forget", text, candidates=candidates))

    return write(store, decide, "others kept changing the same memories")


def _forget_steps(store: OpenStore, old: Memory, session: str, action: Action, now: int) -> Iterable[Step]:
    end = old.valid_to or action.claim.said
    forgotten = replace(old, status=Status.FORGOTTEN, valid_to=end, updated=from_micros(now), version=old.version + 1)
    yield from memories.status_steps(old, forgotten, "user", f"asked in {session}#{action.sequence}")
    forgetting = Forgetting(old, (session, action.sequence), action.claim.said)
    yield from hide_steps(store, [forgetting], now)


def _repeated_request_steps(store: OpenStore, session: str, action: Action, now: int) -> Iterable[Step]:
    """Steps that hide the message of a request, if it says what was forgotten before."""
    if not action.claim.content or action.claim.is_tentative:
        return []
    forgotten = find_forget_candidates(store, action.claim.content, {"status": [Status.FORGOTTEN]}).memories
    request = (session, action.sequence)
    return [each for memory in forgotten for each in hide_request_steps(store, memory, request, now)]


def _find_memories_to_forget(
    store: OpenStore, session: str, action: Action
) -> tuple[Sequence[Memory], Sequence[Memory]]:
    """The memories that a request names among those known at its time; else those that resemble its words."""
    if action.claim.content:
        found = find_forget_candidates(
            store, action.claim.content, {"until": action.claim.said + timedelta(microseconds=1)}
        )
        return found.memories, found.nearest
    # "Scratch that" names nothing: it means the memories that were learned from the user's previous message.
    before = store.tables.conversations.list_newest(store.namespace, session, MAX_MESSAGES_BACK, before=action.sequence)
    last = next((event.sequence for event in reversed(before) if event.role is Role.USER), None)
    learned = _find_newly_learned(store, session)
    return [memory for memory in learned if memory.status is Status.ACTIVE and _last_sequence(memory) == last], []


def _find_newly_learned(store: OpenStore, session: str) -> list[Memory]:
    """The newest memories that came from a session, in its namespace and in the person's."""
    person_store, now = open_person_store(store), clock.now()
    learned = store.tables.memories.list_learned(store.namespace, session, now)
    if person_store:
        learned += person_store.tables.memories.list_learned(person_store.namespace, session, now, store.namespace)
    return learned


def _last_sequence(memory: Memory) -> int | None:
    """The sequence number of the last message that a memory came from."""
    events = (memory.origin or {}).get("events")
    return max(events, default=None) if isinstance(events, list) else None


def _list_resemblances(store: OpenStore, text: str, found: Iterable[Memory]) -> Iterable[SimilarMemory]:
    own = find_keyword_tokens(store, text)
    for memory in found:
        overlap = compute_overlap(own, find_keyword_tokens(store, memory.content)) if own else 0.0
        yield SimilarMemory(memory.id, memory.content, round(overlap, 2))


def _mark_done(store: OpenStore, done_steps: DoneSteps) -> None:
    """Finish an action that changes nothing."""
    write(store, lambda _: Decision([*done_steps()], None), SESSION_BUSY)


def render_action(action: Action) -> dict[str, Any]:
    """The action as JSON."""
    claim = action.claim
    times = {"said": claim.said, "valid_from": claim.valid_from, "expires": claim.expires}
    return {
        "verb": action.verb,
        "source": action.source,
        "content": claim.content,
        "kind": claim.kind,
        "events": [*claim.events],
        "slot": claim.slot,
        "confidence": claim.confidence,
        "importance": claim.importance,
        "among_people": claim.among_people,
        "tentative": claim.is_tentative,  # the key that stored claims have
        "personal": claim.personal,
        "replaces": [*claim.replaces],
        "proposes": [*claim.proposes],
        "repeats": claim.repeats,
        "is_guess": claim.is_guess,
        "model": claim.model,
        "prompt": claim.prompt,
        **{name: time and time.isoformat() for name, time in times.items()},
    }


def parse_action(value: dict[str, Any]) -> Action:
    """Parse the JSON of `render_action`."""
    rest = dict(value)
    verb, source = rest.pop("verb"), Source(rest.pop("source"))
    times = {name: rest[name] and validate.parse_time(rest[name], name) for name in ("said", "valid_from", "expires")}
    is_tentative = rest.pop("tentative", False)
    lists = {name: tuple(rest.get(name, ())) for name in ("events", "replaces", "proposes")}
    return Action(verb, Claim(is_tentative=is_tentative, **{**rest, **times, **lists}), source)
