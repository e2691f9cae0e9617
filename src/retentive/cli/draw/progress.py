"""Progress on standard error: a bar, how much is done, the rate, the time left, and the name of what is at hand."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, Task, TaskID, TextColumn
from rich.table import Column
from rich.text import Text

from retentive.cli.draw.console import open_console, plain
from retentive.cli.draw.signs import format_size

BYTES = "bytes"
"""The unit that is shown as kB, MB and so on."""
_BAR_WIDTH = 24
_MINUTE = 60


class ProgressDisplay:
    """A line for the work at hand. It is gone when the work is done."""

    def __init__(self, what: str, unit: str, total: int | None) -> None:
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            BarColumn(_BAR_WIDTH),
            _FiguresColumn(unit),
            _NameColumn(),
            console=open_console(sys.stderr, is_live=True),
            transient=True,
            redirect_stdout=False,  # standard output may be a pipe
            redirect_stderr=False,
        )
        self._task: TaskID = self._progress.add_task(what, total=total, name="")
        self._stage = what

    def report(self, done: int, total: int | None = None) -> None:
        """Show how much is done, and of how much if that is known."""
        self._progress.update(self._task, completed=done)
        if total is not None:
            self._progress.update(self._task, total=total)

    def report_stage(self, stage: str, done: int, total: int | None = None) -> None:
        """Show the progress of a stage. A new stage begins at zero."""
        if stage != self._stage:
            self._stage = stage
            self._progress.reset(self._task, description=plain(stage).plain, total=total, completed=0)
        self.report(done, total)

    def show_name(self, name: str) -> None:
        """Show the name of the file or session at hand."""
        self._progress.update(self._task, name=name)

    @contextmanager
    def step_aside(self) -> Iterator[None]:
        """Take the line away while something else is printed."""
        self._progress.stop()
        try:
            yield
        finally:
            self._progress.start()

    @contextmanager
    def run(self) -> Iterator["ProgressDisplay"]:
        with self._progress:
            yield self


class _FiguresColumn(ProgressColumn):
    """`120 of 340 files  8.1/s  27 s left`; without a total: `120 files  8.1/s  15 s`."""

    def __init__(self, unit: str) -> None:
        super().__init__(Column(no_wrap=True))
        self._unit = unit

    def render(self, task: Task) -> Text:
        done, unit = int(task.completed), "" if self._unit == BYTES else f" {self._unit}"
        of = f" of {self._format(int(task.total))}" if task.total else ""
        rate = done / task.elapsed if task.elapsed and done else 0
        parts = [f"{self._format(done)}{of}{unit}", f"{self._format_rate(rate)}/s" if rate else ""]
        if task.total and rate:
            parts.append(f"{format_seconds((task.total - done) / rate)} left")
        else:
            parts.append(format_seconds(task.elapsed or 0))
        return Text("  ".join(filter(None, parts)))

    def _format(self, amount: int) -> str:
        return format_size(amount) if self._unit == BYTES else f"{amount:,}"

    def _format_rate(self, rate: float) -> str:
        return format_size(rate) if self._unit == BYTES else f"{rate:.1f}" if rate < 10 else f"{rate:,.0f}"  # noqa: PLR2004


class _NameColumn(ProgressColumn):
    """The name of what is at hand, cut to what is left of the line."""

    def __init__(self) -> None:
        super().__init__(Column(no_wrap=True, overflow="ellipsis", ratio=1))

    def render(self, task: Task) -> Text:
        return plain(task.fields["name"], "dim")


def format_seconds(seconds: float) -> str:
    """Format a span: `27 s`, `3:05 min`, `1:02 h`."""
    minutes, rest = divmod(int(seconds), _MINUTE)
    if not minutes:
        return f"{rest} s"
    hours, minutes = divmod(minutes, _MINUTE)
    return f"{hours}:{minutes:02} h" if hours else f"{minutes}:{rest:02} min"
