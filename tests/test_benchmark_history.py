"""The history of the figures says what became worse."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.history import append_run, find_worse


def figure(value: float, unit: str = "ms", ratio: float | None = None) -> dict[str, Any]:
    return {"value": value, "unit": unit, "ratio": ratio}


@pytest.mark.parametrize(
    ("before", "now", "is_worse"),
    [
        (figure(10), figure(13), True),
        (figure(10), figure(12), False),  # noise
        (figure(10), figure(5), False),
        (figure(100, "rows/s"), figure(50, "rows/s"), True),
        (figure(100, "rows/s"), figure(200, "rows/s"), False),
        (figure(10, ratio=0.2), figure(30, ratio=0.2), False),  # the machine was busy: both builds were slower
        (figure(10, ratio=0.2), figure(10, ratio=0.4), True),
        (figure(0), figure(1), False),  # nothing to compare with
    ],
)
def test_a_figure_is_worse_by_its_ratio_or_its_value(before: Any, now: Any, is_worse: bool) -> None:
    assert bool(find_worse({"search": before}, {"search": now})) == is_worse


def test_a_new_figure_is_not_worse() -> None:
    assert find_worse({}, {"search": figure(10)}) == []


def test_a_run_is_compared_with_the_last_one_of_the_same_processor(tmp_path: Path) -> None:
    history = tmp_path / "history.jsonl"

    def run(ms: float, processor: str) -> list[str]:
        measured = {"memories": 1000, "what": "add", "unit": "ms", "retentive": ms, "ratio": None, "met": True}
        return [change.what for change in append_run(history, {"processor": processor}, [measured])]

    assert run(10, "slow") == []
    assert run(2, "quick") == []
    assert run(11, "slow") == []
    assert run(4, "quick") == ["1,000 memories: add"]
    assert [json.loads(line)["processor"] for line in history.read_text("utf-8").splitlines()] == [
        "slow",
        "quick",
        "slow",
        "quick",
    ]
