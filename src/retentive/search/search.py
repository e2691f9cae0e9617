"""The entry of search: makes a query by the settings, runs the pipeline, and logs which memories were found."""

from dataclasses import replace
from typing import Any

from retentive.errors import Invalid
from retentive.model import Access, Fusion, ItemType, Query, Results, Scope, from_micros
from retentive.search.pipeline import SearchPipeline
from retentive.search.reranking import answer_reranked
from retentive.search.signals import RECIPE, Recipe
from retentive.storage.damage import collect_damage
from retentive.store import OpenStore

MAX_LOGGED_CHARS = 1000  # of a question


def make_query(store: OpenStore, text: str, scope: Scope, **options: Any) -> Query:
    """Make a query whose searches are joined as the settings say."""
    settings = store.config
    fusion, weight, rrf_k = Fusion(settings.fusion), settings.vector_weight, settings.rrf_k
    return Query(text, scope, fusion=fusion, vector_weight=weight, rrf_k=rrf_k, **options)


def search(store: OpenStore, query: Query) -> Results:
    """Answer a query and log it."""
    if not query.text.strip() and query.vector is None:
        raise Invalid("the question is empty", "Give words to search for, or a vector.")
    results = answer(store, query)
    if note := store.active.take_difference():
        results = replace(results, notes=(*results.notes, note))
    log_search(store, query, results)
    return results


def answer(store: OpenStore, query: Query, recipe: Recipe = RECIPE) -> Results:
    """Answer a query without logging it. Damaged rows are left out and named in the notes."""
    with collect_damage() as damage:
        results = answer_reranked(store, query, lambda asked: SearchPipeline(store, asked, recipe).run())
    return replace(results, notes=(*results.notes, *damage.notes())) if damage else results


def log_search(store: OpenStore, query: Query, *answers: Results) -> None:
    """Log that one question was answered, though perhaps by several searches."""
    asked, now = query.text[:MAX_LOGGED_CHARS], from_micros(query.scope.now)
    whole = answers[0]
    for more in answers[1:]:
        timings = {stage: whole.timings.get(stage, 0.0) + passed for stage, passed in more.timings.items()}
        tier = whole.tier if whole.hits else more.tier
        whole = replace(whole, tier=tier, hits=(*whole.hits, *more.hits), timings={**whole.timings, **timings})
    accesses = (
        Access(hit.item.namespace, hit.id, now, "search", asked, hit.score)
        for hit in whole.hits
        if hit.type is ItemType.MEMORY
    )
    store.journal.record_search(store.namespace, whole, accesses)
