"""Finds the few memories that a model needs with a prompt (`prompt_judge.py` decides which)."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from typing import NamedTuple

from retentive.errors import Invalid
from retentive.model import Hit, Query, Results, Space
from retentive.search.prompt_judge import CANDIDATES, Features, WordRarity, choose_helpful, read_features
from retentive.search.search import answer
from retentive.store import OpenStore
from retentive.text.terms import find_query_words, segment_text

# By keyword search alone, or a fusion without signals, there is no cosine to judge by: what is about as relevant as the
# best. On prompts of two people left out of choosing these two, .54 of the memories help.
MIN_RELEVANCE = 0.45
MIN_SHARE_OF_BEST = 0.85
MAX_COUNTED_ROWS = 8000  # with one word; a word of more is common in any case


class Candidates(NamedTuple):
    """The candidates of a prompt with their features; no features if there are no cosines."""

    results: Results
    features: Sequence[Features]


def search_for_prompt(store: OpenStore, query: Query) -> Results:
    """Find the memories that help with a prompt, the likeliest first: at most the query's limit, often none.

    The access log is left to the caller, who knows what was shown.
    """
    if not query.text.strip():
        raise Invalid("the prompt is empty", "Give the words of the prompt.")
    limit = query.limit or CANDIDATES
    found = find_candidates(store, query)
    hits = [*found.results.hits]
    chosen = choose_helpful(hits, found.features, limit) if found.features else _choose_nearest(hits, limit)
    results = replace(found.results, hits=tuple(chosen))
    store.journal.record_search(store.namespace, results, ())
    return results


def find_candidates(store: OpenStore, query: Query) -> Candidates:
    """Search the candidates of a prompt, and compute their features."""
    results = answer(store, replace(query, limit=CANDIDATES, min_relevance=query.min_relevance or 0.0))
    hits = results.hits
    cosines = _read_cosines(hits, store.space)
    if not cosines:
        return Candidates(results, ())
    rarity = _count_words(store, query)
    rarest = [rarity.measure_rarest(store.engine.tokens(segment_text(hit.content))) for hit in hits]
    return Candidates(results, read_features(hits, cosines, rarest, rarity.known_share))


def _choose_nearest(hits: Sequence[Hit], limit: int) -> list[Hit]:
    best = max((hit.relevance for hit in hits), default=0.0)
    least = max(MIN_RELEVANCE, MIN_SHARE_OF_BEST * best)
    return [hit for hit in hits if hit.relevance >= least][:limit]


def _read_cosines(hits: Sequence[Hit], space: Space | None) -> list[float]:
    """The calibrated cosine of each hit; [] if vector search took no part.

    Each share of vector search is the cosine times one weight, also where only keyword search found the hit.
    """
    if space is None:
        return []
    vectors = ((hit.why.shares.get("vector", 0.0), hit.why.vector) for hit in hits)
    weights = (share / space.calibrate(found.score) for share, found in vectors if found and share > 0 < found.score)
    weight = next(weights, None)
    return [hit.why.shares.get("vector", 0.0) / weight for hit in hits] if weight else []


def _count_words(store: OpenStore, query: Query) -> WordRarity:
    """Count the texts that have the words of a prompt."""
    tokens = (store.engine.tokens(word) for word in find_query_words(query.text))
    terms = [*dict.fromkeys(chain.from_iterable(tokens))]
    counts, texts = store.tables.chunks.count_rows(query.scope.namespaces, terms, MAX_COUNTED_ROWS)
    return WordRarity(terms, counts, texts)
