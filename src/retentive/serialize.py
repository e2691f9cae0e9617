"""The public values as JSON. The same shapes at every door; docs/reference/json.md describes them."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, fields, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from retentive.errors import RetentiveError
from retentive.model import (
    AddResult,
    Backup,
    CompactResult,
    ConsolidatedGroup,
    Consolidation,
    Context,
    DueSkill,
    Event,
    Expectation,
    ExpectationResult,
    ExpectedMemory,
    ExportResult,
    File,
    ForgetResult,
    HandledRequest,
    HistoryEntry,
    Hit,
    ImportMemoriesResult,
    IndexResult,
    LearnResult,
    LlmTrial,
    Memory,
    ModelCheck,
    ModelInfo,
    ModelTest,
    NewToken,
    Page,
    Proposal,
    Provenance,
    PurgeResult,
    QuarantinedRow,
    Record,
    ReembedResult,
    RepairResult,
    Replay,
    RestoreResult,
    Results,
    RetrieverScore,
    Revision,
    SpaceFigures,
    Successor,
    TimelineDay,
    TimeMatch,
    UndoConsolidationResult,
    Why,
    WorkerStatus,
    iso,
)
from retentive.model.scale import ScaleReport


def encode_value(value: Any) -> Any:
    match value:
        case datetime():
            return iso(value)
        case Path():
            return str(value)
        case tuple():
            return [encode_value(each) for each in value]
        case _:
            return value


def encode_fields(value: Any) -> dict[str, Any]:
    """Encode each field of a value by its name."""
    return {field.name: encode_value(getattr(value, field.name)) for field in fields(value)}


def file(value: File) -> dict[str, Any]:
    return encode_fields(value)


def index_result(value: IndexResult) -> dict[str, Any]:
    return {**encode_fields(value), "skipped": [each._asdict() for each in value.skipped]}


def memory(value: Memory) -> dict[str, Any]:
    return encode_fields(value)


def event(value: Event) -> dict[str, Any]:
    requests = [handled_request(each) for each in value.requests]
    return {"id": value.id, **encode_fields(value), "requests": requests}


def handled_request(value: HandledRequest) -> dict[str, Any]:
    candidates = [each._asdict() for each in value.candidates]
    return {
        **encode_fields(value),
        "candidates": candidates,
        "replaced": [encode_fields(each) for each in value.replaced],
    }


def worker_status(value: WorkerStatus) -> dict[str, Any]:
    return encode_fields(value)


def llm_trial(value: LlmTrial) -> dict[str, Any]:
    return {**encode_fields(value), "cost": encode_fields(value.cost)}


def learn_result(value: LearnResult) -> dict[str, Any]:
    unclear = [handled_request(each) for each in value.unclear]
    return {**encode_fields(value), "unclear": unclear, **endings(value), "cost": encode_fields(value.cost)}


def endings(value: AddResult | LearnResult) -> dict[str, Any]:
    """Encode the memories that ended, and those that may end."""
    return {
        "replaced": [encode_fields(each) for each in value.replaced],
        "proposals": [proposal(each) for each in value.proposals],
    }


def proposal(value: Proposal) -> dict[str, Any]:
    return encode_fields(value)


def consolidation(value: Consolidation) -> dict[str, Any]:
    return {**encode_fields(value), "groups": [_consolidated_group(each) for each in value.groups]}


def _consolidated_group(value: ConsolidatedGroup) -> dict[str, Any]:
    return {**encode_fields(value), "cited": [encode_fields(each) for each in value.cited]}


def undo_consolidation_result(value: UndoConsolidationResult) -> dict[str, Any]:
    return encode_fields(value)


def replay(value: Replay) -> dict[str, Any]:
    return {**encode_fields(value), "events": [event(each) for each in value.events]}


def context(value: Context) -> dict[str, Any]:
    return {**encode_fields(value), "left_out": [each._asdict() for each in value.left_out]}


def add_result(value: AddResult) -> dict[str, Any]:
    return {
        "created": value.created,
        "superseded": [*value.superseded],
        **endings(value),
        "pending": value.pending,
        "similar": [each._asdict() for each in value.similar],
        "memory": memory(value.memory),
    }


def import_result(value: ImportMemoriesResult) -> dict[str, Any]:
    return {**encode_fields(value), "refusals": [each._asdict() for each in value.refusals]}


def hit(value: Hit) -> dict[str, Any]:
    body = encode_fields(value.item)
    if isinstance(value.item, Record):
        body = {"namespace": value.item.namespace, "record": body}
    body.pop("id", None)
    body.pop("content", None)
    first = {"type": value.type, "id": value.id, "content": value.content, "score": round(value.score, 6)}
    first["relevance"] = round(value.relevance, 6)
    span = None if value.span is None else [*value.span]
    found = {"excerpt": value.excerpt, "span": span, "outdated": successor(value.outdated)}
    return {**first, **found, "copies": value.copies, "why": why(value.why), **body}


def successor(value: Successor | None) -> dict[str, Any] | None:
    if value is None:
        return None
    return {"newer_id": value.newer_id, "since": iso(value.since), "is_certain": value.is_certain}


def why(value: Why) -> dict[str, Any]:
    return {
        "tier": value.tier,
        "text": _retriever_score(value.text),
        "vector": _retriever_score(value.vector),
        "confidence_factor": round(value.confidence_factor, 6),
        "importance_factor": round(value.importance_factor, 6),
        "time": _time_match(value.time),
        "shares": {name: round(share, 6) for name, share in value.shares.items()},
        "pair": round(value.pair, 6),
        "rerank": round(value.rerank, 6),
    }


def results(value: Results) -> dict[str, Any]:
    return {
        "query": value.query,
        "tier": value.tier,
        "notes": [*value.notes],
        "timings_ms": {stage: round(seconds * 1000, 3) for stage, seconds in value.timings.items()},
        "hits": [hit(each) for each in value.hits],
    }


def page(value: Page[Memory]) -> dict[str, Any]:
    return {"memories": [memory(each) for each in value.items], "next": value.next, "notes": [*value.notes]}


def record(value: Record) -> dict[str, Any]:
    return encode_fields(value)


def records(value: Page[Record]) -> dict[str, Any]:
    return {"records": [record(each) for each in value.items], "next": value.next}


def revision(value: Revision[Any]) -> dict[str, Any]:
    return {**encode_fields(value), "record": None if value.record is None else record(value.record)}


def due_skill(value: DueSkill) -> dict[str, Any]:
    return {**encode_fields(value), "skill": record(value.skill)}


def history_entry(value: HistoryEntry) -> dict[str, Any]:
    return {**asdict(value), "at": iso(value.at)}


def timeline_day(value: TimelineDay) -> dict[str, Any]:
    return {**encode_fields(value), "day": value.day.isoformat()}


def new_token(value: NewToken) -> dict[str, Any]:
    return {"secret": value.secret, "token": encode_fields(value.token)}


def expectation(value: Expectation) -> dict[str, Any]:
    return {**encode_fields(value), "nothing": value.nothing}


def expectation_results(value: Sequence[ExpectationResult]) -> dict[str, Any]:
    """A run of expectations."""
    broken = sum(not each.passed for each in value)
    return {"ok": not broken, "broken": broken, "checked": [expectation_result(each) for each in value]}


def expectation_result(value: ExpectationResult) -> dict[str, Any]:
    return {
        **encode_fields(value),
        "expectation": expectation(value.expectation),
        "expected": [_expected_memory(each) for each in value.expected],
        "hits": [_ranked_hit(place, each) for place, each in enumerate(value.hits, start=1)],
    }


def _expected_memory(value: ExpectedMemory) -> dict[str, Any]:
    return {**encode_fields(value), "memory": None if value.memory is None else memory(value.memory)}


def _ranked_hit(place: int, value: Hit) -> dict[str, Any]:
    score = round(value.score, 6)
    return {"rank": place, "type": value.type, "id": value.id, "score": score, "excerpt": value.excerpt}


def model(value: ModelInfo) -> dict[str, Any]:
    return encode_fields(value) | {"files": [encode_fields(file) for file in value.files]}


def model_test(value: ModelTest) -> dict[str, Any]:
    return encode_fields(value)


def model_check(value: ModelCheck) -> dict[str, Any]:
    return encode_fields(value) | {"files": [encode_fields(file) for file in value.files]}


def reembed_result(value: ReembedResult) -> dict[str, Any]:
    changes = [
        {
            "is_regression": each.is_regression,
            "before": expectation_result(each.before),
            "after": expectation_result(each.after),
        }
        for each in value.changes
    ]
    return {**encode_fields(value), "changes": changes, "regressions": len(value.regressions)}


def space_figures(value: SpaceFigures) -> dict[str, Any]:
    return {**encode_fields(value.space), "vectors": value.vectors, "pending": value.pending}


def quarantined_row(value: QuarantinedRow) -> dict[str, Any]:
    return encode_fields(value)


def scale_report(value: ScaleReport, word: Callable[[str], str] = str) -> dict[str, Any]:
    """Encode how a store is set up. `word` words the hints for a door."""
    findings = [each._replace(detail=word(each.detail), next_step=word(each.next_step)) for each in value.findings]
    return {
        "kind": value.kind,
        "where": value.where,
        "ok": value.is_well,
        "findings": [each._asdict() for each in findings],
        "server": value.server and asdict(value.server),
    }


def repair_result(value: RepairResult) -> dict[str, Any]:
    rows = [quarantined_row(each) for each in value.quarantined]
    return {**encode_fields(replace(value, quarantined=())), "quarantined": rows}


def export_result(value: ExportResult) -> dict[str, Any]:
    return encode_fields(value)


def forget_result(value: ForgetResult) -> dict[str, Any]:
    return {"memories": [memory(each) for each in value.memories], "done": value.done}


def backup(value: Backup) -> dict[str, Any]:
    return encode_fields(value)


def restore_result(value: RestoreResult) -> dict[str, Any]:
    return {**encode_fields(value), "backup": backup(value.backup)}


def compact_result(value: CompactResult) -> dict[str, Any]:
    return encode_fields(value)


def purge_result(value: PurgeResult) -> dict[str, Any]:
    return {**encode_fields(value), "remaining": [each._asdict() for each in value.remaining]}


def provenance(value: Provenance) -> dict[str, Any]:
    return {
        "memory": memory(value.memory),
        "messages": [event(each) for each in value.messages],
        "missing": [*value.missing],
        "replaced": [memory(each) for each in value.replaced],
        "replaced_by": [memory(each) for each in value.replaced_by],
        "changes": [history_entry(each) for each in value.changes],
    }


def error(value: RetentiveError, word: Callable[[str], str] = str) -> dict[str, Any]:
    """Encode an error. `word` puts its hint into the words of a door."""
    kind = type(value).__name__
    return {"error": {"type": kind, "message": str(value), "hint": word(value.hint), "retryable": value.retryable}}


def _time_match(value: TimeMatch | None) -> dict[str, Any] | None:
    if value is None:
        return None
    encoded = {name: encode_value(each) for name, each in value._asdict().items()}
    return {**encoded, "factor": round(value.factor, 6), "bonus": round(value.bonus, 6)}


def _retriever_score(value: RetrieverScore | None) -> dict[str, Any] | None:
    return None if value is None else {name: round(number, 6) for name, number in value._asdict().items()}
