"""Check and repair a store, and print the rows that a repair moved to the quarantine."""

from collections.abc import Callable
from typing import Any

from retentive import serialize
from retentive.api import Retentive
from retentive.cli import output
from retentive.cli.args import is_json
from retentive.hints import for_terminal
from retentive.model import RepairResult
from retentive.storage import Finding

LOST_ROWS_HINT = "their missing rows are lost in this store; if you have a backup: retentive backup restore FILE"


def run_doctor(memory: Retentive, arguments: Any, salvaged: RepairResult | None = None) -> int:
    """Check the store, after a repair if wanted. `salvaged` is the repair of a store that could not be opened."""
    if arguments.discard:
        return _discard(memory, arguments)
    if arguments.quarantine:
        return _quarantine(memory, arguments)
    repaired = salvaged or (memory.repair() if arguments.repair else None)
    findings = [_word(each) for each in memory.doctor(verify=arguments.verify)]
    is_well = all(each.ok for each in findings)
    if is_json(arguments):
        answer = {"ok": is_well, "findings": [each._asdict() for each in findings]}
        output.print_json({**answer, "repaired": serialize.repair_result(repaired)} if repaired else answer)
    else:
        if repaired:
            _print_repair(repaired)
        for each in findings:
            output.print_raw(_format_finding(each))
    return 0 if is_well else 5


def _word(finding: Finding) -> Finding:
    return finding._replace(detail=for_terminal(finding.detail), remedy=for_terminal(finding.remedy))


def _format_finding(finding: Finding) -> str:
    mark = output.paint("ok ", "green") if finding.ok else output.paint("BAD", "red")
    remedy = "" if finding.ok else f"  -> {finding.remedy}"
    return f"{mark}  {finding.name:22} {output.sanitise(finding.detail)}{remedy}"


def _print_repair(repaired: RepairResult) -> None:
    if repaired.kept:
        rows = sum((repaired.salvaged or {}).values())
        output.print_line(f"pages were damaged: the store was rebuilt from the {rows} rows that could be read")
        output.print_line(f"the old file is {repaired.kept!s}")
    for table, pages in (repaired.unreadable or {}).items():
        output.print_line(f"{pages} pages of {table} could not be read in full: {LOST_ROWS_HINT}")
    for row in repaired.quarantined:
        output.print_line(f"moved to the quarantine: {row.table} {row.key} ({row.reason})")


def _quarantine(memory: Retentive, arguments: Any) -> int:
    rows = memory.quarantine()
    if is_json(arguments):
        output.print_json({"quarantine": [serialize.quarantined_row(each) for each in rows]})
    else:
        cells = [(each.id, f"{each.at:%Y-%m-%d %H:%M}", each.table, each.key, each.reason, each.row) for each in rows]
        output.print_table(("id", "since", "table", "key", "why", "row"), cells)
    return 0


def _discard(memory: Retentive, arguments: Any) -> int:
    count = memory.discard_quarantine("*" if arguments.discard == ["*"] else arguments.discard)
    if is_json(arguments):
        output.print_json({"discarded": count})
    else:
        output.print_line(f"discarded: {count}")
    return 0


VERBS: dict[str, Callable[[Retentive, Any], int]] = {"doctor": run_doctor}
