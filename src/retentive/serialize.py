"""The public values as JSON. The same shapes at every door; docs/reference/json.md describes them."""

from collections.abc import Sequence
from dataclasses import asdict, fields, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from retentive.errors import RetentiveError
from retentive.model import (
    Added,
    Backup,
    Change,
    Checked,
    Compacted,
    ConsolidatedGroup,
    Consolidation,
    Context,
    Due,
    Event,
    Expectation,
    Exported,
    File,
    Forgotten,
    Heard,
    Hit,
    ImportedMemories,
    Indexed,
    Issued,
    Learned,
    Leg,
    LlmTrial,
    Memory,
    ModelCheck,
    ModelInfo,
    ModelTest,
    Outdated,
    Page,
    Proposal,
    Provenance,
    Purged,
    QuarantinedRow,
    Record,
    Records,
    Reembedded,
    Repaired,
    Replay,
    Restored,
    Results,
    Revision,
    Sought,
    SpaceFigures,
    Timing,
    UndoneConsolidation,
    Why,
    WorkerStatus,
    iso,
)


def plain(value: Any) -> Any:
    match value:
        case datetime():
            return iso(value)
        case Path():
            return str(value)
        case tuple():
            return [plain(each) for each in value]
        case _:
            return value


def shown(value: Any) -> dict[str, Any]:
    """Each field of a value by its name."""
    return {field.name: plain(getattr(value, field.name)) for field in fields(value)}


def file(value: File) -> dict[str, Any]:
    return shown(value)


def indexed(value: Indexed) -> dict[str, Any]:
    return {**shown(value), "skipped": [each._asdict() for each in value.skipped]}


def memory(value: Memory) -> dict[str, Any]:
    return shown(value)


def event(value: Event) -> dict[str, Any]:
    told = {"id": value.id, **shown(value)}
    return told | {"heard": [heard(each) for each in value.heard]}


def heard(value: Heard) -> dict[str, Any]:
    return {**shown(value), "candidates": [each._asdict() for each in value.candidates]}


def worker(value: WorkerStatus) -> dict[str, Any]:
    return shown(value)


def llm_trial(value: LlmTrial) -> dict[str, Any]:
    return {**shown(value), "cost": shown(value.cost)}


def learned(value: Learned) -> dict[str, Any]:
    unclear = [heard(each) for each in value.unclear]
    return {**shown(value), "unclear": unclear, **endings(value), "cost": shown(value.cost)}


def endings(value: Added | Learned) -> dict[str, Any]:
    """What ended, and what may end."""
    return {"ended": [shown(each) for each in value.ended], "proposals": [proposal(each) for each in value.proposals]}


def proposal(value: Proposal) -> dict[str, Any]:
    return shown(value)


def consolidation(value: Consolidation) -> dict[str, Any]:
    return {**shown(value), "groups": [_consolidated(each) for each in value.groups]}


def _consolidated(value: ConsolidatedGroup) -> dict[str, Any]:
    return {**shown(value), "cited": [shown(each) for each in value.cited]}


def undone_consolidation(value: UndoneConsolidation) -> dict[str, Any]:
    return shown(value)


def replay(value: Replay) -> dict[str, Any]:
    return {**shown(value), "events": [event(each) for each in value.events]}


def context(value: Context) -> dict[str, Any]:
    return {**shown(value), "left_out": [each._asdict() for each in value.left_out]}


def added(value: Added) -> dict[str, Any]:
    return {
        "created": value.created,
        "superseded": [*value.superseded],
        **endings(value),
        "pending": value.pending,
        "resembles": [each._asdict() for each in value.resembles],
        "memory": memory(value.memory),
    }


def imported(value: ImportedMemories) -> dict[str, Any]:
    return {**shown(value), "refusals": [each._asdict() for each in value.refusals]}


def hit(value: Hit) -> dict[str, Any]:
    body = shown(value.item)
    if isinstance(value.item, Record):
        body = {"namespace": value.item.namespace, "record": body}
    body.pop("id", None)
    body.pop("content", None)
    first = {"type": value.type, "id": value.id, "content": value.content, "score": round(value.score, 6)}
    first["relevance"] = round(value.relevance, 6)
    span = None if value.span is None else [*value.span]
    found = {"excerpt": value.excerpt, "span": span, "outdated": outdated(value.outdated)}
    return {**first, **found, "copies": value.copies, "why": why(value.why), **body}


def outdated(value: Outdated | None) -> dict[str, Any] | None:
    if value is None:
        return None
    return {"newer_id": value.newer_id, "since": iso(value.since), "is_certain": value.is_certain}


