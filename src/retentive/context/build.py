"""The text that a model should read next."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import accumulate, takewhile
from typing import Any, NamedTuple

from retentive.context.assemble import Item, Section, assemble, distinct
from retentive.conversations.imported import find_imported
from retentive.conversations.replay import render_summary
from retentive.conversations.summaries import fit_summary, latest
from retentive.conversations.turns import dangling, has_hidden, has_quotes, line, render_excerpt, speaker, turns
from retentive.errors import DamagedRow, Invalid
from retentive.model import (
    Context,
    Event,
    Hit,
    Memory,
    Omission,
    Outdated,
    Passage,
    Query,
    Record,
    Relation,
    Scope,
    Summary,
    Tier,
    Type,
    Why,
    is_said,
    to_micros,
)
from retentive.records.profile import ProfileVerbs
from retentive.records.render import profile as rendered
from retentive.records.render import profile_without
from retentive.search.outdated import mark_outdated
from retentive.search.search import answer, asking, record
from retentive.search.times import read_times
from retentive.storage.damage import collect_damage, report_damage
from retentive.store import OpenStore, validate
from retentive.text.chunk import CHUNK_SIZE, chunk
from retentive.text.fit import cut
from retentive.text.messages import readable
from retentive.text.quote import flatten, indent, quote
from retentive.text.sentences import (
    EXCERPTS_HEADING,
    MEMORIES_HEADING,
    PROFILE_HEADING,
    RECENT_HEADING,
)
from retentive.text.token_counters import Counter

MEMORIES = 40  # looked at for a context: more than a usual budget holds
EXCERPTS = 20
MOST_VITAL = 10  # memories of importance 9 and 10 that are in every context: what is vital bears on every question
ANSWERED = 8  # excerpts whose following message is shown, if there is room
KNOWN = (Type.MEMORY, Type.CONTACT, Type.PROJECT, Type.SKILL, Type.FILE)
LONGEST_NEWEST = 0.5  # of the budget for the newest message


HEADINGS = {
    "profile": PROFILE_HEADING,
    "summary": "",
    "memories": MEMORIES_HEADING,
    "excerpts": EXCERPTS_HEADING,
    "recent": RECENT_HEADING,
}


@dataclass(frozen=True, slots=True)
class Asked:
    """What a context is to be made for, checked."""

    text: str
    scope: Scope
    budget: int
    recent: int
    min_similarity: float | None
    min_relevance: float | None
    shares: Mapping[str, float]
    count: Counter

    @property
    def session(self) -> str | None:
        return self.scope.session


class Fact(NamedTuple):
    """A memory, a record or a passage of a file in a context, and the part of it that matched."""

    item: Memory | Record | Passage
    excerpt: str
    outdated: Outdated | None = None

    @property
    def newer(self) -> str | None:
        """The key of the newer memory that may have replaced it."""
        if self.outdated is None or self.outdated.newer_id is None:
            return None
        return f"{self.item.namespace}\0{Memory.__name__}\0{self.outdated.newer_id}"


def _key(item: Memory | Event | Record | Passage) -> str:
    """Ids that callers choose may be the same in two namespaces."""
    return f"{item.namespace}\0{type(item).__name__}\0{item.id}"


def _id(key: str) -> str:
    return key.rpartition("\0")[2]


def shares(store: OpenStore, given: Any) -> dict[str, float]:
    """How much of the budget each part may take first: as given, else as set."""
    found = {name: getattr(store.config, f"share_{name}") for name in HEADINGS}
    if given is not None and not isinstance(given, Mapping):
        raise Invalid("shares must be a mapping", f"Of: {', '.join(found)}.")
    if unknown := {*(given or {})} - {*found}:
        raise Invalid(f"a context has no part {min(map(str, unknown))[:40]!r}", f"It has: {', '.join(found)}.")
    return found | {
        name: validate.fraction(share, f"the share of {name}", 0.0) for name, share in (given or {}).items()
    }


@dataclass(frozen=True, slots=True)
class Found:
    """What a context can be made of, each most relevant first; recent turns the newest last."""

    profile: Sequence[Item]
    summary: str
    memories: Sequence[Fact]
    excerpts: Sequence[Hit]
    recent: Sequence[tuple[Event, ...]]
    earlier: int
    """Messages that no summary covers and that no budget would hold."""
    notes: Sequence[str]
    imported: Mapping[tuple[str, str], int]
    """By namespace and session: the last message of it that was imported."""
    following: Mapping[tuple[str, str], Event]
    """By namespace and id of an excerpt's message: what was said right after it."""

    @property
    def spoken(self) -> list[Event]:
        return [event for turn in self.recent for event in turn]

    def is_imported(self, event: Event) -> bool:
        return event.sequence <= self.imported.get((event.namespace, event.session), 0)


