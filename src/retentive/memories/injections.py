"""Injections: which memories a hook put before a model, and whether the model used them.

They are rows of the access log, so that the log's limit, its switch (`access_log`) and a purge hold for them, too:

    how                 query                       what happened
    hook session-start  SESSION                     shown at the start of a conversation
    hook prompt         SESSION the prompt's words  shown with a prompt
    hook used           SESSION                     an answer had what the memory says

A memory counts as used, too, if it was read by its id within a day after it was shown.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from retentive import clock
from retentive.judgement.corrections.stems import stem_words
from retentive.model import Access, Memory, Role, from_micros
from retentive.store import OpenStore, validate
from retentive.store.scope import resolve_namespaces
from retentive.text.terms import STOP_WORDS
from retentive.text.token_estimate import estimate_tokens

SHOWN_AT_START, SHOWN_FOR_PROMPT, USED = "hook session-start", "hook prompt", "hook used"
MAX_QUESTION_CHARS = 900  # of a prompt, in the log; the session's name stands before it
MAX_READ_ROWS = 20_000  # of the access log of one namespace: some months
MAX_SESSION_ROWS = 2000  # in which the memories shown in one conversation are looked for
READ_WITHIN = timedelta(days=1)
MIN_USED_SHARE = 0.5  # of a memory's telling words, that an answer has
PAGE_SIZE = 1000
_VALUE = re.compile(r"(?=\S*\d)\S{3,}\Z")


class Injection(NamedTuple):
    """A memory that was shown in a conversation, once or more often."""

    namespace: str
    id: str
    session: str
    times: tuple[datetime, ...]
    was_used: bool


class SessionInjections(NamedTuple):
    """What one conversation was shown."""

    session: str
    started: datetime
    prompts: int | None
    """The prompts of the conversation; None if it was not recorded."""
    injected: int
    """Memories shown, each counted once."""
    used: int
    tokens: int
    """About how many tokens the memories shown have, without the frame around them."""


class UnusedMemory(NamedTuple):
    """A memory that was shown and never used."""

    id: str
    namespace: str
    content: str
    shown: int
    """In how many conversations."""


class InjectionReport(NamedTuple):
    sessions: Sequence[SessionInjections]
    """The newest first."""
    unused: Sequence[UnusedMemory]
    """The most often shown first."""


class Injections:
    """The verbs of injections. `namespaces` adds others than the store's own: names, or prefixes such as `team/*`."""

    def __init__(self, store: OpenStore) -> None:
        self._store = store

    def log_shown(self, memories: Iterable[Memory], session: str, question: str | None = None) -> None:
        """Log that memories were shown in a conversation: with a prompt, or without one at its start."""
        how = SHOWN_AT_START if question is None else SHOWN_FOR_PROMPT
        words = " ".join((question or "")[:MAX_QUESTION_CHARS].split())
        shown = ((each.namespace, each.id) for each in memories)
        _log(self._store, shown, how, f"{_require_session(session)} {words}".strip())

    def log_used(self, session: str, answers: str, said: str, namespaces: Sequence[str] = ()) -> int:
        """Log which of the memories shown in a conversation its newest answers used. Return how many.

        What the user says does not count: an answer that repeats it uses no memory.
        """
        store, used = self._store, list[tuple[str, str]]()
        for namespace in resolve_namespaces(store, namespaces):
            rows = store.tables.metrics.accesses(namespace, None, MAX_SESSION_ROWS)
            ids = [each.id for each in _group(rows, _require_session(session)) if not each.was_used]
            memories = store.tables.memories.load_by_ids(namespace, ids, clock.now()) if ids else {}
            used += [(namespace, id) for id, memory in memories.items() if is_used(memory.content, answers, said)]
        _log(store, used, USED, session)
        return len(used)

    def report(self, days: int = 30, session: str | None = None, namespaces: Sequence[str] = ()) -> InjectionReport:
        """Report what the conversations of the last days were shown, and which memories none of them used."""
        store = self._store
        store.journal.flush()
        since = from_micros(clock.now()) - timedelta(days=validate.positive_int(days))
        found: list[Injection] = []
        for namespace in resolve_namespaces(store, namespaces):
            rows = store.tables.metrics.accesses(namespace, None, MAX_READ_ROWS)
            found += _group([row for row in rows if row.at >= since], session)
        memories = _load(store, found)
        known = [each for each in found if (each.namespace, each.id) in memories]
        return InjectionReport([*_sum_sessions(store, known, memories)], _find_unused(known, memories))


