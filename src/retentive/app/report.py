"""How the store is: figures, and a check-up."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import Any

from retentive import clock, wire
from retentive.app.append import index_anew
from retentive.app.consolidate import CONSOLIDATIONS
from retentive.app.daily import PART
from retentive.app.edit import chunks_anew
from retentive.app.files.anew import index_anew as index_file
from retentive.app.integrity import check_integrity
from retentive.app.keep import expire
from retentive.app.parts import Parts
from retentive.app.records.anew import index_anew as index_record
from retentive.app.records.anew import unsearchable
from retentive.app.slices import slices
from retentive.app.upkeep import seconds_of
from retentive.app.worker import status
from retentive.errors import Closed, EmbedError, RetentiveError, Stale
from retentive.model import Session
from retentive.storage import Finding
from retentive.storage.files import FileRows
from retentive.storage.memories import unchanged_step
from retentive.storage.proposals import Proposals

PAGE = 500  # messages read at a time
REPAIR = "Run `retentive doctor --repair`."
COUNTERS = ("upserts", "queries", "answered", "llm_calls", "llm_tokens", CONSOLIDATIONS)


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
        "spaces": [
            {"name": name, "dimension": size, "vectors": count}
            for name, size, count in parts.chunks.vector_counts(seen)
        ],
        "upserts": totals["upserts"],
        "queries": totals["queries"],
        "hit_rate": totals["answered"] / totals["queries"] if totals["queries"] else None,
        "llm_calls": totals["llm_calls"],
        "llm_tokens": totals["llm_tokens"],
        "latency_ms": _latencies(measures),
        "store": dict(parts.engine.facts()),
        "index": _index(parts),
        "worker": {} if parts.bounds else wire.worker(status(parts)),
        "failures": {} if parts.bounds else dict(parts.journal.failures),
    }


def _index(parts: Parts) -> dict[str, Any]:
    """Of the namespaces that may be seen."""
    found = parts.images.made.stats() if parts.images.made else {}
    return {name: figures for name, figures in found.items() if parts.bounds is None or parts.bounds.cover(name)}


def _summed(rows: Iterable[tuple[Any, ...]], column: int) -> dict[str, int]:
    counts = Counter[str]()
    for row in rows:
        counts[row[column]] += row[3]
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


def doctor(parts: Parts, *, verify: bool = False) -> list[Finding]:
    facts = parts.engine.facts()
    return [
        Finding("schema", ok=True, detail=f"number {facts['schema']}, up to date"),
        *_examined("database", parts.engine.check),
        *_examined("integrity", lambda: check_integrity(parts, verify=verify)),
        *_examined("conversations", lambda: [_conversations(parts)]),
        *_examined("files", lambda: [_files(parts)]),
        *_examined("records", lambda: [_records(parts)]),
        *_examined("model", lambda: [_model(parts)]),
        *_examined("vectors", lambda: [_pending(parts)]),
        _daily(parts),
    ]


def _examined(name: str, examine: Callable[[], list[Finding]]) -> list[Finding]:
    """An examination that cannot be made is a finding too."""
    try:
        return examine()
    except Closed:
        raise
    except RetentiveError as error:
        return [Finding(name, ok=False, detail=str(error), remedy=error.hint)]


def repair(parts: Parts) -> None:
    """Make what is derived anew: the full-text index, chunks that are missing, the indexes of this process."""
    parts.engine.rebuild()
    sum(expire(parts))
    Proposals(parts.engine).prune(clock.now())
    for namespace, id in parts.chunks.broken():
        memory = parts.memories.get(namespace, id, clock.now())
        if memory:
            with suppress(Stale):  # whoever changed it meanwhile made its chunks anew
                parts.engine.apply([unchanged_step(memory), *chunks_anew(parts, memory)])
    for session in _unsearchable(parts):
        with suppress(Stale):  # it grew meanwhile; the next repair has it
            index_anew(parts, session)
    for namespace, id, _ in FileRows(parts.engine).broken():
        with suppress(Stale):
            index_file(parts, namespace, id)
    for row in unsearchable(parts):
        with suppress(Stale):
            index_record(parts, row)
    if parts.images.made:
        parts.images.made.drop(None)


def _unsearchable(parts: Parts) -> Iterator[Session]:
    """Sessions of all namespaces with a message whose words are not in the index."""
    rows = parts.conversations
    for namespace, name in rows.names():
        session, known, after = rows.get(namespace, name), rows.hashes(namespace, name), 0
        while session and (page := rows.oldest(namespace, name, PAGE, after)):
            if any(each.hash not in known for event in page for each in slices(event)):
                yield session
                break
            after = page[-1].sequence


def _conversations(parts: Parts) -> Finding:
    broken = [session.id for session in _unsearchable(parts)]
    if broken:
        names = ", ".join(broken[:5])
        return Finding("conversations", ok=False, detail=f"not all of {names} can be searched", remedy=REPAIR)
    return Finding("conversations", ok=True, detail="every message can be searched")


def _files(parts: Parts) -> Finding:
    broken = [path for _, _, path in FileRows(parts.engine).broken()]
    if broken:
        names = ", ".join(broken[:5])
        again = "Run `retentive doctor --repair`, then `retentive index` on their folder."
        return Finding("files", ok=False, detail=f"not all of {names} can be searched", remedy=again)
    return Finding("files", ok=True, detail="every passage can be searched")


def _records(parts: Parts) -> Finding:
    broken = [f"{row.type} {row.id}" for row in unsearchable(parts)]
    if broken:
        names = ", ".join(broken[:5])
        return Finding("records", ok=False, detail=f"not all of {names} can be searched", remedy=REPAIR)
    return Finding("records", ok=True, detail="every profile, contact, project and skill can be searched")


def _model(parts: Parts) -> Finding:
    if parts.embedder is None:
        return Finding("model", ok=True, detail="switched off: searches use full text alone")
    try:
        parts.embedder.embed_query("a question")
    except EmbedError as error:
        return Finding("model", ok=False, detail=str(error), remedy=error.hint)
    return Finding("model", ok=True, detail=", ".join(f"{k}: {v}" for k, v in parts.embedder.describe().items() if v))


def _daily(parts: Parts) -> Finding:
    log, said = parts.daily, parts.config.daily_log
    if log is None or said == "off":
        return Finding("daily log", ok=True, detail="off")
    failed = parts.journal.failures.get(PART) or log.problem()
    detail = failed or (f"in {log.folder}" if log.on else f"servers write it to {log.folder}")
    return Finding("daily log", not failed, detail, "See `daily_log_folder` in the settings." if failed else "")


def _pending(parts: Parts) -> Finding:
    count = parts.chunks.pending_count(parts.space)
    if parts.space is None:
        return Finding("vectors", ok=True, detail=f"none are made; {count} would be")
    return Finding("vectors", not count, f"{count} pending", "Run `retentive backfill`." if count else "")