def context(store: OpenStore, asked: Asked) -> Context:
    """The text. What is damaged is left out, and named in the notes."""
    with collect_damage() as damage:
        made = _context(store, asked)
    return replace(made, notes=(*made.notes, *damage.notes())) if damage else made


def _context(store: OpenStore, asked: Asked) -> Context:
    found = _found(store, asked)
    spoken = found.spoken
    while True:
        made = _assembled(asked, found, spoken)
        shown = [event for event in spoken if event.id in made.cites]
        if len(shown) == len(spoken) or not any(hit.item in spoken for hit in found.excerpts):
            break
        spoken = shown  # what has no room as a whole message may have it as an excerpt
    if found.earlier:
        unread = Omission("recent", asked.session or "", f"{found.earlier} older messages do not fit the budget")
        made = replace(made, left_out=(*made.left_out, unread))
    return replace(made, notes=tuple(found.notes))


def _found(store: OpenStore, asked: Asked) -> Found:
    state, end = _state(store, asked)
    recent, earlier = _recent(store, state, end, asked) if state and asked.recent else ([], 0)
    hits, excerpts, notes = _searched(store, asked)
    if asked.session and state is None:
        notes.append(f"there is no session {asked.session!r} yet")
    facts = _facts(store, asked.scope, hits)
    profile = [*_profiles(store, asked, {fact.item.id for fact in facts})]
    messages = [*(hit.event for hit in excerpts), *(turn[-1] for turn in recent[-1:])]
    around = store.tables.conversations.surroundings(messages)
    imported = {key: find_imported(metadata) for key, metadata in around.metadata.items()}
    summary = _summary(asked, state)
    return Found(profile, summary, facts, excerpts, recent, earlier, notes, imported, around.following)


def _facts(store: OpenStore, scope: Scope, hits: Iterable[Hit]) -> list[Fact]:
    """Vital memories, then those that were found; a newer memory before the older one that it may replace."""
    vital = store.tables.memories.vital(scope, MOST_VITAL)
    tier = Tier.SUBSTRING
    always = [Hit(each, 0.0, chunk(each.content)[0], Why(tier, None, None, 1.0, 1.0)) for each in vital]
    if always:
        always = mark_outdated(store, scope, tier, always, None)
    facts: dict[str, Fact] = {}
    for hit in (*always, *hits):
        if not isinstance(hit.item, Event):
            facts.setdefault(_key(hit.item), Fact(hit.item, hit.excerpt, hit.outdated))
    return _newer_first(facts)


def _newer_first(facts: Mapping[str, Fact]) -> list[Fact]:
    ordered: dict[str, Fact] = {}

    def place(key: str, waiting: frozenset[str]) -> None:
        newer = facts[key].newer
        if newer is not None and newer in facts and newer not in waiting:
            place(newer, waiting | {key})
        ordered.setdefault(key, facts[key])

    for key in facts:
        place(key, frozenset())
    return [*ordered.values()]


def _profiles(store: OpenStore, asked: Asked, told: Collection[str]) -> Iterator[Item]:
    """What the profiles of the namespaces say, but for what is told by these memories; nothing of the past."""
    if asked.scope.filter.past:
        return
    for place, namespace in enumerate(asked.scope.namespaces):
        try:
            profile = ProfileVerbs(replace(store, namespace=namespace)).get()
        except DamagedRow as error:
            report_damage(error)
            continue
        lines = rendered(profile_without(profile, told)).splitlines()
        yield from (Item(profile.id, f"- {each}", (place, number)) for number, each in enumerate(lines))


