"""The measurements. Both builds take turns in all of them, so that noise hits both alike."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import numpy as np

from benchmarks.corpus import Question
from benchmarks.fresh import QUESTION_FILE
from benchmarks.stores import WARM_UP, Pair, Seconds

ROOT = Path(__file__).parents[1]

# Questions that one build answers before it is the other's turn: enough that each has its caches back, as it would
# alone, and few enough that a busy spell of the machine falls on both.
TURN = 20

# Each question is asked so many times, with all the others in between; its median counts. What is left in the 95th
# percentile is then the questions' own, and not the moments when the machine did something else.
PASSES = 5

PROCESSES = 7  # runs of each kind of fresh process; the median counts
HELPS = 15
RESIDENTS = 3


class Target(NamedTuple):
    """`of` is "ratio" (Retentive's figure by the other's) or "value" (Retentive's figure)."""

    bound: float
    at_least: bool = False
    of: str = "ratio"


@dataclass(frozen=True, slots=True)
class Figure:
    what: str
    unit: str
    ours: float
    theirs: float | None = None
    targets: tuple[Target, ...] = ()

    @property
    def ratio(self) -> float | None:
        return self.ours / self.theirs if self.theirs else None

    @property
    def met(self) -> bool | None:
        """None: there is no target."""
        return all(map(self._meets, self.targets)) if self.targets else None

    def _meets(self, target: Target) -> bool:
        value = self.ours if target.of == "value" else self.ratio
        if value is None:
            return False
        return value >= target.bound if target.at_least else value <= target.bound


SEARCH_RATIO = {10_000: Target(1 / 5), 100_000: Target(1 / 20)}
RECALL = Target(0.98, at_least=True, of="value")
BULK_RATIO = Target(0.5, at_least=True)
NO_SLOWER = Target(1.0)
RESIDENT_BEFORE = Target(80, of="value")
RESIDENT_AFTER = (Target(150, of="value"), Target(1.15))
HELP_RATIO = Target(6)


def search(pair: Pair) -> tuple[list[Figure], dict[str, float]]:
    """Hybrid, text and vector given. Also the median seconds of each stage of Retentive's."""
    stages: dict[str, list[float]] = {}
    asked = pair.corpus.questions[:-WARM_UP]
    ours: list[list[float]] = [[] for _ in asked]
    theirs: list[list[float]] = [[] for _ in asked]
    for turn in turns(len(asked)):
        for at in turn:
            results = timed(ours[at], partial(pair.ours.search, asked[at].text, vector=asked[at].vector))
            for stage, seconds in results.timings.items():
                stages.setdefault(stage, []).append(seconds)
        for at in turn:
            timed(theirs[at], partial(pair.diy.search, asked[at].text, asked[at].vector))
    size = len(pair.corpus.texts)
    targets = (SEARCH_RATIO[size],) if size in SEARCH_RATIO else ()
    mine, others = ([median(seconds) for seconds in each] for each in (ours, theirs))
    figures = [
        Figure(f"hybrid search, p{percent}", "ms", percentile(mine, percent), percentile(others, percent), targets)
        for percent in (50, 95)
    ]
    return figures, {stage: median(seconds) * 1e3 for stage, seconds in stages.items()}


def turns(count: int) -> Iterator[list[int]]:
    """All questions in each pass, in turns that begin elsewhere each time: another one finds the caches cold."""
    for number in range(PASSES):
        order = [(at + number * TURN // PASSES) % count for at in range(count)]
        yield from (order[start : start + TURN] for start in range(0, count, TURN))


def recall(pair: Pair) -> Figure:
    """Of the ten that are nearest by numpy's exact scan, the share found."""
    asked = pair.corpus.questions
    exact = np.stack([question.vector for question in asked]) @ pair.corpus.vectors.T
    nearest = np.argpartition(-exact, 10, axis=1)[:, :10].tolist()
    place = {id: at for at, id in enumerate(pair.ids)}
    ours, theirs = 0, 0
    for question, right in zip(asked, nearest, strict=True):
        found = pair.ours.search(mode="vector", vector=question.vector)
        ours += len({place[hit.id] for hit in found}.intersection(right))
        theirs += len({id - 1 for id in pair.diy.near(question.vector, 10)}.intersection(right))
    wanted = 10 * len(asked)
    return Figure("recall@10 of vector search", "", ours / wanted, theirs / wanted, (RECALL,))


def bulk(size: int, rounds: Sequence[Seconds]) -> list[Figure]:
    ours, bare, diy = (size / median(getattr(each, side) for each in rounds) for side in ("ours", "bare", "diy"))
    return [
        Figure("bulk add, against bare inserts of the same rows", "rows/s", ours, bare, (BULK_RATIO,)),
        Figure("bulk add, against the do-it-yourself build", "rows/s", ours, diy),
    ]


def add(pair: Pair) -> Figure:
    """One memory, one durable commit, vector given."""
    ours: list[float] = []
    theirs: list[float] = []
    for text, vector in zip(pair.corpus.extra_texts, pair.corpus.extra_vectors, strict=True):
        timed(ours, partial(pair.ours.add, text, vector=vector))
        timed(theirs, partial(pair.diy.add, text, vector))
    return Figure("single durable add, p50", "ms", percentile(ours, 50), percentile(theirs, 50))


def first_answers(folder: Path, question: Question) -> Iterator[Figure]:
    """From the start of a process to its answer on stdout."""
    _leave(folder, question)
    for task, what, targets in (
        ("text", "first full-text answer of a process", (NO_SLOWER,)),
        ("hybrid", "first hybrid answer of a process", (NO_SLOWER,)),
        ("given", "the same with the vector at hand", ()),
    ):
        ours, theirs = _in_turns(PROCESSES, *(_fresh(side, task, folder) for side in ("ours", "theirs")))
        yield Figure(what, "ms", ours * 1e3, theirs * 1e3, targets)


def resident(folder: Path, question: Question) -> dict[str, dict[str, float]]:
    """Megabytes of a fresh process, by build: before and after it loads the model, its index loaded."""
    _leave(folder, question)
    found: dict[str, list[dict[str, float]]] = {"ours": [], "theirs": []}
    for _ in range(RESIDENTS):
        for side, figures in found.items():
            figures.append(_answer(_fresh(side, "memory", folder))[1])
    return {
        side: {when: median(each[when] for each in figures) for when in figures[0]} for side, figures in found.items()
    }


def resident_figures(found: dict[str, dict[str, float]], *, aimed: bool) -> list[Figure]:
    ours, theirs = found["ours"], found["theirs"]
    return [
        Figure(
            "resident, index loaded, no model", "MB", ours["before"], theirs["before"],
            (RESIDENT_BEFORE,) if aimed else (),
        ),
        Figure(
            "resident, index and model loaded", "MB", ours["after"], theirs["after"], RESIDENT_AFTER if aimed else ()
        ),
    ]  # fmt: skip


def per_memory(small: int, at_small: Any, large: int, at_large: Any) -> Figure:
    ours, theirs = (
        (at_large[s]["before"] - at_small[s]["before"]) * 1024 / (large - small) for s in ("ours", "theirs")
    )
    return Figure("resident for each further memory", "KB", ours, theirs)


def help_time() -> Figure:
    retentive = Path(sys.executable).with_name("retentive")
    ours, python = _in_turns(HELPS, [str(retentive), "--help"], [sys.executable, "-c", "pass"], whole=True)
    return Figure("`retentive --help`, against `python -c pass`", "ms", ours * 1e3, python * 1e3, (HELP_RATIO,))


def timed(seconds: list[float], action: Callable[[], Any]) -> Any:
    begun = time.perf_counter()
    result = action()
    seconds.append(time.perf_counter() - begun)
    return result


def percentile(seconds: Sequence[float], percent: int) -> float:
    """In milliseconds."""
    return float(np.percentile(seconds, percent)) * 1e3


def _leave(folder: Path, question: Question) -> None:
    asked = {"text": question.text, "vector": question.vector.tolist()}
    (folder / QUESTION_FILE).write_text(json.dumps(asked), "utf-8")


def _fresh(side: str, task: str, folder: Path) -> list[str]:
    return [sys.executable, "-m", "benchmarks.fresh", side, task, str(folder)]


def _in_turns(times: int, ours: list[str], theirs: list[str], *, whole: bool = False) -> tuple[float, float]:
    """Median seconds of two commands; the first run of each brings its files into the page cache and is not counted."""
    measure = _whole if whole else lambda command: _answer(command)[0]
    runs = [(measure(ours), measure(theirs)) for _ in range(times + 1)][1:]
    return median(run[0] for run in runs), median(run[1] for run in runs)


def _answer(command: list[str]) -> tuple[float, Any]:
    """Seconds until the first line of output, and what it says."""
    begun = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT, env=environment()) as process:
        assert process.stdout is not None  # noqa: S101 - a pipe was asked for
        line = process.stdout.readline()
        seconds = time.perf_counter() - begun
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return seconds, json.loads(line)


def _whole(command: list[str]) -> float:
    begun = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=ROOT, env=environment())
    return time.perf_counter() - begun


def environment() -> dict[str, str]:
    """Without the settings of whoever runs this; with bytecode cached, as an installed program has it."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("RETENTIVE_")}
    kept.pop("PYTHONDONTWRITEBYTECODE", None)
    return {**kept, "RETENTIVE_CONFIG": os.devnull}
