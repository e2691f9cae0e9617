"""The way of a question: two legs inside one scope, fused, weighed, and shown with why."""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from retentive.app.parts import Parts
from retentive.app.timing import Found, Timed, listing, moment, narrowed, place, read_times, timed, within
from retentive.app.vectors import length_of, space_of, unit
from retentive.errors import Closed, EmbedError, Invalid, StorageError
from retentive.index import TERMS_FROM
from retentive.model import (
    DEFAULT_CONFIDENCE,
    Access,
    Hit,
    Match,
    Memory,
    Mode,
    Query,
    Results,
    Scope,
    Source,
    Space,
    Tier,
    Timing,
    Type,
    Why,
    from_micros,
)
from retentive.retrieve.fuse import Fused, fuse
from retentive.retrieve.rank import Ranked, confidence_factor, importance_factor, rank
from retentive.retrieve.when import NOTHING, When
from retentive.storage.conversations import Said
from retentive.text.chunk import CHUNK_SIZE
from retentive.text.terms import words

DEPTH = 2  # matches asked of each leg for each hit wanted. R@10 on LoCoMo: 1 .643, 2 .653, 3 .652, 5 .636, 20 .639
DEEPER = 4  # times as many, where that was not enough
TEXT_FLOOR = 0.5  # share of the question's words that a hit of the text leg alone must have to pass a threshold search
MOST = 1000  # matches of the text leg, and substrings, in a search without a limit
INSIDE = 0.5  # of the hits wanted: if the legs found fewer in a time of the question, they look there alone, too
EVENTS = 5  # looked at for the time of an event that the question names
SURE = 1.5  # times the similarity that is worth calling related, for an event of which only half of the words are there
LONGEST = 1000  # characters of a question that are looked for as they stand


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