def _assembled(asked: Asked, found: Found, spoken: Sequence[Event]) -> Context:
    """Without what is said twice: the question itself, a memory, a recent message or the summary in an excerpt."""
    known = [asked.text, *(fact.excerpt for fact in found.memories), *(event.content for event in spoken)]
    known += [text.partition(": ")[2] for text in found.summary.splitlines()]
    told = distinct((_key(fact.item), fact.excerpt) for fact in found.memories)
    quoted = distinct(((_key(hit.item), hit.excerpt) for hit in found.excerpts if hit.item not in spoken), known)
    quotes = [hit for hit in found.excerpts if _key(hit.item) in quoted.kept]
    shown = {_key(each) for each in (*spoken, *(hit.item for hit in found.excerpts))}
    answers = _answers(found, quotes, shown, asked.scope.filter.said_until)
    facts = {key: fact for fact in found.memories if (key := _key(fact.item)) in told.kept}
    groups: dict[str, Sequence[tuple[Item, ...]]] = {
        "profile": [(each,) for each in found.profile],
        "summary": [(Item(asked.session or "", render_summary(found.summary), 0),)] if found.summary else [],
        "memories": [(_fact(fact, _place(fact, facts)),) for fact in facts.values()],
        "excerpts": [*((_said(found, hit.event, _quoted(hit), hit.outdated),) for hit in quotes), *answers],
        "recent": _latest_first(asked, found),
    }
    sections = [
        Section(name, HEADINGS[name], asked.shares[name], items, in_sequence=name == "recent", waits=name == "profile")
        for name, items in groups.items()
    ]
    sections[-1] = replace(sections[-1], at_first=_newest(found.recent, asked.recent))
    sections[2] = replace(sections[2], needs=_needs(facts))
    made = assemble(sections, asked.budget, asked.count)
    again = [("memories", *each) for each in told.repeats] + [("excerpts", *each) for each in quoted.repeats]
    repeats = (
        Omission(part, _id(key), f"says the same as {_id(other) or 'another part, or as the question'}")
        for part, key, other in again
    )
    return replace(made, left_out=tuple(dict.fromkeys((*made.left_out, *repeats))))


def _searched(store: OpenStore, asked: Asked) -> tuple[list[Hit], list[Hit], list[str]]:
    """The memories and the events that bear on the question, and what was missing in the search for them."""
    if not asked.text.strip():
        return [], [], []
    query = _query(store, asked)
    memories = answer(store, replace(query, limit=MEMORIES, scope=replace(query.scope, types=KNOWN)))
    everywhere = replace(query.scope, types=(Type.EVENT,), within=None)
    excerpts = answer(store, replace(query, limit=EXCERPTS, scope=everywhere))
    record(store, query, memories, excerpts)
    notes = [*dict.fromkeys((*memories.notes, *excerpts.notes))]
    if query.min_similarity is None and query.min_relevance is None:
        return _timely(memories), _timely(excerpts), notes
    return [*memories], [*excerpts], notes


_OF_THAT_TIME = frozenset((Relation.INSIDE, Relation.TOLD, Relation.NEAR))


def _timely(hits: Iterable[Hit]) -> list[Hit]:
    """Of a question that has nothing but its time to go by, what is of that time."""
    return [hit for hit in hits if hit.why.when and hit.why.when.relation in _OF_THAT_TIME]


def _query(store: OpenStore, asked: Asked) -> Query:
    """For both searches; the embedder remembers the question from the first."""
    settings = store.config
    similarity = settings.min_similarity or None if asked.min_similarity is None else asked.min_similarity
    relevance = settings.min_relevance if asked.min_relevance is None and similarity is None else asked.min_relevance
    # Which of several copies goes into the context, and that others were left out, is told there.
    limits = {"min_similarity": similarity, "min_relevance": relevance}
    query = asking(store, asked.text, asked.scope, fold_copies=False, **limits)
    names = store.people.of(store.tables.conversations, asked.scope.namespaces).names
    if asked.min_similarity is None and asked.min_relevance is None and read_times(query, names).alone:
        # "what did I do last week?" is like nothing that was said
        return replace(query, min_similarity=None, min_relevance=None)
    return query


def _state(store: OpenStore, asked: Asked) -> tuple[Summary | None, int | None]:
    """The session's summary; in a question about the past, also the first message that had not been said then.

    A summary that tells of such a message is none.
    """
    state = _read_summary(store, asked.session) if asked.session else None
    moment = asked.scope.filter.said_until
    if state is None or moment is None:
        return state, None
    end = store.tables.conversations.first_after(store.namespace, state.session, moment)
    covered = end is not None and end <= state.upto
    return replace(state, text="", upto=0) if covered else state, end


def _read_summary(store: OpenStore, session: str) -> Summary | None:
    try:
        return store.tables.conversations.summary(store.namespace, session)
    except DamagedRow as error:
        report_damage(error)
        return None


def _recent(store: OpenStore, state: Summary, end: int | None, asked: Asked) -> tuple[list[tuple[Event, ...]], int]:
    """The newest messages back to the summary, as far as the budget could hold them, as turns."""
    events, earlier = latest(store, state, asked.budget, asked.count, end)
    taken = [*takewhile(lambda turn: not (earlier and dangling(turn)), reversed(turns(events)))]
    left_out = earlier + len(events) - sum(map(len, taken))
    return [turn for turn in reversed(taken) if not has_hidden(turn)], left_out


def _summary(asked: Asked, state: Summary | None) -> str:
    if state is None or not state.text:
        return ""
    return fit_summary(state.text, int(asked.shares["summary"] * asked.budget), asked.count)


