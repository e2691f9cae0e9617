"""Reorders the first hits of a search by a reranker, if one is set."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import chain

from retentive.errors import RerankError
from retentive.model import Hit, Query, Results
from retentive.rerank import Reranker
from retentive.search.retrievers import Stage
from retentive.store import OpenStore


def answer_reranked(store: OpenStore, query: Query, ask: Callable[[Query], Results]) -> Results:
    """Answer by `ask` and rerank the first hits. A search without a limit or without words is left as it is."""
    reranker = store.reranker()
    if reranker is None or query.limit is None or not query.text.strip():
        return ask(query)
    found = ask(replace(query, limit=max(query.limit, store.config.rerank_hits)))
    hits, notes, timings = [*found.hits], [*found.notes], dict(found.timings)
    try:
        with Stage(timings, "rerank"):
            hits = rerank(reranker, query.text, hits, store.config.rerank_hits, store.config.rerank_timeout)
    except RerankError as error:
        notes.append(f"the hits were not reranked: {error}")
    return replace(found, hits=tuple(hits[: query.limit]), notes=tuple(notes), timings=timings)


def rerank(reranker: Reranker, question: str, hits: Sequence[Hit], count: int, seconds: float) -> list[Hit]:
    """Order the first `count` hits by the reranker's scores, the rest behind them.

    An outdated hit stays behind the newer hit above it. Each place keeps its score, so that the hits stay in the order
    of their scores; `Why.rerank` is the score that a hit gained or lost.
    """
    first, rest = hits[:count], hits[count:]
    if not first:
        return [*hits]
    groups = _group_outdated(first)
    scores = iter(reranker.score(question, [hit.excerpt for hit in first], seconds))
    best = [max(next(scores) for _ in group) for group in groups]
    order = sorted(range(len(groups)), key=lambda place: -best[place])
    moved = chain.from_iterable(groups[place] for place in order)
    places = sorted((hit.score for hit in first), reverse=True)
    return [*(_set_score(hit, score) for hit, score in zip(moved, places, strict=True)), *rest]


def _group_outdated(hits: Sequence[Hit]) -> list[list[Hit]]:
    groups: list[list[Hit]] = []
    for hit in hits:
        if hit.outdated and groups:
            groups[-1].append(hit)
        else:
            groups.append([hit])
    return groups


def _set_score(hit: Hit, score: float) -> Hit:
    why = replace(hit.why, rerank=hit.why.rerank + score - hit.score)
    return replace(hit, score=score, why=why)
