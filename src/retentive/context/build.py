"""Gather the material of a context from the store: profile, summary, memories, excerpts and recent messages."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from itertools import accumulate, takewhile
from typing import Any, NamedTuple

from retentive.config import Config
from retentive.context.assemble import ContextItem, ContextSection, assemble
from retentive.context.distinct import DistinctTexts, find_distinct
from retentive.conversations.imported import find_imported
from retentive.conversations.replay import render_summary
from retentive.conversations.summaries import fit_summary, load_unsummarised
from retentive.conversations.turns import (
    group_turns,
    has_hidden,
    has_missing_call,
    has_quotes,
    render_excerpt,
    render_line,
    speaker_name,
)
from retentive.errors import DamagedRow, Invalid
from retentive.frozen_dataclass import dataclass
from retentive.model import (
    Context,
    Event,
    Hit,
    ItemType,
    Kind,
    Memory,
    Omission,
    Passage,
    Profile,
    Query,
    Record,
    Results,
    Scope,
    Successor,
    Summary,
    Tier,
    TimeRelation,
    Why,
    is_said,
    to_micros,
)
from retentive.records.profile import ProfileVerbs
from retentive.records.render import profile_without_memories, render_profile
from retentive.search.outdated import place_newer_first
from retentive.search.search import answer, log_search, make_query
from retentive.search.times import read_times
from retentive.storage.damage import collect_damage, report_damage
from retentive.store import OpenStore, validate
from retentive.store.read_ahead import read_together
from retentive.text.chunk import CHUNK_SIZE, chunk_text
from retentive.text.clip import clip_to_tokens
from retentive.text.messages import extract_text
from retentive.text.quote import indent_lines, join_lines, quote_lines
from retentive.text.sentences import (
    EXCERPTS_HEADING,
    MEMORIES_HEADING,
    PROFILE_HEADING,
    RECENT_HEADING,
)
from retentive.text.token_counters import TokenCounter

MAX_MEMORIES = 40  # found for a context, if no number is given: more than a usual budget holds
MAX_EXCERPTS = 20
MAX_VITAL_MEMORIES = 10  # of importance 9 and 10, which are in every context
MAX_ANSWERED_EXCERPTS = 8  # excerpts whose following message is shown, if there is room
FACT_TYPES = (ItemType.MEMORY, ItemType.CONTACT, ItemType.PROJECT, ItemType.SKILL, ItemType.FILE)
MAX_NEWEST_SHARE = 0.5  # of the budget for the newest message


HEADINGS = {
    "profile": PROFILE_HEADING,
    "summary": "",
    "memories": MEMORIES_HEADING,
    "excerpts": EXCERPTS_HEADING,
    "recent": RECENT_HEADING,
}


@dataclass(frozen=True, slots=True)
class ContextRequest:
    """The validated arguments of a context."""

    text: str
    scope: Scope
    budget: int
    recent: int
    top_k: int
    """How many memories, records and passages may be shown beside those of importance 9 and 10."""
    min_similarity: float | None
    min_relevance: float | None
    shares: Mapping[str, float]
    count: TokenCounter

    @property
    def session(self) -> str | None:
        return self.scope.session

    @property
    def is_open(self) -> bool:
        """Whether neither a question nor a session says what it is about."""
        return not self.text.strip() and self.session is None


class ContextFact(NamedTuple):
    """A memory, a record or a passage of a file in a context, and the part of it that matched."""

    item: Memory | Record | Passage
    excerpt: str
    successor: Successor | None = None

    @property
    def newer(self) -> str | None:
        """The key of the newer memory that may have replaced it."""
        if self.successor is None or self.successor.newer_id is None:
            return None
        return f"{self.item.namespace}\0{Memory.__name__}\0{self.successor.newer_id}"


def _make_key(item: Memory | Event | Record | Passage) -> str:
    """A key that is unique across namespaces: callers may choose the same id in two of them."""
    return f"{item.namespace}\0{type(item).__name__}\0{item.id}"


def _id_of_key(key: str) -> str:
    return key.rpartition("\0")[2]


def parse_shares(store: OpenStore, given: Any) -> dict[str, float]:
    """The share of the budget that each part may take first: as given, otherwise as configured."""
    found = {name: getattr(store.config, f"share_{name}") for name in HEADINGS}
    if given is not None and not isinstance(given, Mapping):
        raise Invalid("shares must be a mapping", f"Of: {', '.join(found)}.")
    if unknown := {*(given or {})} - {*found}:
        raise Invalid(f"a context has no part {min(map(str, unknown))[:40]!r}", f"It has: {', '.join(found)}.")
    return found | {
        name: validate.parse_fraction(share, f"the share of {name}", 0.0) for name, share in (given or {}).items()
    }


@dataclass(frozen=True, slots=True)
class Material:
    """The material of a context, the most relevant first. Recent turns are in order of time."""

    profile: Sequence[ContextItem]
    summary: str
    memories: Sequence[ContextFact]
    excerpts: Sequence[Hit]
    recent: Sequence[tuple[Event, ...]]
    unread_count: int
    """The number of unsummarised messages that were not read, because those read fill the budget already."""
    notes: Sequence[str]
    imported: Mapping[tuple[str, str], int]
    """By namespace and session: the last message of it that was imported."""
    following: Mapping[tuple[str, str], Event]
    """By namespace and id of an excerpt's message: what was said right after it."""

    @property
    def recent_events(self) -> list[Event]:
        return [event for turn in self.recent for event in turn]

    def is_imported(self, event: Event) -> bool:
        return event.sequence <= self.imported.get((event.namespace, event.session), 0)


