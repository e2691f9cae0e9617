"""The retrievers: keyword search (BM25) and vector search (cosine), from images in memory or in the database."""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import chain
from operator import itemgetter
from typing import Any, NamedTuple

from retentive.errors import Closed, EmbedError, StorageError, Unwritable
from retentive.index import TERMS_FROM
from retentive.judgement.likeness import MAX_COUNTED_WORDS, MAX_ROWS, MAX_SEARCHED_WORDS, choose_longest, choose_rarest
from retentive.model import Match, Memory, Mode, Query, Scope, Space
from retentive.storage.engine_search import read_cosines
from retentive.storage.tables import Tables
from retentive.store import OpenStore
from retentive.store.vectors import find_space, normalize_vectors, vector_length
from retentive.text.terms import find_query_words

_read_score = itemgetter(1)  # the score of a match
MAX_LOADED_FOR_WRITE = 20_000  # chunks of a store whose vectors a write may load: some 80 ms, once in a process


class Stage:
    """Adds the time spent inside to `timings`. (A generator would cost three times as much, six times a question.)"""

    __slots__ = ("_begun", "_name", "_timings")

    def __init__(self, timings: dict[str, float], name: str) -> None:
        self._timings, self._name = timings, name

    def __enter__(self) -> None:
        self._begun = time.perf_counter()

    def __exit__(self, *_: object) -> None:
        passed = time.perf_counter() - self._begun
        self._timings[self._name] = self._timings.get(self._name, 0.0) + passed


class QuestionVector(NamedTuple):
    """The vector of a question and its space."""

    vector: Any
    space: Space


