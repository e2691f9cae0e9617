"""The way of a question: two legs inside one scope, joined, weighed, and shown with why."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from retentive.errors import Invalid
from retentive.model import (
    DEFAULT_CONFIDENCE,
    REFERENCE_THRESHOLD,
    Access,
    Fusion,
    Hit,
    Leg,
    Match,
    Mode,
    Query,
    Relation,
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
from retentive.search.asked_value import AskedValue, has_value, read_asked_value, read_names
from retentive.search.blend import COVER_ROWS, RECIPE, Blend, Candidate, Recipe, Replies, pool
from retentive.search.candidates import Found, Reader, as_found
from retentive.search.copies import fold_copies
from retentive.search.correct_spelling import correct_spelling
from retentive.search.fuse import fuse, weight_of
from retentive.search.outdated import mark_outdated
from retentive.search.question import Asked, Names, correct_words, plainly, understood
from retentive.search.rank import Ranked, factors, rank
from retentive.search.related_words import RelatedWords
from retentive.search.relevance import MAX_GAP, Evidence, least_cosine, relevance, to_logit
from retentive.search.reranking import answer_reranked
from retentive.search.retrievers import Legs, Stage
from retentive.search.speakers import NOBODY
from retentive.search.spelling import find_suspects
from retentive.search.time_query import NOTHING, When
from retentive.search.times import Timed, listing, moment, narrowed, place, read_times, timed, within
from retentive.storage.damage import collect_damage
from retentive.store import OpenStore
from retentive.text.terms import terms

DEPTH = 2  # matches asked of each leg for each hit wanted. R@10 on LoCoMo: 1 .643, 2 .653, 3 .652, 5 .636, 20 .639
LEAST = 20  # matches at the least, so that the first of one hit is the first of ten
DEEPER = 4  # times as many, where that was not enough
TEXT_FLOOR = 0.5  # share of the question's words that a hit without a cosine must have, where a cosine is asked for
MAX_RELATED = 0.5  # share of the question's words that is expected of what only vector search finds
MOST = 1000  # matches of the text leg, and substrings, in a search without a limit
INSIDE = 0.5  # of the hits wanted: if the legs found fewer in a time of the question, they look there alone, too
EVENTS = 5  # looked at for the time of an event that the question names
SURE = 1.5  # times the similarity that is worth calling related, for an event of which only half of the words are there
LONGEST = 1000  # characters of a question that are looked for as they stand


@dataclass(frozen=True, slots=True)
class Joined:
    """What the legs gave, in its final order, and what each score is made of."""

    text: Sequence[Match]
    vector: Sequence[Match]
    ranked: Sequence[Ranked]
    shares: Callable[[int], Mapping[str, float]]
    """Of a chunk."""
    weight: float
    """Of the vector leg; the text leg has the rest."""
    plain: bool = False
    """Whether nothing else counts."""

    def nearness(self) -> dict[int, float]:
        """To the question, by the legs' own scores: 1 for what is the best of both."""
        near: dict[int, float] = {}
        for leg, weight in ((self.text, 1 - self.weight), (self.vector, self.weight)):
            for match in leg if leg and leg[0].score > 0 else ():
                near[match.chunk] = near.get(match.chunk, 0.0) + weight * max(match.score / leg[0].score, 0.0)
        return near


