"""Figures of a store."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from retentive import clock, serialize
from retentive.consolidation.consolidate import CONSOLIDATIONS
from retentive.maintenance.worker import status
from retentive.model import SpaceState
from retentive.storage.columns import show_text
from retentive.store import OpenStore
from retentive.store.journal import seconds_of

COUNTERS = (
    "upserts", "queries", "answered", "llm_calls", "llm_tokens", "embed_calls", "embed_tokens", CONSOLIDATIONS,
)  # fmt: skip
DESCRIBED = ("space", "loaded", "url", "dimension", "breaker", "requests", "tokens", "degraded")


def stats(store: OpenStore) -> dict[str, Any]:
    store.journal.flush()
    counts = store.tables.metrics.counts(store.namespace, clock.now())
    measures = store.tables.metrics.measures(store.namespace)
    sessions, events = store.tables.conversations.counts(store.namespace)
    files, passages = store.tables.files.counts(store.namespace)
    names = store.tables.memories.namespaces()
    seen = names if store.bounds else None
    totals = Counter[str]()
    for measure, _, _, count in measures:
        totals[measure] += count if measure in COUNTERS else 0
    return {
        "namespace": store.namespace,
        "namespaces": [*names],
        "memories": sum(row[3] for row in counts),
        "by_kind": _summed(counts, 0),
        "by_source": _summed(counts, 1),
        "by_status": _summed(counts, 2),
        "sessions": sessions,
        "events": events,
        "files": files,
        "passages": passages,
        "vectors_pending": store.tables.chunks.pending_count(store.space, seen),
        "spaces": _list_spaces(store, seen),
        "model_difference": store.active.difference,
        "upserts": totals["upserts"],
        "queries": totals["queries"],
        "hit_rate": totals["answered"] / totals["queries"] if totals["queries"] else None,
        "llm_calls": totals["llm_calls"],
        "llm_tokens": totals["llm_tokens"],
        "embed_calls": totals["embed_calls"],
        "embed_tokens": totals["embed_tokens"],
        "latency_ms": _latencies(measures),
        "store": dict(store.engine.facts()),
        "embedder": {} if store.bounds else _embedder(store),
        "index": _index(store),
        "worker": {} if store.bounds else serialize.worker(status(store)),
        "failures": {} if store.bounds else dict(store.journal.failures),
    }


def _embedder(store: OpenStore) -> dict[str, str]:
    """The model, and the provider that is asked in this process; paths are for `doctor`."""
    described = store.embedder.describe() if store.embedder else {}
    return {name: described[name] for name in DESCRIBED if name in described}


def _list_spaces(store: OpenStore, seen: Sequence[str] | None) -> list[dict[str, Any]]:
    """Those that have vectors, or are about to."""
    stored = {each.name: each for each in store.tables.spaces.all() if each.state is not SpaceState.DROPPED}
    return [
        {"name": name, "dimension": size, "vectors": count, "state": stored[name].state, "model": stored[name].model}
        for name, size, count in store.tables.chunks.vector_counts(seen)
        if name in stored
    ]


def _index(store: OpenStore) -> dict[str, Any]:
    """Of the namespaces that may be seen."""
    found = store.images.made.stats() if store.images.made else {}
    return {name: figures for name, figures in found.items() if store.bounds is None or store.bounds.cover(name)}


def _summed(rows: Iterable[tuple[Any, ...]], column: int) -> dict[str, int]:
    counts = Counter[str]()
    for row in rows:
        counts[show_text(row[column])] += row[3]
    return dict(sorted(counts.items()))


def _latencies(measures: Iterable[tuple[Any, ...]]) -> dict[str, dict[str, dict[str, float]]]:
    """By tier, by stage: how many, and the 50th, 95th and 99th percentile."""
    histograms: dict[str, dict[str, list[tuple[int, int]]]] = defaultdict(lambda: defaultdict(list))
    for measure, tier, bucket, count in measures:
        if measure not in COUNTERS:
            histograms[tier][measure].append((bucket, count))
    return {tier: {stage: _percentiles(each) for stage, each in stages.items()} for tier, stages in histograms.items()}


def _percentiles(histogram: list[tuple[int, int]]) -> dict[str, float]:
    total = sum(count for _, count in histogram)
    figures: dict[str, float] = {"count": total}
    for percent in (50, 95, 99):
        seen = 0
        for bucket, count in histogram:
            seen += count
            if seen * 100 >= total * percent:
                figures[f"p{percent}"] = round(seconds_of(bucket) * 1000, 3)
                break
    return figures


def health(store: OpenStore) -> dict[str, Any]:
    """An error, if the store does not answer."""
    schema = store.engine.facts()["schema"]
    if store.embedder is None:
        return {"store": "ok", "schema": schema, "model": "off"}
    said = store.embedder.describe()
    loaded = "loaded" if said.get("loaded") == "yes" else "missing" if "degraded" in said else "not loaded yet"
    return {"store": "ok", "schema": schema, "model": loaded}