class Asking:
    """One question on its way: what was found, what was missing, how long each stage took."""

    def __init__(self, parts: Parts, query: Query, when: When | None = None) -> None:
        self.parts = parts
        self.query = query
        self.words = words(query.text)
        self.notes: list[str] = []
        self.timings: dict[str, float] = {}
        self.depth = MOST if query.limit is None else DEPTH * query.limit
        self._seen: int | None = None
        self.when = read_times(query) if when is None else when
        self._timed: Timed = {}

    def answer(self) -> Results:
        with self._stage("total"):
            if self.when.unread:
                with self._stage("when"):
                    self.when, notes = place(self.when, self._event, moment(self.query.scope))
                    self.notes += notes
            tier, hits = self._ranked()
            if not hits and self.query.text.strip() and self.query.mode is not Mode.VECTOR:
                tier, hits = Tier.SUBSTRING, self._substring()
            if self.when.alone and tier in {Tier.TEXT, Tier.SUBSTRING} and (listed := self._listed(hits)):
                tier, hits = Tier.SUBSTRING, listed
        return Results(self.query.text, tier, tuple(hits), tuple(self.notes), self.timings)

    def _ranked(self) -> tuple[Tier, list[Hit]]:
        """Both legs joined; deeper into them if the many slices of a few memories left too little."""
        mode, asked = self.query.mode, None if self.query.mode is Mode.TEXT else self._asked_vector()
        while True:
            text, vector = self._legs(asked)
            deep = max(len(text), len(vector))
            if self.when.spans:
                text, vector = self._inside(asked, text, vector)
            with self._stage("fuse"):
                fused = fuse(text, vector, self.query.fusion, self.query.vector_weight)
                ranked = rank(fused.scores())
            if self.when.spans or self.when.newest:
                with self._stage("when"):
                    ranked, self._timed = timed(self.when, ranked, fused, self._fetched, self.query.scope)
            with self._stage("fetch"):
                tier = _tier(text, vector, mode)
                hits = self._hits(ranked, fused, tier) if ranked else []
            # What a threshold dropped is not made up for: the deeper matches cover even less of the question.
            enough = len(ranked) if self._thresholded else len(hits)
            if enough >= (self.query.limit or 0) or self.depth > deep:
                return tier, hits
            self.depth *= DEEPER

    def _legs(self, asked: tuple[Any, Space] | None) -> tuple[list[Match], list[Match]]:
        """Those of the mode; both in one round trip where a server answers them."""
        limited = self.query.limit is not None
        if asked and self.words and limited and self.query.mode is Mode.HYBRID and not self.parts.engine.in_process:
            return self._both(*asked)
        text = self._text() if self.query.mode is not Mode.VECTOR else []
        return text, self._vector(*asked) if asked else []

    def _inside(self, asked: tuple[Any, Space] | None, *legs: list[Match]) -> tuple[list[Match], list[Match]]:
        """The legs, with what they find inside a time of the question if they had little of it.

        A boost lifts only what is there.
        """
        text, vector = legs
        limit = self.query.limit or (MOST if self.when.alone and self.query.min_similarity is None else 0)
        wanted = limit if self.when.alone else INSIDE * limit
        for span in [span for span in self.when.spans if span.sure]:
            scope = narrowed(self.query.scope, span)
            if len({match.owner for match in (*text, *vector) if within(match, scope)}) >= wanted:
                continue
            inner = Asking(self.parts, replace(self.query, scope=scope, limit=limit), NOTHING)
            inner.timings, inner.depth, inner._seen = self.timings, limit, self._seen
            more, near = inner._legs(asked)
            text, vector = _joined(text, more), _joined(vector, near)
        return text, vector

    def _event(self, words: str) -> Hit | None:
        """What surely tells of an event: it has all of its words, or half of them and is near in meaning."""
        scope = replace(self.query.scope, types=tuple(Type))
        query = replace(self.query, text=words, scope=scope, vector=None, limit=EVENTS, min_similarity=None)
        asking = Asking(self.parts, query, NOTHING)
        asking.timings = self.timings
        space = self.parts.embedder.space if self.parts.embedder else None
        for hit in asking._ranked()[1]:
            share, near = asking._covered(hit), hit.why.vector.score if hit.why.vector and space else 0.0
            if share == 1 or (share >= TEXT_FLOOR and space and near >= SURE * space.min_similarity):
                return hit
        return None

    def _both(self, vector: Any, space: Space) -> tuple[list[Match], list[Match]]:
        with self._stage("search"):
            try:
                scope, floor = self.query.scope, self._floor(space)
                return self.parts.engine.search_both(self.words, vector, space, scope, self.depth, floor)
            except Closed:
                raise
            except StorageError as error:
                self.notes.append(f"neither full text nor vectors were used: {error}; run `retentive doctor`")
                return [], []

    def _stage(self, name: str) -> Stage:
        return Stage(self.timings, name)

    def _text(self) -> list[Match]:
        with self._stage("text"):
            try:
                return text_matches(self.parts, self.words, self.query.scope, self.depth, self._head)
            except Closed:
                raise
            except StorageError as error:
                self.notes.append(f"full text was not used: {error}; run `retentive doctor --repair`")
                return []

    def _vector(self, vector: Any, space: Space) -> list[Match]:
        with self._stage("vector"):
            depth = None if self.query.limit is None else self.depth
            scope, floor = self.query.scope, self._floor(space)
            try:
                if self._imaged:
                    return self.parts.images().search_vectors(vector, space, scope, depth, floor, self._head())
                return self.parts.engine.search_vectors(vector, space, scope, depth, floor)
            except Closed:
                raise
            except StorageError as error:
                self.notes.append(f"vectors were not used: {error}; run `retentive doctor`")
                return []

    def _asked_vector(self) -> tuple[Any, Space] | None:
        """The question as a vector, or None with a note saying why not."""
        if self.query.vector is not None:
            space = space_of(self.parts, length_of(self.query.vector))
            assert space is not None  # noqa: S101 - a length always names a space
            return unit([self.query.vector], space)[0], space
        if not self.query.text.strip():
            return None
        if self.parts.embedder is None:
            self.notes.append("vectors were not used: the embedder is switched off")
            return None
        space = self.parts.embedder.space
        if self._imaged:
            self.parts.images().prepare(space, self.query.scope)
        try:
            with self._stage("embed"):
                return self.parts.embedder.embed_query(self.when.rest or self.query.text), space
        except EmbedError as error:
            self.notes.append(f"vectors were not used: {error}")
            return None

    @property
    def _imaged(self) -> bool:
        return self.parts.engine.in_process and self.parts.images().answers(self.query.scope)

    def _head(self) -> int:
        """The newest change, looked up once for both legs: on a server each look is a round trip."""
        if self._seen is None:
            self._seen = self.parts.chunks.head()
        return self._seen

    def _floor(self, space: Space) -> float | None:
        if self.query.min_similarity is not None:
            return self.query.min_similarity
        return (self.parts.config.min_similarity or space.min_similarity) if self.query.limit is None else None

    @property
    def _thresholded(self) -> bool:
        return self.query.limit is None or self.query.min_similarity is not None

    def _hits(self, ranked: Sequence[Ranked], fused: Fused, tier: Tier) -> list[Hit]:
        """The best that may still be seen, read in slices until there are enough."""
        hits: list[Hit] = []
        limit = len(ranked) if self.query.limit is None else self.query.limit
        for start in range(0, len(ranked), limit):
            part = ranked[start : start + limit]
            found = self._fetched([match for _, _, _, match in part])
            for score, _, _, match in part:
                if item := found.get(match.chunk):
                    why = _why(match, fused, tier, self._timed.get(match.chunk))
                    hit = Hit(item.item, score, item.excerpt, why, item.span)
                    if hit.why.vector or not self._thresholded or self._covers(hit):
                        hits.append(hit)
            if len(hits) >= limit:
                break
        return hits[:limit]

    def _fetched(self, matches: Sequence[Match]) -> dict[int, Found]:
        """What the chunks are slices of, by chunk, as far as the scope still sees them."""
        found: dict[int, Found] = {}
        if owners := {m.chunk: (m.namespace, m.owner) for m in matches if m.type == Type.MEMORY}:
            memories = self.parts.memories.some([owner for _, owner in owners.values()], self.query.scope)
            seen = {chunk: memories[owner] for chunk, owner in owners.items() if owner in memories}
            long = [n for n, memory in seen.items() if len(memory.content) > CHUNK_SIZE]
            slices = self.parts.chunks.texts(self.query.scope.namespaces, long)
            found |= {n: Found(memory, slices.get(n, memory.content), None) for n, memory in seen.items()}
        if chunks := [match.chunk for match in matches if match.type == Type.EVENT]:
            found |= {n: _found(said) for n, said in self.parts.conversations.said(chunks, self.query.scope).items()}
        return found

    def _covers(self, hit: Hit) -> bool:
        return self._covered(hit) >= TEXT_FLOOR

    def _covered(self, hit: Hit) -> float:
        """The share of the question's words that a hit has."""
        tokens = self.parts.engine.tokens
        asked = set(tokens(" ".join(self.words)))
        about = (hit.item.context or "", *hit.item.tags) if isinstance(hit.item, Memory) else (hit.item.speaker or "",)
        found = set(tokens(" ".join((hit.excerpt, *about))))
        return len(asked & found) / len(asked) if asked else 1.0

    def _substring(self) -> list[Hit]:
        text = self.query.text.strip().replace("\0", "")[:LONGEST]
        return self._containing(text, self.query.scope, None) if text else []

    def _listed(self, hits: list[Hit]) -> list[Hit]:
        """What is of the time that is all a question has, where no vector could find it: all there is, and the rest."""
        within = [
            hit
            for span in self.when.spans
            for hit in self._containing("", narrowed(self.query.scope, span), listing(span))
        ]
        known = {(hit.item.namespace, hit.id) for hit in within}
        rest = [hit for hit in hits if (hit.item.namespace, hit.id) not in known]
        return [*within, *rest][: self.query.limit] if within else []

    def _containing(self, text: str, scope: Scope, when: Timing | None) -> list[Hit]:
        limit, why = self.query.limit or MOST, Why(Tier.SUBSTRING, None, None, 1.0, 1.0, when)
        bonus = when.bonus if when else 0.0
        hits: list[Hit] = []
        with self._stage("substring"):
            if Type.MEMORY in scope.types:
                memories = self.parts.memories.containing(text, scope, limit)
                hits += [Hit(memory, memory.confidence + bonus, memory.content, why) for memory in memories]
            if Type.EVENT in scope.types and len(hits) < limit:
                said = self.parts.conversations.containing(text, scope, limit - len(hits))
                events = {(each.event.namespace, each.event.id): _found(each) for each in reversed(said)}
                score = DEFAULT_CONFIDENCE[Source.CONVERSATION] + bonus
                hits += [Hit(item, score, excerpt, why, span) for item, excerpt, span in reversed(events.values())]
        return hits