class Asking:
    """One question on its way: what was found, what was missing, how long each stage took."""

    def __init__(self, store: OpenStore, query: Query, recipe: Recipe = RECIPE, when: When | None = None) -> None:
        self.store, self.query, self.recipe = store, query, recipe
        self._timed: Timed = {}
        self.blends = query.fusion is Fusion.BLEND
        people = store.people.of(store.tables.conversations, query.scope.namespaces) if self.blends else NOBODY
        self.when = read_times(query, people.names) if when is None else when
        self._corrections = self._correct_words(people.names)
        self.asked = self._understood(people.names)
        talk = people.talk and Type.EVENT in query.scope.types
        self.legs = Legs(store, query, self.asked.words)
        self.legs.notes += [f"{word!r} was read as {meant!r}" for word, meant in self._corrections.items()]
        self.reader = Reader(store, query.scope)
        self._covers: dict[str, float] = {}
        self._replies: Replies | None = None
        self._vector: tuple[Any, Space] | None = None
        self._related: dict[int, float] = {}
        # Who asks by keywords alone gets those: no table is loaded.
        self._related_words = RelatedWords("" if query.mode is Mode.TEXT else self.asked.meaning)
        self._value: AskedValue | None = read_asked_value(query.text)
        self._names = read_names(query.text).difference(people.names)
        self.space: Space | None = None
        """Of the question's vector, if it has one."""
        self.depth = MOST if query.limit is None else max(DEPTH * query.limit, recipe.depth if talk else LEAST)

    def answer(self) -> Results:
        with self._stage("total"):
            if self.when.unread:
                with self._stage("when"):
                    self.when, notes = place(self.when, self._event, moment(self.query.scope))
                    self.legs.notes += notes
            tier, hits = self._ranked()
            if not hits and self.query.text.strip() and self.query.mode is not Mode.VECTOR:
                tier, hits = Tier.SUBSTRING, self._substring()
            if self.when.alone and tier in {Tier.TEXT, Tier.SUBSTRING} and (listed := self._listed(hits)):
                tier, hits = Tier.SUBSTRING, listed
            hits = mark_outdated(self.store, self.query.scope, tier, hits, self.query.limit)
        return Results(self.query.text, tier, tuple(hits), tuple(self.legs.notes), self.legs.timings)

    def _correct_words(self, names: Names) -> dict[str, str]:
        """Misspelt words of the question, with what they are taken to mean."""
        if not self.blends or self.query.mode is Mode.VECTOR:
            return {}
        suspects = [word for word in find_suspects(self.query.text) if word not in names]
        return correct_spelling(self.store, suspects, self.query.scope) if suspects else {}

    def _understood(self, names: Names) -> Asked:
        """The question by what is known of who speaks."""
        text, rest = (correct_words(each, self._corrections) for each in (self.query.text, self.when.rest))
        return understood(text, names, rest) if self.blends and self.recipe.names else plainly(text, rest)

    def _ranked(self) -> tuple[Tier, list[Hit]]:
        """Both legs joined; deeper into them if the many slices of a few memories left too little."""
        asked = self.legs.embedded(self.asked.meaning)
        self._vector = asked
        self.space = asked[1] if asked else None
        while True:
            text, vector = self.legs(asked, self.depth, self._floor)
            deep = max(len(text), len(vector))
            self._replies = None
            if self.when.spans:
                text, vector = self._inside(asked, text, vector)
            with self._stage("fuse"):
                joined = self._blended(text, vector) if self.blends else self._fused(text, vector)
            if self.when.spans or self.when.newest:
                with self._stage("when"):
                    joined = self._in_time(joined)
            with self._stage("fetch"):
                tier = _tier(text, vector, self.query.mode)
                hits = self._hits(joined, tier) if joined.ranked else []
            # What a threshold dropped is not made up for: the deeper matches cover even less of the question.
            enough = len(joined.ranked) if self._thresholded else len(hits)
            if enough >= (self.query.limit or 0) or self.depth > deep:
                return tier, hits
            self.depth *= DEEPER

    def _beside_replies(self, text: Sequence[Match], vector: Sequence[Match]) -> tuple[list[Match], list[Match]]:
        """What was found, and as much again of what assistants did not say.

        A reply repeats the words of what it replies to: of the first five by keywords 81 % were replies, of the answers
        6 % (LongMemEval).
        """
        people_text, people_vector = self.legs.without_replies()(self._vector, self.depth, self._floor)
        by_people = {match.chunk for match in (*people_text, *people_vector)}
        replies = {match.chunk for match in (*text, *vector)} - by_people
        self._replies = Replies(replies, vector[-1].score if vector else 0.0)
        return _merged([*text], people_text), _merged([*vector], people_vector)

    def _inside(
        self, asked: tuple[Any, Space] | None, text: list[Match], vector: list[Match]
    ) -> tuple[list[Match], list[Match]]:
        """The legs, with what they find inside a time of the question if they had little of it.

        A boost lifts only what is there.
        """
        limit = self.query.limit or (MOST if self.when.alone and self.query.min_similarity is None else 0)
        wanted = limit if self.when.alone else INSIDE * limit
        for span in [span for span in self.when.spans if span.sure]:
            scope = narrowed(self.query.scope, span)
            if len({match.owner for match in (*text, *vector) if within(match, scope)}) >= wanted:
                continue
            more, near = self.legs.inside(scope, limit)(asked, limit, self.query.min_similarity)
            text, vector = _merged(text, more), _merged(vector, near)
        return text, vector

    def _in_time(self, joined: Joined) -> Joined:
        """The candidates in the order that their times make of them."""
        ranked, self._timed = timed(self.when, joined.ranked, joined.nearness(), self._fetched, self.query.scope)
        return replace(joined, ranked=ranked)

    def _fetched(self, matches: Sequence[Match]) -> dict[int, Found]:
        self.reader.read(matches)
        return {match.chunk: found for match in matches if (found := self.reader.get(match.chunk))}

    def _event(self, words: str) -> Hit | None:
        """What surely tells of an event: it has all of its words, or half of them and is near in meaning."""
        scope = replace(self.query.scope, types=tuple(Type))
        query = replace(self.query, text=words, scope=scope, vector=None, limit=EVENTS)
        if self._brings_vector:
            query = replace(query, mode=Mode.TEXT)
        asking = Asking(self.store, replace(query, min_similarity=None, min_relevance=None), self.recipe, NOTHING)
        asking.legs.timings = self.legs.timings
        space = self.store.embedder.space if self.store.embedder else None
        for hit in asking._ranked()[1]:
            share = asking._covered(Found(hit.item, hit.excerpt, hit.span))
            near = space.calibrate(hit.why.vector.score) if hit.why.vector and space else 0.0
            if share == 1 or (share >= TEXT_FLOOR and near >= SURE * REFERENCE_THRESHOLD):
                return hit
        return None

    @property
    def _brings_vector(self) -> bool:
        """Whether no model was needed for the question so far: then it is not loaded for an event either.

        The question's vector says nothing of the event alone, so that is found by its words.
        """
        embedder = self.store.embedder
        return self.query.vector is not None and embedder is not None and embedder.describe().get("loaded") == "no"

    def _fused(self, text: Sequence[Match], vector: Sequence[Match]) -> Joined:
        fused = fuse(text, vector, self.query.fusion, self.query.vector_weight, self.query.rrf_k)
        return Joined(text, vector, rank(fused.scores()), fused.shares, fused.vector.weight, plain=True)

    def _blended(self, text: Sequence[Match], vector: Sequence[Match]) -> Joined:
        weight = weight_of(text, vector, self.query.vector_weight)
        # Where only a time is asked for, what is of it may be like nothing in the question, and stays.
        bounded = self.query.limit is not None and not self.when.alone
        most = max(self.recipe.pool, DEPTH * (self.query.limit or 0)) if bounded else None
        candidates = self._pool(text, vector, weight, most)
        if self.query.limit is not None and self._has_replies(candidates):
            text, vector = self._beside_replies(text, vector)
            candidates = self._pool(text, vector, weight, most)
        found = self._read_candidates(candidates, text)
        related = self._measure_related(found)
        traits = {chunk: each.trait(self.asked.person, related[chunk]) for chunk, each in found.items()}
        blend = Blend(candidates, traits, weight, self._cover(text), self.recipe)
        return Joined(text, vector, rank(blend.scores()), blend.shares, weight)

    def _pool(self, text: Sequence[Match], vector: Sequence[Match], weight: float, most: int | None) -> list[Candidate]:
        candidates = pool(text, vector, weight, most, self.recipe, self.legs.cosines, self._replies, self.space)
        return candidates if self._bar is None else [each for each in candidates if self._may_pass(each)]

    def _has_replies(self, candidates: Sequence[Candidate]) -> bool:
        """Whether an assistant said one of the first; of all, where they are read in one trip to a server."""
        first = candidates[:LEAST] if self.store.engine.in_process else candidates
        said = [each.match for each in first if each.session is not None]
        self.reader.read(said)
        return any((found := self.reader.get(match.chunk)) and found.is_reply for match in said)

    def _read_candidates(self, candidates: Sequence[Candidate], text: Sequence[Match]) -> dict[int, Found]:
        """By chunk: what those that are worth reading say."""
        read = [each.match for each in self._worth_reading(candidates)]
        self.reader.read([*read, *text[:COVER_ROWS]])
        return {match.chunk: each for match in read if (each := self.reader.get(match.chunk))}

    def _measure_related(self, found: Mapping[int, Found]) -> dict[int, float]:
        """By chunk: how much of the question's words each has, with those that are related."""
        missing = {chunk: each.told for chunk, each in found.items() if chunk not in self._related}
        if missing:
            self._related.update(zip(missing, self._related_words.shares([*missing.values()]), strict=True))
        return self._related

    def _worth_reading(self, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
        """Messages, for what they tell of themselves; of memories the first, which are likely to be shown.

        All of them if their names or their times matter, or if it is one trip to a server either way.
        """
        person, shown = self.asked.person, self.query.limit
        timely = self.when.spans or self.when.newest
        if shown is None or timely or (person and person.speaker) or not self.store.engine.in_process:
            return candidates
        first = max(LEAST, DEPTH * shown)
        return [each for at, each in enumerate(candidates) if at < first or each.session is not None]

    def _may_pass(self, candidate: Candidate) -> bool:
        """Whether a threshold can be reached without a word of the question, by related words alone."""
        if self._bar is None or self.space is None or candidate.text or self.when.alone:
            return True
        share = MAX_RELATED if self._content else None
        return candidate.cosine - REFERENCE_THRESHOLD >= least_cosine(self._bar, share)

    def _cover(self, text: Sequence[Match]) -> float:
        """The largest share of the question's words that one of the best by keywords has."""
        read = (self.reader.get(match.chunk) for match in text[:COVER_ROWS])
        return max((self._covered(found) for found in read if found), default=1.0)

    def _covered(self, found: Found) -> float:
        """The share of the question's words that a text has."""
        told = found.told
        if told not in self._covers:
            had = self._content.intersection(self.store.engine.tokens(terms(told)))
            self._covers[told] = len(had) / max(1, len(self._content))
        return self._covers[told]

    def _word_share(self, found: Found, chunk: int, *, of_time: bool) -> float | None:
        """The share of the question's words, the same or related; what is of the time asked for has its words, too."""
        if not self._content:
            return None
        share = max(self._measure_related({chunk: found})[chunk], self._covered(found))
        of_times = len(self._time_words) / len(self._content)
        return share * (1 - of_times) + of_times * of_time

    @cached_property
    def _content(self) -> set[str]:
        return {*self.store.engine.tokens(" ".join(self.asked.content))}

    @cached_property
    def _time_words(self) -> set[str]:
        return self._content.difference(self.store.engine.tokens(self.when.rest)) if self.when.spans else set()

    @cached_property
    def _bar(self) -> float | None:
        """The relevance that hits must have."""
        if self.query.min_relevance is not None or self.query.min_similarity is not None:
            return self.query.min_relevance
        settings = self.store.config
        return settings.min_relevance if self.query.limit is None and not settings.min_similarity else None

    @property
    def _floor(self) -> float | None:
        """The cosine that the vector leg must have: as asked for, or what may still be relevant with half the words."""
        if self.query.min_similarity is not None or self.query.limit is not None or self.space is None:
            return self.query.min_similarity
        if self._bar is None:
            return self.store.config.min_similarity
        least = least_cosine(self._bar, MAX_RELATED if self._content else None)
        return max(-1.0, self.space.uncalibrate(REFERENCE_THRESHOLD + least))

    @property
    def _thresholded(self) -> bool:
        return self.query.limit is None or self.query.min_similarity is not None or self._bar is not None

    def _stage(self, name: str) -> Stage:
        return Stage(self.legs.timings, name)

    def _hits(self, joined: Joined, tier: Tier) -> list[Hit]:
        """The best that may still be seen, read in slices until there are enough."""
        hits: list[Hit] = []
        limit = len(joined.ranked) if self.query.limit is None else self.query.limit
        places = [{match[0]: at for at, match in enumerate(leg)} for leg in (joined.text, joined.vector)]
        for start in range(0, len(joined.ranked), limit):
            part = joined.ranked[start : start + limit]
            self.reader.read(match for _, _, _, match in part)
            for score, _, _, match in part:
                if (found := self.reader.get(match.chunk)) and (item := found.make_item()):
                    why = _why(joined, places, match, tier, self._timed.get(match.chunk))
                    sure = relevance(self._evidence(found, why, match.chunk))
                    hit = Hit(item, score, found.excerpt, why, found.span, sure)
                    if self._passes(hit, found):
                        hits.append(hit)
            hits = fold_copies(hits) if self.query.fold_copies else hits
            if len(hits) >= limit:
                break
        return (self._near_the_best(hits) if self._is_exact else hits)[:limit]

    @property
    def _is_exact(self) -> bool:
        """Whether all that answers is wanted and nothing else: no limit, and no threshold of the caller's own."""
        query = self.query
        asked = query.limit is not None or query.min_relevance is not None or query.min_similarity is not None
        return not asked and self._bar is not None and not self.when.alone

    @staticmethod
    def _near_the_best(hits: list[Hit]) -> list[Hit]:
        best = max((hit.relevance for hit in hits), default=0.0)
        return [hit for hit in hits if to_logit(hit.relevance) >= to_logit(best) - MAX_GAP]

    def _passes(self, hit: Hit, found: Found) -> bool:
        """All the thresholds there are."""
        if self._bar is not None and hit.relevance < self._bar and not (self.when.alone and _of_that_time(hit.why)):
            return False
        similar = self.query.min_similarity is not None or (self._bar is None and self._thresholded)
        return not similar or hit.why.vector is not None or self._covered(found) >= TEXT_FLOOR

    def _evidence(self, found: Found, why: Why, chunk: int) -> Evidence:
        cosine = why.vector.score if why.vector else self.legs.cosines.get(chunk)
        if cosine is not None and self.space:
            cosine = self.space.calibrate(cosine) - REFERENCE_THRESHOLD
        person = self.asked.person
        return Evidence(
            cosine=cosine,
            related=self._word_share(found, chunk, of_time=_of_that_time(why)),
            other_person=bool(person and person.speaker and not person.of(found.of)),
            missing_names=self._missing_names(found),
            lacks_value=self._value is not None and not has_value(found.told, self._value),
            asks=found.asks(),
            is_reply=found.is_reply,
        )

    def _missing_names(self, found: Found) -> float:
        """The share of the names in the question that a text does not have."""
        if not self._names:
            return 0.0
        told = found.told.lower()
        return sum(name not in told for name in self._names) / len(self._names)

    def _substring(self) -> list[Hit]:
        text = self.query.text.strip().replace("\0", "")[:LONGEST]
        found = self._containing(text, self.query.scope, None) if text else []
        return [hit for hit in found if self._bar is None or hit.relevance >= self._bar]

    def _listed(self, hits: list[Hit]) -> list[Hit]:
        """What is of the time that is all a question has, where no vector could find it: all there is, and the rest."""
        within = [
            hit
            for span in self.when.spans
            for hit in self._containing("", narrowed(self.query.scope, span), listing(span))
        ]
        each = {(hit.item.namespace, hit.id): hit for hit in reversed([*within, *hits])}  # a day may be of two spans
        return [*reversed(each.values())][: self.query.limit] if within else []

    def _containing(self, text: str, scope: Scope, when: Timing | None) -> list[Hit]:
        limit, why = self.query.limit or MOST, Why(Tier.SUBSTRING, None, None, 1.0, 1.0, when)
        bonus, sure = when.bonus if when else 0.0, relevance(Evidence(None, 1.0))
        hits: list[Hit] = []
        with self._stage("substring"):
            if Type.MEMORY in scope.types:
                memories = self.store.tables.memories.containing(text, scope, limit)
                hits += [Hit(each, each.confidence + bonus, each.content, why, None, sure) for each in memories]
            if Type.EVENT in scope.types and len(hits) < limit:
                said = self.store.tables.conversations.containing(text, scope, limit - len(hits))
                events = {(each.namespace, each.session, each.sequence): as_found(each) for each in reversed(said)}
                score = DEFAULT_CONFIDENCE[Source.CONVERSATION] + bonus
                hits += [
                    Hit(item, score, each.excerpt, why, each.span, sure)
                    for each in reversed(events.values())
                    if (item := each.make_item())
                ]
            if not _OTHERS.isdisjoint(scope.types) and len(hits) < limit:
                hits += self._slices(text, scope, limit - len(hits), why, bonus)
        return hits

    def _slices(self, text: str, scope: Scope, limit: int, why: Why, bonus: float) -> list[Hit]:
        """Of what is neither a memory nor a message; each once."""
        matches = self.store.tables.records.containing(text, scope, limit)
        first = {(match.namespace, match.type, match.owner): match for match in reversed(matches)}
        found = [
            (match, each) for match in reversed(first.values()) if (each := self._fetched([match]).get(match.chunk))
        ]
        sure = relevance(Evidence(None, 1.0))
        return [
            Hit(item, match.confidence + bonus, each.excerpt, why, None, sure)
            for match, each in found
            if (item := each.make_item())
        ]


_OTHERS = frozenset(Type) - {Type.MEMORY, Type.EVENT}


def _of_that_time(why: Why) -> bool:
    return why.when is not None and why.when.relation is Relation.INSIDE


def _merged(first: list[Match], second: list[Match]) -> list[Match]:
    """Of two searches of one leg, best first."""
    known = {match.chunk for match in first}
    new = [match for match in second if match.chunk not in known]
    return sorted([*first, *new], key=lambda match: match.score, reverse=True) if new else first


def asking(store: OpenStore, text: str, scope: Scope, **given: Any) -> Query:
    """A question joined as the settings say."""
    settings = store.config
    fusion, weight, rrf_k = Fusion(settings.fusion), settings.vector_weight, settings.rrf_k
    return Query(text, scope, fusion=fusion, vector_weight=weight, rrf_k=rrf_k, **given)


def search(store: OpenStore, query: Query) -> Results:
    if not query.text.strip() and query.vector is None:
        raise Invalid("the question is empty", "Give words to look for, or a vector.")
    results = answer(store, query)
    if note := store.active.take_note():
        results = replace(results, notes=(*results.notes, note))
    record(store, query, results)
    return results


def answer(store: OpenStore, query: Query, recipe: Recipe = RECIPE) -> Results:
    """The answer, of which nobody takes note. What is damaged is left out, and named in the notes."""
    with collect_damage() as damage:
        results = answer_reranked(store, query, lambda asked: Asking(store, asked, recipe).answer())
    return replace(results, notes=(*results.notes, *damage.notes())) if damage else results


def record(store: OpenStore, query: Query, *answers: Results) -> None:
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
    store.journal.searched(store.namespace, whole, accesses)


def _tier(text: Sequence[Match], vector: Sequence[Match], mode: Mode) -> Tier:
    if text and vector:
        return Tier.HYBRID
    return Tier.TEXT if text or mode is Mode.TEXT else Tier.VECTOR


def _why(joined: Joined, places: Sequence[Mapping[int, int]], match: Match, tier: Tier, timing: Timing | None) -> Why:
    shares = joined.shares(match.chunk)
    at, near = places[0].get(match.chunk), places[1].get(match.chunk)
    text = None if at is None else _leg(joined, 0, at, shares.get("text", 0.0))
    vector = None if near is None else _leg(joined, 1, near, shares.get("vector", 0.0))
    return Why(tier, text, vector, *factors(sum(shares.values()), match), timing, shares)


def _leg(joined: Joined, leg: int, place: int, share: float) -> Leg:
    """How a leg saw a chunk: BM25 as a part of the best, or a cosine as it is, unless the legs alone were joined."""
    matches = joined.vector if leg else joined.text
    score, highest = matches[place].score, 1.0 if leg else matches[0].score
    if joined.plain:
        weight = joined.weight if leg else 1 - joined.weight
        return Leg(place + 1, score, share / weight if weight else 0.0, weight)
    normal = score / highest if highest else 0.0
    return Leg(place + 1, score, normal, share / normal if normal else 0.0)
