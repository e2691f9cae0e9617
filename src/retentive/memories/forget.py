"""Forget memories by keywords, by filters or by retention rules. `restore` undoes it."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

from retentive import clock
from retentive.errors import Conflict, Invalid, NotFound
from retentive.memories.hide import Forgetting, hide_steps
from retentive.model import ForgetCandidates, ForgetResult, Memory, Scope, Status, from_micros
from retentive.search import search
from retentive.search.retrievers import search_keywords
from retentive.storage import Step
from retentive.storage.tables import memories
from retentive.store import OpenStore, validate
from retentive.store.scope import Filters, make_scope
from retentive.store.write import Decision, write
from retentive.text.retention_rules import parse_rules
from retentive.text.terms import find_query_words, segment_text

FORGET_BATCH_SIZE = 200  # memories that share a commit
MAX_RETENTION_BATCHES = 50  # per maintenance run: ten thousand memories, some seconds; the rest follows in the next
MAX_MATCHES = 1000  # the best matches; those without every keyword are dropped
MAX_NEAREST = 5  # similar memories to choose from, if none has every keyword
MAX_LISTED = 5  # memories in an error message
PAST_WORDS = frozenset("old older former previous earlier outdated obsolete past".split())
"""Words that ask for the replaced one of several memories; the memory itself need not have them."""


def find_forget_candidates(store: OpenStore, text: str, filters: Filters) -> ForgetCandidates:
    """Find the memories that have every keyword of a text, in content, context, tags or slot; else similar ones."""
    keywords = find_query_words(validate.clean_question(text))
    if not keywords:
        raise Invalid("no words to search for", "Give a few words that the memory contains.")
    within = _make_scope(store, filters)
    matching = _find_with_all(store, keywords, within)
    content_words = [word for word in keywords if word not in PAST_WORDS]
    if not matching and 0 < len(content_words) < len(keywords):
        replaced: Filters = {"status": [Status.SUPERSEDED], **filters}
        matching = _find_with_all(store, content_words, _make_scope(store, replaced))
        matching = matching or _find_with_all(store, content_words, within)
    if matching:
        return ForgetCandidates(text, tuple(matching))
    query = search.make_query(store, text, within, limit=None)  # without a limit: similar enough only
    hits = search.search(store, query)
    nearest = _filter_session((hit.memory for hit in hits), filters)
    return ForgetCandidates(text, (), tuple(nearest)[:MAX_NEAREST])


def forget_matching(
    store: OpenStore,
    text: str | None,
    filters: Filters,
    *,
    confirm: bool,
    dry_run: bool,
    reason: str | None,
    actor: str,
) -> ForgetResult:
    """Forget the memories that match the keywords of a text, or else the filters. Several need `confirm`."""
    validate.check_reason(reason, actor)
    if text is None and not filters:
        raise Invalid(
            "neither words nor filters", "Give words or filters. For a whole namespace, list every kind: kind=[...]."
        )
    chosen = _choose_memories(store, text, filters)
    if dry_run or not chosen:
        return ForgetResult(tuple(chosen), done=not dry_run)
    if len(chosen) > 1 and not confirm:
        hint = "Give more words, forget them by id, or confirm that all are meant with `confirm=True`."
        raise Conflict(f"{len(chosen)} memories match: {_list_names(chosen)}", hint)
    return ForgetResult(tuple(forget_all(store, chosen, reason, actor)), done=True)


def forget_all(store: OpenStore, memories_to_forget: Sequence[Memory], reason: str | None, actor: str) -> list[Memory]:
    """Forget memories in batches, each in one transaction. Skip those that were forgotten or purged meanwhile."""
    rest, done = iter(memories_to_forget), list[Memory]()
    while batch := [*islice(rest, FORGET_BATCH_SIZE)]:
        done += _forget_batch(store, batch, reason, actor, with_messages=True)
    return done


def apply_retention(store: OpenStore) -> Iterator[int]:
    """Forget what the retention rules do not keep. Yield how many after each commit: writers wait for one only."""
    for batch in islice(find_unretained(store), MAX_RETENTION_BATCHES):
        yield len(_forget_batch(store, batch, "retention", "upkeep", with_messages=False))


def find_unretained(store: OpenStore) -> Iterator[list[Memory]]:
    """Yield batches of memories that the retention rules do not keep. A batch is repeated until it is forgotten."""
    retention_rules = parse_rules(store.config.retention)
    namespaces = store.tables.memories.list_namespaces() if retention_rules else ()
    for rule in retention_rules:
        for namespace in filter(rule.applies_to, namespaces):
            while batch := store.tables.memories.list_unretained(namespace, rule, clock.now(), FORGET_BATCH_SIZE):
                yield batch


def _choose_memories(store: OpenStore, text: str | None, filters: Filters) -> list[Memory]:
    """Return the memories to forget. Raise `NotFound` if none has all keywords."""
    if text is None:
        return [*_filter_session(_read_all(store, _make_scope(store, filters)), filters)]
    found = find_forget_candidates(store, text, filters)
    if not found.memories:
        similar = f"; similar ones: {_list_names(found.nearest)}" if found.nearest else ""
        hint = "Words must match exactly: find the memory with `search()`, and forget it by id."
        raise NotFound(f"no memory has all of the words {text[:60]!r}{similar}", hint)
    return [*found.memories]


def _read_all(store: OpenStore, within: Scope) -> Iterator[Memory]:
    """Read all memories of a scope, page by page."""
    page = store.tables.memories.list_page(within, FORGET_BATCH_SIZE)
    while page:
        yield from page
        page = store.tables.memories.list_page(within, FORGET_BATCH_SIZE, page[-1].id)


def _find_with_all(store: OpenStore, keywords: Sequence[str], within: Scope) -> list[Memory]:
    """Return the memories that have every keyword, best match first."""
    tokens = store.engine.tokens
    wanted = {*tokens(segment_text(" ".join(keywords)))}
    matches = search_keywords(store, keywords, within, MAX_MATCHES)
    owners = dict.fromkeys((match.namespace, match.owner) for match in matches)
    loaded = store.tables.memories.list_by_ids([id for _, id in owners], within)
    found: list[Memory] = []
    for owner in owners:
        memory = loaded.get(owner)
        if memory is None or within.session not in (None, memory.session):
            continue
        if wanted <= {*tokens(segment_text(_join_fields(memory)))}:
            found.append(memory)
    return found


def _join_fields(memory: Memory) -> str:
    return " ".join((memory.content, memory.context or "", *memory.tags, memory.slot or ""))


def _make_scope(store: OpenStore, filters: Filters) -> Scope:
    validate.reject_unknown(filters, Filters, "forget")
    return make_scope([store.namespace], include="memories", **filters)


def _filter_session(found: Iterator[Memory], filters: Filters) -> Iterator[Memory]:
    """Return only the memories of the session itself: a search in a session finds global memories, too."""
    session = filters.get("session")
    return (each for each in found if session is None or each.session == session)


def _forget_batch(
    store: OpenStore, batch: Sequence[Memory], reason: str | None, actor: str, *, with_messages: bool
) -> list[Memory]:
    """Forget memories in one transaction. With messages, hide those that say the same, as a person asked for it.

    Retention only makes room, so it hides no messages.
    """
    olds = [memory for memory in batch if memory.status is not Status.FORGOTTEN]
    is_retry = False

    def decide(now: int) -> Decision[list[Memory]]:
        nonlocal olds, is_retry
        if is_retry:
            olds = _reload(store, olds, now)
        is_retry = True
        moment = from_micros(now)
        news = [replace(old, status=Status.FORGOTTEN, updated=moment, version=old.version + 1) for old in olds]
        steps = list[Step]()
        for old, new in zip(olds, news, strict=True):
            steps += memories.status_steps(old, new, actor, reason)
        if with_messages:
            steps += hide_steps(store, [Forgetting(old) for old in olds], now)
        return Decision(steps, news)

    return write(store, decide, busy="others kept changing the same memories")


def _reload(store: OpenStore, batch: Sequence[Memory], now: int) -> list[Memory]:
    """Return the memories as they are now, without those that were forgotten or purged."""
    found = (store.tables.memories.get(each.namespace, each.id, now) for each in batch)
    return [each for each in found if each and each.status is not Status.FORGOTTEN]


def _list_names(found: Sequence[Memory]) -> str:
    names = "; ".join(f"{each.id} ({each.content[:60]})" for each in found[:MAX_LISTED])
    return names + (f"; and {len(found) - MAX_LISTED} more" if len(found) > MAX_LISTED else "")
