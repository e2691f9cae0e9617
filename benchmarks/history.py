"""The history of the figures: one line of JSON a run, with the commit that was measured.

`python -m benchmarks --history FILE` adds a line and says what is worse than in the last run on the same processor.
Figures beside the do-it-yourself build are compared by their ratio, because both were measured in the same run;
the others by their value, which means little if the machine was busy then or now.
"""

import json
import subprocess
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.measure import ROOT

# The same commit, measured twice on a busy machine, differs by up to a fifth.
MAX_CHANGE = 1.25


class Change(NamedTuple):
    """A figure that is worse than before. `before` and `now` are ratios, or values where there is no ratio."""

    what: str
    before: float
    now: float


def append_run(path: Path, machine: Mapping[str, str], figures: Sequence[Mapping[str, Any]]) -> list[Change]:
    """Add a run to the history, and return what is worse than in the last run on the same processor."""
    runs = [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []
    about = {"commit": _read_commit(), "at": f"{datetime.now(UTC):%Y-%m-%dT%H:%MZ}", **machine}
    measured = {_name(figure): _shorten(figure) for figure in figures}
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps({**about, "figures": measured}) + "\n")
    last = next((each for each in reversed(runs) if each["processor"] == machine["processor"]), None)
    return find_worse(last["figures"], measured) if last else []


def find_worse(before: Mapping[str, Mapping[str, Any]], now: Mapping[str, Mapping[str, Any]]) -> list[Change]:
    """The figures of both runs that became worse by more than `MAX_CHANGE`."""
    found = []
    for what, figure in now.items():
        if what not in before:
            continue
        old, new = _read_value(before[what]), _read_value(figure)
        factor = new / old if old else 1.0
        if figure["unit"].endswith("/s"):
            factor = 1 / factor if factor else float("inf")
        if factor > MAX_CHANGE:
            found.append(Change(what, old, new))
    return found


def _name(figure: Mapping[str, Any]) -> str:
    """The figure's name, with the size of its store and its engine, if it has them. The size comes first."""
    (of, size), *_ = figure.items()
    engine = f", {figure['engine']}" if "engine" in figure else ""
    return f"{size:,} {of}: {figure['what']}" if isinstance(size, int) else f"{figure['what']}{engine}"


def _shorten(figure: Mapping[str, Any]) -> dict[str, Any]:
    value = figure.get("retentive", figure.get("value"))
    return {"value": value, "unit": figure["unit"], "ratio": figure.get("ratio")}


def _read_value(figure: Mapping[str, Any]) -> float:
    return float(figure["value"] if figure["ratio"] is None else figure["ratio"])


def _read_commit() -> str:
    """The commit, with a plus sign if there are changes that are not in it."""
    command = ["git", "describe", "--always", "--dirty=+", "--abbrev=10"]
    return subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT).stdout.strip()