def is_used(memory: str, answers: str, said: str) -> bool:
    """Whether answers have what a memory says: one of its values, or half of its telling words."""
    telling = {*stem_words(memory)} - {*stem_words(said)} - STOP_WORDS
    shared = telling.intersection(stem_words(answers))
    if any(_VALUE.match(word) for word in shared):
        return True
    return bool(shared) and len(shared) >= MIN_USED_SHARE * len(telling)


def _require_session(session: str) -> str:
    """A name without blanks: in the log, the first word of a row's query is the session."""
    return validate.require_name(session, "session").replace(" ", "_")


def _log(store: OpenStore, memories: Iterable[tuple[str, str]], how: str, query: str) -> None:
    now = from_micros(clock.now())
    store.journal.record_accesses([Access(namespace, id, now, how, query, None) for namespace, id in memories])


def _group(rows: Iterable[Access], session: str | None) -> list[Injection]:
    """Group the rows of the log by conversation and memory."""
    shown: dict[tuple[str, str, str], list[datetime]] = {}
    used: set[tuple[str, str]] = set()
    read: dict[str, list[datetime]] = {}
    for row in rows:
        name = (row.query or "").partition(" ")[0]
        if row.how == "get":
            read.setdefault(row.id, []).append(row.at)
        elif row.how == USED:
            used.add((name, row.id))
        elif row.how in {SHOWN_AT_START, SHOWN_FOR_PROMPT} and session in {None, name}:
            shown.setdefault((row.namespace, row.id, name), []).append(row.at)
    return [
        Injection(namespace, id, name, tuple(times), (name, id) in used or _was_read(times, read.get(id, ())))
        for (namespace, id, name), times in shown.items()
    ]


def _was_read(shown: Iterable[datetime], read: Iterable[datetime]) -> bool:
    first = min(shown)
    return any(first <= time <= first + READ_WITHIN for time in read)


def _load(store: OpenStore, found: Iterable[Injection]) -> dict[tuple[str, str], Memory]:
    ids: dict[str, list[str]] = {}
    for each in found:
        ids.setdefault(each.namespace, []).append(each.id)
    now = clock.now()
    return {
        (namespace, id): memory
        for namespace, own in ids.items()
        for id, memory in store.tables.memories.load_by_ids(namespace, [*dict.fromkeys(own)], now).items()
    }


def _sum_sessions(
    store: OpenStore, found: Iterable[Injection], memories: dict[tuple[str, str], Memory]
) -> Iterator[SessionInjections]:
    by_session: dict[str, list[Injection]] = {}
    for each in found:
        by_session.setdefault(each.session, []).append(each)
    starts = {name: min(time for each in own for time in each.times) for name, own in by_session.items()}
    for name in sorted(starts, key=lambda name: starts[name], reverse=True):
        own = by_session[name]
        tokens = sum(len(each.times) * estimate_tokens(memories[each.namespace, each.id].content) for each in own)
        used = sum(each.was_used for each in own)
        yield SessionInjections(name, starts[name], _count_prompts(store, name), len(own), used, tokens)


def _count_prompts(store: OpenStore, session: str) -> int | None:
    """Count the user's messages of a recorded conversation."""
    events, after, count = store.tables.conversations, 0, 0
    if events.get(store.namespace, session) is None:
        return None
    while page := events.list_oldest(store.namespace, session, PAGE_SIZE, after):
        count += sum(each.role == Role.USER for each in page)
        after = page[-1].sequence
    return count


def _find_unused(found: Iterable[Injection], memories: dict[tuple[str, str], Memory]) -> list[UnusedMemory]:
    found = [*found]
    used = {(each.namespace, each.id) for each in found if each.was_used}
    shown = Counter((each.namespace, each.id) for each in found)
    return [
        UnusedMemory(id, namespace, memories[namespace, id].content, count)
        for (namespace, id), count in shown.most_common()
        if (namespace, id) not in used
    ]
