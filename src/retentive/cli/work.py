"""Do background work in the foreground, where no server runs."""

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

REPORT_SECONDS = 5.0  # between two lines about work that is done in small pieces
INTERRUPTED_EXIT_CODE = 130
JOB_MESSAGES = {
    "vectors": "vectors computed: {}",
    "expiry": "memories expired: {}",
    "retention": "memories forgotten by retention rules: {}",
    "purges": "purges completed: {}",
    "proposals": "outdated proposals deleted",
    "changes": "change log trimmed",
    "copies": "unfinished copies of the store removed: {}",
    "consolidate": "memories consolidated: {}",
}


class WorkReporter:
    """Prints the work that is done. Small pieces, such as sixteen vectors, are summed up for a while."""

    def __init__(self, *, as_json: bool) -> None:
        self._as_json = as_json
        self._lock = threading.Lock()
        self._waiting = Counter[str]()
        self._failures: dict[str, str] = {}

    def report_task(self, task: Task, count: int) -> None:
        if self._as_json:
            output.print_json({**task._asdict(), "count": count})
        elif task.job == "learn":
            output.print_line(f"learned from {task.session} of {task.namespace}")
        else:
            with self._lock:
                self._waiting[task.job] += count
        sys.stdout.flush()

    def report_progress(self, worker: Worker) -> None:
        with self._lock:
            waiting, self._waiting = self._waiting, Counter()
        for job, count in waiting.items():
            output.print_line(JOB_MESSAGES[job].format(count))
        failures = {job: str(error) for job, error in worker.failures.items()}
        for job, why in failures.items():
            if self._failures.get(job) != why:
                sys.stderr.write(f"{job}: {output.sanitise(why)}\n")
        self._failures = failures
        sys.stdout.flush()


def _work(memory: Retentive, arguments: Any) -> int:
    reporter = WorkReporter(as_json=is_json(arguments))
    worker = memory.worker(progress=None if is_json(arguments) and arguments.once else reporter.report_task)
    with stop_on_signals(worker) as stopped:
        if arguments.once:
            return _work_once(worker, reporter, stopped, arguments)
        return _work_until_stopped(worker, reporter, stopped)


def _work_once(worker: Worker, reporter: WorkReporter, stopped: threading.Event, arguments: Any) -> int:
    report = worker.once()
    reporter.report_progress(worker)
    if is_json(arguments):
        output.print_json({"worker": serialize.worker_status(report)})
    elif report.holder:
        output.print_line(f"left to another worker: {report.holder}")
    elif report.note:
        output.print_line(report.note)
    elif not report.done and not report.failures:
        output.print_line("nothing to do")
    if stopped.is_set():
        return INTERRUPTED_EXIT_CODE
    failed = [outcome(e).exit_code if isinstance(e, RetentiveError) else 1 for e in worker.failures.values()]
    return failed[0] if failed else 0


def _work_until_stopped(worker: Worker, reporter: WorkReporter, stopped: threading.Event) -> int:
    sys.stderr.write("working in the background; Ctrl-C ends it\n")
    with worker:
        while not stopped.wait(REPORT_SECONDS):
            reporter.report_progress(worker)
    reporter.report_progress(worker)
    return 0


@contextmanager
def stop_on_signals(worker: "Worker | Watch") -> Iterator[threading.Event]:
    """Stop the worker on SIGINT or SIGTERM, between two pieces of work. Yields an event that is set then."""
    stopped = threading.Event()

    def stop(_: int, __: object) -> None:
        stopped.set()
        worker.stop(0)

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stopped
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


VERBS: dict[str, Callable[[Retentive, Any], int]] = {"work": _work}
