"""What questions are expected to find: kept, listed, and held against what they do find."""

from collections.abc import Callable, Iterator
from typing import Any

from retentive import serialize
from retentive.api import Retentive
from retentive.cli import output
from retentive.cli.args import is_json
from retentive.errors import Conflict, outcome
from retentive.model import Checked, Expectation, Hit, Sought

_TEXT = 200  # characters of a memory in a report
_BROKEN = outcome(Conflict("")).exit_code  # the store is not as the caller expected


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
        output.as_json(serialize.expectation(made))
    else:
        output.say(f"expected {made.id}")
    return 0


def _list(memory: Retentive, arguments: Any) -> int:
    known = memory.expectations.list()
    if is_json(arguments):
        output.as_json({"expectations": [serialize.expectation(each) for each in known]})
    else:
        output.table(("id", "question", "session", "expected"), map(_row, known))
    return 0


def _row(each: Expectation) -> tuple[Any, ...]:
    return each.id, each.question, each.session, _wanted(each)


def _wanted(each: Expectation) -> str:
    if each.nothing:
        return "nothing"
    named = [*(f"finds {id}" for id in each.finds), *(f"not {id}" for id in each.absent)]
    return f"among the first {each.within}: {', '.join(named)}"


def _remove(memory: Retentive, arguments: Any) -> int:
    gone = [memory.expectations.remove(id) for id in _known(memory, arguments.ids)]
    if is_json(arguments):
        output.as_json({"expectations": [serialize.expectation(each) for each in gone]})
    else:
        for each in gone:
            output.say(f"removed {each.id}")
    return 0


def _known(memory: Retentive, ids: list[str]) -> list[str]:
    """All of them, or an error for the first that is not there, before any is removed."""
    there = {each.id for each in memory.expectations.list()}
    return [*dict.fromkeys(sorted(ids, key=there.__contains__))]


def _run(memory: Retentive, arguments: Any) -> int:
    done = memory.expectations.run(
        mode=arguments.mode,
        fusion=arguments.fusion,
        vector_weight=arguments.vector_weight,
        min_similarity=arguments.min_similarity,
        progress=output.progress(None, "asked"),
    )
    if is_json(arguments):
        output.as_json(serialize.expected(done))
    else:
        for each in done:
            _tell(each)
        output.notes(dict.fromkeys(note for each in done for note in each.notes))
        output.say(_summary(done))
    return 0 if all(each.held for each in done) else _BROKEN


def _tell(each: Checked) -> None:
    """The same on a terminal and in a pipe: it is read in the logs of whoever runs it."""
    mark = output.paint("ok ", "green") if each.held else output.paint("BAD", "red")
    output.say(f"{mark}  {output.line(each.expectation.question)}  {output.paint(each.expectation.id, 'dim')}")
    for text in _reasons(each):
        output.say(f"       {output.line(text)}")
    if not each.held:
        for place, hit in enumerate(each.found, start=1):
            output.say(f"       {'came' if place == 1 else '    '} {_came(place, hit)}")


def _reasons(each: Checked) -> Iterator[str]:
    """What did not hold; and what became of a memory, also where it does."""
    within = each.expectation.within
    if each.expectation.nothing and not each.held:
        yield "expected nothing that is similar enough"
    elif not each.held and not each.found:
        yield "nothing was found"
    for sought in each.sought:
        if not sought.held:
            yield f"{_expected(sought, within)}{_text(sought)}"
        if sought.note:
            yield f"{sought.id}: {sought.note}"


def _expected(sought: Sought, within: int) -> str:
    if not sought.wanted:
        return f"expected not among the first {within}, but at rank {sought.rank}: {sought.id}"
    if sought.memory is None:
        return f"expected among the first {within}: {sought.id}"
    where = f"at rank {sought.rank}" if sought.rank else "not found"
    return f"expected among the first {within}, but {where}: {sought.memory.id}"


def _text(sought: Sought) -> str:
    return f"  {_cut(sought.memory.content)}" if sought.memory else ""


def _came(place: int, hit: Hit) -> str:
    return output.line(f"{place:3}  {hit.score:.2f}  {hit.id}  {_cut(hit.excerpt)}")


def _cut(text: str) -> str:
    return text if len(text) <= _TEXT else f"{text[:_TEXT]}…"


def _summary(done: list[Checked]) -> str:
    if not done:
        return 'nothing is expected yet: retentive expect "QUESTION" --finds ID'
    held = sum(each.held for each in done)
    return f"{output.counted(len(done), 'expectation')}: {held} held, {len(done) - held} broken"


VERBS: dict[str, Callable[[Retentive, Any], int]] = {
    "expect add": _add,
    "expect list": _list,
    "expect remove": _remove,
    "expect run": _run,
}