def build_context(store: OpenStore, request: ContextRequest) -> Context:
    """Build a context. Damaged rows are left out and reported in the notes."""
    with collect_damage() as damage:
        context = _build(store, request)
    return replace(context, notes=(*context.notes, *damage.notes())) if damage else context


def _build(store: OpenStore, request: ContextRequest) -> Context:
    material = _gather_material(store, request)
    recent_events = material.recent_events
    while True:
        context = _assemble(request, material, recent_events)
        shown = [event for event in recent_events if event.id in context.cites]
        if len(shown) == len(recent_events) or not any(hit.item in recent_events for hit in material.excerpts):
            break
        recent_events = shown  # a message that does not fit as a whole may fit as an excerpt
    if material.unread_count:
        unread = Omission(
            "recent", request.session or "", f"{material.unread_count} older messages do not fit the budget"
        )
        context = replace(context, left_out=(*context.left_out, unread))
    return replace(context, notes=tuple(material.notes))


class _SessionPart(NamedTuple):
    """What a context takes from the session itself."""

    summary: Summary | None
    recent: Sequence[tuple[Event, ...]]
    unread_count: int


def _gather_material(store: OpenStore, request: ContextRequest) -> Material:
    query = _make_query(store, request) if request.text.strip() else None
    works: list[Callable[[OpenStore], Any]] = [
        lambda each: _read_session(each, request),
        lambda each: _list_unsearched(each, request),
        lambda each: _read_profiles(each, request),
    ]
    if query:
        works += [
            partial(_search_facts, query=query.query, limit=request.top_k),
            partial(_search_excerpts, query=query.query),
        ]
    session, listed, profiles, *found = read_together(store, works)
    hits, excerpts, notes = _sort_found(store, query, found) if query else ([], [], [])
    if request.session and session.summary is None:
        notes.append(f"there is no session {request.session!r} yet")
    facts = _collect_facts(listed, hits)
    profile = [*_make_profile_items(profiles, {fact.item.id for fact in facts})]
    newest = [turn[-1] for turn in session.recent[-1:]]  # tells whether its session was imported
    messages = [*(hit.event for hit in excerpts), *newest]
    around = store.tables.conversations.find_surroundings(messages)
    imported = {key: find_imported(metadata) for key, metadata in around.metadata.items()}
    text = _fit_summary(request, session.summary)
    return Material(
        profile, text, facts, excerpts, session.recent, session.unread_count, notes, imported, around.following
    )


