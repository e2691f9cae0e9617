"""Change the model of a store: build its vectors, compare, switch, roll back, drop the old ones."""

from collections.abc import Callable
from typing import Any

from retentive import serialize
from retentive.api import Retentive
from retentive.cli import output
from retentive.cli.args import is_json
from retentive.errors import Conflict, Invalid, outcome
from retentive.model import ExpectationResult, RecallChange, ReembedProgress, ReembedResult, ReembedStage, SpaceFigures

_REFUSED_EXIT_CODE = outcome(Conflict("")).exit_code
_STAGE_TITLES = {
    ReembedStage.WAITING: "waiting for another process",
    ReembedStage.BUILDING: "embedding",
    ReembedStage.COMPARING: "running the recall tests",
    ReembedStage.SWITCHING: "switching",
    ReembedStage.SWITCHED: "embedding what was added meanwhile",
    ReembedStage.DROPPING: "deleting vectors",
}


def _reembed(memory: Retentive, arguments: Any) -> int:
    wanted = [name for name in ("model", "rollback", "drop_old", "status") if getattr(arguments, name)]
    if len(wanted) != 1:
        hint = "Give one of --model NAME, --rollback, --drop-old, --status; --status changes nothing."
        raise Invalid("reembed needs exactly one action", hint)
    return _ACTIONS[wanted[0]](memory, arguments)


def _change(memory: Retentive, arguments: Any) -> int:
    with output.show_progress("embedding", "texts") as progress:
        report = _make_reporter(progress)
        done = memory.reembed(arguments.model, force=arguments.force, batch=arguments.batch, progress=report)
    return _print_result(done, arguments)


def _roll_back(memory: Retentive, arguments: Any) -> int:
    with output.show_progress("embedding", "texts") as progress:
        done = memory.reembed_rollback(batch=arguments.batch, progress=_make_reporter(progress))
    return _print_result(done, arguments)


def _print_result(done: ReembedResult, arguments: Any) -> int:
    if is_json(arguments):
        output.print_json(serialize.reembed_result(done))
    else:
        for change in done.changes:
            _print_change(change)
        _print_summary(done)
    return 0 if done.switched else _REFUSED_EXIT_CODE


def _print_change(change: RecallChange) -> None:
    expectation = change.after.expectation
    word, style = ("WORSE", "red") if change.is_regression else ("other", "dim")
    if change.after.passed and not change.before.passed:
        word, style = "better", "green"
    question, id = output.sanitise(expectation.question), output.paint(output.show_id(expectation.id), "dim")
    output.print_raw(f"{output.paint(f'{word:6}', style)}  {question}  {id}")
    output.print_line(f"        before: {_list_hit_ids(change.before)}")
    output.print_line(f"        after:  {_list_hit_ids(change.after)}")


def _list_hit_ids(checked: ExpectationResult) -> str:
    return ", ".join(output.show_id(hit.id) for hit in checked.hits) or "nothing"


def _print_summary(done: ReembedResult) -> None:
    if done.tests:
        worse = len(done.regressions)
        output.print_raw(
            f"{output.format_count(done.tests, 'recall test')}: {len(done.changes)} with other hits, {worse} worse"
        )
    output.print_line(f"{done.embedded} embedded with {done.model or done.space}")
    if not done.switched:
        output.print_line(f"not switched: the store still uses {done.previous}. Repeat with --force to switch anyway.")
    elif done.previous:
        output.print_line(
            f"switched from {done.previous} to {done.space}; `retentive reembed --rollback` switches back,"
        )
        output.print_raw(
            f"`retentive reembed --drop-old` deletes the old vectors. Set embedder = {done.model!r} in the settings."
        )
    else:
        output.print_line(f"the store uses the vectors of {done.space}")


def _drop_old(memory: Retentive, arguments: Any) -> int:
    with output.show_progress("deleting vectors") as progress:
        names = memory.reembed_drop_old(_make_reporter(progress))
    if is_json(arguments):
        output.print_json({"dropped": [*names]})
    else:
        output.print_line(f"dropped {', '.join(names)}" if names else "there is nothing to drop")
    return 0


def _status(memory: Retentive, arguments: Any) -> int:
    known = memory.reembed_status()
    if is_json(arguments):
        output.print_json({"spaces": [serialize.space_figures(each) for each in known]})
    else:
        output.print_table(("space", "model", "state", "dimension", "vectors", "pending"), map(_build_row, known))
    return 0


def _build_row(each: SpaceFigures) -> tuple[Any, ...]:
    space = each.space
    return space.name, space.model, str(space.state), str(space.dimension), str(each.vectors), str(each.pending)


def _make_reporter(progress: output.Progress) -> Callable[[ReembedProgress], None]:
    def report(state: ReembedProgress) -> None:
        progress.report_stage(_STAGE_TITLES[state.stage], state.done, state.total)

    return report


_ACTIONS: dict[str, Callable[[Retentive, Any], int]] = {
    "model": _change,
    "rollback": _roll_back,
    "drop_old": _drop_old,
    "status": _status,
}
VERBS: dict[str, Callable[[Retentive, Any], int]] = {"reembed": _reembed}