def _found(said: Said) -> Found:
    return Found(said.event, said.event.content if said.text is None else said.text, (said.first, said.last))


def text_matches(
    parts: Parts, asked: Sequence[str], scope: Scope, depth: int, head: Callable[[], int] | None = None
) -> list[Match]:
    """From the image of the postings if there is one, else from the database. `head` tells how far to be in step."""
    if not asked:
        return []
    if _image_pays(parts) and parts.images().answers(scope):
        terms = parts.engine.tokens(" ".join(asked))
        found = parts.images().search_text(terms, scope, depth, head() if head else None)
        if found is not None:
            return found
    return parts.engine.search_text(asked, scope, depth)


def having_words(parts: Parts, asked: Sequence[str], within: Scope, most: int) -> list[Memory]:
    """Memories that have some of the words, the nearest first, as far as the scope still sees them."""
    owners = dict.fromkeys((match.namespace, match.owner) for match in text_matches(parts, asked, within, most))
    seen = parts.memories.some([id for _, id in owners], within) if owners else {}
    return [seen[owner] for owner in owners if owner in seen]


def _image_pays(parts: Parts) -> bool:
    """Not in a small store, and not for a process's first question: one that asks only once should load nothing."""
    if not parts.journal.asked or not parts.engine.in_process:
        return False
    return parts.images.made is not None or parts.chunks.newest() >= TERMS_FROM


