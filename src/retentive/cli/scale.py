"""Say how the store is set up, and spread it over a cluster."""

import sys
from collections.abc import Callable, Sequence
from typing import Any

from retentive import serialize
from retentive.api import Retentive
from retentive.cli import output
from retentive.cli.args import is_json
from retentive.hints import for_terminal
from retentive.model.scale import PlannedStatement, ScaleFinding

RESTART_HINT = "restart the programs that have the store open: they see it only then"


def _check(memory: Retentive, arguments: Any) -> int:
    report = memory.scale.check()
    if is_json(arguments):
        output.print_json(serialize.scale_report(report, for_terminal))
    else:
        for each in report.findings:
            _print_finding(each)
    return 0 if report.is_well else 5


def _print_finding(finding: ScaleFinding) -> None:
    mark = output.paint("ok ", "green") if finding.ok else output.paint("BAD", "red")
    output.print_raw(f"{mark}  {finding.name:22} {output.sanitise(for_terminal(finding.detail))}")
    if finding.next_step:
        output.print_raw(f"{'':27} -> {output.sanitise(for_terminal(finding.next_step))}")


def _distribute(memory: Retentive, arguments: Any) -> int:
    plan = memory.scale.distribute(arguments.shards, dry_run=arguments.dry_run, progress=_report_progress(arguments))
    return _print_plan(plan, arguments, "every table is distributed already")


def _undistribute(memory: Retentive, arguments: Any) -> int:
    plan = memory.scale.undistribute(dry_run=arguments.dry_run, progress=_report_progress(arguments))
    return _print_plan(plan, arguments, "no table is distributed")


def _report_progress(arguments: Any) -> Callable[[str], None] | None:
    return None if is_json(arguments) else _print_step


def _print_step(what: str) -> None:
    output.print_line(what)
    sys.stdout.flush()


def _print_plan(plan: Sequence[PlannedStatement], arguments: Any, done: str) -> int:
    if is_json(arguments):
        output.print_json({"dry_run": arguments.dry_run, "statements": [each._asdict() for each in plan]})
    elif not plan:
        output.print_line(done)
    elif arguments.dry_run:
        for each in plan:
            output.print_line(f"{each.sql};")
    else:
        output.print_hint(RESTART_HINT)
    return 0


VERBS: dict[str, Callable[[Retentive, Any], int]] = {
    "scale check": _check,
    "scale distribute": _distribute,
    "scale undistribute": _undistribute,
}