class Retrievers:
    """Both searches of one question. A search that fails is noted and raises no error."""

    def __init__(self, store: OpenStore, query: Query, words: Sequence[str]) -> None:
        self.store, self.query, self.words = store, query, words
        self.notes: list[str] = []
        self.stage_seconds: dict[str, float] = {}
        self.cosines: dict[int, float] = {}
        """The cosines of matches that only keyword search found, by chunk."""
        self._known_head: int | None = None

    def in_scope(self, scope: Scope, limit: int) -> "Retrievers":
        """The same searches in another scope, in step with the same change. Notes, timings and cosines are shared."""
        other = Retrievers(self.store, replace(self.query, scope=scope, limit=limit), self.words)
        other.notes, other.stage_seconds, other.cosines, other._known_head = (
            self.notes,
            self.stage_seconds,
            self.cosines,
            self._known_head,
        )
        return other

    def without_replies(self) -> "Retrievers":
        """The same searches without the messages of assistants."""
        scope = self.query.scope
        assert self.query.limit is not None  # noqa: S101 - a search without a limit finds all there is
        return self.in_scope(replace(scope, filter=replace(scope.filter, without_replies=True)), self.query.limit)

    def embed_question(self, meaning: str) -> QuestionVector | None:
        """Embed the question; None if it cannot be, with a note saying why not."""
        if self.query.mode is Mode.TEXT:
            return None
        if self.query.vector is not None:
            space = find_space(self.store, vector_length(self.query.vector))
            assert space is not None  # noqa: S101 - a length always names a space
            return QuestionVector(normalize_vectors([self.query.vector], space)[0], space)
        if not meaning.strip():
            return None
        if self.store.embedder is None:
            self.notes.append("vectors were not used: the embedder is switched off")
            return None
        embedder = self.store.embedder
        if embedder.space.dimension and self._has_image:
            self.store.images().prepare(embedder.space, self.query.scope)
        try:
            with Stage(self.stage_seconds, "embed"):
                vector = embedder.embed_query(meaning)
                return QuestionVector(vector, embedder.space)  # whose dimension is known by now
        except EmbedError as error:
            self.notes.append(f"vectors were not used: {error}")
            return None

    def find_matches(
        self, asked: QuestionVector | None, depth: int, min_cosine: float | None
    ) -> tuple[list[Match], list[Match]]:
        """Run the searches of the mode: matches of keyword search and of vector search, best first.

        A server answers both in one round trip.
        """
        is_hybrid = self.query.mode is Mode.HYBRID and self.query.limit is not None
        if asked and self.words and is_hybrid and not self.store.engine.uses_local_index:
            return self._search_both(*asked, depth, min_cosine)
        text = self._search_keywords(depth) if self.query.mode is not Mode.VECTOR else []
        if not asked:
            return text, []
        vector = self._search_vectors(*asked, depth, min_cosine)
        self._measure_cosines(*asked, text, vector)
        return text, vector

    def _measure_cosines(self, vector: Any, space: Space, text: list[Match], near: list[Match]) -> None:
        """Measure the cosines of matches that only keyword search found."""
        known = {match.chunk for match in near}
        chunks = [match.chunk for match in text if match.chunk not in known]
        if not chunks:
            return
        with Stage(self.stage_seconds, "vector"):
            try:
                if self._has_image:
                    self.cosines |= self.store.images().cosines(vector, space, self.query.scope, chunks)
                else:
                    namespaces = self.query.scope.namespaces
                    self.cosines |= read_cosines(self.store.engine, vector, space, namespaces, chunks)
            except StorageError as error:
                self._note_failure("vectors were not used", error, "doctor")

    def _search_both(
        self, vector: Any, space: Space, depth: int, min_cosine: float | None
    ) -> tuple[list[Match], list[Match]]:
        with Stage(self.stage_seconds, "search"):
            try:
                found = self.store.engine.search_both(self.words, vector, space, self.query.scope, depth, min_cosine)
            except StorageError as error:
                self._note_failure("neither full text nor vectors were used", error, "doctor")
                return [], []
        self.cosines |= found.cosines
        return found.text, found.vector

    def _search_keywords(self, depth: int) -> list[Match]:
        with Stage(self.stage_seconds, "text"):
            try:
                return search_keywords(self.store, self.words, self.query.scope, depth, self._head)
            except StorageError as error:
                self._note_failure("full text was not used", error, "repair")
                return []

    def _search_vectors(self, vector: Any, space: Space, depth: int, min_cosine: float | None) -> list[Match]:
        with Stage(self.stage_seconds, "vector"):
            scope = self.query.scope
            limit = None if self.query.limit is None else depth
            try:
                if self._has_image:
                    return self.store.images().search_vectors(vector, space, scope, limit, min_cosine, self._head())
                return self.store.engine.search_vectors(vector, space, scope, limit, min_cosine)
            except StorageError as error:
                self._note_failure("vectors were not used", error, "doctor")
                return []

    def _note_failure(self, lost: str, error: StorageError, remedy: str) -> None:
        """Note a search that failed, also for `stats`. Raise the error if no other search could do better."""
        if isinstance(error, Closed | Unwritable):
            raise error
        self.notes.append(f"{lost}: {error}; run `{remedy}()`")
        self.store.journal.record_failure("search", f"{lost}: {error}")

    @property
    def _has_image(self) -> bool:
        """Whether images in memory answer questions of this scope."""
        return self.store.engine.uses_local_index and self.store.images().answers(self.query.scope)

    def _head(self) -> int:
        """The newest change, read once for both searches: on a server each read is a round trip."""
        if self._known_head is None:
            self._known_head = self.store.tables.chunks.head()
        return self._known_head


def merge_matches(first: list[Match], second: list[Match]) -> list[Match]:
    """Merge the matches of two runs of the same search, best first."""
    known = {match.chunk for match in first}
    new = [match for match in second if match.chunk not in known]
    return sorted([*first, *new], key=_read_score, reverse=True) if new else first


def search_keywords(
    store: OpenStore, asked: Sequence[str], scope: Scope, depth: int, head: Callable[[], int] | None = None
) -> list[Match]:
    """Keyword search, in the image of the postings if there is one, else in the database.

    `head` returns the change up to which the image must be in step.
    """
    if not asked:
        return []
    matches = _search_image(store, asked, scope, depth, head)
    return store.engine.search_text(asked, scope, depth) if matches is None else matches


