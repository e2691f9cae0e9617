"""Substring search: finds texts that contain the question as it stands, or everything of a span of time.

It is the last resort, if neither keyword search nor vector search found anything.
"""

from retentive.model import DEFAULT_CONFIDENCE, Hit, ItemType, Query, Scope, Source, Tier, TimeMatch, Why
from retentive.search.candidates import HitLoader, make_candidate
from retentive.search.relevance import Evidence, relevance
from retentive.search.retrievers import Stage
from retentive.search.time_query import TimeSpan
from retentive.search.times import make_listing, narrow_scope
from retentive.store import OpenStore

MAX_QUESTION_CHARS = 1000  # of a question that are looked for as they stand
MAX_HITS = 1000  # of a search without a limit

_OTHER_TYPES = frozenset(ItemType) - {ItemType.MEMORY, ItemType.EVENT}


class SubstringSearch:
    def __init__(self, store: OpenStore, query: Query, loader: HitLoader, timings: dict[str, float]) -> None:
        self._store, self._query, self._loader, self._timings = store, query, loader, timings
        self._limit = query.limit or MAX_HITS
        self._relevance = relevance(Evidence(None, 1.0))

    def find_texts_with_question(self) -> list[Hit]:
        """Find texts that contain the question."""
        text = self._query.text.strip().replace("\0", "")[:MAX_QUESTION_CHARS]
        return self._find(text, self._query.scope, None) if text else []

    def find_in_span(self, span: TimeSpan) -> list[Hit]:
        """Find everything that was said or began in a span."""
        return self._find("", narrow_scope(self._query.scope, span), make_listing(span))

    def _find(self, text: str, scope: Scope, timing: TimeMatch | None) -> list[Hit]:
        why = Why(Tier.SUBSTRING, None, None, 1.0, 1.0, timing)
        bonus = timing.bonus if timing else 0.0
        hits: list[Hit] = []
        with Stage(self._timings, "substring"):
            if ItemType.MEMORY in scope.types:
                hits += self._find_memories(text, scope, why, bonus)
            if ItemType.EVENT in scope.types and len(hits) < self._limit:
                hits += self._find_messages(text, scope, self._limit - len(hits), why, bonus)
            if not _OTHER_TYPES.isdisjoint(scope.types) and len(hits) < self._limit:
                hits += self._find_others(text, scope, self._limit - len(hits), why, bonus)
        return hits

    def _find_memories(self, text: str, scope: Scope, why: Why, bonus: float) -> list[Hit]:
        memories = self._store.tables.memories.list_containing(text, scope, self._limit)
        return [Hit(each, each.confidence + bonus, each.content, why, None, self._relevance) for each in memories]

    def _find_messages(self, text: str, scope: Scope, limit: int, why: Why, bonus: float) -> list[Hit]:
        """Find messages, each once, by its first chunk."""
        rows = self._store.tables.conversations.list_containing(text, scope, limit)
        first = {(row.namespace, row.session, row.sequence): make_candidate(row) for row in reversed(rows)}
        score = DEFAULT_CONFIDENCE[Source.CONVERSATION] + bonus
        return [
            Hit(item, score, candidate.excerpt, why, candidate.span, self._relevance)
            for candidate in reversed(first.values())
            if (item := candidate.make_item())
        ]

    def _find_others(self, text: str, scope: Scope, limit: int, why: Why, bonus: float) -> list[Hit]:
        """Find records and files, each once, by its first chunk."""
        matches = self._store.tables.records.list_containing(text, scope, limit)
        first = {(match.namespace, match.type, match.owner): match for match in reversed(matches)}
        hits: list[Hit] = []
        for match in reversed(first.values()):
            candidate = self._loader.load_all([match]).get(match.chunk)
            item = candidate.make_item() if candidate else None
            if candidate and item:
                score = match.confidence + bonus
                hits.append(Hit(item, score, candidate.excerpt, why, None, self._relevance))
        return hits