def _read_session(store: OpenStore, request: ContextRequest) -> _SessionPart:
    summary, end = _read_summary_at(store, request)
    if summary is None or not request.recent:
        return _SessionPart(summary, [], 0)
    return _SessionPart(summary, *_load_recent_turns(store, summary, end, request))


def _list_unsearched(store: OpenStore, request: ContextRequest) -> Sequence[Hit]:
    """The vital memories, and the newest ones if there is nothing to search for. They are not ranked."""
    listed = store.tables.memories.list_most_important(request.scope, MAX_VITAL_MEMORIES)
    if request.is_open:
        listed += _list_newest(store, request.scope, request.top_k)
    return _mark_listed(store, request.scope, listed)


def _collect_facts(listed: Iterable[Hit], hits: Iterable[Hit]) -> list[ContextFact]:
    """The listed memories, then the search hits. A newer memory comes before the older one that it may replace."""
    facts: dict[str, ContextFact] = {}
    for hit in (*listed, *hits):
        if not isinstance(hit.item, Event):
            facts.setdefault(_make_key(hit.item), ContextFact(hit.item, hit.excerpt, hit.outdated))
    return _sort_newer_first(facts)


def _list_newest(store: OpenStore, scope: Scope, limit: int) -> list[Memory]:
    """The newest memories of all namespaces, without notes: these are documents."""
    pages = [store.tables.memories.list_page(replace(scope, namespaces=(name,)), limit) for name in scope.namespaces]
    found = [memory for page in pages for memory in page if memory.kind is not Kind.NOTE]
    return sorted(found, key=lambda memory: (memory.created, memory.id), reverse=True)[:limit]


def _mark_listed(store: OpenStore, scope: Scope, listed: Sequence[Memory]) -> Sequence[Hit]:
    """Memories that no search found, as hits that tell whether they are outdated."""
    if not listed:
        return []
    tier = Tier.SUBSTRING  # any would do: these hits are not ranked
    why = Why(tier, text=None, vector=None, confidence_factor=1.0, importance_factor=1.0)
    hits = [Hit(each, 0.0, chunk_text(each.content)[0], why) for each in listed]
    return place_newer_first(store, scope, tier, hits, limit=None)


def _sort_newer_first(facts: Mapping[str, ContextFact]) -> list[ContextFact]:
    ordered: dict[str, ContextFact] = {}

    def insert(key: str, waiting: frozenset[str]) -> None:
        newer = facts[key].newer
        if newer is not None and newer in facts and newer not in waiting:
            insert(newer, waiting | {key})
        ordered.setdefault(key, facts[key])

    for key in facts:
        insert(key, frozenset())
    return [*ordered.values()]


def _read_profiles(store: OpenStore, request: ContextRequest) -> list[Profile | None]:
    """The profile of each namespace, None where it is damaged; none at all for a question about the past."""
    if request.scope.filter.past:
        return []
    return [_read_profile(replace(store, namespace=namespace)) for namespace in request.scope.namespaces]


def _read_profile(store: OpenStore) -> Profile | None:
    try:
        return ProfileVerbs(store).get()
    except DamagedRow as error:
        report_damage(error)
        return None


def _make_profile_items(profiles: Iterable[Profile | None], found_ids: Collection[str]) -> Iterator[ContextItem]:
    """The lines of the namespaces' profiles without the facts that were found."""
    for namespace_number, profile in enumerate(profiles):
        if profile is not None:
            lines = render_profile(profile_without_memories(profile, found_ids)).splitlines()
            yield from (
                ContextItem(profile.id, f"- {each}", (namespace_number, number)) for number, each in enumerate(lines)
            )


