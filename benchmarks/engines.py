"""The engines side by side: the same memories, in namespaces of very different sizes, in a file and on two servers.

One engine after the other, so that each has the machine to itself. Nothing here is compared with a do-it-yourself
build; the engines are compared with each other.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from itertools import chain, pairwise
from pathlib import Path
from statistics import median
from subprocess import CalledProcessError
from typing import Any

import numpy as np

from benchmarks import crowd, servers, spread
from benchmarks.crowd import CLIENTS, Plan
from benchmarks.measure import Target, percentile, timed, turns
from benchmarks.ours import LOADING, settle
from benchmarks.servers import Place
from benchmarks.spread import Asked, Part, Spread
from retentive import Retentive

EACH = 20  # questions of each namespace: 200 neighbours to find in it
BY_SIZE = 200
ALIKE = 200  # of the same, whose time is taken
ADDS = 100
EXTRA = 2000
CLASSES = ((0, "below 1,000"), (1000, "1,000 to 10,000"), (10_000, "above 10,000"))  # sizes of namespaces
RECALL = Target(0.95, at_least=True, of="value")

# Of PostgreSQL's tables, with their indexes; the graph is taken from the vectors and shown by itself.
TABLES = ("memories", "chunks", "texts", "postings", "vectors")
SIZES = (
    "SELECT c.relname, pg_total_relation_size(c.oid) FROM pg_class c WHERE c.relnamespace = 'retentive'::regnamespace"
    " AND (c.relkind = 'r' OR c.relname ^@ 'vectors_graph_')"
)

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Value:
    engine: str
    what: str
    unit: str
    value: float
    target: Target | None = None

    @property
    def met(self) -> bool | None:
        return None if self.target is None else self.value >= self.target.bound


@dataclass(frozen=True, slots=True)
class Opened:
    """A store on one engine, with a handle for each namespace."""

    place: Place
    cache: str
    given: Spread
    store: Retentive

    def at(self, namespace: str) -> Retentive:
        return self.store.in_namespace(namespace)

    def search(self, asked: Asked) -> None:
        self.at(asked.namespace).search(asked.text, vector=asked.vector)

    def add(self, asked: Asked) -> None:
        self.at(asked.namespace).add(asked.text, vector=asked.vector)


def figures(folder: Path, size: int, seconds: float, disk: str | None, say: Say) -> Iterator[Value]:
    """`seconds` is how long the clients work, each time."""
    given = spread.make(size, each=EACH, by_size=BY_SIZE, extra=EXTRA)
    largest, smallest = len(given.parts[0].texts), len(given.parts[-1].texts)
    say(f"{given.size:,} memories in {len(given.parts)} namespaces, of {largest:,} to {smallest:,}")
    for name, make in servers.ENGINES.items():
        here = folder / name.split()[0].lower()
        here.mkdir(parents=True)
        with ExitStack() as stack:
            try:
                place = stack.enter_context(make(here, disk))
            except (ImportError, OSError, CalledProcessError) as error:
                say(f"{name} cannot be had here and is left out: {error}")
                continue
            for what, unit, value, target in _of_engine(place, given, here, seconds, partial(_tell, say, name)):
                say(f"{name}: {what}: {value:.4g} {unit}")
                yield Value(name, what, unit, value, target)


def _tell(say: Say, name: str, text: str) -> None:
    say(f"{name}: {text}")


Measured = tuple[str, str, float, Target | None]


def _of_engine(place: Place, given: Spread, folder: Path, seconds: float, say: Say) -> Iterator[Measured]:
    cache = str(folder / "cache")
    with Retentive.open(place.address, cache=cache) as store:
        opened = Opened(place, cache, given, store)
        ids: dict[str, list[str]] = {}
        spent: list[float] = []
        timed(spent, partial(_load, opened, ids))
        yield "bulk add", "rows/s", given.size / spent[0], None
        spent.clear()
        timed(spent, partial(_settle, opened))
        say(f"loaded; indexes built in {spent[0]:.1f} s")
        yield "indexes, built in the background", "s", spent[0], None
        _tidy(place)
        yield from _bytes(opened)
        yield from _recalls(opened, ids, say)
        yield "load of the machine as the searches began", "", os.getloadavg()[0], None
        yield from _searches(opened)
        yield from _adds(opened)
    say(f"measured alone; now {CLIENTS} clients")
    yield "load of the machine as the clients came", "", os.getloadavg()[0], None
    yield from _clients(opened, seconds)


def _load(opened: Opened, ids: dict[str, list[str]]) -> None:
    for part in opened.given.parts:
        ids[part.namespace] = [*opened.at(part.namespace).add_many(part.texts, vectors=part.vectors).ids]


def _settle(opened: Opened) -> None:
    """Ask until everything that is made in the background is there, in the order that leaves the largest in memory."""
    uses_local_index = opened.store._store.engine.uses_local_index  # noqa: SLF001 - the only way to know; users need not
    asked = {each.namespace: each for each in opened.given.alike}
    for each in sorted(asked.values(), reverse=True):
        if uses_local_index:
            settle(opened.at(each.namespace), [(each.text, each.vector)] * 2)
        else:
            opened.search(each)
    if not uses_local_index:
        _await_graph(opened, each)


def _await_graph(opened: Opened, asked: Asked) -> None:
    """The largest namespace is asked until PostgreSQL's graph is begun."""
    from retentive.storage.engines.postgres.graphs import LOOK_EVERY

    for _ in range(LOOK_EVERY):
        opened.search(asked)
    engine: Any = opened.store._store.engine  # noqa: SLF001 - as above
    if builder := engine._graphs._builder:  # noqa: SLF001 - as above
        builder.join(LOADING)


