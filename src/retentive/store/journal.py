"""What is written down beside the memories: who was read, how often, how fast. Off the hot path, in batches.

The journal is a buffer in the process, written by a thread of its own when no question has come for a moment, and at
the end. A crash loses at most the last seconds of statistics, never a memory.
"""

import math
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from retentive.errors import RetentiveError, Stale, StorageError
from retentive.model import Access, Results, Tier
from retentive.storage import Engine
from retentive.storage.tables.metrics import Measure, access_steps, measure_step
from retentive.storage.tables.tokens import use_step

QUIET_SECONDS = 0.25  # writing competes with questions for the interpreter, so it waits for a pause this long
LATEST_SECONDS = 10.0  # but not longer than this
MANY_ROWS = 10_000  # and not once so many wait (2 MB)
MOST_ROWS = 50_000  # while the database cannot be written, older ones are dropped
BUCKET_BASE = math.log(1.1)  # a histogram's buckets are 10 % apart


class Search(NamedTuple):
    """What is measured of a question."""

    namespace: str
    tier: Tier
    answered: bool
    timings: Mapping[str, float]


class Journal:
    def __init__(self, engine: Engine, *, log_accesses: bool, keep: int) -> None:
        self._engine = engine
        self._log_accesses = log_accesses
        self._keep = keep
        self._lock = threading.Lock()
        self._flushing = threading.Lock()
        self._accesses: list[Access] = []
        self._searches: list[Search] = []
        self._measures: Counter[Measure] = Counter()
        self._tokens: dict[str, int] = {}
        self._begun = threading.Event()
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None
        self.asked = 0
        """Questions of this process."""
        self._wrote = False
        self.heard: Callable[[], None] | None = None
        """Who wants to know when this process has changed the store."""
        self.failures: dict[str, str] = {}
        """The last failure of each part that went on without."""

    @property
    def wrote(self) -> bool:
        """Has this process changed the store?"""
        return self._wrote

    @wrote.setter
    def wrote(self, value: bool) -> None:
        self._wrote = value
        if self.heard:
            self.heard()

    def kept(self, namespace: str, number: int) -> None:
        self.wrote = True
        with self._lock:
            self._measures[Measure(namespace, "upserts", "", 0)] += number
        self._begin()

    def searched(self, namespace: str, results: Results, accesses: Iterable[Access]) -> None:
        self.asked += 1
        with self._lock:
            self._searches.append(Search(namespace, results.tier, bool(results.hits), results.timings))
        self.accessed(accesses)

    def accessed(self, accesses: Iterable[Access]) -> None:
        if self._log_accesses:
            with self._lock:
                self._accesses.extend(accesses)
        self._begin()

    def used(self, token: str, at: int) -> None:
        """An access token, at this moment."""
        with self._lock:
            self._tokens[token] = at
        self._begin()

    def embedded(self, namespace: str, tokens: int) -> None:
        """An answer of the embedding model's provider, and what it cost."""
        with self._lock:
            self._measures[Measure(namespace, "embed_calls", "", 0)] += 1
            self._measures[Measure(namespace, "embed_tokens", "", 0)] += tokens
        self._begin()

    def failed(self, part: str, error: RetentiveError | str) -> None:
        self.failures[part] = str(error)

    def flush(self) -> None:
        with self._flushing:
            with self._lock:
                accesses, self._accesses = self._accesses, []
                searches, self._searches = self._searches, []
                measures, self._measures = self._measures, Counter()
                tokens, self._tokens = self._tokens, {}
            for search in searches:
                measures.update(_measured(search))
            if not accesses and not measures and not tokens:
                return
            try:
                self._engine.apply([*access_steps(accesses, self._keep), measure_step(measures), use_step(tokens)])
            except (StorageError, Stale) as error:  # Stale: writers that waited for each other
                self._put_back(accesses, measures, error)

    def close(self) -> None:
        self._stopped.set()
        self._begun.set()
        if self._thread:
            self._thread.join()
        self.flush()

    def _begin(self) -> None:
        if self._begun.is_set():
            return
        self._begun.set()
        with self._lock:
            if self._thread is None and not self._stopped.is_set():
                self._thread = threading.Thread(target=self._run, name="retentive-journal", daemon=True)
                self._thread.start()

    def _run(self) -> None:
        """Asleep while nothing waits."""
        while True:
            self._begun.wait()
            self._await_quiet()
            # First this, then the look at the end: `close` goes the other way round, so one of the two is seen.
            self._begun.clear()
            if self._stopped.is_set():
                return
            self.flush()

    def _await_quiet(self) -> None:
        for _ in range(round(LATEST_SECONDS / QUIET_SECONDS)):
            asked = self.asked
            if self._stopped.wait(QUIET_SECONDS) or self.asked == asked or len(self._accesses) >= MANY_ROWS:
                return

    def _put_back(self, accesses: list[Access], measures: Counter[Measure], error: RetentiveError) -> None:
        """Statistics wait for better times; the reason shows in `stats`."""
        self.failed("journal", error)
        with self._lock:
            self._accesses = (accesses + self._accesses)[-MOST_ROWS:]
            self._measures.update(measures)


def _measured(search: Search) -> Counter[Measure]:
    counts = Counter({Measure(search.namespace, "queries", search.tier, 0): 1})
    if search.answered:
        counts[Measure(search.namespace, "answered", search.tier, 0)] = 1
    for stage, seconds in search.timings.items():
        counts[Measure(search.namespace, stage, search.tier, _bucket(seconds))] += 1
    return counts


def _bucket(seconds: float) -> int:
    return round(math.log(max(1.0, seconds * 1e6)) / BUCKET_BASE)


def seconds_of(bucket: int) -> float:
    return math.exp(bucket * BUCKET_BASE) / 1e6
