"""What is written down beside the memories: who was read, how often, how fast. Off the hot path, in batches.

The journal is a buffer in the process, flushed by a thread of its own, and at the end. A crash loses at most the last
seconds of statistics, never a memory.
"""

import math
import threading
from collections import Counter
from collections.abc import Iterable

from retentive.errors import RetentiveError, StorageError
from retentive.model import Results
from retentive.storage import Engine
from retentive.storage.upkeep import Access, Measure, access_steps, measure_step

FLUSH_SECONDS = 2.0  # how long an access may wait; one small commit then, not one per question
FLUSH_ROWS = 10_000  # or as soon as so many wait; a thousand take 15 ms of a core
MOST_ROWS = 20_000  # while the database cannot be written; older ones are dropped
BUCKET_BASE = math.log(1.1)  # a histogram's buckets are 10 % apart


class Journal:
    def __init__(self, engine: Engine, *, log_accesses: bool, keep: int) -> None:
        self._engine = engine
        self._log_accesses = log_accesses
        self._keep = keep
        self._lock = threading.Lock()
        self._flushing = threading.Lock()
        self._accesses: list[Access] = []
        self._measures: Counter[Measure] = Counter()
        self._begun = threading.Event()
        self._due = threading.Event()
        self._stop = False
        self._thread: threading.Thread | None = None
        self.asked = 0
        """Questions of this process."""
        self.wrote = False
        """Has this process kept a memory?"""
        self.failures: dict[str, str] = {}
        """The last failure of each part that went on without."""

    def kept(self, namespace: str, number: int) -> None:
        self.wrote = True
        self._note({Measure(namespace, "upserts", "", 0): number}, ())

    def searched(self, namespace: str, results: Results) -> None:
        self.asked += 1
        counts = Counter({Measure(namespace, "queries", results.tier, 0): 1})
        if results.hits:
            counts[Measure(namespace, "answered", results.tier, 0)] = 1
        for stage, seconds in results.timings.items():
            counts[Measure(namespace, stage, results.tier, _bucket(seconds))] += 1
        self._note(counts, ())

    def accessed(self, accesses: Iterable[Access]) -> None:
        if self._log_accesses:
            self._note({}, accesses)

    def failed(self, part: str, error: RetentiveError) -> None:
        self.failures[part] = str(error)

    def flush(self) -> None:
        with self._flushing:
            with self._lock:
                accesses, self._accesses = self._accesses, []
                measures, self._measures = self._measures, Counter()
            if not accesses and not measures:
                return
            try:
                self._engine.apply([*access_steps(accesses, self._keep), measure_step(measures)])
            except StorageError as error:
                self._put_back(accesses, measures, error)

    def close(self) -> None:
        self._stop = True
        self._begun.set()
        self._due.set()
        if self._thread:
            self._thread.join()
        self.flush()

    def _note(self, counts: dict[Measure, int], accesses: Iterable[Access]) -> None:
        with self._lock:
            self._accesses.extend(accesses)
            for measure, number in counts.items():
                self._measures[measure] += number
            full = len(self._accesses) >= FLUSH_ROWS
            if self._thread is None and not self._stop:
                self._thread = threading.Thread(target=self._run, name="retentive-journal", daemon=True)
                self._thread.start()
        self._begun.set()
        if full:
            self._due.set()

    def _run(self) -> None:
        """Asleep while nothing waits."""
        while not self._stop:
            self._begun.wait()
            self._due.wait(FLUSH_SECONDS)
            self._begun.clear()
            self._due.clear()
            if not self._stop:
                self.flush()

    def _put_back(self, accesses: list[Access], measures: Counter[Measure], error: StorageError) -> None:
        """Statistics wait for better times; the reason shows in `stats`."""
        self.failed("journal", error)
        with self._lock:
            self._accesses = (accesses + self._accesses)[-MOST_ROWS:]
            self._measures.update(measures)


def _bucket(seconds: float) -> int:
    return round(math.log(max(1.0, seconds * 1e6)) / BUCKET_BASE)


def seconds_of(bucket: int) -> float:
    return math.exp(bucket * BUCKET_BASE) / 1e6
