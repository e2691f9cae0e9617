"""The two legs of a search: what shares the question's words, and what is near it in meaning."""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from retentive.errors import Closed, EmbedError, StorageError
from retentive.index import TERMS_FROM
from retentive.judgement.likeness import MAX_COUNTED_WORDS, MAX_ROWS, TELLING_WORDS, choose_rarest, telling
from retentive.model import Match, Memory, Mode, Query, Scope, Space
from retentive.storage.brute_force import read_cosines
from retentive.store import OpenStore
from retentive.store.vectors import length_of, space_of, unit
from retentive.text.terms import words

MAX_CHUNKS_UNLOADED = 20_000  # of a store whose vectors are loaded for a write: some 80 ms, once in a process


class Stage:
    """Times what is done inside it. (A generator would cost three times as much, six times a question.)"""

    __slots__ = ("_begun", "_name", "_timings")

    def __init__(self, timings: dict[str, float], name: str) -> None:
        self._timings, self._name = timings, name

    def __enter__(self) -> None:
        self._begun = time.perf_counter()

    def __exit__(self, *_: object) -> None:
        passed = time.perf_counter() - self._begun
        self._timings[self._name] = self._timings.get(self._name, 0.0) + passed


class Legs:
    """Of one question. What could not be used is noted, and no error."""

    def __init__(self, store: OpenStore, query: Query, words: Sequence[str]) -> None:
        self.store, self.query, self.words = store, query, words
        self.notes: list[str] = []
        self.timings: dict[str, float] = {}
        self.cosines: dict[int, float] = {}
        """By chunk, of what keyword search found and vector search did not."""
        self._seen: int | None = None

    def inside(self, scope: Scope, limit: int) -> "Legs":
        """The same legs in another scope, in step with the same change."""
        other = Legs(self.store, replace(self.query, scope=scope, limit=limit), self.words)
        other.notes, other.timings, other.cosines, other._seen = self.notes, self.timings, self.cosines, self._seen
        return other

    def without_replies(self) -> "Legs":
        """The same searches among what assistants did not say."""
        scope = self.query.scope
        assert self.query.limit is not None  # noqa: S101 - a search without a limit finds all there is
        return self.inside(replace(scope, filter=replace(scope.filter, without_replies=True)), self.query.limit)

    def embedded(self, meaning: str) -> tuple[Any, Space] | None:
        """The question as a vector, or None with a note saying why not."""
        if self.query.mode is Mode.TEXT:
            return None
        if self.query.vector is not None:
            space = space_of(self.store, length_of(self.query.vector))
            assert space is not None  # noqa: S101 - a length always names a space
            return unit([self.query.vector], space)[0], space
        if not meaning.strip():
            return None
        if self.store.embedder is None:
            self.notes.append("vectors were not used: the embedder is switched off")
            return None
        embedder = self.store.embedder
        if embedder.space.dimension and self._imaged:
            self.store.images().prepare(embedder.space, self.query.scope)
        try:
            with Stage(self.timings, "embed"):
                return embedder.embed_query(meaning), embedder.space  # whose dimension is known by now
        except EmbedError as error:
            self.notes.append(f"vectors were not used: {error}")
            return None

    def __call__(
        self, asked: tuple[Any, Space] | None, depth: int, floor: float | None
    ) -> tuple[list[Match], list[Match]]:
        """Those of the mode; both in one round trip where a server answers them."""
        hybrid = self.query.mode is Mode.HYBRID and self.query.limit is not None
        if asked and self.words and hybrid and not self.store.engine.in_process:
            return self._both(*asked, depth, floor)
        text = self._text(depth) if self.query.mode is not Mode.VECTOR else []
        if not asked:
            return text, []
        near = self._vector(*asked, depth, floor)
        self._measure(*asked, text, near)
        return text, near

    def _measure(self, vector: Any, space: Space, text: list[Match], near: list[Match]) -> None:
        """Note the cosine of what only keyword search found: how near it is does not hang on what else is near."""
        known = {match.chunk for match in near}
        chunks = [match.chunk for match in text if match.chunk not in known]
        if not chunks:
            return
        with Stage(self.timings, "vector"):
            try:
                if self._imaged:
                    self.cosines |= self.store.images().cosines(vector, space, self.query.scope, chunks)
                else:
                    namespaces = self.query.scope.namespaces
                    self.cosines |= read_cosines(self.store.engine, vector, space, namespaces, chunks)
            except Closed:
                raise
            except StorageError as error:
                self.notes.append(f"vectors were not used: {error}; run `retentive doctor`")

    def _both(self, vector: Any, space: Space, depth: int, floor: float | None) -> tuple[list[Match], list[Match]]:
        with Stage(self.timings, "search"):
            try:
                found = self.store.engine.search_both(self.words, vector, space, self.query.scope, depth, floor)
            except Closed:
                raise
            except StorageError as error:
                self.notes.append(f"neither full text nor vectors were used: {error}; run `retentive doctor`")
                return [], []
        self.cosines |= found.cosines
        return found.text, found.vector

    def _text(self, depth: int) -> list[Match]:
        with Stage(self.timings, "text"):
            try:
                return text_matches(self.store, self.words, self.query.scope, depth, self._head)
            except Closed:
                raise
            except StorageError as error:
                self.notes.append(f"full text was not used: {error}; run `retentive doctor --repair`")
                return []

    def _vector(self, vector: Any, space: Space, depth: int, floor: float | None) -> list[Match]:
        with Stage(self.timings, "vector"):
            scope, most = self.query.scope, None if self.query.limit is None else depth
            try:
                if self._imaged:
                    return self.store.images().search_vectors(vector, space, scope, most, floor, self._head())
                return self.store.engine.search_vectors(vector, space, scope, most, floor)
            except Closed:
                raise
            except StorageError as error:
                self.notes.append(f"vectors were not used: {error}; run `retentive doctor`")
                return []

    @property
    def _imaged(self) -> bool:
        return self.store.engine.in_process and self.store.images().answers(self.query.scope)

    def _head(self) -> int:
        """The newest change, looked up once for both legs: on a server each look is a round trip."""
        if self._seen is None:
            self._seen = self.store.tables.chunks.head()
        return self._seen


