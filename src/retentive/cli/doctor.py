"""What the verb does that checks a store, repairs it, and shows what a repair set aside."""

from collections.abc import Callable
from typing import Any

from retentive import wire
from retentive.app import Retentive
from retentive.cli import show
from retentive.cli.given import is_json
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
        show.as_json({**told, "repaired": wire.repaired(repaired)} if repaired else told)
    else:
        if repaired:
            _tell(repaired)
        for each in findings:
            show.say(_line(each))
    return 0 if is_well else 5


def _line(finding: Finding) -> str:
    mark = show.paint("ok ", "green") if finding.ok else show.paint("BAD", "red")
    remedy = "" if finding.ok else f"  -> {finding.remedy}"
    return f"{mark}  {finding.name:22} {show.line(finding.detail)}{remedy}"


def _tell(repaired: Repaired) -> None:
    if repaired.kept:
        rows = sum((repaired.salvaged or {}).values())
        show.say(f"pages were damaged: the store was written anew from the {rows} rows that could be read")
        show.say(f"the old file is {show.line(str(repaired.kept))}")
    for table, pages in (repaired.unreadable or {}).items():
        show.say(f"{pages} pages of {table} could not be read in full: {RESTORE}")
    for row in repaired.quarantined:
        show.say(show.line(f"moved to the quarantine: {row.table} {row.key} ({row.reason})"))


def _quarantine(memory: Retentive, arguments: Any) -> int:
    rows = memory.quarantine()
    if is_json(arguments):
        show.as_json({"quarantine": [wire.quarantined(each) for each in rows]})
    else:
        cells = [(each.id, f"{each.at:%Y-%m-%d %H:%M}", each.table, each.key, each.reason, each.row) for each in rows]
        show.table(("id", "since", "table", "key", "why", "row"), cells)
    return 0


def _discard(memory: Retentive, arguments: Any) -> int:
    count = memory.discard_quarantine("*" if arguments.discard == ["*"] else arguments.discard)
    if is_json(arguments):
        show.as_json({"discarded": count})
    else:
        show.say(f"discarded: {count}")
    return 0


VERBS: dict[str, Callable[[Retentive, Any], int]] = {"doctor": doctor}
