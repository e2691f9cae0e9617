"""The first hits of a search in the order of a reranker, if one is set."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import chain

from retentive.errors import RerankError
from retentive.model import Hit, Query, Results
from retentive.rerank import Reranker
from retentive.search.retrievers import Stage
from retentive.store import OpenStore


def answer_reranked(store: OpenStore, query: Query, ask: Callable[[Query], Results]) -> Results:
    """The answer of `ask`, its first hits reranked. A search without a limit or without words is left as it is."""
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


def rerank(reranker: Reranker, question: str, hits: Sequence[Hit], most: int, seconds: float) -> list[Hit]:
    """The first hits by the reranker's scores, the rest behind them.

    What is outdated stays behind the newer hit above it. The places keep their scores, so that the hits stay in the
    order of them; `Why.rerank` is what a hit gained or lost.
    """
    first, rest = hits[:most], hits[most:]
    if not first:
        return [*hits]
    groups = _group(first)
    scores = iter(reranker.score(question, [hit.excerpt for hit in first], seconds))
    best = [max(next(scores) for _ in group) for group in groups]
    order = sorted(range(len(groups)), key=lambda place: -best[place])
    moved = chain.from_iterable(groups[place] for place in order)
    places = sorted((hit.score for hit in first), reverse=True)
    return [*(_place(hit, score) for hit, score in zip(moved, places, strict=True)), *rest]


def _group(hits: Sequence[Hit]) -> list[list[Hit]]:
    groups: list[list[Hit]] = []
    for hit in hits:
        if hit.outdated and groups:
            groups[-1].append(hit)
        else:
            groups.append([hit])
    return groups


def _place(hit: Hit, score: float) -> Hit:
    why = replace(hit.why, rerank=hit.why.rerank + score - hit.score)
    return replace(hit, score=score, why=why)
