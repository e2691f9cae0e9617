"""How well time expressions are read: `python -m benchmarks.dates PATH`, PATH being JSON Lines of the shape of
Recognizers-Text (`input`, `now`, `results` with `text`, `type` and `values`).

A wrong value is worse than none, so the share of wrong ones stands beside that of right ones; both are shares of what
is wanted, and a value that differs by a convention counts as right.

Values are compared with any that the file accepts. Two conventions differ from ours, and are counted as their own
column: the file ends "May to July" where July begins, and begins "the next two weeks" tomorrow.
"""

import json
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from retentive.text import dates
from retentive.text.dates import TimeExpression

# Kinds that people use in statements and questions; times of day and zones matter little to a memory.
KINDS = ("date", "daterange", "datetime", "datetimerange", "duration", "set", "time", "timerange")
SPEED_ROUNDS = 20
# Days by which an end differs if the file ends a range where its last unit begins, and we where it ends.
_WHOLE_UNITS = frozenset((1, 7, 28, 29, 30, 31, 90, 91, 92, 365, 366))


class Case(NamedTuple):
    text: str
    now: datetime
    wanted: list[dict[str, Any]]


class Outcome(NamedTuple):
    kind: str
    case: Case
    wanted: dict[str, Any]
    found: TimeExpression | None
    verdict: str
    """`right`, `convention`, `value` (found, but with a wrong value) or `missed`."""
    exact: bool


def cases(path: Path) -> Iterator[Case]:
    for line in path.read_text("utf-8").splitlines():
        row = json.loads(line)
        yield Case(row["input"], datetime.fromisoformat(row["now"]), row["results"])


def judge(case: Case) -> list[Outcome]:
    found = dates.find_times(case.text, case.now)
    outcomes, at = [], 0
    for wanted in case.wanted:
        start = case.text.lower().find(wanted["text"], at)
        end = start + len(wanted["text"])
        at = max(start, at)
        outcomes.append(_outcome(case, wanted, start, end, found))
    return outcomes


def _outcome(case: Case, wanted: dict[str, Any], start: int, end: int, found: Iterable[TimeExpression]) -> Outcome:
    kind = wanted["type"].partition(".")[2]
    over = [expression for expression in found if expression.start < end and start < expression.end]
    best = max(over, key=lambda expression: _value(kind, wanted, expression), default=None)
    exact = any((expression.start, expression.end) == (start, end) for expression in over)
    verdict = "missed" if best is None else ("value", "convention", "right")[_value(kind, wanted, best)]
    return Outcome(kind, case, wanted, best, verdict, exact)


def _value(kind: str, wanted: dict[str, Any], found: TimeExpression) -> int:
    """2 if the value is right, 1 if it is but for a convention, 0 if not."""
    return max((_same(kind, value, found) for value in wanted["values"]), default=0)


def _same(kind: str, value: dict[str, Any], found: TimeExpression) -> int:
    if value.get("value") == "not resolved":
        return 2
    match kind:
        case "date":
            return 2 * _begins(value["value"], found.begin)
        case "datetime" | "time":
            return 2 * (found.begin is not None and f"{found.begin:%Y-%m-%d %H:%M:%S}".endswith(value["value"]))
        case "duration":
            return 2 * (found.length is not None and abs(found.length.total_seconds() - float(value["value"])) < 1)
        case "set":
            return 2 * (found.kind == "set")
    begin = 2 if _at(kind, value.get("start"), found.begin) else _near_begin(value, found)
    end = 2 if _at(kind, value.get("end"), found.finish) else _near_end(value, found)
    return min(begin, end)


def _begins(value: str, moment: datetime | None) -> bool:
    return moment is not None and f"{moment:%Y-%m-%d}" == value


def _at(kind: str, value: str | None, moment: datetime | None) -> bool:
    if value is None or moment is None:
        return value is None and moment is None
    text = f"{moment:%Y-%m-%d %H:%M:%S}"
    return value in text if kind != "timerange" else text.endswith(value)


def _near_begin(value: dict[str, Any], found: TimeExpression) -> int:
    start = value.get("start")
    if start is None or found.begin is None:
        return 0
    if ":" in start:
        return 1 if _hours(start, found.begin) else 0
    return 1 if found.begin.date() + timedelta(days=1) == datetime.fromisoformat(start).date() else 0


def _hours(value: str, moment: datetime) -> bool:
    """Where a morning begins is anyone's guess."""
    return value[:10] == f"{moment:%Y-%m-%d}" if len(value) > len("00:00:00") else True


def _near_end(value: dict[str, Any], found: TimeExpression) -> int:
    end = value.get("end")
    if end is None or found.finish is None:
        return 0
    if ":" in end:
        return 1 if _hours(end, found.finish - timedelta(hours=5)) else 0
    moment = datetime.fromisoformat(end)
    later = (found.finish.replace(tzinfo=None) - moment).days
    return 1 if later in _WHOLE_UNITS else 0


def report(outcomes: list[Outcome], extra: int) -> str:
    rows = ["kind            wanted  exact  found  right  convention  wrong  share right  share wrong"]
    by_kind = defaultdict(list)
    for outcome in outcomes:
        by_kind[outcome.kind].append(outcome)
    for kind in (*KINDS, "all"):
        some = by_kind[kind] if kind != "all" else [o for o in outcomes if o.kind in KINDS]
        verdicts = Counter(outcome.verdict for outcome in some)
        found = len(some) - verdicts["missed"]
        exact = sum(outcome.exact for outcome in some)
        right, near, bad = (verdicts[verdict] for verdict in ("right", "convention", "value"))
        counts = f"{kind:15} {len(some):6} {exact:6} {found:6} {right:6} {near:11} {bad:6}"
        whole = max(len(some), 1)
        rows.append(f"{counts} {100 * (right + near) / whole:10.1f} % {100 * bad / whole:10.1f} %")
    return "\n".join([*rows, f"found in texts without a time: {extra}"])


def wrong(outcomes: list[Outcome], limit: int) -> Iterator[str]:
    for outcome in [outcome for outcome in outcomes if outcome.verdict in {"missed", "value"}][:limit]:
        wanted = [value.get("value") or (value.get("start"), value.get("end")) for value in outcome.wanted["values"]]
        got = outcome.found and (str(outcome.found.begin)[:16], str(outcome.found.finish)[:16], outcome.found.kind)
        said = f"{outcome.wanted['text']!r} of {outcome.case.text[:60]!r}"
        yield f"{outcome.verdict:7} {outcome.kind:13} {said}: {wanted[:2]}, got {got}"


def speed(every: list[Case]) -> float:
    """Milliseconds of the processor a text, the best of several rounds."""
    best = float("inf")
    for _ in range(SPEED_ROUNDS):
        start = time.process_time()
        for case in every:
            dates.find_times(case.text, case.now)
        best = min(best, time.process_time() - start)
    return 1000 * best / len(every)


def main() -> None:
    every = list(cases(Path(sys.argv[1])))
    limit = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    outcomes = [outcome for case in every for outcome in judge(case)]
    extra = sum(len(dates.find_times(case.text, case.now)) for case in every if not case.wanted)
    print(report(outcomes, extra))
    print(f"{speed(every):.3f} ms a text")
    print(*wrong(outcomes, limit), sep="\n")


if __name__ == "__main__":
    main()
