"""Another model for a store: build its vectors, compare, switch, return, drop."""

import sys
import time
from collections.abc import Callable
from typing import Any

from retentive import serialize
from retentive.api import Retentive
from retentive.cli import output
from retentive.cli.args import is_json
from retentive.errors import Conflict, Invalid, outcome
from retentive.model import Checked, RecallChange, Reembedded, ReembedProgress, ReembedStage, SpaceFigures

_REFUSED = outcome(Conflict("")).exit_code
_LINE_SECONDS = 0.1  # between two changes of the line of progress
_TITLES = {
    ReembedStage.WAITING: "another process is re-embedding this store; waiting for it",
    ReembedStage.BUILDING: "embedded",
    ReembedStage.COMPARING: "recall tests asked",
    ReembedStage.SWITCHING: "switching",
    ReembedStage.SWITCHED: "switched",
    ReembedStage.DROPPING: "vectors deleted",
}


def _reembed(memory: Retentive, arguments: Any) -> int:
    wanted = [name for name in ("model", "rollback", "drop_old", "status") if getattr(arguments, name)]
    if len(wanted) != 1:
        hint = "One of --model NAME, --rollback, --drop-old, --status; `retentive reembed --status` changes nothing."
        raise Invalid("reembed needs to know what to do", hint)
    return _ACTIONS[wanted[0]](memory, arguments)


def _change(memory: Retentive, arguments: Any) -> int:
    done = memory.reembed(arguments.model, force=arguments.force, batch=arguments.batch, progress=_Line())
    return _show_result(done, arguments)


def _roll_back(memory: Retentive, arguments: Any) -> int:
    return _show_result(memory.reembed_rollback(batch=arguments.batch, progress=_Line()), arguments)


def _show_result(done: Reembedded, arguments: Any) -> int:
    if is_json(arguments):
        output.as_json(serialize.reembedded(done))
    else:
        for change in done.changes:
            _show_change(change)
        _show_summary(done)
    return 0 if done.switched else _REFUSED


def _show_change(change: RecallChange) -> None:
    given = change.after.expectation
    word, style = ("WORSE", "red") if change.is_regression else ("other", "dim")
    if change.after.held and not change.before.held:
        word, style = "better", "green"
    output.say(f"{output.paint(f'{word:6}', style)}  {output.line(given.question)}  {output.paint(given.id, 'dim')}")
    output.say(f"        before: {_name_hits(change.before)}")
    output.say(f"        after:  {_name_hits(change.after)}")


def _name_hits(checked: Checked) -> str:
    return ", ".join(hit.id for hit in checked.found) or "nothing"


def _show_summary(done: Reembedded) -> None:
    if done.tests:
        worse = len(done.regressions)
        output.say(f"{output.counted(done.tests, 'recall test')}: {len(done.changes)} with other hits, {worse} worse")
    output.say(f"{done.embedded} embedded with {done.model or done.space}")
    if not done.switched:
        output.say(f"not switched: the store stays with {done.previous}. Repeat with --force to switch all the same.")
    elif done.previous:
        output.say(f"switched from {done.previous} to {done.space}; `retentive reembed --rollback` returns,")
        output.say(
            f"`retentive reembed --drop-old` deletes the old vectors. Set embedder = {done.model!r} in the settings."
        )
    else:
        output.say(f"the store's vectors are of {done.space}")


def _drop(memory: Retentive, arguments: Any) -> int:
    names = memory.reembed_drop_old(_Line())
    if is_json(arguments):
        output.as_json({"dropped": [*names]})
    else:
        output.say(f"dropped {', '.join(names)}" if names else "there is nothing to drop")
    return 0


def _status(memory: Retentive, arguments: Any) -> int:
    known = memory.reembed_status()
    if is_json(arguments):
        output.as_json({"spaces": [serialize.space_figures(each) for each in known]})
    else:
        output.table(("space", "model", "state", "dimension", "vectors", "pending"), map(_row, known))
    return 0


def _row(each: SpaceFigures) -> tuple[Any, ...]:
    space = each.space
    return space.name, space.model, str(space.state), str(space.dimension), str(each.vectors), str(each.pending)


class _Line:
    """A line on the terminal that tells how far it is and how long it will take. Silent in a pipe."""

    def __init__(self) -> None:
        self._last = 0.0
        self._stage: ReembedStage | None = None

    def __call__(self, progress: ReembedProgress) -> None:
        is_new = progress.stage is not self._stage
        if not sys.stderr.isatty() or (not is_new and time.monotonic() - self._last < _LINE_SECONDS):
            return
        begin = "\n" if is_new and self._stage else "\r"
        self._last, self._stage = time.monotonic(), progress.stage
        of = f": {progress.done} of {progress.total}" if progress.total else ""
        left = f", {progress.seconds_left:.0f} s left" if progress.seconds_left is not None else ""
        sys.stderr.write(f"{begin}{_TITLES[progress.stage]}{of}{left}   ")
        sys.stderr.flush()


_ACTIONS: dict[str, Callable[[Retentive, Any], int]] = {
    "model": _change,
    "rollback": _roll_back,
    "drop_old": _drop,
    "status": _status,
}
VERBS: dict[str, Callable[[Retentive, Any], int]] = {"reembed": _reembed}
