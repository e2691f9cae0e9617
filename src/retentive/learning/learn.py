"""From talk to memories: each message is read once, and what is found in it is done once.

Reading and doing are two steps, so that neither a crash nor a second process loses or doubles anything, and a model is
not asked again. First everything since the last time is read, and what was found is written down together with the
mark of how far was read, by compare-and-swap. Then each claim is compared with what is known and kept, merged or
dropped; it commits together with its being done. Whoever comes later goes on with what is left.
"""

import json
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from functools import partial
from itertools import islice, zip_longest
from typing import TYPE_CHECKING, Any

from retentive import clock
from retentive.conversations.imported import find_imported
from retentive.errors import EmbedError, Invalid, LlmError, NotFound, RetentiveError, Stale
from retentive.judgement import Correction, Rules
from retentive.learning.apply_claims import Deed, Outcome, act, read, written
from retentive.learning.costs import record_cost
from retentive.learning.judge_person import is_of_several, judge_claims
from retentive.learning.quota import Counted
from retentive.llm import Writer
from retentive.memories.corrections import is_judged
from retentive.model import (
    DEFAULT_CONFIDENCE,
    Claim,
    Cost,
    Ended,
    Event,
    Heard,
    Kind,
    Learned,
    Memory,
    Proposal,
    Role,
    Source,
    find_lowest_trust,
)
from retentive.search.retrievers import find_neighbours, having_words
from retentive.storage import Step
from retentive.storage.tables import conversations, learning
from retentive.storage.tables.learning import State
from retentive.store import OpenStore
from retentive.store.person import find_person
from retentive.store.scope import scope
from retentive.text.terms import words

if TYPE_CHECKING:
    from retentive.learning.llm.extract import Extraction

PAGE = 500  # messages read at a time
BEFORE = 4  # messages before these, for what a first answer refers to
KNOWN = 30  # memories that a language model is shown
MAX_COMPARED, NEIGHBOURS = 20, 3  # messages whose vectors are compared for that, and memories near each
EARSHOT = 20  # messages back in which another speaker is looked for
WISHED = 6  # importance of what the user asked to be remembered
RULE = 9  # of how the user asked things to be done: in every context


class Overtaken(Exception):
    """Another process was first with this claim."""


@dataclass(slots=True)
class Tally:
    """What was done so far."""

    events: int = 0
    readers: dict[str, None] = field(default_factory=dict)
    """Who read, in their order: the language model, rules."""
    kept: list[str] = field(default_factory=list)
    reinforced: list[str] = field(default_factory=list)
    superseded: list[str] = field(default_factory=list)
    forgotten: list[str] = field(default_factory=list)
    unclear: list[Heard] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    ended: list[Ended] = field(default_factory=list)
    proposals: list[Proposal] = field(default_factory=list)
    personal: list[str] = field(default_factory=list)
    cost: Cost = field(default_factory=Cost)

    def count(self, outcome: Outcome) -> None:
        heard = outcome.heard
        if heard.namespace:
            self.personal += [*heard.memories, *outcome.superseded]
        if heard.refused:
            self.refused.append(heard.refused)
        elif heard.verb == "forget":
            self.forgotten += heard.memories
            self.unclear += [] if heard.memories else [heard]
        else:
            (self.reinforced if outcome.reinforced else self.kept).extend(heard.memories)
            self.superseded += outcome.superseded
            self.ended += outcome.ended
            self.proposals += outcome.proposals

    def learned(self, state: State) -> Learned:
        told = {each.name: getattr(self, each.name) for each in fields(self)}
        lists = {name: tuple(value) for name, value in told.items() if isinstance(value, list)}
        by = ", then ".join(self.readers) or "rules"
        return Learned(state.session, state.upto, self.events, by=by, cost=self.cost, **lists)


def learn(store: OpenStore, session: str) -> Learned:
    """Everything that was said since the last time."""
    tally = Tally()
    (state,) = deque(pieces(store, session, tally), maxlen=1)
    return tally.learned(state)


def pieces(store: OpenStore, session: str, tally: Tally) -> Iterator[State]:
    """The same, a piece at a time: how it stands is told before each and at the end. Whoever stops loses nothing."""
    while True:
        state = _state(store, session)
        yield state
        if not state.left and state.upto >= state.last:
            return
        if state.person is None and (person := find_person(store)):
            store.engine.apply([conversations.person_step(store.namespace, session, person.namespace)])
            continue
        known = replace(store, person=state.person or "")
        with suppress(Overtaken, Stale):
            (_do if state.left else _read)(known, state, tally)


def learn_due(store: OpenStore, silent: float) -> Iterator[Learned]:
    """From the sessions of the namespace in which nothing was said for so many seconds, but something before."""
    for session in store.tables.learning.due(store.namespace, clock.now() - round(silent * 1e6)):
        with suppress(NotFound):  # deleted meanwhile
            yield learn(store, session)


