"""The way of a question: two legs inside one scope, joined, weighed, and shown with why."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from retentive.app.found import Found, Reader, as_found
from retentive.app.legs import Legs, Stage
from retentive.app.parts import Parts
from retentive.errors import Invalid
from retentive.model import (
    DEFAULT_CONFIDENCE,
    Access,
    Fusion,
    Hit,
    Leg,
    Match,
    Mode,
    Query,
    Results,
    Source,
    Space,
    Tier,
    Type,
    Why,
    from_micros,
)
from retentive.retrieve.blend import COVERS, RECIPE, Blend, Candidate, Recipe, pool
from retentive.retrieve.fuse import fuse, weight_of
from retentive.retrieve.question import Asked, plainly, understood
from retentive.retrieve.rank import Ranked, confidence_factor, importance_factor, rank
from retentive.retrieve.relevance import Evidence, least_cosine, relevance

DEPTH = 2  # matches asked of each leg for each hit wanted. R@10 on LoCoMo: 1 .643, 2 .653, 3 .652, 5 .636, 20 .639
LEAST = 20  # matches at the least, so that the first of one hit is the first of ten
DEEPER = 4  # times as many, where that was not enough
TEXT_FLOOR = 0.5  # share of the question's words that a hit without a cosine must have, where a cosine is asked for
MOST = 1000  # matches of the text leg, and substrings, in a search without a limit
LONGEST = 1000  # characters of a question that are looked for as they stand


@dataclass(frozen=True, slots=True)
class Joined:
    """What the legs gave, in its final order, and what each score is made of."""

    text: Sequence[Match]
    vector: Sequence[Match]
    ranked: Sequence[Ranked]
    shares: Callable[[int], Mapping[str, float]]
    """Of a chunk."""
    weights: tuple[float, float] | None = None
    """Of the legs, where nothing else counts."""


class Asking:
    """One question on its way: what was found, what was missing, how long each stage took."""

    def __init__(self, parts: Parts, query: Query, recipe: Recipe = RECIPE) -> None:
        self.parts, self.query, self.recipe = parts, query, recipe
        self.blends = query.fusion is Fusion.BLEND
        self.asked, talk = self._understood()
        self.legs = Legs(parts, query, self.asked.words)
        self.reader = Reader(parts, query.scope)
        self._covers: dict[str, float] = {}
        self.space: Space | None = None
        """Of the question's vector, if it has one."""
        self.depth = MOST if query.limit is None else max(DEPTH * query.limit, recipe.depth if talk else LEAST)

    def answer(self) -> Results:
        with self._stage("total"):
            tier, hits = self._ranked()
            if not hits and self.query.text.strip() and self.query.mode is not Mode.VECTOR:
                tier, hits = Tier.SUBSTRING, self._substring()
        return Results(self.query.text, tier, tuple(hits), tuple(self.legs.notes), self.legs.timings)

    def _understood(self) -> tuple[Asked, bool]:
        """The question by what is known of who speaks; and whether conversations are asked."""
        if not self.blends:
            return plainly(self.query.text), False
        people = self.parts.people.of(self.parts.conversations, self.query.scope.namespaces)
        talk = people.talk and Type.EVENT in self.query.scope.types
        names = people.names if self.recipe.names else {}
        return understood(self.query.text, names) if self.recipe.names else plainly(self.query.text), talk

    def _ranked(self) -> tuple[Tier, list[Hit]]:
        """Both legs joined; deeper into them if the many slices of a few memories left too little."""
        asked = self.legs.embedded(self.asked.meaning)
        self.space = asked[1] if asked else None
        while True:
            text, vector = self.legs(asked, self.depth, self._floor)
            with self._stage("fuse"):
                joined = self._blended(text, vector) if self.blends else self._fused(text, vector)
            with self._stage("fetch"):
                tier = _tier(text, vector, self.query.mode)
                hits = self._hits(joined, tier) if joined.ranked else []
            # What a threshold dropped is not made up for: the deeper matches cover even less of the question.
            enough = len(joined.ranked) if self._thresholded else len(hits)
            if enough >= (self.query.limit or 0) or self.depth > max(len(text), len(vector)):
                return tier, hits
            self.depth *= DEEPER

    def _fused(self, text: Sequence[Match], vector: Sequence[Match]) -> Joined:
        fused = fuse(text, vector, self.query.fusion, self.query.vector_weight)
        return Joined(text, vector, rank(fused.scores()), fused.shares, (fused.text.weight, fused.vector.weight))

    def _blended(self, text: Sequence[Match], vector: Sequence[Match]) -> Joined:
        weight = weight_of(text, vector, self.query.vector_weight)
        most = None if self.query.limit is None else max(self.recipe.pool, DEPTH * self.query.limit)
        candidates = pool(text, vector, weight, most, self.recipe)
        if self._bar is not None:
            candidates = [each for each in candidates if self._may_pass(each)]
        read = [each.match for each in self._worth_reading(candidates)]
        self.reader.read([*read, *text[:COVERS]])
        found = ((match.chunk, self.reader.get(match.chunk)) for match in read)
        traits = {chunk: each.trait(self.asked.person) for chunk, each in found if each}
        blend = Blend(candidates, traits, weight, self._cover(text), self.recipe)
        return Joined(text, vector, rank(blend.scores()), blend.shares)

    def _worth_reading(self, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
        """Messages, for what they tell of themselves; of memories the first, which are likely to be shown.

        All of them if their words matter, or if it is one trip to a server either way.
        """
        person = self.asked.person
        if (person and person.speaker) or not self.parts.engine.in_process:
            return candidates
        shown = self.query.limit or 0
        return [each for at, each in enumerate(candidates) if at < shown or each.session is not None]

    def _may_pass(self, candidate: Candidate) -> bool:
        """Whether a threshold can be reached without a word of the question."""
        if self._bar is None or self.space is None or candidate.text:
            return True
        return candidate.cosine - self.space.min_similarity >= least_cosine(self._bar, 0.0)

    def _cover(self, text: Sequence[Match]) -> float:
        """The largest share of the question's words that one of the text leg's best has."""
        read = (self.reader.get(match.chunk) for match in text[:COVERS])
        return max((self._covered(found) for found in read if found), default=1.0)

    def _covered(self, found: Found) -> float:
        """The share of the question's words that it has."""
        told = found.told
        if told not in self._covers:
            content = self._content
            self._covers[told] = len(content.intersection(self.parts.engine.tokens(told))) / max(1, len(content))
        return self._covers[told]

    @cached_property
    def _content(self) -> set[str]:
        return {*self.parts.engine.tokens(" ".join(self.asked.content))}

    @cached_property
    def _bar(self) -> float | None:
        """The relevance that hits must have."""
        if self.query.min_relevance is not None or self.query.min_similarity is not None:
            return self.query.min_relevance
        settings = self.parts.config
        return settings.min_relevance if self.query.limit is None and not settings.min_similarity else None

    @property
    def _floor(self) -> float | None:
        """The cosine that the vector leg must have: as asked for, or what may still be relevant with half the words."""
        if self.query.min_similarity is not None or self.query.limit is not None or self.space is None:
            return self.query.min_similarity
        if self._bar is None:
            return self.parts.config.min_similarity
        return max(-1.0, self.space.min_similarity + least_cosine(self._bar, 0.5))

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
                if found := self.reader.get(match.chunk):
                    why = _why(joined, places, match, tier)
                    sure = relevance(self._evidence(found, why, joined))
                    hit = Hit(found.item, score, found.excerpt, why, found.span, sure)
                    if self._passes(hit, found):
                        hits.append(hit)
            if len(hits) >= limit:
                break
        return hits[:limit]

    def _passes(self, hit: Hit, found: Found) -> bool:
        if self._bar is not None:
            return hit.relevance >= self._bar
        return not self._thresholded or hit.why.vector is not None or self._covered(found) >= TEXT_FLOOR

    def _evidence(self, found: Found, why: Why, joined: Joined) -> Evidence:
        cosine = None
        if self.space and joined.vector:
            cosine = (why.vector.score if why.vector else joined.vector[-1].score) - self.space.min_similarity
        cover = self._covered(found) if self._content else None
        person = self.asked.person
        theirs = not (person and person.speaker) or person.of(found.item)
        return Evidence(cosine, cover, theirs, found.asks())

    def _substring(self) -> list[Hit]:
        text = self.query.text.strip().replace("\0", "")[:LONGEST]
        if not text:
            return []
        scope, limit, why = self.query.scope, self.query.limit or MOST, Why(Tier.SUBSTRING, None, None, 1.0, 1.0)
        sure = relevance(Evidence(None, 1.0))
        hits: list[Hit] = []
        with self._stage("substring"):
            if Type.MEMORY in scope.types:
                memories = self.parts.memories.containing(text, scope, limit)
                hits += [Hit(memory, memory.confidence, memory.content, why, None, sure) for memory in memories]
            if Type.EVENT in scope.types and len(hits) < limit:
                said = self.parts.conversations.containing(text, scope, limit - len(hits))
                events = {(each.event.namespace, each.event.id): as_found(each) for each in reversed(said)}
                confidence = DEFAULT_CONFIDENCE[Source.CONVERSATION]
                hits += [
                    Hit(item, confidence, excerpt, why, span, sure) for item, excerpt, span in reversed(events.values())
                ]
        return hits


def search(parts: Parts, query: Query) -> Results:
    if not query.text.strip() and query.vector is None:
        raise Invalid("the question is empty", "Give words to look for, or a vector.")
    results = answer(parts, query)
    record(parts, query, results)
    return results


def answer(parts: Parts, query: Query, recipe: Recipe = RECIPE) -> Results:
    """The answer, of which nobody takes note."""
    return Asking(parts, query, recipe).answer()


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


def _tier(text: Sequence[Match], vector: Sequence[Match], mode: Mode) -> Tier:
    if text and vector:
        return Tier.HYBRID
    return Tier.TEXT if text or mode is Mode.TEXT else Tier.VECTOR


def _why(joined: Joined, places: Sequence[Mapping[int, int]], match: Match, tier: Tier) -> Why:
    shares = joined.shares(match.chunk)
    text, vector = (
        None if place is None else _leg(joined, leg, place, share)
        for leg, place, share in (
            (0, places[0].get(match.chunk), shares.get("text", 0.0)),
            (1, places[1].get(match.chunk), shares.get("vector", 0.0)),
        )
    )
    return Why(tier, text, vector, confidence_factor(match), importance_factor(match), shares)


def _leg(joined: Joined, leg: int, place: int, share: float) -> Leg:
    """How a leg saw a chunk: BM25 as a part of the best, or a cosine as it is, unless the legs alone were joined."""
    matches = joined.vector if leg else joined.text
    score, highest = matches[place].score, 1.0 if leg else matches[0].score
    if joined.weights:
        weight = joined.weights[leg]
        return Leg(place + 1, score, share / weight if weight else 0.0, weight)
    normal = score / highest if highest else 0.0
    return Leg(place + 1, score, normal, share / normal if normal else 0.0)
