"""Eight clients at once, each a process with a store of its own open.

Processes and not threads: clients of a server are on other machines, and threads would take turns at one interpreter,
which would be what is measured. All have everything loaded before the first begins; then they work for some seconds,
first searching only, then with an add after every fourth search.
"""

import multiprocessing
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import count, cycle
from threading import Barrier
from typing import NamedTuple

from benchmarks.fresh import resident
from benchmarks.measure import timed
from benchmarks.ours import settle
from benchmarks.spread import Asked
from retentive import Retentive

CLIENTS = 8
SEARCHES_TO_AN_ADD = 4
READY = 600.0  # seconds that loading may take, with eight on few cores

_start: Barrier


@dataclass(frozen=True, slots=True)
class Plan:
    """What one client does."""

    number: int
    address: str
    cache: str
    seconds: float
    questions: Sequence[Asked]
    extra: Sequence[Asked]


class Done(NamedTuple):
    searches: list[float]
    """Seconds of each, while all only search."""
    mixed_searches: list[float]
    mixed_adds: list[float]
    resident: float


def run(plan: Callable[[int], Plan]) -> list[Done]:
    context = multiprocessing.get_context("spawn")
    start = context.Barrier(CLIENTS)
    with ProcessPoolExecutor(CLIENTS, context, _meet, (start,)) as clients:
        return [*clients.map(_client, map(plan, range(CLIENTS)))]


def _meet(start: Barrier) -> None:
    global _start  # noqa: PLW0603 - a barrier reaches a process only when it is made
    _start = start


def _client(plan: Plan) -> Done:
    with Retentive.open(plan.address, cache=plan.cache) as store:
        stores = {asked.namespace: store.in_namespace(asked.namespace) for asked in (*plan.questions, *plan.extra)}
        if store._store.engine.uses_local_index:  # noqa: SLF001 - what it loads in the background must be there
            for asked in plan.questions:
                settle(stores[asked.namespace], [(asked.text, asked.vector)])
        for asked in plan.questions:
            _search(stores, asked)
        questions = cycle(plan.questions)
        alone: list[float] = []
        for _ in _together(plan.seconds):
            timed(alone, partial(_search, stores, next(questions)))
        mixed: list[float] = []
        adds: list[float] = []
        new = _never_said(plan)
        for number in _together(plan.seconds):
            if number % (SEARCHES_TO_AN_ADD + 1) == SEARCHES_TO_AN_ADD:
                timed(adds, partial(_add, stores, next(new)))
            else:
                timed(mixed, partial(_search, stores, next(questions)))
        _start.wait(READY)
        return Done(alone, mixed, adds, resident())


def _together(seconds: float) -> Iterator[int]:
    """Numbers for so long, from when all are there."""
    _start.wait(READY)
    end = time.perf_counter() + seconds
    for number in count():
        if time.perf_counter() > end:
            return
        yield number


def _never_said(plan: Plan) -> Iterator[Asked]:
    for number, asked in enumerate(cycle(plan.extra)):
        yield asked._replace(text=f"{asked.text} {plan.number}-{number}")


def _search(stores: dict[str, Retentive], asked: Asked) -> None:
    stores[asked.namespace].search(asked.text, vector=asked.vector)


def _add(stores: dict[str, Retentive], asked: Asked) -> None:
    stores[asked.namespace].add(asked.text, vector=asked.vector)