def handle_requests(store: OpenStore, event: Event) -> Event:
    """What a message just said asks for in plain words, done at once."""
    if event.role is not Role.USER or not store.config.commands:
        return event
    asked, heard = _judge_deeds(store, [*find_requests(store.rules(), event)], [event]), []
    try:
        for done, deed in enumerate(asked if not asked or _alone(store, event) else ()):
            mark = learning.heed_step(event.namespace, event.session, event.sequence, done)
            heard.append(act(store, event.session, deed, partial(list, [mark])).heard)
    except RetentiveError as error:  # the message is kept, and `learn` does what it asks for
        store.journal.failed("requests", error)
    return replace(event, heard=tuple(heard)) if heard else event


def _alone(store: OpenStore, event: Event) -> bool:
    """What several people ask of each other is not meant for us."""
    if event.speaker is None:
        return True
    before = store.tables.conversations.newest(event.namespace, event.session, EARSHOT)
    return {each.speaker for each in before if each.role is Role.USER} <= {event.speaker}


def find_requests(rules: Rules, event: Event) -> Iterator[Deed]:
    """The requests of a message, in order, but for corrections: what they correct may still have to be learned."""
    return (deed for deed in _read_requests(rules, event) if deed.verb != "correct")


def find_corrections(rules: Rules, event: Event) -> Iterator[Deed]:
    return (deed for deed in _read_requests(rules, event) if deed.verb == "correct")


def _read_requests(rules: Rules, event: Event) -> Iterator[Deed]:
    for request in rules.find_requests(event.content):
        is_kept = request.verb == "keep"
        claim = Claim(
            content=rules.make_dates_absolute(request.text, request.kind, event.time) if is_kept else request.text,
            kind=request.kind,
            said=event.time,
            events=(event.sequence,),
            confidence=DEFAULT_CONFIDENCE[Source.EXPLICIT],
            importance=RULE if request.kind is Kind.INSTRUCTION else WISHED,
            tentative=request.doubtful,
        )
        yield Deed(request.verb, claim, Source.EXPLICIT)


def _state(store: OpenStore, session: str) -> State:
    state = store.tables.learning.get(store.namespace, session)
    if state is None:
        hint = "`retentive session list` shows those there are."
        raise NotFound(f"no session {session[:60]!r} in namespace {store.namespace!r}", hint)
    return state


def _do(store: OpenStore, state: State, tally: Tally) -> None:
    """The next of what was written down."""

    def done() -> Iterable[Step]:
        if _state(store, state.session)._replace(last=state.last) != state:
            raise Overtaken(f"another process learns from session {state.session!r}")
        return [learning.done_step(store.namespace, state)]

    claim = json.loads(state.claims)[-state.left]
    try:
        outcome = act(store, state.session, _weigh(store, state.session, read(claim)), done)
    except Invalid as error:  # it will never do: what comes after it must not wait for it
        store.engine.apply([*done()])
        outcome = Outcome(Heard(claim["verb"], claim["content"], refused=str(error)))
    tally.count(outcome)


def _weigh(store: OpenStore, session: str, deed: Deed) -> Deed:
    """What comes of an imported message as the import that it is; what it asks to forget is only shown."""
    about = store.tables.conversations.get(store.namespace, session)
    if about is None or min(deed.claim.events, default=1) > find_imported(about.metadata):
        return deed
    confidence = min(deed.claim.confidence, DEFAULT_CONFIDENCE[Source.IMPORT])
    is_tentative = deed.claim.tentative or deed.verb == "forget"
    claim = replace(deed.claim, confidence=confidence, tentative=is_tentative)
    return deed._replace(claim=claim, source=find_lowest_trust([deed.source, Source.IMPORT]))


def _read(store: OpenStore, state: State, tally: Tally) -> None:
    """Messages, and what is found in them: written down before any of it is done."""
    key = store.namespace, state.session
    events = store.tables.conversations.oldest(*key, PAGE, state.upto)
    if not events:
        raise Stale(f"session {state.session!r} was deleted meanwhile")
    before = store.tables.conversations.newest(*key, BEFORE, before=state.upto + 1)
    found, cost = _claims(store, _visible(before), _visible(events), tally)
    claims = [claim for claim in found if claim.events[-1] > state.upto]
    if is_of_several([*before, *events]):
        claims = [replace(claim, personal=0.0) for claim in claims]
    deeds = [*_asked(store, state, events), *(Deed("keep", claim, Source.EXTRACTED) for claim in claims)]
    deeds.sort(key=lambda deed: deed.sequence)
    text = json.dumps([written(deed) for deed in deeds], ensure_ascii=False) if deeds else ""
    try:
        store.engine.apply([learning.begin_step(store.namespace, state, [*before, *events], text, len(deeds))])
    finally:
        record_cost(store, state.session, cost)  # paid for, whoever was first
    tally.cost = tally.cost.plus(cost)
    store.journal.wrote = True
    tally.events += len(events)


