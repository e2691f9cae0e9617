"""The pipeline of a search: takes one question from text to hits. The folder's docstring lists the steps."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

from retentive.model import (
    REFERENCE_THRESHOLD,
    Fusion,
    Hit,
    ItemType,
    Match,
    Mode,
    Query,
    Results,
    Space,
    Tier,
    Why,
)
from retentive.search.candidates import Candidate, HitLoader
from retentive.search.copies import fold_copies, keep_first_hits
from retentive.search.correct_spelling import correct_spelling
from retentive.search.evidence import EvidenceReader
from retentive.search.fuse import choose_vector_weight, fuse
from retentive.search.order_matches import Explainer, RankedMatches, order_matches
from retentive.search.outdated import place_newer_first
from retentive.search.question import Names, ParsedQuestion, correct_words, parse_plainly, parse_question
from retentive.search.relevance import Evidence, relevance
from retentive.search.retrievers import QuestionVector, Retrievers, Stage, merge_matches
from retentive.search.signals import RECIPE, WORD_SHARE_ROWS, Blend, MatchSignals, Recipe, Replies, pool_matches
from retentive.search.speakers import NOBODY
from retentive.search.spelling import find_suspects
from retentive.search.substring import SubstringSearch
from retentive.search.thresholds import MIN_WORD_SHARE, Thresholds, keep_near_best
from retentive.search.time_query import NO_TIMES, QuestionTimes
from retentive.search.times import (
    Timings,
    date_occasions,
    is_in_scope,
    lift_by_time,
    narrow_scope,
    question_time,
    read_times,
)
from retentive.store import OpenStore

# Matches that each search gives for each hit wanted. R@10 on LoCoMo: 1 .643, 2 .653, 3 .652, 5 .636, 20 .639.
MATCHES_PER_HIT = 2
MIN_MATCHES = 20  # so that a search with limit=1 gives the first hit that limit=10 gives
DEEPER_FACTOR = 4  # times as many matches, where that was not enough
MAX_MATCHES = 1000  # of keyword search, in a search without a limit
MIN_TIMELY_SHARE = 0.5  # of the hits wanted: if fewer matches fall into a time of the question, it is searched again
MAX_OCCASION_HITS = 5  # hits that may show when an occasion was that the question names, such as a wedding
SURE_SIMILARITY = 1.5 * REFERENCE_THRESHOLD  # of a hit that has only half of the occasion's words


class SearchMatches(NamedTuple):
    """The matches of keyword search and of vector search, best first, as the pipeline merges them."""

    keyword: list[Match]
    vector: list[Match]

    def chunks(self) -> set[int]:
        return {match.chunk for matches in self for match in matches}

    def merge(self, other: "SearchMatches") -> "SearchMatches":
        return SearchMatches(merge_matches(self.keyword, other.keyword), merge_matches(self.vector, other.vector))


class SearchPipeline:
    """One question and the state of its search."""

    def __init__(
        self, store: OpenStore, query: Query, recipe: Recipe = RECIPE, when: QuestionTimes | None = None
    ) -> None:
        self.store, self.query, self.recipe = store, query, recipe
        self.uses_all_signals = query.fusion is Fusion.BLEND
        self._speakers = NOBODY
        if self.uses_all_signals:
            self._speakers = store.speakers.load(store.tables.conversations, query.scope.namespaces)
        self.when = read_times(query, self._speakers.names) if when is None else when
        corrections = self._find_corrections(self._speakers.names)
        self.question = self._parse_question(self._speakers.names, corrections)
        self.retrievers = Retrievers(store, query, self.question.words)
        self.retrievers.notes += [f"{word!r} was read as {meant!r}" for word, meant in corrections.items()]
        self.loader = HitLoader(store, query.scope)
        self.thresholds = Thresholds(query, store.config)
        self.depth = self._choose_depth()
        self._time_matches: Timings = {}
        self._replies: Replies | None = None
        self._question_vector: QuestionVector | None = None

    def run(self) -> Results:
        """Run all steps."""
        with self._stage("total"):
            if self.when.unresolved:
                self._date_occasions()
            tier, hits = self._find_hits()
            if not hits and self.query.text.strip() and self.query.mode is not Mode.VECTOR:
                found = self._substring_search().find_texts_with_question()
                tier, hits = Tier.SUBSTRING, [hit for hit in found if self.thresholds.is_relevant(hit)]
            if self.when.is_only_time and tier in {Tier.TEXT, Tier.SUBSTRING}:  # vector search could not help
                listed = self._list_hits_of_times(hits)
                tier, hits = (Tier.SUBSTRING, listed) if listed else (tier, hits)
            hits = place_newer_first(self.store, self.query.scope, tier, hits, self.query.limit)
        return Results(self.query.text, tier, tuple(hits), tuple(self.retrievers.notes), self.retrievers.stage_seconds)

    @cached_property
    def evidence(self) -> EvidenceReader:
        """Compares texts with the question. Made after `run` has resolved the times of occasions."""
        return EvidenceReader(self.store, self.query, self.question, self.when, self._speakers.names)

    @property
    def space(self) -> Space | None:
        """The space of the question's vector, if it has one."""
        return self._question_vector.space if self._question_vector else None

    def _find_corrections(self, names: Names) -> dict[str, str]:
        """Misspelt words of the question, each with its correction."""
        if not self.uses_all_signals or self.query.mode is Mode.VECTOR:
            return {}
        suspects = [word for word in find_suspects(self.query.text) if word not in names]
        return correct_spelling(self.store, suspects, self.query.scope) if suspects else {}

    def _parse_question(self, names: Names, corrections: Mapping[str, str]) -> ParsedQuestion:
        text = correct_words(self.query.text, corrections)
        rest = correct_words(self.when.rest, corrections)
        if self.uses_all_signals and self.recipe.names:
            return parse_question(text, names, rest)
        return parse_plainly(text, rest)

    def _choose_depth(self) -> int:
        """How many matches each search gives."""
        if self.query.limit is None:
            return MAX_MATCHES
        has_messages = self._speakers.has_conversations and ItemType.EVENT in self.query.scope.types
        return max(MATCHES_PER_HIT * self.query.limit, self.recipe.depth if has_messages else MIN_MATCHES)

    def _find_hits(self) -> tuple[Tier, list[Hit]]:
        """Retrieve, score, order and load. Search deeper if the many chunks of a few memories left too few hits."""
        self._question_vector = self.retrievers.embed_question(self.question.meaning)
        score = self._score_by_all_signals if self.uses_all_signals else self._score_by_two_searches
        while True:
            matches = self._find_matches(self.retrievers)
            is_exhausted = max(map(len, matches)) < self.depth
            self._replies = None
            if self.when.spans:
                matches = self._add_timely(matches)
            with self._stage("fuse"):
                ranking = score(matches)
            if self.when.spans or self.when.newest:
                with self._stage("when"):
                    ranking = self._order_by_time(ranking)
            with self._stage("fetch"):
                tier = _choose_tier(matches, self.query.mode)
                hits = self._make_hits(ranking, tier) if ranking.ranked else []
            # A hit that a threshold dropped is not replaced: deeper matches have even less of the question.
            count = len(ranking.ranked) if self.thresholds.drops_hits else len(hits)
            if is_exhausted or count >= (self.query.limit or 0):
                return tier, hits
            self.depth *= DEEPER_FACTOR

    def _find_matches(self, retrievers: Retrievers) -> SearchMatches:
        min_cosine = self.thresholds.min_cosine(self.space, self.evidence)
        return SearchMatches(*retrievers.find_matches(self._question_vector, self.depth, min_cosine))

    def _score_by_two_searches(self, matches: SearchMatches) -> RankedMatches:
        """Score the matches by keyword search and vector search alone, and order them."""
        fused = fuse(*matches, self.query.fusion, self.query.vector_weight, self.query.rrf_k)
        ranked = order_matches(fused.scores())
        return RankedMatches(*matches, ranked, fused.shares, fused.vector.weight, two_searches_only=True)

    def _score_by_all_signals(self, matches: SearchMatches) -> RankedMatches:
        """Score the matches by all signals, and order them."""
        weight = choose_vector_weight(*matches, self.query.vector_weight)
        pool = self._pool(matches, weight)
        if self.query.limit is not None and self._has_replies(pool):
            matches = self._add_without_replies(matches)
            pool = self._pool(matches, weight)
        candidates = self._load_candidates(pool, matches.keyword)
        related = self.evidence.measure_related_words(candidates)
        asked = self.question.person
        traits = {chunk: candidate.read_traits(asked, related[chunk]) for chunk, candidate in candidates.items()}
        best_word_share = self.evidence.best_word_share(matches.keyword, self.loader)
        blend = Blend(pool, traits, weight, best_word_share, self.recipe)
        return RankedMatches(*matches, order_matches(blend.scores()), blend.shares, weight)

    def _pool(self, matches: SearchMatches, weight: float) -> list[MatchSignals]:
        """The matches that are worth comparing."""
        # If only a time is asked for, a text of that time may share nothing with the question, and stays.
        is_bounded = self.query.limit is not None and not self.when.is_only_time
        size = max(self.recipe.pool, MATCHES_PER_HIT * (self.query.limit or 0)) if is_bounded else None
        cosines = self.retrievers.cosines
        pool = pool_matches(*matches, weight, size, self.recipe, cosines, self._replies, self.space)
        if not self.thresholds.has_relevance or self.space is None or self.when.is_only_time:
            return pool
        has_content = bool(self.evidence.content_terms)
        pool = [each for each in pool if self.thresholds.can_pass(each, has_content=has_content)]
        return self._leave_out_far(pool, matches) if self.thresholds.wants_answers_only else pool

    def _leave_out_far(self, pool: list[MatchSignals], matches: SearchMatches) -> list[MatchSignals]:
        """Leave out what cannot be near the best hit, so that it need not be loaded.

        That is a memory, record or passage that would be much less likely an answer than one of the first even if it
        had every word of the question. Messages stay, because they count for the score of their session.
        """
        known = self.retrievers.cosines.keys() | {match.chunk for match in matches.vector}
        compared = [each for each in pool if each.session is None and each.match.chunk in known]
        likeliest = self._measure_likeliest(compared[:MIN_MATCHES])
        has_content = bool(self.evidence.content_terms)
        far = {
            each.match.chunk
            for each in compared
            if not self.thresholds.can_be_near(likeliest, each, has_content=has_content)
        }
        return [each for each in pool if each.match.chunk not in far]

    def _measure_likeliest(self, pool: Sequence[MatchSignals]) -> float:
        """The highest relevance of these matches; it may be higher still by their times, which are not known yet."""
        candidates = self.loader.load_all([each.match for each in pool])
        why = Why(Tier.HYBRID, None, None, 1.0, 1.0)
        return max(
            (
                relevance(self.evidence.read_evidence(candidate, why, chunk, each.cosine - REFERENCE_THRESHOLD))
                for each in pool
                if (candidate := candidates.get(chunk := each.match.chunk))
            ),
            default=0.0,
        )

    def _has_replies(self, pool: Sequence[MatchSignals]) -> bool:
        """Whether a reply is among the first matches; on a server among all, which are loaded in one trip anyway."""
        first = pool[:MIN_MATCHES] if self.store.engine.uses_local_index else pool
        messages = [each.match for each in first if each.session is not None]
        loaded = self.loader.load_all(messages)
        return any(candidate.is_reply for candidate in loaded.values())

    def _add_without_replies(self, matches: SearchMatches) -> SearchMatches:
        """Search again without the messages of assistants, to the same depth, and add what is new.

        A reply repeats the words of the message before it. 81 % of the first five keyword matches were replies, but
        only 6 % of the right answers (LongMemEval).
        """
        others = self._find_matches(self.retrievers.without_replies())
        floor = matches.vector[-1].score if matches.vector else 0.0
        self._replies = Replies(matches.chunks() - others.chunks(), floor)
        return matches.merge(others)

    def _load_candidates(self, pool: Sequence[MatchSignals], keyword_matches: list[Match]) -> dict[int, Candidate]:
        """Load the candidates that are worth reading, by chunk, and the rows for `best_word_share` in the same trip."""
        matches = [each.match for each in self._choose_to_load(pool)]
        self.loader.load([*matches, *keyword_matches[:WORD_SHARE_ROWS]])
        return self.loader.load_all(matches)

    def _choose_to_load(self, pool: Sequence[MatchSignals]) -> Sequence[MatchSignals]:
        """Choose all messages, because their texts count most, and the first others, which are likely to be shown.

        Everything is chosen if names or times matter, or if a server sends it in one trip anyway.
        """
        person, limit = self.question.person, self.query.limit
        has_times = self.when.spans or self.when.newest
        if limit is None or has_times or (person and person.speaker) or not self.store.engine.uses_local_index:
            return pool
        first = max(MIN_MATCHES, MATCHES_PER_HIT * limit)
        return [each for place, each in enumerate(pool) if place < first or each.session is not None]

    def _make_hits(self, ranking: RankedMatches, tier: Tier) -> list[Hit]:
        """Make hits of the best matches whose items may still be seen. They are loaded in parts until enough are."""
        hits: list[Hit] = []
        limit = len(ranking.ranked) if self.query.limit is None else self.query.limit
        explainer = Explainer(ranking, tier)
        for start in range(0, len(ranking.ranked), limit):
            part = ranking.ranked[start : start + limit]
            self.loader.load(each.match for each in part)
            for each in part:
                hit = self._make_hit(each.score, each.match, explainer)
                if hit:
                    hits.append(hit)
            hits = fold_copies(hits) if self.query.fold_copies else hits
            if len(hits) >= limit:
                break
        if self.thresholds.wants_answers_only and not self.when.is_only_time:
            hits = keep_near_best(hits)
        return hits[:limit]

    def _make_hit(self, score: float, match: Match, explainer: Explainer) -> Hit | None:
        """A hit; None if its item may not be seen any more, or if a threshold drops it."""
        candidate = self.loader.get(match.chunk)
        item = candidate.make_item() if candidate else None
        if candidate is None or item is None:
            return None
        why = explainer.explain(match, self._time_matches.get(match.chunk))
        answer_probability = relevance(self._read_evidence(candidate, why, match.chunk))
        hit = Hit(item, score, candidate.excerpt, why, candidate.span, answer_probability)
        return hit if self._passes(hit, candidate) else None

    def _read_evidence(self, candidate: Candidate, why: Why, chunk: int) -> Evidence:
        cosine = why.vector.score if why.vector else self.retrievers.cosines.get(chunk)
        excess = None
        if cosine is not None and self.space:
            excess = self.space.calibrate(cosine) - REFERENCE_THRESHOLD
        return self.evidence.read_evidence(candidate, why, chunk, excess)

    def _passes(self, hit: Hit, candidate: Candidate) -> bool:
        """Whether a hit reaches every threshold."""
        if not self.thresholds.is_relevant(hit, only_time=self.when.is_only_time):
            return False
        if not self.thresholds.needs_words or hit.why.vector is not None:
            return True
        return self.evidence.word_share(candidate) >= MIN_WORD_SHARE

    def _add_timely(self, matches: SearchMatches) -> SearchMatches:
        """For each sure time of the question: if too few matches fall into it, search again inside that time only."""
        limit = self.query.limit
        if limit is None:  # everything relevant is among the matches, unless nothing but a time is asked for
            if not self.when.is_only_time or self.query.min_similarity is not None:
                return matches
            limit = MAX_MATCHES
        wanted = limit if self.when.is_only_time else MIN_TIMELY_SHARE * limit
        for span in [span for span in self.when.spans if span.sure]:
            scope = narrow_scope(self.query.scope, span)
            owners = {match.owner for match in (*matches.keyword, *matches.vector) if is_in_scope(match, scope)}
            if len(owners) < wanted:
                inside = self.retrievers.in_scope(scope, limit)
                # Inside a time, relevance asks for no cosine: a question of nothing but a time wants all of it.
                found = inside.find_matches(self._question_vector, limit, self.query.min_similarity)
                matches = matches.merge(SearchMatches(*found))
        return matches

    def _order_by_time(self, ranking: RankedMatches) -> RankedMatches:
        """Order the candidates again, lifted by how their times fit those of the question."""
        ranked, self._time_matches = lift_by_time(
            self.when, ranking.ranked, ranking.measure_nearness(), self.loader.load_all, self.query.scope
        )
        return replace(ranking, ranked=ranked)

    def _date_occasions(self) -> None:
        """Find out when the occasions were that the question's times depend on."""
        with self._stage("when"):
            self.when, notes = date_occasions(self.when, self._find_occasion, question_time(self.query.scope))
            self.retrievers.notes += notes

    def _find_occasion(self, words: str) -> Hit | None:
        """A hit that surely tells of an occasion: it has all of the words, or half of them and a near meaning."""
        scope = replace(self.query.scope, types=tuple(ItemType))
        query = replace(self.query, text=words, scope=scope, vector=None, limit=MAX_OCCASION_HITS)
        if self._finds_occasions_by_keywords:
            query = replace(query, mode=Mode.TEXT)
        query = replace(query, min_similarity=None, min_relevance=None)
        occasion_search = SearchPipeline(self.store, query, self.recipe, NO_TIMES)
        occasion_search.retrievers.stage_seconds = self.retrievers.stage_seconds
        space = self.store.embedder.space if self.store.embedder else None
        _, hits = occasion_search._find_hits()
        for hit in hits:
            share = occasion_search.evidence.word_share(Candidate(hit.item, hit.excerpt, hit.span))
            similarity = space.calibrate(hit.why.vector.score) if hit.why.vector and space else 0.0
            is_similar = similarity >= SURE_SIMILARITY
            if share == 1 or (share >= MIN_WORD_SHARE and is_similar):
                return hit
        return None

    @property
    def _finds_occasions_by_keywords(self) -> bool:
        """Whether the question brings its vector, and no model is loaded: then none is loaded for its occasion."""
        embedder = self.store.embedder
        return self.query.vector is not None and embedder is not None and embedder.describe().get("loaded") == "no"

    def _list_hits_of_times(self, hits: list[Hit]) -> list[Hit]:
        """Everything of the question's times, then the other hits; nothing if nothing is of these times."""
        substring = self._substring_search()
        inside = [hit for span in self.when.spans for hit in substring.find_in_span(span)]
        if not inside:
            return []
        return keep_first_hits((*inside, *hits))[: self.query.limit]  # a day may be in two periods

    def _substring_search(self) -> SubstringSearch:
        return SubstringSearch(self.store, self.query, self.loader, self.retrievers.stage_seconds)

    def _stage(self, name: str) -> Stage:
        return Stage(self.retrievers.stage_seconds, name)


def _choose_tier(matches: SearchMatches, mode: Mode) -> Tier:
    """The tier of an answer: which of the two searches found something. If none did, the one that was asked for."""
    if all(matches):
        return Tier.HYBRID
    return Tier.TEXT if matches.keyword or mode is Mode.TEXT else Tier.VECTOR