def _needs(facts: Mapping[str, Fact]) -> dict[int, int]:
    """An older memory is shown only with the newer one that stands before it."""
    numbers = {key: number for number, key in enumerate(facts)}
    needs = {}
    for key, fact in facts.items():
        newer = numbers.get(fact.newer or "")
        if newer is not None and newer < numbers[key]:
            needs[numbers[key]] = newer
    return needs


def _place(fact: Fact, facts: Mapping[str, Fact], depth: int = 0) -> tuple[Any, ...]:
    """Where it stands: by its time, or directly below the newer memory."""
    newer = facts.get(fact.newer or "")
    own = _order(fact.item)
    return own if newer is None or depth > len(facts) else (*_place(newer, facts, depth + 1), *own)


def _fact(fact: Fact, place: tuple[Any, ...]) -> Item:
    item, excerpt = fact.item, fact.excerpt.strip()
    if isinstance(item, Passage):
        words = quote(_below_heading(item, excerpt))
        text = f"- {words} ({flatten(item.place)}, {item.modified:%Y-%m-%d})"
        return Item(item.id, text, place, has_quotes=True)
    if isinstance(item, Record):
        return Item(item.id, f"- {' '.join(excerpt.split())} ({item.TYPE}, {item.updated:%Y-%m-%d})", place)
    text = excerpt if excerpt == item.content.strip() else f"{excerpt} …"
    mark = f"{item.valid_from:%Y-%m-%d}" + (f", {fact.outdated}" if fact.outdated else "")
    if is_said(item.source):
        return Item(item.id, f"- {indent(text)} ({mark})", place)
    return Item(item.id, f"- {quote(text)} ({item.source}, {mark})", place, has_quotes=True)


def _below_heading(item: Passage, excerpt: str) -> str:
    """Without a heading that its place tells anyway."""
    first, _, rest = excerpt.partition("\n")
    told = item.headings and first.strip("# ") == item.headings[-1]
    return rest.strip() if told and rest.strip() else excerpt


def _order(item: Memory | Record | Passage) -> tuple[datetime, str]:
    match item:
        case Memory():
            return item.valid_from, item.id
        case Passage():
            return item.modified, item.id
        case _:
            return item.updated, item.id


def _said(found: Found, event: Event, text: str, outdated: Outdated | None = None) -> Item:
    """A message of an earlier conversation; those that are outdated stand below the others."""
    mark = f" ({outdated})" if outdated else ""
    is_imported = found.is_imported(event)
    words = f"- {event.time:%Y-%m-%d} {speaker(event)}: {render_excerpt(event, text, is_imported=is_imported)}{mark}"
    order = outdated is not None, event.time, event.session, event.sequence
    return Item(event.id, words, order, has_quotes=has_quotes(event, is_imported=is_imported))


def _quoted(hit: Hit) -> str:
    whole = readable(hit.event.content, hit.event.payload)
    return hit.excerpt if hit.excerpt.strip() == whole.strip() else f"{hit.excerpt.strip()} …"


def _answers(found: Found, hits: Sequence[Hit], known: Collection[str], until: int | None) -> list[tuple[Item, ...]]:
    """What was said right after the best excerpts, as far as it is short: a question is found more easily than its
    answer.
    """
    following = (found.following.get((hit.event.namespace, hit.event.id)) for hit in hits[:ANSWERED])
    said = [after for after in following if after and (until is None or to_micros(after.time) <= until)]
    said = [after for after in said if not after.is_hidden]
    texts = [(after, readable(after.content, after.payload)) for after in said]
    return [
        (_said(found, after, text),)
        for after, text in texts
        if _key(after) not in known and 0 < len(text) <= CHUNK_SIZE
    ]


def _newest(recent: Sequence[Sequence[Event]], limit: int) -> int:
    """How many turns hold the newest messages up to the limit; the one that it would divide is one of them."""
    sizes = accumulate(len(turn) for turn in reversed(recent))
    return 1 + sum(size < limit for size in sizes)


def _latest_first(asked: Asked, found: Found) -> list[tuple[Item, ...]]:
    turns = [tuple(_message(found, event) for event in turn) for turn in reversed(found.recent)]
    if turns and len(turns[0]) == 1:
        # The newest message is what all is about: of one that would leave no room for the rest there is the beginning.
        newest, room = turns[0][0], int(max(LONGEST_NEWEST, asked.shares["recent"]) * asked.budget)
        turns[0] = (replace(newest, text=cut(newest.text, room, asked.count)),)
    return [turn for turn in turns if turn[0].text]


def _message(found: Found, event: Event) -> Item:
    is_imported = found.is_imported(event)
    words = line(event, is_imported=is_imported)
    return Item(event.id, words, event.sequence, has_quotes=has_quotes(event, is_imported=is_imported))
