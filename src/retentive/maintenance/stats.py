"""Figures of a store."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from retentive import clock, serialize
from retentive.consolidation.consolidate import CONSOLIDATIONS
from retentive.maintenance.worker import status
from retentive.model import SpaceState
from retentive.storage.columns import show_text
from retentive.storage.tables.files import FileRows
from retentive.storage.tables.spaces import Spaces
from retentive.store import Parts
from retentive.store.journal import seconds_of

COUNTERS = (
    "upserts", "queries", "answered", "llm_calls", "llm_tokens", "embed_calls", "embed_tokens", CONSOLIDATIONS,
)  # fmt: skip
DESCRIBED = ("space", "loaded", "url", "dimension", "breaker", "requests", "tokens", "degraded")


def stats(parts: Parts) -> dict[str, Any]:
    parts.journal.flush()
    counts = parts.upkeep.counts(parts.namespace, clock.now())
    measures = parts.upkeep.measures(parts.namespace)
    sessions, events = parts.conversations.counts(parts.namespace)
    files, passages = FileRows(parts.engine).counts(parts.namespace)
    names = parts.memories.namespaces()
    seen = names if parts.bounds else None
    totals = Counter[str]()
    for measure, _, _, count in measures:
        totals[measure] += count if measure in COUNTERS else 0
    return {
        "namespace": parts.namespace,
        "namespaces": [*names],
        "memories": sum(row[3] for row in counts),
        "by_kind": _summed(counts, 0),
        "by_source": _summed(counts, 1),
        "by_status": _summed(counts, 2),
        "sessions": sessions,
        "events": events,
        "files": files,
        "passages": passages,
        "vectors_pending": parts.chunks.pending_count(parts.space, seen),
        "spaces": _list_spaces(parts, seen),
        "model_difference": parts.active.difference,
        "upserts": totals["upserts"],
        "queries": totals["queries"],
        "hit_rate": totals["answered"] / totals["queries"] if totals["queries"] else None,
        "llm_calls": totals["llm_calls"],
        "llm_tokens": totals["llm_tokens"],
        "embed_calls": totals["embed_calls"],
        "embed_tokens": totals["embed_tokens"],
        "latency_ms": _latencies(measures),
        "store": dict(parts.engine.facts()),
        "embedder": {} if parts.bounds else _embedder(parts),
        "index": _index(parts),
        "worker": {} if parts.bounds else serialize.worker(status(parts)),
        "failures": {} if parts.bounds else dict(parts.journal.failures),
    }


def _embedder(parts: Parts) -> dict[str, str]:
    """The model, and the provider that is asked in this process; paths are for `doctor`."""
    described = parts.embedder.describe() if parts.embedder else {}
    return {name: described[name] for name in DESCRIBED if name in described}


def _list_spaces(parts: Parts, seen: Sequence[str] | None) -> list[dict[str, Any]]:
    """Those that have vectors, or are about to."""
    stored = {each.name: each for each in Spaces(parts.engine).all() if each.state is not SpaceState.DROPPED}
    return [
        {"name": name, "dimension": size, "vectors": count, "state": stored[name].state, "model": stored[name].model}
        for name, size, count in parts.chunks.vector_counts(seen)
        if name in stored
    ]


def _index(parts: Parts) -> dict[str, Any]:
    """Of the namespaces that may be seen."""
    found = parts.images.made.stats() if parts.images.made else {}
    return {name: figures for name, figures in found.items() if parts.bounds is None or parts.bounds.cover(name)}


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


def health(parts: Parts) -> dict[str, Any]:
    """An error, if the store does not answer."""
    schema = parts.engine.facts()["schema"]
    if parts.embedder is None:
        return {"store": "ok", "schema": schema, "model": "off"}
    said = parts.embedder.describe()
    loaded = "loaded" if said.get("loaded") == "yes" else "missing" if "degraded" in said else "not loaded yet"
    return {"store": "ok", "schema": schema, "model": loaded}