def _assemble(request: ContextRequest, material: Material, shown_in_full: Sequence[Event]) -> Context:
    """Assemble the context. Memories that repeat another are left out, and excerpts that repeat any other part."""
    known = [request.text, *(fact.excerpt for fact in material.memories), *(event.content for event in shown_in_full)]
    known += [line.partition(": ")[2] for line in material.summary.splitlines()]  # a line is `speaker: text`
    distinct = find_distinct((_make_key(fact.item), fact.excerpt) for fact in material.memories)
    distinct_quotes = find_distinct(
        ((_make_key(hit.item), hit.excerpt) for hit in material.excerpts if hit.item not in shown_in_full), known
    )
    quotes = [hit for hit in material.excerpts if _make_key(hit.item) in distinct_quotes.new]
    shown = {_make_key(each) for each in (*shown_in_full, *(hit.item for hit in material.excerpts))}
    answers = _make_following_items(material, quotes, shown, request.scope.filter.messages_until)
    facts = {key: fact for fact in material.memories if (key := _make_key(fact.item)) in distinct.new}
    groups: dict[str, Sequence[tuple[ContextItem, ...]]] = {
        "profile": [(each,) for each in material.profile],
        "summary": [(ContextItem(request.session or "", render_summary(material.summary), 0),)]
        if material.summary
        else [],
        "memories": [(_render_fact(fact, _make_sort_key(fact, facts)),) for fact in facts.values()],
        "excerpts": [
            *((_make_excerpt_item(material, hit.event, _render_excerpt_text(hit), hit.outdated),) for hit in quotes),
            *answers,
        ],
        "recent": _make_recent_items(request, material),
    }
    newest = _count_newest_turns(material.recent, request.recent)
    options: dict[str, dict[str, Any]] = {
        "profile": {"is_served_last": True},
        "memories": {"needs": _find_needed_groups(facts)},
        "recent": {"stop_at_misfit": True, "max_groups_in_share": newest},
    }
    sections = [
        ContextSection(name, HEADINGS[name], request.shares[name], items, **options.get(name, {}))
        for name, items in groups.items()
    ]
    context = assemble(sections, request.budget, request.count)
    repeats = (*_list_repeats("memories", distinct), *_list_repeats("excerpts", distinct_quotes))
    return replace(context, left_out=tuple(dict.fromkeys((*context.left_out, *repeats))))


def _list_repeats(section: str, distinct: DistinctTexts) -> Iterator[Omission]:
    for key, other in distinct.repeats:
        original = _id_of_key(other) or "another part, or as the question"
        yield Omission(section, _id_of_key(key), f"says the same as {original}")


def _search_facts(store: OpenStore, query: Query, limit: int) -> Results:
    return answer(store, replace(query, limit=limit, scope=replace(query.scope, types=FACT_TYPES)))


def _search_excerpts(store: OpenStore, query: Query) -> Results:
    everywhere = replace(query.scope, types=(ItemType.EVENT,), events_of_session=None)
    return answer(store, replace(query, limit=MAX_EXCERPTS, scope=everywhere))


def _sort_found(
    store: OpenStore, query: "_ContextQuery", found: Sequence[Results]
) -> tuple[list[Hit], list[Hit], list[str]]:
    """Log the searches. Return the facts and the messages that they found, and their notes."""
    memories, excerpts = found
    log_search(store, query.query, memories, excerpts)
    notes = [*dict.fromkeys((*memories.notes, *excerpts.notes))]
    if query.is_only_time:
        return _keep_timely(memories), _keep_timely(excerpts), notes
    return [*memories], [*excerpts], notes


_TIMELY_RELATIONS = frozenset((TimeRelation.INSIDE, TimeRelation.MENTIONED, TimeRelation.NEAR))


def _keep_timely(hits: Iterable[Hit]) -> list[Hit]:
    """For a question that has only a time, keep the hits of that time."""
    return [hit for hit in hits if hit.why.time and hit.why.time.relation in _TIMELY_RELATIONS]


class _ContextQuery(NamedTuple):
    """The query of both searches."""

    query: Query
    is_only_time: bool
    """Whether thresholds were dropped because the question is only a time. Those of the caller are never dropped."""


