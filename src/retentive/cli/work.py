"""Background work in the foreground, for those who run no server."""

import signal
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from retentive import serialize
from retentive.api import Retentive
from retentive.cli import output
from retentive.cli.args import is_json
from retentive.errors import RetentiveError, outcome
from retentive.maintenance.worker import Worker
from retentive.model import Task

if TYPE_CHECKING:
    from retentive.files.watch import Watch

TOLD_EVERY = 5.0  # seconds between two lines about what comes in small pieces
INTERRUPTED = 130
SAID = {
    "vectors": "vectors made: {}",
    "expiry": "memories expired: {}",
    "retention": "memories forgotten by the rules of retention: {}",
    "purges": "purges completed: {}",
    "proposals": "outdated proposals deleted",
    "changes": "change log shortened",
    "consolidate": "memories consolidated: {}",
}


class Teller:
    """Lines about what is being done; about vectors, which are made sixteen at a time, only now and then."""

    def __init__(self, *, as_json: bool) -> None:
        self._as_json = as_json
        self._lock = threading.Lock()
        self._waiting = Counter[str]()
        self._failures: dict[str, str] = {}

    def did(self, task: Task, count: int) -> None:
        if self._as_json:
            output.as_json({**task._asdict(), "count": count})
        elif task.job == "learn":
            output.say(output.line(f"learned from {task.session} of {task.namespace}"))
        else:
            with self._lock:
                self._waiting[task.job] += count
        sys.stdout.flush()

    def catch_up(self, worker: Worker) -> None:
        with self._lock:
            waiting, self._waiting = self._waiting, Counter()
        for job, count in waiting.items():
            output.say(SAID[job].format(count))
        failures = {job: str(error) for job, error in worker.failures.items()}
        for job, why in failures.items():
            if self._failures.get(job) != why:
                sys.stderr.write(f"{job}: {output.line(why)}\n")
        self._failures = failures
        sys.stdout.flush()


def _work(memory: Retentive, arguments: Any) -> int:
    tell = Teller(as_json=is_json(arguments))
    worker = memory.worker(progress=None if is_json(arguments) and arguments.once else tell.did)
    with ended_by_signals(worker) as over:
        return _once(worker, tell, over, arguments) if arguments.once else _until(over, worker, tell)


def _once(worker: Worker, tell: Teller, over: threading.Event, arguments: Any) -> int:
    told = worker.once()
    tell.catch_up(worker)
    if is_json(arguments):
        output.as_json({"worker": serialize.worker(told)})
    elif told.holder:
        output.say(f"left to another worker: {told.holder}")
    elif told.note:
        output.say(told.note)
    elif not told.done and not told.failures:
        output.say("nothing to do")
    if over.is_set():
        return INTERRUPTED
    failed = [outcome(e).exit_code if isinstance(e, RetentiveError) else 1 for e in worker.failures.values()]
    return failed[0] if failed else 0


def _until(over: threading.Event, worker: Worker, tell: Teller) -> int:
    sys.stderr.write("working in the background; Ctrl-C ends it\n")
    with worker:
        while not over.wait(TOLD_EVERY):
            tell.catch_up(worker)
    tell.catch_up(worker)
    return 0


@contextmanager
def ended_by_signals(worker: "Worker | Watch") -> Iterator[threading.Event]:
    """Between two pieces of work; what was done is kept."""
    over = threading.Event()

    def end(_: int, __: object) -> None:
        over.set()
        worker.stop(0)

    before = {number: signal.signal(number, end) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield over
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


VERBS: dict[str, Callable[[Retentive, Any], int]] = {"work": _work}
