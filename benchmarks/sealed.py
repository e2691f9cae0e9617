"""What integrity mode costs: the same writes with it and without, taking turns, in time of the processor."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median

from benchmarks.measure import Figure
from retentive import Retentive

ROUNDS = 5
SINGLE = 50  # adds of a round, a commit each
BULK = 2_000  # memories that share a commit


def figures(folder: Path, size: int) -> Iterator[tuple[int, Figure]]:
    """Of stores that hold `size` memories before they are measured."""
    folder.mkdir()
    key = folder / "key"
    with (
        Retentive.open(folder / "sealed.db", embedder="none", integrity_key=str(key)) as sealed,
        Retentive.open(folder / "plain.db", embedder="none") as plain,
    ):
        for store in (sealed, plain):
            store.add_many(_texts("before", size))
        sealed.integrity.start(key)
        single, bulk = _compare(sealed, plain, _add_each, SINGLE), _compare(sealed, plain, _add_all, BULK)
        begun = time.process_time()
        assert not sealed.integrity.verify()  # noqa: S101 - what is measured must have worked
        verified = (time.process_time() - begun) / size * 1e6
        yield size, Figure("one add, no vector: sealed, against plain", "ms", *single)
        yield size, Figure("bulk add, each memory: sealed, against plain", "ms", *bulk)
        yield size, Figure("doctor --verify, each memory", "us", verified)


def _compare(
    sealed: Retentive, plain: Retentive, write: Callable[[Retentive, list[str]], object], count: int
) -> tuple[float, float]:
    """Milliseconds of a memory, with and without."""
    taken: dict[str, list[float]] = {"sealed": [], "plain": []}
    for turn in range(ROUNDS):
        for name, store in (("sealed", sealed), ("plain", plain)):
            texts = _texts(f"{name} {turn} {count}", count)
            begun = time.process_time()
            write(store, texts)
            taken[name].append((time.process_time() - begun) / count * 1000)
    return median(taken["sealed"]), median(taken["plain"])


def _add_each(store: Retentive, texts: list[str]) -> None:
    for text in texts:
        store.add(text)


def _add_all(store: Retentive, texts: list[str]) -> None:
    store.add_many(texts)


def _texts(name: str, count: int) -> list[str]:
    return [f"Entry {number} of {name} is on shelf {number % 97} beside box {number % 31}" for number in range(count)]