def _make_query(store: OpenStore, request: ContextRequest) -> _ContextQuery:
    thresholds = _choose_thresholds(store.config, request)
    # The context itself chooses among copies and reports those that were left out.
    query = make_query(store, request.text, request.scope, fold_copies=False, **thresholds)
    if request.min_similarity is not None or request.min_relevance is not None:
        return _ContextQuery(query, is_only_time=False)
    names = store.speakers.load(store.tables.conversations, request.scope.namespaces).names
    if read_times(query, names).is_only_time:
        # "what did I do last week?" is like nothing that was said
        return _ContextQuery(replace(query, min_similarity=None, min_relevance=None), is_only_time=True)
    return _ContextQuery(query, is_only_time=False)


def _choose_thresholds(settings: Config, request: ContextRequest) -> dict[str, float | None]:
    """The thresholds of the request, else those of the settings. One of similarity replaces that of relevance."""
    similarity, relevance = request.min_similarity, request.min_relevance
    if similarity is None:
        similarity = settings.min_similarity or None
    if relevance is None and similarity is None:
        relevance = settings.min_relevance
    return {"min_similarity": similarity, "min_relevance": relevance}


def _read_summary_at(store: OpenStore, request: ContextRequest) -> tuple[Summary | None, int | None]:
    """Read the session's summary and, for a question about the past, the first message that was said after that time.

    A summary that covers such a message is left out.
    """
    summary = _read_summary(store, request.session) if request.session else None
    moment = request.scope.filter.messages_until
    if summary is None or moment is None:
        return summary, None
    end = store.tables.conversations.find_first_after(store.namespace, summary.session, moment)
    is_covered = end is not None and end <= summary.upto
    return replace(summary, text="", upto=0) if is_covered else summary, end


def _read_summary(store: OpenStore, session: str) -> Summary | None:
    """Read a session's summary; None if there is no such session. A damaged one counts as not written yet."""
    try:
        return store.tables.conversations.load_summary(store.namespace, session)
    except DamagedRow as error:
        report_damage(error)
        return Summary(session, "", 0, 0)


def _load_recent_turns(
    store: OpenStore, summary: Summary, end: int | None, request: ContextRequest
) -> tuple[list[tuple[Event, ...]], int]:
    """The newest messages since the summary, enough to fill the budget, as turns; and how many older ones were left."""
    events, earlier = load_unsummarised(store, summary, request.budget, request.count, end)
    taken = [*takewhile(lambda turn: not (earlier and has_missing_call(turn)), reversed(group_turns(events)))]
    left_out = earlier + len(events) - sum(map(len, taken))
    return [turn for turn in reversed(taken) if not has_hidden(turn)], left_out


def _fit_summary(request: ContextRequest, summary: Summary | None) -> str:
    if summary is None or not summary.text:
        return ""
    return fit_summary(summary.text, int(request.shares["summary"] * request.budget), request.count)


def _find_needed_groups(facts: Mapping[str, ContextFact]) -> dict[int, int]:
    """For each older memory, the newer one before it, without which it is not shown."""
    numbers = {key: number for number, key in enumerate(facts)}
    needs = {}
    for key, fact in facts.items():
        newer = numbers.get(fact.newer or "")
        if newer is not None and newer < numbers[key]:
            needs[numbers[key]] = newer
    return needs


def _make_sort_key(fact: ContextFact, facts: Mapping[str, ContextFact], depth: int = 0) -> tuple[Any, ...]:
    """The sort key of a fact: by its time, or directly below its newer memory."""
    newer = facts.get(fact.newer or "")
    own = _make_time_key(fact.item)
    return own if newer is None or depth > len(facts) else (*_make_sort_key(newer, facts, depth + 1), *own)