def _search_image(
    store: OpenStore, asked: Sequence[str], scope: Scope, depth: int, head: Callable[[], int] | None = None
) -> list[Match] | None:
    """Keyword search in the image; None if there is none that answers this scope."""
    if not _is_image_worth(store) or not store.images().answers(scope):
        return None
    terms = store.engine.tokens(" ".join(asked))
    return store.images().search_text(terms, scope, depth, head() if head else None)


def find_by_keywords(store: OpenStore, asked: Sequence[str], within: Scope, limit: int) -> list[Memory]:
    """Find memories that have some of the words, the best first, as far as the scope still sees them."""
    return _load_memories(store, search_keywords(store, asked, within, limit), within)


def find_like(store: OpenStore, text: str, within: Scope, limit: int) -> list[Memory]:
    """Find memories that share telling words with a text, the nearest first.

    An image is asked for the longest words. The database is asked for the rarest, because its work grows with the
    number of rows that have them.
    """
    candidates = choose_longest(find_query_words(text), MAX_COUNTED_WORDS)
    if not store.engine.uses_local_index:
        return read_like(store.tables, candidates, store.engine.tokens, within, limit)
    matches = _search_image(store, candidates[:MAX_SEARCHED_WORDS], within, limit) if candidates else []
    if matches is None:
        rarest = _find_rarest(store, candidates, within.namespaces)
        matches = store.engine.search_text(rarest, within, limit) if rarest else []
    return _load_memories(store, matches, within)


def read_like(
    tables: Tables, candidates: Sequence[str], tokenize: Callable[[str], list[str]], within: Scope, limit: int
) -> list[Memory]:
    """As `find_like`, of a server: it chooses the rarest words itself, and gives the memories with the matches."""
    terms = {number: own for number, word in enumerate(candidates) if (own := tokenize(word))}
    return tables.memories.list_like(terms, within, limit, MAX_SEARCHED_WORDS, MAX_ROWS) if terms else []


def announce_like(store: OpenStore, tables: Tables, text: str, within: Scope, limit: int) -> None:
    """Name what `find_like` will read, for `read_ahead`."""
    candidates = choose_longest(find_query_words(text), MAX_COUNTED_WORDS)
    read_like(tables, candidates, store.engine.tokens, within, limit)


def _find_rarest(store: OpenStore, candidates: Sequence[str], namespaces: Sequence[str]) -> list[str]:
    """The words that the fewest rows of the namespaces have."""
    terms = {word: store.engine.tokens(word) for word in candidates}
    distinct = {*chain.from_iterable(terms.values())}
    counts = store.tables.chunks.count_terms(namespaces, [*distinct], MAX_ROWS)
    # A word of several terms is searched as a phrase: it is as rare as the rarest of them.
    known = {word: own for word, own in terms.items() if own and counts.keys() >= {*own}}
    rows = {word: min(counts[term] for term in own) for word, own in known.items()}
    return choose_rarest(candidates, rows)


def _load_memories(store: OpenStore, matches: Sequence[Match], within: Scope) -> list[Memory]:
    owners = dict.fromkeys((match.namespace, match.owner) for match in matches)
    visible = store.tables.memories.list_by_ids([id for _, id in owners], within) if owners else {}
    return [visible[owner] for owner in owners if owner in visible]


def _is_image_worth(store: OpenStore) -> bool:
    """Whether an image is worth loading: not in a small store, nor for the first question of a process."""
    if not store.journal.question_count or not store.engine.uses_local_index:
        return False
    return store.images.made is not None or store.tables.chunks.read_last_number() >= TERMS_FROM


def find_neighbours(store: OpenStore, vector: Any, within: Scope, limit: int) -> list[Memory]:
    """Find the memories whose vectors are nearest.

    Finds nothing in a large store whose images are not loaded: a process that only writes loads none.
    """
    space = store.space
    if space is None or len(vector) != space.dimension:
        return []
    if not store.engine.uses_local_index:
        return store.tables.memories.list_nearest(vector, space, within, limit)
    if store.images.made is not None or store.tables.chunks.read_last_number() <= MAX_LOADED_FOR_WRITE:
        if not store.images().answers(within):
            return []
        matches = store.images().search_vectors(vector, space, within, limit, None, store.tables.chunks.head())
    else:
        return []
    return _load_memories(store, matches, within)