def _visible(events: Sequence[Event]) -> list[Event]:
    """What was forgotten is not learned again from the messages that say it."""
    return [event for event in events if not event.is_hidden]


def _asked(store: OpenStore, state: State, events: Sequence[Event]) -> Iterator[Deed]:
    """Requests that were not done when they were said: those of imported logs."""
    heeded = store.tables.learning.heeded(store.namespace, state.session, state.upto, events[-1].sequence)
    people = {event.speaker for event in events if event.role is Role.USER}
    for event in events if store.config.commands and len(people) <= 1 else ():
        if event.role is Role.USER:
            done = heeded.get(event.sequence, 0)
            yield from _judge_deeds(store, [*islice(find_requests(store.rules(), event), done, None)], [event])
            yield from _judge_deeds(store, [*find_corrections(store.rules(), event)], [event])


def _judge_deeds(store: OpenStore, deeds: Sequence[Deed], events: Sequence[Event]) -> list[Deed]:
    """Requests to keep something, with the probability that it is about the person."""
    claims = judge_claims(store, [deed.claim for deed in deeds], events)
    return [deed._replace(claim=claim) for deed, claim in zip(deeds, claims, strict=True)]


def _claims(
    store: OpenStore, before: Sequence[Event], events: Sequence[Event], tally: Tally
) -> tuple[Sequence[Claim], Cost]:
    """By the language model, if there is one; by rules from where it cannot be used. And what asking it came to."""
    writer = store.writer()
    if writer is None:
        return _by_rules(store, before, events), Cost()
    counted = Counted(writer)
    return _ask(store, counted, before, events, tally), counted.cost


def _ask(
    store: OpenStore, writer: Writer, before: Sequence[Event], events: Sequence[Event], tally: Tally
) -> Sequence[Claim]:
    from retentive.learning.llm import extract  # its patterns take a while to compile, and few stores have a model

    found: list[Claim] = []
    for batch in extract.batches([*before[-1:], *events]):
        try:
            extraction = extract.extract(writer, batch, [*_find_known(store, batch), *found])
            found += judge_claims(store, extraction.claims, batch)
            tally.readers[writer.name] = None
            tally.notes += _describe_rejected(extraction)
        except LlmError as error:
            tally.readers["rules"] = None
            tally.notes.append(f"the language model was not used: {error}")
            store.journal.failed("llm", error)
            return [*found, *_by_rules(store, before, [each for each in events if each.sequence >= batch[0].sequence])]
    return found


def _describe_rejected(extraction: "Extraction") -> list[str]:
    """A note about the claims that were left out, with each reason once."""
    if not extraction.rejected:
        return []
    reasons = dict.fromkeys(each.partition(": ")[2] for each in extraction.rejected)
    count = f"{len(extraction.rejected)} of {extraction.stated}"
    return [f"{count} claims of the language model were left out: {'; '.join(reasons)}"]


def _by_rules(store: OpenStore, before: Sequence[Event], events: Sequence[Event]) -> Sequence[Claim]:
    """By the form of each sentence, and the judges."""
    rules, first = store.rules(), events[0].sequence if events else 0
    found = rules.find_candidates([*before, *events])
    candidates = [each for each in found if each.event.sequence >= first]
    corrections = [
        Correction(deed.sequence, deed.claim.content)
        for event in events
        if event.role is Role.USER
        for deed in find_corrections(rules, event)
    ]
    return rules.choose_claims(candidates, _embed(store, [each.said for each in candidates]), corrections)


def _embed(store: OpenStore, texts: Sequence[str]) -> Sequence[Any] | None:
    """The vectors of sentences for the judges; None where they know the model not, or there is none."""
    return _embed_all(store, texts) or None if is_judged(store) else None


def _embed_all(store: OpenStore, texts: Sequence[str]) -> list[Any]:
    """The vectors of texts; nothing where there is no embedder, or it fails."""
    if not texts or store.embedder is None:
        return []
    try:
        return [*store.embedder.embed(texts)]
    except EmbedError as error:
        store.journal.failed("embed", error)
        return []


def _find_known(store: OpenStore, events: Sequence[Event]) -> list[Memory]:
    """The memories nearest to what the user says, by words and by vectors in turn."""
    said = [event.content for event in events if event.role is Role.USER]
    person = find_person(store)
    within = scope([store.namespace, *([person.namespace] if person else [])], include="memories")
    by_words = having_words(store, words(" ".join(said)), within, KNOWN)
    vectors = _embed_all(store, said[-MAX_COMPARED:])
    by_vector = [each for vector in vectors for each in find_neighbours(store, vector, within, NEIGHBOURS)]
    mixed = [each for pair in zip_longest(by_words, by_vector) for each in pair if each]
    return [*{each.id: each for each in mixed}.values()][:KNOWN]