def _render_fact(fact: ContextFact, place: tuple[Any, ...]) -> ContextItem:
    item, excerpt = fact.item, fact.excerpt.strip()
    if isinstance(item, Passage):
        words = quote_lines(_drop_repeated_heading(item, excerpt))
        text = f"- {words} ({join_lines(item.place)}, {item.modified:%Y-%m-%d})"
        return ContextItem(item.id, text, place, has_quotes=True)
    if isinstance(item, Record):
        return ContextItem(item.id, f"- {' '.join(excerpt.split())} ({item.TYPE}, {item.updated:%Y-%m-%d})", place)
    text = excerpt if excerpt == item.content.strip() else f"{excerpt} …"
    mark = f"{item.valid_from:%Y-%m-%d}" + (f", {fact.successor}" if fact.successor else "")
    if is_said(item.source):
        return ContextItem(item.id, f"- {indent_lines(text)} ({mark})", place)
    return ContextItem(item.id, f"- {quote_lines(text)} ({item.source}, {mark})", place, has_quotes=True)


def _drop_repeated_heading(item: Passage, excerpt: str) -> str:
    """Drop a heading from an excerpt of a file if the place of the passage already shows it."""
    first, _, rest = excerpt.partition("\n")
    is_repeated = item.headings and first.strip("# ") == item.headings[-1]
    return rest.strip() if is_repeated and rest.strip() else excerpt


def _make_time_key(item: Memory | Record | Passage) -> tuple[datetime, str]:
    match item:
        case Memory():
            return item.valid_from, item.id
        case Passage():
            return item.modified, item.id
        case _:
            return item.updated, item.id


def _make_excerpt_item(material: Material, event: Event, text: str, successor: Successor | None = None) -> ContextItem:
    """The item of a message from this or another conversation. Outdated ones are sorted below the others."""
    mark = f" ({successor})" if successor else ""
    is_imported = material.is_imported(event)
    words = (
        f"- {event.time:%Y-%m-%d} {speaker_name(event)}: {render_excerpt(event, text, is_imported=is_imported)}{mark}"
    )
    order = successor is not None, event.time, event.session, event.sequence
    return ContextItem(event.id, words, order, has_quotes=has_quotes(event, is_imported=is_imported))


def _render_excerpt_text(hit: Hit) -> str:
    whole = extract_text(hit.event.content, hit.event.payload)
    return hit.excerpt if hit.excerpt.strip() == whole.strip() else f"{hit.excerpt.strip()} …"


def _make_following_items(
    material: Material, hits: Sequence[Hit], known: Collection[str], until: int | None
) -> list[tuple[ContextItem, ...]]:
    """The short messages right after the best excerpts: a question is found more easily than its answer."""
    items: list[tuple[ContextItem, ...]] = []
    for hit in hits[:MAX_ANSWERED_EXCERPTS]:
        event = material.following.get((hit.event.namespace, hit.event.id))
        if event is None or event.is_hidden or (until is not None and to_micros(event.time) > until):
            continue
        text = extract_text(event.content, event.payload)
        if _make_key(event) not in known and 0 < len(text) <= CHUNK_SIZE:
            items.append((_make_excerpt_item(material, event, text),))
    return items


def _count_newest_turns(recent: Sequence[Sequence[Event]], limit: int) -> int:
    """The number of turns with the newest messages up to the limit, including a turn that the limit would divide."""
    sizes = accumulate(len(turn) for turn in reversed(recent))
    return 1 + sum(size < limit for size in sizes)


def _make_recent_items(request: ContextRequest, material: Material) -> list[tuple[ContextItem, ...]]:
    turns = [tuple(_make_message_item(material, event) for event in turn) for turn in reversed(material.recent)]
    if turns and len(turns[0]) == 1:
        # The newest message matters most, so a long one is clipped instead of dropped.
        newest, room = turns[0][0], int(max(MAX_NEWEST_SHARE, request.shares["recent"]) * request.budget)
        turns[0] = (replace(newest, text=clip_to_tokens(newest.text, room, request.count)),)
    return [turn for turn in turns if turn[0].text]


def _make_message_item(material: Material, event: Event) -> ContextItem:
    is_imported = material.is_imported(event)
    words = render_line(event, is_imported=is_imported)
    return ContextItem(event.id, words, event.sequence, has_quotes=has_quotes(event, is_imported=is_imported))
