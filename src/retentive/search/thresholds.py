"""The thresholds of a search: which hits are good enough to be shown.

Three may be asked for: a limit, a cosine (`min_similarity`) and a relevance (`min_relevance`). Without a limit the
settings say what is asked for.
"""

from collections.abc import Sequence

from retentive.config import Config
from retentive.model import REFERENCE_THRESHOLD, Hit, Query, Space
from retentive.search.evidence import EvidenceReader, is_of_that_time
from retentive.search.relevance import MAX_GAP, Evidence, least_cosine, relevance, to_logit
from retentive.search.signals import MatchSignals

MIN_WORD_SHARE = 0.5  # of the question's words that a hit without a cosine must have, where a cosine is asked for
MAX_RELATED_SHARE = 0.5  # of the question's words that is expected of a hit that only vector search finds


class Thresholds:
    def __init__(self, query: Query, config: Config) -> None:
        self._query, self._config = query, config
        self._relevance = self._choose_relevance()

    def _choose_relevance(self) -> float | None:
        query, config = self._query, self._config
        if query.min_relevance is not None or query.min_similarity is not None:
            return query.min_relevance
        return config.min_relevance if query.limit is None and not config.min_similarity else None

    @property
    def has_relevance(self) -> bool:
        """Whether hits must have some relevance."""
        return self._relevance is not None

    @property
    def drops_hits(self) -> bool:
        """Whether there is any threshold but the limit."""
        query = self._query
        return query.limit is None or query.min_similarity is not None or self._relevance is not None

    def min_cosine(self, space: Space | None, evidence: EvidenceReader) -> float | None:
        """The cosine below which vector search gives no match: as asked for, or what relevance needs at the least.

        That is less for a question with words, because a text may share half of them.
        """
        query = self._query
        if query.min_similarity is not None or query.limit is not None or space is None:
            return query.min_similarity
        if self._relevance is None:
            return self._config.min_similarity
        above = least_cosine(self._relevance, MAX_RELATED_SHARE if evidence.content_terms else None)
        return max(-1.0, space.uncalibrate(REFERENCE_THRESHOLD + above))

    def can_pass(self, signals: MatchSignals, *, has_content: bool) -> bool:
        """Whether a match without a word of the question can be relevant, by related words alone."""
        if self._relevance is None or signals.text:
            return True
        share = MAX_RELATED_SHARE if has_content else None
        return signals.cosine - REFERENCE_THRESHOLD >= least_cosine(self._relevance, share)

    def can_be_near(self, likeliest: float, signals: MatchSignals, *, has_content: bool) -> bool:
        """Whether `keep_near_best` would keep a match beside a hit of this relevance, if it had all of the words."""
        highest = relevance(Evidence(signals.cosine - REFERENCE_THRESHOLD, 1.0 if has_content else None))
        return to_logit(highest) >= to_logit(likeliest) - MAX_GAP

    def is_relevant(self, hit: Hit, *, only_time: bool = False) -> bool:
        """Whether a hit is relevant enough. If a question names only a time, every hit of that time is."""
        if self._relevance is None or hit.relevance >= self._relevance:
            return True
        return only_time and is_of_that_time(hit.why)

    @property
    def needs_words(self) -> bool:
        """Whether a hit that vector search did not find must have `MIN_WORD_SHARE` of the question's words."""
        return self._query.min_similarity is not None or (self._relevance is None and self.drops_hits)

    @property
    def wants_answers_only(self) -> bool:
        """Whether all that answers is wanted and nothing else: no limit, and no threshold of the caller's own."""
        query = self._query
        is_bounded = query.limit is not None or query.min_relevance is not None or query.min_similarity is not None
        return not is_bounded and self._relevance is not None


def keep_near_best(hits: Sequence[Hit]) -> list[Hit]:
    """Drop hits that are much less likely to answer than the best."""
    best = max((hit.relevance for hit in hits), default=0.0)
    return [hit for hit in hits if to_logit(hit.relevance) >= to_logit(best) - MAX_GAP]