def search(parts: Parts, query: Query) -> Results:
    if not query.text.strip() and query.vector is None:
        raise Invalid("the question is empty", "Give words to look for, or a vector.")
    results = answer(parts, query)
    record(parts, query, results)
    return results


def answer(parts: Parts, query: Query) -> Results:
    """The answer, of which nobody takes note."""
    return Asking(parts, query).answer()


def record(parts: Parts, query: Query, *answers: Results) -> None:
    """One question was answered, though perhaps by several searches."""
    asked, now = query.text[:LONGEST], from_micros(query.scope.now)
    whole = answers[0]
    for more in answers[1:]:
        timings = {stage: whole.timings.get(stage, 0.0) + passed for stage, passed in more.timings.items()}
        tier = whole.tier if whole.hits else more.tier
        whole = replace(whole, tier=tier, hits=(*whole.hits, *more.hits), timings={**whole.timings, **timings})
    accesses = (
        Access(hit.item.namespace, hit.id, now, "search", asked, hit.score)
        for hit in whole.hits
        if hit.type is Type.MEMORY
    )
    parts.journal.searched(parts.namespace, whole, accesses)


def _joined(first: list[Match], second: list[Match]) -> list[Match]:
    """Of two searches of one leg, best first."""
    known = {match.chunk for match in first}
    new = [match for match in second if match.chunk not in known]
    return sorted([*first, *new], key=lambda match: match.score, reverse=True) if new else first


def _tier(text: Sequence[Match], vector: Sequence[Match], mode: Mode) -> Tier:
    if text and vector:
        return Tier.HYBRID
    return Tier.TEXT if text or mode is Mode.TEXT else Tier.VECTOR


def _why(match: Match, fused: Fused, tier: Tier, when: Timing | None) -> Why:
    text, vector = fused.text.leg(match.chunk), fused.vector.leg(match.chunk)
    return Why(tier, text, vector, confidence_factor(match), importance_factor(match), when)
