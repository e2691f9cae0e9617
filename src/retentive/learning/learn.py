"""Learn memories from conversations: each message is read once, and each claim is applied once.

Reading and applying are two steps, so that neither a crash nor a second process loses or doubles a claim, and a model
is not asked twice. First the new messages are read. The claims found in them are stored together with the new position,
by compare-and-swap. Then each claim is compared with known memories and kept, merged or dropped, in one transaction
with the count of claims that are left. The next run continues with those.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from itertools import islice, zip_longest
from typing import TYPE_CHECKING

from retentive import clock
from retentive.conversations.imported import find_imported
from retentive.conversations.sessions import make_missing_error
from retentive.errors import Invalid, LlmError, NotFound, RetentiveError, Stale
from retentive.judgement import Correction, Judgement
from retentive.learning.apply_claims import Action, ClaimOutcome, apply_claim, parse_action, render_action
from retentive.learning.judge_person import compute_judge_vectors, compute_vectors, has_several_speakers, judge_claims
from retentive.learning.llm_quota import CountingLanguageModel, record_cost
from retentive.llm import LanguageModel
from retentive.model import (
    DEFAULT_CONFIDENCE,
    Claim,
    Event,
    HandledRequest,
    Kind,
    LearnResult,
    LlmCost,
    Memory,
    Proposal,
    ReplacedMemory,
    Role,
    Source,
    find_lowest_trust,
)
from retentive.search.retrievers import find_by_keywords, find_neighbours
from retentive.storage import Step
from retentive.storage.tables import conversations, learning
from retentive.storage.tables.learning import LearningState
from retentive.store import OpenStore
from retentive.store.person import open_person_store
from retentive.store.scope import make_scope
from retentive.text.terms import find_query_words

if TYPE_CHECKING:
    from retentive.learning.llm.extract import Extraction

PAGE_SIZE = 500  # messages read at a time
CONTEXT_MESSAGES = 4  # earlier messages, which a first answer may refer to
MAX_KNOWN = 30  # memories that a language model is shown
MAX_COMPARED_MESSAGES = 20  # whose vectors find those memories
NEIGHBOURS_PER_MESSAGE = 3  # memories that one message finds by its vector
MAX_SPEAKER_MESSAGES = 20  # messages back in which another speaker is looked for
REQUEST_IMPORTANCE = 6  # of a memory that the user asked for
INSTRUCTION_IMPORTANCE = 9  # of an instruction that the user gave: it is in every context


class Overtaken(Exception):
    """Another process applied this claim first."""


@dataclass(slots=True)
class LearningTally:
    """The results of one run so far."""

    events: int = 0
    readers: dict[str, None] = field(default_factory=dict)
    """The names of the readers, in order: a language model, rules."""
    kept: list[str] = field(default_factory=list)
    reinforced: list[str] = field(default_factory=list)
    superseded: list[str] = field(default_factory=list)
    forgotten: list[str] = field(default_factory=list)
    unclear: list[HandledRequest] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    replaced: list[ReplacedMemory] = field(default_factory=list)
    proposals: list[Proposal] = field(default_factory=list)
    personal: list[str] = field(default_factory=list)
    cost: LlmCost = field(default_factory=LlmCost)

    def add_outcome(self, outcome: ClaimOutcome) -> None:
        handled = outcome.handled
        if handled.namespace:
            self.personal += [*handled.memories, *outcome.superseded]
        if handled.refused:
            self.refused.append(handled.refused)
        elif handled.verb == "forget":
            self.forgotten += handled.memories
            if not handled.memories:
                self.unclear.append(handled)
        else:
            memories = self.reinforced if outcome.was_known else self.kept
            memories.extend(handled.memories)
            self.superseded += outcome.superseded
            self.replaced += outcome.replaced
            self.proposals += outcome.proposals

    def to_result(self, session: str, read_upto: int) -> LearnResult:
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        lists = {name: tuple(value) for name, value in values.items() if isinstance(value, list)}
        by = ", then ".join(self.readers) or "rules"
        return LearnResult(session, read_upto, self.events, by=by, cost=self.cost, **lists)


def learn(store: OpenStore, session: str) -> LearnResult:
    """Learn from all messages of a session since the last run."""
    tally = LearningTally()
    read_upto = 0
    for state in learn_stepwise(store, session, tally):
        read_upto = state.read_upto
    return tally.to_result(session, read_upto)


def learn_stepwise(store: OpenStore, session: str, tally: LearningTally) -> Iterator[LearningState]:
    """Learn step by step. Yield the state before each step and at the end; stopping between steps loses nothing."""
    while True:
        state = _load_state(store, session)
        yield state
        if state.is_finished:
            return
        if state.person is None and (person_store := open_person_store(store)):
            store.engine.apply([conversations.person_step(store.namespace, session, person_store.namespace)])
            continue
        session_store = replace(store, person=state.person or "")
        with suppress(Overtaken, Stale):
            if state.claims_left:
                _apply_next_claim(session_store, state, tally)
            else:
                _read_messages(session_store, state, tally)


def learn_due(store: OpenStore, silent: float) -> Iterator[LearnResult]:
    """Learn from the sessions with new messages that have been silent for so many seconds."""
    for session in store.tables.learning.list_due(store.namespace, clock.now() - round(silent * 1e6)):
        with suppress(NotFound):  # deleted meanwhile
            yield learn(store, session)


def handle_requests(store: OpenStore, event: Event) -> Event:
    """Carry out the requests of a new message: "remember that ...". Return the event with what was done.

    Each request commits together with a counter, so a crash never repeats it.
    """
    if event.role is not Role.USER or not store.config.commands:
        return event
    actions = _rate_personal(store, [*_find_requests(store.rules(), event)], [event])
    if actions and not _is_only_speaker(store, event):
        return event
    handled = []
    try:
        for done, action in enumerate(actions):
            handled.append(_carry_out(store, event, action, done))
    except RetentiveError as error:  # the message is stored, and `learn` will carry out its requests
        store.journal.record_failure("requests", error)
    return replace(event, requests=tuple(handled)) if handled else event


def _carry_out(store: OpenStore, event: Event, action: Action, done: int) -> HandledRequest:
    """Carry out a request of a message, after `done` others of it."""
    count_step = learning.count_requests_step(event.namespace, event.session, event.sequence, done)
    return apply_claim(store, event.session, action, lambda: [count_step]).handled


def _is_only_speaker(store: OpenStore, event: Event) -> bool:
    """Whether nobody else speaks in a session: several people ask each other, not the assistant."""
    if event.speaker is None:
        return True
    before = store.tables.conversations.list_newest(event.namespace, event.session, MAX_SPEAKER_MESSAGES)
    return {each.speaker for each in before if each.role is Role.USER} <= {event.speaker}


def _find_requests(rules: Judgement, event: Event) -> Iterator[Action]:
    """The requests of a message, in order.

    Corrections are left to `learn`: the statement that they correct may not be learned yet.
    """
    return (action for action in _read_requests(rules, event) if action.verb != "correct")


def _find_corrections(rules: Judgement, event: Event) -> Iterator[Action]:
    return (action for action in _read_requests(rules, event) if action.verb == "correct")


def _read_requests(rules: Judgement, event: Event) -> Iterator[Action]:
    for request in rules.find_requests(event.content):
        is_kept = request.verb == "keep"
        claim = Claim(
            content=rules.make_dates_absolute(request.text, request.kind, event.time) if is_kept else request.text,
            kind=request.kind,
            said=event.time,
            events=(event.sequence,),
            confidence=DEFAULT_CONFIDENCE[Source.EXPLICIT],
            importance=INSTRUCTION_IMPORTANCE if request.kind is Kind.INSTRUCTION else REQUEST_IMPORTANCE,
            is_tentative=request.doubtful,
        )
        yield Action(request.verb, claim, Source.EXPLICIT)


def _load_state(store: OpenStore, session: str) -> LearningState:
    state = store.tables.learning.get(store.namespace, session)
    if state is None:
        raise make_missing_error(session, store.namespace)
    return state


def _apply_next_claim(store: OpenStore, state: LearningState, tally: LearningTally) -> None:
    """Apply the next claim that was stored."""

    def make_done_steps() -> Iterable[Step]:
        if not _load_state(store, state.session).has_same_progress(state):
            raise Overtaken(f"another process learns from session {state.session!r}")
        return [learning.finish_claim_step(store.namespace, state)]

    claim = state.list_claims_left()[0]
    action = _lower_imported_trust(store, state.session, parse_action(claim))
    try:
        outcome = apply_claim(store, state.session, action, make_done_steps)
    except Invalid as error:  # it can never be kept, and the next claims must not wait for it
        store.engine.apply([*make_done_steps()])
        outcome = ClaimOutcome(HandledRequest(claim["verb"], claim["content"], refused=str(error)))
    tally.add_outcome(outcome)


def _lower_imported_trust(store: OpenStore, session: str, action: Action) -> Action:
    """Trust a claim of an imported message as an import. A request to forget in one only lists candidates."""
    found = store.tables.conversations.get(store.namespace, session)
    if found is None or min(action.claim.events, default=1) > find_imported(found.metadata):
        return action
    confidence = min(action.claim.confidence, DEFAULT_CONFIDENCE[Source.IMPORT])
    is_tentative = action.claim.is_tentative or action.verb == "forget"
    claim = replace(action.claim, confidence=confidence, is_tentative=is_tentative)
    return action._replace(claim=claim, source=find_lowest_trust([action.source, Source.IMPORT]))


def _read_messages(store: OpenStore, state: LearningState, tally: LearningTally) -> None:
    """Read the next messages and store the claims found in them, before any is applied."""
    key = store.namespace, state.session
    events = store.tables.conversations.list_oldest(*key, PAGE_SIZE, state.read_upto)
    if not events:
        raise Stale(f"session {state.session!r} was deleted meanwhile")
    before = store.tables.conversations.list_newest(*key, CONTEXT_MESSAGES, before=state.read_upto + 1)
    found, cost = _find_claims(store, _drop_hidden(before), _drop_hidden(events), tally)
    claims = [claim for claim in found if claim.events[-1] > state.read_upto]
    if has_several_speakers([*before, *events]):
        claims = [replace(claim, personal=0.0) for claim in claims]
    actions = [
        *_find_unhandled_requests(store, state, events),
        *(Action("keep", claim, Source.EXTRACTED) for claim in claims),
    ]
    actions.sort(key=lambda action: action.sequence)
    text = json.dumps([render_action(action) for action in actions], ensure_ascii=False) if actions else ""
    try:
        store.engine.apply([learning.begin_step(store.namespace, state, [*before, *events], text, len(actions))])
    finally:
        record_cost(store, state.session, cost)  # it was paid, even if another process won
    tally.cost = tally.cost.plus(cost)
    store.journal.note_write()
    tally.events += len(events)


def _drop_hidden(events: Sequence[Event]) -> list[Event]:
    """Drop messages about forgotten memories, so that they are not learned again."""
    return [event for event in events if not event.is_hidden]


def _find_unhandled_requests(store: OpenStore, state: LearningState, events: Sequence[Event]) -> Iterator[Action]:
    """Requests that were not carried out when they were said, such as those of imported logs; none among people."""
    if not store.config.commands or has_several_speakers(events):
        return
    handled_counts = store.tables.learning.count_handled_requests(
        store.namespace, state.session, state.read_upto, events[-1].sequence
    )
    for event in events:
        if event.role is Role.USER:
            done = handled_counts.get(event.sequence, 0)
            unhandled = islice(_find_requests(store.rules(), event), done, None)
            yield from _rate_personal(store, [*unhandled, *_find_corrections(store.rules(), event)], [event])


def _rate_personal(store: OpenStore, actions: Sequence[Action], events: Sequence[Event]) -> list[Action]:
    """Set the probability that each action is about the person."""
    claims = judge_claims(store, [action.claim for action in actions], events)
    return [action._replace(claim=claim) for action, claim in zip(actions, claims, strict=True)]


def _find_claims(
    store: OpenStore, before: Sequence[Event], events: Sequence[Event], tally: LearningTally
) -> tuple[Sequence[Claim], LlmCost]:
    """Find claims with the language model, if there is one, and with rules where it fails. Return also its cost."""
    llm = store.llm()
    if llm is None:
        return _find_claims_by_rules(store, before, events), LlmCost()
    counting = CountingLanguageModel(llm)
    claims = _find_claims_by_llm(store, counting, before, events, tally)
    return claims, counting.cost


def _find_claims_by_llm(
    store: OpenStore, llm: LanguageModel, before: Sequence[Event], events: Sequence[Event], tally: LearningTally
) -> Sequence[Claim]:
    from retentive.learning.llm import extract  # its patterns take a while to compile, and few stores have a model

    found: list[Claim] = []
    for batch in extract.split_batches([*before[-1:], *events]):
        try:
            extraction = extract.extract_claims(llm, batch, [*_find_related_memories(store, batch), *found])
            found += judge_claims(store, extraction.claims, batch)
            tally.readers[llm.name] = None
            tally.notes += _describe_rejected(extraction)
        except LlmError as error:
            tally.readers["rules"] = None
            tally.notes.append(f"the language model was not used: {error}")
            store.journal.record_failure("llm", error)
            rest = [each for each in events if each.sequence >= batch[0].sequence]
            return [*found, *_find_claims_by_rules(store, before, rest)]
    return found


def _describe_rejected(extraction: "Extraction") -> list[str]:
    """A note about the claims that were left out, with each reason once."""
    if not extraction.rejected:
        return []
    reasons = dict.fromkeys(each.partition(": ")[2] for each in extraction.rejected)
    counts = f"{len(extraction.rejected)} of {extraction.stated_count}"
    return [f"{counts} claims of the language model were left out: {'; '.join(reasons)}"]


def _find_claims_by_rules(store: OpenStore, before: Sequence[Event], events: Sequence[Event]) -> Sequence[Claim]:
    """Find claims by the form of each sentence and the judges."""
    rules, first = store.rules(), events[0].sequence if events else 0
    found = rules.find_candidates([*before, *events])
    candidates = [each for each in found if each.event.sequence >= first]
    corrections = [
        Correction(action.sequence, action.claim.content)
        for event in events
        if event.role is Role.USER
        for action in _find_corrections(rules, event)
    ]
    vectors = compute_judge_vectors(store, [each.said for each in candidates])
    return rules.choose_claims(candidates, vectors or None, corrections)


def _find_related_memories(store: OpenStore, events: Sequence[Event]) -> list[Memory]:
    """The memories nearest to the user's messages, by keywords and by vectors in turn."""
    said = [event.content for event in events if event.role is Role.USER]
    person_store = open_person_store(store)
    within = make_scope([store.namespace, *([person_store.namespace] if person_store else [])], include="memories")
    by_words = find_by_keywords(store, find_query_words(" ".join(said)), within, MAX_KNOWN)
    vectors = compute_vectors(store, said[-MAX_COMPARED_MESSAGES:])
    by_vector = [each for vector in vectors for each in find_neighbours(store, vector, within, NEIGHBOURS_PER_MESSAGE)]
    found: dict[str, Memory] = {}
    for pair in zip_longest(by_words, by_vector):
        found.update((each.id, each) for each in pair if each)
    return [*found.values()][:MAX_KNOWN]
