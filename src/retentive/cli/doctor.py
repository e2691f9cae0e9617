"""What the verb does that checks a store, repairs it, and shows what a repair set aside."""

from collections.abc import Callable
from typing import Any

from retentive import serialize
from retentive.api import Retentive
from retentive.cli import output
from retentive.cli.args import is_json
from retentive.model import Repaired
from retentive.storage import Finding

RESTORE = "what is missing of them is lost in this store; if you have a backup: retentive backup restore FILE"


def doctor(memory: Retentive, arguments: Any, salvaged: Repaired | None = None) -> int:
    """`salvaged` is what became of a store that could not be opened before."""
    if arguments.discard:
        return _discard(memory, arguments)
    if arguments.quarantine:
        return _quarantine(memory, arguments)
    repaired = salvaged or (memory.repair() if arguments.repair else None)
    findings = memory.doctor(verify=arguments.verify)
    is_well = all(each.ok for each in findings)
    if is_json(arguments):
        told = {"ok": is_well, "findings": [each._asdict() for each in findings]}
        output.as_json({**told, "repaired": serialize.repaired(repaired)} if repaired else told)
    else:
        if repaired:
            _tell(repaired)
        for each in findings:
            output.say(_line(each))
    return 0 if is_well else 5


def _line(finding: Finding) -> str:
    mark = output.paint("ok ", "green") if finding.ok else output.paint("BAD", "red")
    remedy = "" if finding.ok else f"  -> {finding.remedy}"
    return f"{mark}  {finding.name:22} {output.line(finding.detail)}{remedy}"


def _tell(repaired: Repaired) -> None:
    if repaired.kept:
        rows = sum((repaired.salvaged or {}).values())
        output.say(f"pages were damaged: the store was written anew from the {rows} rows that could be read")
        output.say(f"the old file is {output.line(str(repaired.kept))}")
    for table, pages in (repaired.unreadable or {}).items():
        output.say(f"{pages} pages of {table} could not be read in full: {RESTORE}")
    for row in repaired.quarantined:
        output.say(output.line(f"moved to the quarantine: {row.table} {row.key} ({row.reason})"))


def _quarantine(memory: Retentive, arguments: Any) -> int:
    rows = memory.quarantine()
    if is_json(arguments):
        output.as_json({"quarantine": [serialize.quarantined(each) for each in rows]})
    else:
        cells = [(each.id, f"{each.at:%Y-%m-%d %H:%M}", each.table, each.key, each.reason, each.row) for each in rows]
        output.table(("id", "since", "table", "key", "why", "row"), cells)
    return 0


def _discard(memory: Retentive, arguments: Any) -> int:
    count = memory.discard_quarantine("*" if arguments.discard == ["*"] else arguments.discard)
    if is_json(arguments):
        output.as_json({"discarded": count})
    else:
        output.say(f"discarded: {count}")
    return 0


VERBS: dict[str, Callable[[Retentive, Any], int]] = {"doctor": doctor}
