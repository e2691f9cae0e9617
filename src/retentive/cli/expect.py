"""Recall tests: add, list, remove and run expectations of what questions find."""

from collections.abc import Callable, Iterator
from typing import Any

from retentive import serialize
from retentive.api import Retentive
from retentive.cli import output
from retentive.cli.args import is_json
from retentive.errors import Conflict, outcome
from retentive.model import Expectation, ExpectationResult, ExpectedMemory, Hit

_MAX_TEXT_CHARS = 200  # characters of a memory in a report
_FAILED_EXIT_CODE = outcome(Conflict("")).exit_code  # an expectation does not hold


def _add(memory: Retentive, arguments: Any) -> int:
    made = memory.expectations.add(
        arguments.question,
        arguments.finds,
        absent=arguments.absent,
        nothing=arguments.nothing,
        within=arguments.within,
        session=arguments.session,
    )
    if is_json(arguments):
        output.print_json(serialize.expectation(made))
    else:
        output.print_line(f"added {output.show_id(made.id)}")
    return 0


def _list(memory: Retentive, arguments: Any) -> int:
    known = memory.expectations.list()
    if is_json(arguments):
        output.print_json({"expectations": [serialize.expectation(each) for each in known]})
    else:
        output.print_table(("id", "question", "session", "expected"), map(_build_row, known))
    return 0


def _build_row(each: Expectation) -> tuple[Any, ...]:
    return output.show_id(each.id), each.question, each.session, _describe_expected(each)


def _describe_expected(each: Expectation) -> str:
    if each.nothing:
        return "nothing"
    named = [f"finds {output.show_id(id)}" for id in each.finds]
    named += [f"not {output.show_id(id)}" for id in each.absent]
    return f"among the first {each.within}: {', '.join(named)}"


def _remove(memory: Retentive, arguments: Any) -> int:
    gone = [memory.expectations.remove(id) for id in _require_known(memory, arguments.ids)]
    if is_json(arguments):
        output.print_json({"expectations": [serialize.expectation(each) for each in gone]})
    else:
        for each in gone:
            output.print_line(f"removed {output.show_id(each.id)}")
    return 0


def _require_known(memory: Retentive, ids: list[str]) -> list[str]:
    """Return the ids without repeats, unknown ones first: then the error comes before any is removed."""
    there = {each.id for each in memory.expectations.list()}
    return [*dict.fromkeys(sorted(ids, key=there.__contains__))]


def _run(memory: Retentive, arguments: Any) -> int:
    with output.show_progress("asking", "questions") as progress:
        done = memory.expectations.run(
            mode=arguments.mode,
            fusion=arguments.fusion,
            vector_weight=arguments.vector_weight,
            min_similarity=arguments.min_similarity,
            progress=progress.report,
        )
    if is_json(arguments):
        output.print_json(serialize.expectation_results(done))
    else:
        for each in done:
            _print_result(each)
        output.print_notes(dict.fromkeys(note for each in done for note in each.notes))
        output.print_line(_summarise(done))
    return 0 if all(each.passed for each in done) else _FAILED_EXIT_CODE


def _print_result(each: ExpectationResult) -> None:
    """Print a result, the same on a terminal and in a pipe: it is often read in logs."""
    mark = output.paint("ok ", "green") if each.passed else output.paint("BAD", "red")
    id = output.paint(output.show_id(each.expectation.id), "dim")
    output.print_raw(f"{mark}  {output.sanitise(each.expectation.question)}  {id}")
    for text in _iterate_reasons(each):
        output.print_line(f"       {text}")
    if not each.passed:
        for rank, hit in enumerate(each.hits, start=1):
            output.print_line(f"       {'found' if rank == 1 else '     '} {_format_hit(rank, hit)}")


def _iterate_reasons(each: ExpectationResult) -> Iterator[str]:
    """Yield why the expectation does not hold, and what happened to its memories."""
    within = each.expectation.within
    if each.expectation.nothing and not each.passed:
        yield "expected nothing that is similar enough"
    elif not each.passed and not each.hits:
        yield "nothing was found"
    for expected in each.expected:
        if not expected.passed:
            yield f"{_explain_failure(expected, within)}{_quote_memory(expected)}"
        if expected.note:
            yield f"{output.show_id(expected.id)}: {expected.note}"


def _explain_failure(expected: ExpectedMemory, within: int) -> str:
    if not expected.wanted:
        return f"expected not among the first {within}, but at rank {expected.rank}: {output.show_id(expected.id)}"
    if expected.memory is None:
        return f"expected among the first {within}: {output.show_id(expected.id)}"
    where = f"at rank {expected.rank}" if expected.rank else "not found"
    return f"expected among the first {within}, but {where}: {output.show_id(expected.memory.id)}"


def _quote_memory(expected: ExpectedMemory) -> str:
    return f"  {_shorten(expected.memory.content)}" if expected.memory else ""


def _format_hit(rank: int, hit: Hit) -> str:
    return output.sanitise(f"{rank:3}  {hit.relevance:.2f}  {output.show_id(hit.id)}  {_shorten(hit.excerpt)}")


def _shorten(text: str) -> str:
    return text if len(text) <= _MAX_TEXT_CHARS else f"{text[:_MAX_TEXT_CHARS]}…"


def _summarise(done: list[ExpectationResult]) -> str:
    if not done:
        return 'no recall tests yet: retentive expect "QUESTION" --finds ID'
    passed = sum(each.passed for each in done)
    return f"{output.format_count(len(done), 'recall test')}: {passed} passed, {len(done) - passed} failed"


VERBS: dict[str, Callable[[Retentive, Any], int]] = {
    "expect add": _add,
    "expect list": _list,
    "expect remove": _remove,
    "expect run": _run,
}
