"""Print proposals that a memory replaces an older one or is moved, and let a person decide."""

import sys
from collections.abc import Callable, Sequence
from typing import Any

from retentive import serialize
from retentive.api import Retentive
from retentive.cli import output
from retentive.cli.args import is_json
from retentive.cli.words import describe_reason
from retentive.errors import Conflict, NotFound
from retentive.model import AddResult, Proposal, ReplacedMemory

KEY_HELP = "y replace, n keep both, s skip, q quit"
KEYS = {"y": "a", "a": "a", "n": "r", "r": "r", "s": "s", "q": "q"}
"""What may be typed, and what it does: accept, reject, skip, quit."""


def print_endings(added: AddResult) -> None:
    """Print what a new memory replaced and what it may replace."""
    for each in added.replaced:
        print_replaced(each)
    for proposal in added.proposals:
        output.print_line(
            f"may replace: {proposal.older}  (accept: retentive review accept {output.show_id(proposal.id)})"
        )
        output.print_line(f"  because: {describe_reason(proposal.rule, proposal.reason)}")


def describe_proposal(each: Proposal) -> str:
    """Describe in a line what a proposal suggests."""
    if each.move_to:
        return f"{each.older} may be about the person: move it to {each.move_to}?"
    return f"{each.newer} may replace: {each.older}"


def print_replaced(each: ReplacedMemory) -> None:
    """Print the text that ended, how to undo it, and why."""
    output.print_line(f"replaced: {each.content}  (undo: retentive restore {output.show_id(each.id)})")
    output.print_line(f"  because: {describe_reason(each.rule, each.reason)}")


def _list(memory: Retentive, arguments: Any) -> int:
    found = memory.proposals.list(arguments.limit, arguments.after)
    if is_json(arguments):
        output.print_json({"proposals": [serialize.proposal(each) for each in found]})
    elif not sys.stdout.isatty():
        output.print_table((), [_row(each) for each in found])
    elif not found:
        output.print_line("nothing to review")
    else:
        _ask_for_each(memory, found) if sys.stdin.isatty() else _print_all(found)
        if len(found) == arguments.limit:
            output.print_hint(f"more: retentive review --after {output.show_id(found[-1].id)}")
    return 0


def _row(each: Proposal) -> tuple[str, ...]:
    target = f"move to {each.move_to}" if each.move_to else each.older
    return each.id, each.newer, target, f"{each.rule}: {each.reason}"


def _print_all(found: Sequence[Proposal]) -> None:
    for number, each in enumerate(found, start=1):
        _print_proposal(number, len(found), each)


def _print_proposal(number: int, count: int, each: Proposal) -> None:
    from retentive.cli.draw.console import draw
    from retentive.cli.draw.proposals import make_proposal

    draw(make_proposal(each, number, count), "")


def _ask_for_each(memory: Retentive, found: Sequence[Proposal]) -> None:
    """Print the proposals one by one and do what is typed. The end of the input is `q`."""
    for number, each in enumerate(found, start=1):
        _print_proposal(number, len(found), each)
        key = _read_key()
        if key == "q":
            return
        if key == "s":
            continue
        try:
            _decide(memory, key, each)
        except (Conflict, NotFound) as error:  # another process decided first; the others are still open
            output.print_line(f"     {error}")


def _read_key() -> str:
    while True:
        sys.stderr.write(f"  {KEY_HELP}: ")
        sys.stderr.flush()
        typed = sys.stdin.readline()
        if not typed:
            return "q"
        if key := KEYS.get(typed.strip().lower()[:1]):
            return key


def _decide(memory: Retentive, key: str, each: Proposal) -> None:
    if key == "a":
        memory.proposals.accept(each.id)
        done = "moved" if each.move_to else "replaced"
        output.print_line(f"  {done}  (undo: retentive restore {output.show_id(each.older_id)})")
    else:
        memory.proposals.reject(each.id)
        output.print_line("  it stays" if each.move_to else "  both stay")


def _accept(memory: Retentive, arguments: Any) -> int:
    done = [memory.proposals.accept(each.id) for each in _get_open_proposals(memory, arguments.ids)]
    if is_json(arguments):
        output.print_json({"accepted": [serialize.proposal(each) for each in done]})
        return 0
    for each in done:
        if each.move_to:
            output.print_line(_describe_moved(each))
        else:
            print_replaced(ReplacedMemory(each.older_id, each.older, each.rule, each.reason))
    return 0


def _describe_moved(each: Proposal) -> str:
    undo = f"undo: retentive restore {output.show_id(each.older_id)}"
    return f"moved to {each.move_to} as {output.show_id(each.newer_id)}: {each.older}  ({undo})"


def _reject(memory: Retentive, arguments: Any) -> int:
    done = [memory.proposals.reject(each.id) for each in _get_open_proposals(memory, arguments.ids)]
    if is_json(arguments):
        output.print_json({"rejected": [serialize.proposal(each) for each in done]})
        return 0
    for each in done:
        output.print_line(f"kept: {each.older}" if each.move_to else f"kept both: {each.newer} / {each.older}")
    return 0


def _get_open_proposals(memory: Retentive, ids: Sequence[str]) -> list[Proposal]:
    """Return the proposals, or raise for the first that is not open, before any is decided."""
    return [memory.proposals.get(id) for id in dict.fromkeys(ids)]


VERBS: dict[str, Callable[[Retentive, Any], int]] = {
    "review list": _list,
    "review accept": _accept,
    "review reject": _reject,
}