def why(value: Why) -> dict[str, Any]:
    return {
        "tier": value.tier,
        "text": _leg(value.text),
        "vector": _leg(value.vector),
        "confidence_factor": round(value.confidence_factor, 6),
        "importance_factor": round(value.importance_factor, 6),
        "when": _timing(value.when),
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


def page(value: Page) -> dict[str, Any]:
    return {"memories": [memory(each) for each in value.memories], "next": value.next, "notes": [*value.notes]}


def record(value: Record) -> dict[str, Any]:
    return shown(value)


def records(value: Records[Any]) -> dict[str, Any]:
    return {"records": [record(each) for each in value.records], "next": value.next}


def revision(value: Revision[Any]) -> dict[str, Any]:
    return {**shown(value), "record": None if value.record is None else record(value.record)}


def due(value: Due) -> dict[str, Any]:
    return {**shown(value), "skill": record(value.skill)}


def change(value: Change) -> dict[str, Any]:
    return {**asdict(value), "at": iso(value.at)}


def issued(value: Issued) -> dict[str, Any]:
    return {"secret": value.secret, "token": shown(value.token)}


def expectation(value: Expectation) -> dict[str, Any]:
    return {**shown(value), "nothing": value.nothing}


def expected(value: Sequence[Checked]) -> dict[str, Any]:
    """A run of expectations."""
    broken = sum(not each.held for each in value)
    return {"ok": not broken, "broken": broken, "checked": [checked(each) for each in value]}


def checked(value: Checked) -> dict[str, Any]:
    return {
        **shown(value),
        "expectation": expectation(value.expectation),
        "sought": [_sought(each) for each in value.sought],
        "found": [_ranked(place, each) for place, each in enumerate(value.found, start=1)],
    }


def _sought(value: Sought) -> dict[str, Any]:
    return {**shown(value), "memory": None if value.memory is None else memory(value.memory)}


def _ranked(place: int, value: Hit) -> dict[str, Any]:
    told = {"type": value.type, "id": value.id, "score": round(value.score, 6), "excerpt": value.excerpt}
    return {"rank": place, **told}


def model(value: ModelInfo) -> dict[str, Any]:
    return shown(value) | {"files": [shown(file) for file in value.files]}


def model_test(value: ModelTest) -> dict[str, Any]:
    return shown(value)


def model_check(value: ModelCheck) -> dict[str, Any]:
    return shown(value) | {"files": [shown(file) for file in value.files]}


def reembedded(value: Reembedded) -> dict[str, Any]:
    changes = [
        {"is_regression": each.is_regression, "before": checked(each.before), "after": checked(each.after)}
        for each in value.changes
    ]
    return {**shown(value), "changes": changes, "regressions": len(value.regressions)}


def space_figures(value: SpaceFigures) -> dict[str, Any]:
    return {**shown(value.space), "vectors": value.vectors, "pending": value.pending}


def quarantined(value: QuarantinedRow) -> dict[str, Any]:
    return shown(value)


def repaired(value: Repaired) -> dict[str, Any]:
    rows = [quarantined(each) for each in value.quarantined]
    return {**shown(replace(value, quarantined=())), "quarantined": rows}


def exported(value: Exported) -> dict[str, Any]:
    return shown(value)


def forgotten(value: Forgotten) -> dict[str, Any]:
    return {"memories": [memory(each) for each in value.memories], "done": value.done}


def backup(value: Backup) -> dict[str, Any]:
    return shown(value)


def restored(value: Restored) -> dict[str, Any]:
    return {**shown(value), "backup": backup(value.backup)}


def compacted(value: Compacted) -> dict[str, Any]:
    return shown(value)


def purged(value: Purged) -> dict[str, Any]:
    return {**shown(value), "remaining": [each._asdict() for each in value.remaining]}


def provenance(value: Provenance) -> dict[str, Any]:
    return {
        "memory": memory(value.memory),
        "messages": [event(each) for each in value.messages],
        "missing": [*value.missing],
        "replaced": [memory(each) for each in value.replaced],
        "replaced_by": [memory(each) for each in value.replaced_by],
        "changes": [change(each) for each in value.changes],
    }


def error(value: RetentiveError) -> dict[str, Any]:
    kind = type(value).__name__
    return {"error": {"type": kind, "message": str(value), "hint": value.hint, "retryable": value.retryable}}


def _timing(value: Timing | None) -> dict[str, Any] | None:
    if value is None:
        return None
    told = {name: plain(each) for name, each in value._asdict().items()}
    return {**told, "factor": round(value.factor, 6), "bonus": round(value.bonus, 6)}


def _leg(value: Leg | None) -> dict[str, Any] | None:
    return None if value is None else {name: round(number, 6) for name, number in value._asdict().items()}
