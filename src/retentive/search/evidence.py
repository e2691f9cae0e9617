"""How much of the question a text has: the evidence from which `relevance.py` computes how likely it answers."""

from collections.abc import Container, Mapping, Sequence
from functools import cached_property

from retentive.model import Match, Mode, Query, TimeRelation, Why
from retentive.search.asked_value import AskedValue, has_value, read_asked_value, read_names
from retentive.search.candidates import Candidate, HitLoader
from retentive.search.question import ParsedQuestion
from retentive.search.related_words import RelatedWords
from retentive.search.relevance import Evidence
from retentive.search.signals import WORD_SHARE_ROWS
from retentive.search.time_query import QuestionTimes
from retentive.store import OpenStore
from retentive.text.terms import segment_text


class EvidenceReader:
    """Compares texts with the words, names, times and values of one question. Each text is compared once."""

    def __init__(
        self, store: OpenStore, query: Query, question: ParsedQuestion, when: QuestionTimes, speakers: Container[str]
    ) -> None:
        """`speakers` are words of names of those who speak in the namespaces, in lower case."""
        self._store, self._question, self._when = store, question, when
        self._word_shares: dict[str, float] = {}
        self._related_shares: dict[int, float] = {}
        # A keyword search counts the very words only: the table of word vectors is not loaded.
        self._related_words = RelatedWords("" if query.mode is Mode.TEXT else question.meaning)
        self._value: AskedValue | None = read_asked_value(query.text)
        self._names = {name for name in read_names(query.text) if name not in speakers}

    @cached_property
    def content_terms(self) -> set[str]:
        """The terms that an answer should have, as the full-text index sees them."""
        return {*self._store.engine.tokens(" ".join(self._question.content))}

    def best_word_share(self, keyword_matches: Sequence[Match], loader: HitLoader) -> float:
        """The largest share of the question's words that one of the best matches has."""
        loaded = (loader.get(match.chunk) for match in keyword_matches[:WORD_SHARE_ROWS])
        return max((self.word_share(candidate) for candidate in loaded if candidate), default=1.0)

    def word_share(self, candidate: Candidate) -> float:
        """The share of the question's words that a text has."""
        text = candidate.searchable_text
        if text not in self._word_shares:
            shared = self.content_terms.intersection(self._store.engine.tokens(segment_text(text)))
            self._word_shares[text] = len(shared) / max(1, len(self.content_terms))
        return self._word_shares[text]

    def measure_related_words(self, candidates: Mapping[int, Candidate]) -> dict[int, float]:
        """The shares of the question's words that texts have, related words included, by chunk."""
        missing = {
            chunk: candidate.searchable_text
            for chunk, candidate in candidates.items()
            if chunk not in self._related_shares
        }
        if missing:
            shares = self._related_words.shares([*missing.values()])
            self._related_shares.update(zip(missing, shares, strict=True))
        return self._related_shares

    def read_evidence(self, candidate: Candidate, why: Why, chunk: int, excess_cosine: float | None) -> Evidence:
        """Collect what speaks for a hit and against it. `excess_cosine` is above the threshold, calibrated."""
        person = self._question.person
        is_of_other = person is not None and bool(person.speaker) and not person.owns(candidate.item)
        return Evidence(
            cosine=excess_cosine,
            related=self._share_with_times(candidate, chunk, is_in_time=is_of_that_time(why)),
            other_person=is_of_other,
            missing_names=self._missing_names(candidate),
            lacks_value=self._value is not None and not has_value(candidate.searchable_text, self._value),
            asks=candidate.asks(),
            is_reply=candidate.is_reply,
        )

    def _share_with_times(self, candidate: Candidate, chunk: int, *, is_in_time: bool) -> float | None:
        """The share of the question's words, the same or related. A text of the time asked for has the time's words."""
        if not self.content_terms:
            return None
        if chunk not in self._related_shares:
            self.measure_related_words({chunk: candidate})
        share = max(self._related_shares[chunk], self.word_share(candidate))
        time_share = len(self._time_terms) / len(self.content_terms)
        return share * (1 - time_share) + time_share * is_in_time

    @cached_property
    def _time_terms(self) -> set[str]:
        """Those of the terms that only name a time."""
        if not self._when.spans:
            return set()
        return self.content_terms.difference(self._store.engine.tokens(self._when.rest))

    def _missing_names(self, candidate: Candidate) -> float:
        """The share of the names in the question that a text does not have."""
        if not self._names:
            return 0.0
        text = candidate.searchable_text.lower()
        return sum(name not in text for name in self._names) / len(self._names)


def is_of_that_time(why: Why) -> bool:
    """Whether a hit was said, or began to hold, at the time that is asked for."""
    return why.time is not None and why.time.relation is TimeRelation.INSIDE
