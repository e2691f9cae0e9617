"""Collect the statistics of a store, and check whether it answers."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from retentive import clock, serialize
from retentive.consolidation.consolidate import CONSOLIDATIONS
from retentive.maintenance.worker import describe_worker
from retentive.model import SpaceState, Status
from retentive.storage.columns import show_text
from retentive.storage.tables.metrics import MeasureCount
from retentive.store import OpenStore
from retentive.store.journal import read_bucket

COUNTERS = (
    "upserts", "queries", "answered", "llm_calls", "llm_tokens", "embed_calls", "embed_tokens", CONSOLIDATIONS,
)  # fmt: skip
EMBEDDER_FACTS = ("space", "loaded", "url", "dimension", "breaker", "requests", "tokens", "degraded")


def collect_stats(store: OpenStore) -> dict[str, Any]:
    store.journal.flush()
    counts = store.tables.metrics.count_memories(store.namespace, clock.now())
    measures = store.tables.metrics.measures(store.namespace)
    sessions, events = store.tables.conversations.counts(store.namespace)
    files, passages = store.tables.files.counts(store.namespace)
    names = store.tables.memories.list_namespaces()
    visible = names if store.bounds else None
    totals = Counter[str]()
    for measure, _, _, count in measures:
        totals[measure] += count if measure in COUNTERS else 0
    return {
        "namespace": store.namespace,
        "namespaces": [*names],
        "memories": sum(each.total for each in counts),
        "by_kind": _sum_counts((each.kind, each.total) for each in counts),
        "active_by_kind": _sum_counts((each.kind, each.total) for each in counts if each.status == Status.ACTIVE),
        "by_source": _sum_counts((each.source, each.total) for each in counts),
        "by_status": _sum_counts((each.status, each.total) for each in counts),
        "sessions": sessions,
        "events": events,
        "files": files,
        "passages": passages,
        "vectors_pending": store.tables.chunks.count_pending(store.space, visible),
        "spaces": _list_spaces(store, visible),
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
        "embedder": {} if store.bounds else _describe_embedder(store),
        "index": _index_stats(store),
        "worker": {} if store.bounds else serialize.worker_status(describe_worker(store)),
        "failures": {} if store.bounds else dict(store.journal.failures),
    }


def _describe_embedder(store: OpenStore) -> dict[str, str]:
    """Describe the model and its provider. File paths are left out; `doctor` shows them."""
    described = store.embedder.describe() if store.embedder else {}
    return {name: described[name] for name in EMBEDDER_FACTS if name in described}


def _list_spaces(store: OpenStore, visible: Sequence[str] | None) -> list[dict[str, Any]]:
    """Return the spaces that have vectors or will have some."""
    stored = {each.name: each for each in store.tables.spaces.all() if each.state is not SpaceState.DROPPED}
    return [
        {"name": name, "dimension": size, "vectors": count, "state": stored[name].state, "model": stored[name].model}
        for name, size, count in store.tables.chunks.count_vectors(visible)
        if name in stored
    ]


def _index_stats(store: OpenStore) -> dict[str, Any]:
    """Return the index figures of the namespaces that this view may read."""
    stats = store.images.made.stats() if store.images.made else {}
    return {name: figures for name, figures in stats.items() if store.bounds is None or store.bounds.cover(name)}


def _sum_counts(counts: Iterable[tuple[Any, int]]) -> dict[str, int]:
    """Return the sum of the counts of each value."""
    totals = Counter[str]()
    for value, count in counts:
        totals[show_text(value)] += count
    return dict(sorted(totals.items()))


def _latencies(measures: Iterable[MeasureCount]) -> dict[str, dict[str, dict[str, float]]]:
    """Return for each tier and stage the number of calls, and the 50th, 95th and 99th percentile."""
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
                figures[f"p{percent}"] = round(read_bucket(bucket) * 1000, 3)
                break
    return figures


def check_health(store: OpenStore) -> dict[str, Any]:
    """Return that the store answers, its schema, and the state of the model. Raise an error if it does not answer."""
    schema = store.engine.facts()["schema"]
    if store.embedder is None:
        return {"store": "ok", "schema": schema, "model": "off"}
    description = store.embedder.describe()
    model = "missing" if "degraded" in description else "not loaded yet"
    if description.get("loaded") == "yes":
        model = "loaded"
    return {"store": "ok", "schema": schema, "model": model}
