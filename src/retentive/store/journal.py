"""The journal: access log, statistics and use of tokens, written in batches off the hot path.

It is a buffer in the process. A thread writes it once no question has come for a moment, and `close` writes the rest.
A crash loses the statistics of the last seconds at most, never a memory.
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
MAX_WAIT_SECONDS = 10.0  # for such a pause
MAX_ROWS_BEFORE_FLUSH = 10_000  # waiting accesses that are written at once (2 MB)
MAX_KEPT_ROWS = 50_000  # waiting accesses while the database cannot be written: older ones are dropped
BUCKET_BASE = math.log(1.1)  # a histogram's buckets are 10 % apart


class SearchTimes(NamedTuple):
    """The figures of one search."""

    namespace: str
    tier: Tier
    has_hits: bool
    timings: Mapping[str, float]


class Journal:
    """Collects accesses and statistics from all threads, and writes them later."""

    def __init__(self, engine: Engine, *, log_accesses: bool, keep: int) -> None:
        self._engine = engine
        self._log_accesses = log_accesses
        self._keep = keep
        self._lock = threading.Lock()
        self._flushing = threading.Lock()
        self._accesses: list[Access] = []
        self._searches: list[SearchTimes] = []
        self._measures: Counter[Measure] = Counter()
        self._token_uses: dict[str, int] = {}
        self._has_rows = threading.Event()
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None
        self.question_count = 0
        """Questions that this process answered."""
        self.has_written = False
        """Whether this process has changed the store."""
        self.on_write: Callable[[], None] | None = None
        """Called after each change of the store by this process."""
        self.failures: dict[str, str] = {}
        """The last failure of each part that does not stop a verb."""

    def note_write(self) -> None:
        """Note that this process has changed the store."""
        self.has_written = True
        if self.on_write:
            self.on_write()

    def record_upserts(self, namespace: str, count: int) -> None:
        self.note_write()
        with self._lock:
            self._measures[Measure(namespace, "upserts", "", 0)] += count
        self._wake_thread()

    def record_search(self, namespace: str, results: Results, accesses: Iterable[Access]) -> None:
        self.question_count += 1
        with self._lock:
            self._searches.append(SearchTimes(namespace, results.tier, bool(results.hits), results.timings))
        self.record_accesses(accesses)

    def record_accesses(self, accesses: Iterable[Access]) -> None:
        if self._log_accesses:
            with self._lock:
                self._accesses.extend(accesses)
        self._wake_thread()

    def record_token_use(self, token_id: str, at: int) -> None:
        """Record when an access token was used last."""
        with self._lock:
            self._token_uses[token_id] = at
        self._wake_thread()

    def record_embedding(self, namespace: str, tokens: int) -> None:
        """Record a call of the provider of embeddings, and the tokens that it cost."""
        with self._lock:
            self._measures[Measure(namespace, "embed_calls", "", 0)] += 1
            self._measures[Measure(namespace, "embed_tokens", "", 0)] += tokens
        self._wake_thread()

    def record_failure(self, part: str, error: RetentiveError | str) -> None:
        """Keep the last failure of a part for `stats` and `doctor`."""
        self.failures[part] = str(error)

    def flush(self) -> None:
        """Write what waits. If that fails, it waits on."""
        with self._flushing:
            with self._lock:
                accesses, self._accesses = self._accesses, []
                searches, self._searches = self._searches, []
                measures, self._measures = self._measures, Counter()
                token_uses, self._token_uses = self._token_uses, {}
            for search in searches:
                measures.update(_count_search(search))
            if not accesses and not measures and not token_uses:
                return
            try:
                self._engine.apply([*access_steps(accesses, self._keep), measure_step(measures), use_step(token_uses)])
            except (StorageError, Stale) as error:  # Stale: writers that waited for each other
                self._put_back(accesses, measures, error)

    def close(self) -> None:
        """Stop the thread and write what waits."""
        self._stopped.set()
        self._has_rows.set()
        if self._thread:
            self._thread.join()
        self.flush()

    def _wake_thread(self) -> None:
        """Wake the thread, or start it."""
        if self._has_rows.is_set():
            return
        self._has_rows.set()
        with self._lock:
            if self._thread is None and not self._stopped.is_set():
                self._thread = threading.Thread(target=self._run, name="retentive-journal", daemon=True)
                self._thread.start()

    def _run(self) -> None:
        """Write after each pause. Sleeps while nothing waits."""
        while True:
            self._has_rows.wait()
            self._await_quiet()
            # Clear, then look at `_stopped`. `close` sets them in the other order, so one of the two is seen.
            self._has_rows.clear()
            if self._stopped.is_set():
                return
            self.flush()

    def _await_quiet(self) -> None:
        """Wait until no question comes for a moment, but not for long."""
        for _ in range(round(MAX_WAIT_SECONDS / QUIET_SECONDS)):
            count = self.question_count
            is_stopping = self._stopped.wait(QUIET_SECONDS)
            if is_stopping or self.question_count == count or len(self._accesses) >= MAX_ROWS_BEFORE_FLUSH:
                return

    def _put_back(self, accesses: list[Access], measures: Counter[Measure], error: RetentiveError) -> None:
        """Keep the rows for the next flush. `stats` shows the reason."""
        self.record_failure("journal", error)
        with self._lock:
            self._accesses = (accesses + self._accesses)[-MAX_KEPT_ROWS:]
            self._measures.update(measures)


def _count_search(search: SearchTimes) -> Counter[Measure]:
    counts = Counter({Measure(search.namespace, "queries", search.tier, 0): 1})
    if search.has_hits:
        counts[Measure(search.namespace, "answered", search.tier, 0)] = 1
    for stage, seconds in search.timings.items():
        counts[Measure(search.namespace, stage, search.tier, _find_bucket(seconds))] += 1
    return counts


def _find_bucket(seconds: float) -> int:
    """The bucket of the histogram that a duration falls into."""
    return round(math.log(max(1.0, seconds * 1e6)) / BUCKET_BASE)


def read_bucket(bucket: int) -> float:
    """The seconds that a bucket of the histogram stands for."""
    return math.exp(bucket * BUCKET_BASE) / 1e6
