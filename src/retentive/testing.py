"""Tools for tests of programs that use Retentive: a clock to set, an engine that fails, a slow embedder.

    with use_clock() as clock, Retentive.open(":memory:", embedder="hashing") as memory:
        memory.add("The parking ticket is valid", expires="1h")
        clock.forward(7200)
        assert not memory.search("parking ticket")

Nothing in the package imports this module.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from retentive import clock as package_clock
from retentive.api import Retentive
from retentive.embed.hashing_embedder import HashingEmbedder
from retentive.errors import EmbedError
from retentive.storage import Step
from retentive.store import OpenStore

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = [
    "Clock",
    "EngineCalls",
    "SlowEmbedder",
    "before_apply",
    "fail_apply",
    "parts_of",
    "record_calls",
    "use_clock",
]

START = 1_800_000_000_000_000  # 15 January 2027, in microseconds


class Clock:
    """A clock that stands still until `forward` moves it. Each reading is one microsecond later than the last."""

    def __init__(self, micros: int = START) -> None:
        self.micros = micros

    def __call__(self) -> int:
        self.micros += 1
        return self.micros

    def forward(self, seconds: float) -> None:
        self.micros += int(seconds * 1_000_000)


@contextmanager
def use_clock(clock: Clock | None = None) -> Iterator[Clock]:
    """Make `clock` the time of every store in this process, until the block ends."""
    real_now, clock = package_clock.now, clock or Clock()
    package_clock.now = clock
    try:
        yield clock
    finally:
        package_clock.now = real_now


def parts_of(memory: Retentive) -> OpenStore:
    """The parts of an open store: its engine, tables, embedder, journal. They may change with any version."""
    return memory._store  # noqa: SLF001 - this is the one place that reaches inside


@dataclass
class EngineCalls:
    """The calls that an engine received, by query name."""

    reads: list[str] = field(default_factory=list)
    batches: list[list[str]] = field(default_factory=list)
    """For each transaction, the queries of its steps."""


@contextmanager
def record_calls(memory: Retentive) -> Iterator[EngineCalls]:
    """Record the queries that the engine of `memory` is given."""
    engine, calls = parts_of(memory).engine, EngineCalls()
    read, apply = engine.read, engine.apply

    def record_read(query: str, *arguments: Any, **named: Any) -> list[tuple[Any, ...]]:
        calls.reads.append(query)
        return read(query, *arguments, **named)

    def record_apply(steps: Iterable[Step]) -> None:
        steps = [*steps]
        calls.batches.append([step.query for step in steps])
        apply(steps)

    with _replace_method(engine, "read", record_read), _replace_method(engine, "apply", record_apply):
        yield calls


@contextmanager
def before_apply(memory: Retentive, action: Callable[[], object], query: str | None = None) -> Iterator[None]:
    """Call `action` once, just before the next transaction, or the next one that has a step of this `query`.

    `action` may write: it stands for another process that is first.
    """
    engine = parts_of(memory).engine
    apply, is_waiting = engine.apply, True

    def act_and_apply(steps: Iterable[Step]) -> None:
        nonlocal is_waiting
        steps = [*steps]
        if is_waiting and (query is None or any(step.query == query for step in steps)):
            is_waiting = False
            action()
        apply(steps)

    with _replace_method(engine, "apply", act_and_apply):
        yield


@contextmanager
def fail_apply(memory: Retentive, error: Exception) -> Iterator[None]:
    """Make each write fail with `error` before anything is written."""

    def fail(_: Iterable[Step]) -> None:
        raise error

    with _replace_method(parts_of(memory).engine, "apply", fail):
        yield


@contextmanager
def _replace_method(owner: Any, name: str, method: Callable[..., Any]) -> Iterator[None]:
    """Give one object another method. Its class keeps the real one."""
    former = vars(owner).get(name)
    setattr(owner, name, method)
    try:
        yield
    finally:
        if former is None:
            delattr(owner, name)
        else:
            setattr(owner, name, former)


class SlowEmbedder:
    """The hashing embedder at the pace of a slow model: each batch takes `seconds`. It fails while `is_broken`."""

    def __init__(self, seconds: float = 0.0) -> None:
        self._hashing = HashingEmbedder()
        self.seconds = seconds
        self.is_broken = False
        self.calls = 0
        self.space = self._hashing.space
        self.describe = self._hashing.describe
        self.close = self._hashing.close

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        self.calls += 1
        if self.is_broken:
            raise EmbedError("the embedder is broken")
        time.sleep(self.seconds)
        return self._hashing.embed(texts)

    def embed_query(self, text: str) -> "NDArray[np.float32]":
        return self._hashing.embed_query(text)