def _tidy(place: Place) -> None:
    """What PostgreSQL does by itself within minutes."""
    if place.execute:
        place.execute("VACUUM (ANALYZE)")
        place.execute("CHECKPOINT")


def _bytes(opened: Opened) -> Iterator[Measured]:
    size = opened.given.size
    yield "bytes of a memory in the store", "B", opened.store.stats()["store"]["bytes"] / size, None
    if opened.place.execute:
        sizes: dict[str, int] = dict(opened.place.execute(SIZES))
        graph = sum(found for name, found in sizes.items() if name.startswith("vectors_graph_"))
        for table in TABLES:
            found = sizes[table] - (graph if table == "vectors" else 0)
            yield f"PostgreSQL's bytes of a memory: {table}", "B", found / size, None
        yield "PostgreSQL's bytes of a memory: graph", "B", graph / size, None


def _recalls(opened: Opened, ids: dict[str, list[str]], say: Say) -> Iterator[Measured]:
    """Of the ten nearest of each namespace by numpy's exact scan, the share found."""
    found = {part.namespace: _recall(opened, part, ids[part.namespace]) for part in opened.given.parts}
    lowest = min(found, key=lambda name: found[name])
    sizes = {part.namespace: len(part.texts) for part in opened.given.parts}
    say(f"recall is lowest in {lowest}, of {sizes[lowest]:,} memories: {found[lowest]:.3f}")
    yield f"recall@10, the lowest of {len(found)} namespaces", "", found[lowest], RECALL
    bounds = [*CLASSES, (max(sizes.values()) + 1, "")]
    for (least, what), (beyond, _) in pairwise(bounds):
        within = [found[name] for name, size in sizes.items() if least <= size < beyond]
        if within:
            yield f"recall@10, namespaces {what}: lowest", "", min(within), RECALL


def _recall(opened: Opened, part: Part, ids: Sequence[str]) -> float:
    place = {id: at for at, id in enumerate(ids)}
    asked = [each for each in opened.given.alike if each.namespace == part.namespace]
    exact = np.stack([each.vector for each in asked]) @ part.vectors.T
    nearest = np.argpartition(-exact, 9, axis=1)[:, :10].tolist()
    hits = 0
    for each, right in zip(asked, nearest, strict=True):
        found = opened.at(each.namespace).search(mode="vector", vector=each.vector)
        hits += len({place[hit.id] for hit in found}.intersection(right))
    return hits / (10 * len(asked))


def _searches(opened: Opened) -> Iterator[Measured]:
    ways = {"questions by size": opened.given.by_size, "all namespaces alike": opened.given.alike[:ALIKE]}
    for what, asked in ways.items():
        seconds: list[list[float]] = [[] for _ in asked]
        for at in chain.from_iterable(turns(len(asked))):
            timed(seconds[at], partial(opened.search, asked[at]))
        medians = [median(each) for each in seconds]
        for percent in (50, 95):
            yield f"hybrid search, {what}, p{percent}", "ms", percentile(medians, percent), None


def _adds(opened: Opened) -> Iterator[Measured]:
    seconds: list[float] = []
    for asked in opened.given.extra[:ADDS]:
        timed(seconds, partial(opened.add, asked))
    for percent in (50, 95):
        yield f"single durable add, p{percent}", "ms", percentile(seconds, percent), None


def _clients(opened: Opened, seconds: float) -> Iterator[Measured]:
    done = crowd.run(partial(_plan, opened, seconds))
    alone = [*chain.from_iterable(each.searches for each in done)]
    mixed = [*chain.from_iterable(each.mixed_searches for each in done)]
    adds = [*chain.from_iterable(each.mixed_adds for each in done)]
    yield f"{CLIENTS} clients searching", "/s", len(alone) / seconds, None
    yield f"{CLIENTS} clients searching: search, p95", "ms", percentile(alone, 95), None
    yield f"{CLIENTS} clients, one add to four searches", "/s", (len(mixed) + len(adds)) / seconds, None
    yield f"{CLIENTS} clients, mixed: search, p95", "ms", percentile(mixed, 95), None
    yield f"{CLIENTS} clients, mixed: add, p95", "ms", percentile(adds, 95), None
    yield "resident, one client of these", "MB", median(each.resident for each in done), None


def _plan(opened: Opened, seconds: float, number: int) -> Plan:
    """Each its own share of what is new, and the same questions in another order."""
    questions = np.random.default_rng(number).permutation(len(opened.given.by_size)).tolist()
    asked = [opened.given.by_size[at] for at in questions]
    extra = opened.given.extra[ADDS + number :: CLIENTS]
    return Plan(number, opened.place.address, opened.cache, seconds, asked, extra)