def text_matches(
    store: OpenStore, asked: Sequence[str], scope: Scope, depth: int, head: Callable[[], int] | None = None
) -> list[Match]:
    """From the image of the postings if there is one, else from the database. `head` tells how far to be in step."""
    if not asked:
        return []
    found = _image_matches(store, asked, scope, depth, head)
    return store.engine.search_text(asked, scope, depth) if found is None else found


def _image_matches(
    store: OpenStore, asked: Sequence[str], scope: Scope, depth: int, head: Callable[[], int] | None = None
) -> list[Match] | None:
    if not _image_pays(store) or not store.images().answers(scope):
        return None
    terms = store.engine.tokens(" ".join(asked))
    return store.images().search_text(terms, scope, depth, head() if head else None)


def having_words(store: OpenStore, asked: Sequence[str], within: Scope, most: int) -> list[Memory]:
    """Memories that have some of the words, the nearest first, as far as the scope still sees them."""
    return _load_memories(store, text_matches(store, asked, within, most), within)


def find_like(store: OpenStore, text: str, within: Scope, most: int) -> list[Memory]:
    """Memories that share telling words with a text, the nearest first.

    In memory by the longest words; the database is asked for the rarest, because its work grows with what they find.
    """
    candidates = telling(words(text), MAX_COUNTED_WORDS)
    matches = _image_matches(store, candidates[:TELLING_WORDS], within, most) if candidates else []
    if matches is None:
        rarest = _find_rarest(store, candidates, within.namespaces)
        matches = store.engine.search_text(rarest, within, most) if rarest else []
    return _load_memories(store, matches, within)


def _find_rarest(store: OpenStore, candidates: Sequence[str], namespaces: Sequence[str]) -> list[str]:
    terms = {word: store.engine.tokens(word) for word in candidates}
    counted = store.tables.chunks.count_terms(namespaces, [*{*chain.from_iterable(terms.values())}], MAX_ROWS)
    # A word of several terms is looked for as a phrase: it is as rare as the rarest of them.
    known = {word: own for word, own in terms.items() if own and counted.keys() >= {*own}}
    return choose_rarest(candidates, {word: min(counted[term] for term in own) for word, own in known.items()})


def _load_memories(store: OpenStore, matches: Sequence[Match], within: Scope) -> list[Memory]:
    owners = dict.fromkeys((match.namespace, match.owner) for match in matches)
    seen = store.tables.memories.some([id for _, id in owners], within) if owners else {}
    return [seen[owner] for owner in owners if owner in seen]


def _image_pays(store: OpenStore) -> bool:
    """Not in a small store, and not for a process's first question: one that asks only once should load nothing."""
    if not store.journal.asked or not store.engine.in_process:
        return False
    return store.images.made is not None or store.tables.chunks.newest() >= TERMS_FROM


def find_neighbours(store: OpenStore, vector: Any, within: Scope, limit: int) -> list[Memory]:
    """The memories whose vectors are nearest.

    In a large store whose images are not loaded, nothing is looked for: a process that only writes loads none.
    """
    space = store.space
    if space is None or len(vector) != space.dimension:
        return []
    if not store.engine.in_process:
        matches = store.engine.search_vectors(vector, space, within, limit, None)
    elif store.images.made is not None or store.tables.chunks.newest() <= MAX_CHUNKS_UNLOADED:
        if not store.images().answers(within):
            return []
        matches = store.images().search_vectors(vector, space, within, limit, None, store.tables.chunks.head())
    else:
        return []
    return _load_memories(store, matches, within)
