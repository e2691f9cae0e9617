"""Proposals, that a newer memory replaces an older one or that one is moved: shown, and decided by a person."""

import sys
from collections.abc import Callable, Sequence
from typing import Any

from retentive import serialize
from retentive.api import Retentive
from retentive.cli import output
from retentive.cli.args import is_json
from retentive.errors import Conflict, NotFound
from retentive.model import Added, Ended, Proposal

KEYS = "a accept, r reject, s skip, q quit"


def show_endings(added: Added) -> None:
    """Print what a new memory replaced and what it may replace."""
    for each in added.ended:
        output.say(output.line(_replaced(each)))
    for proposal in added.proposals:
        what = f"May replace: {proposal.older} ({proposal.rule}: {proposal.reason})"
        output.say(output.line(f"{what}; accept with: retentive review accept {proposal.id}"))


def describe_proposal(each: Proposal) -> str:
    """What a proposal suggests, in a line."""
    if each.move_to:
        return f"{each.older} may be about the person: move it to {each.move_to}?"
    return f"{each.newer} may replace: {each.older}"


def _replaced(each: Ended) -> str:
    return f"Replaced: {each.content} ({each.rule}: {each.reason}); undo: retentive restore {each.id}"


def _list(memory: Retentive, arguments: Any) -> int:
    found = memory.proposals.list(arguments.limit, arguments.before)
    if is_json(arguments):
        output.as_json({"proposals": [serialize.proposal(each) for each in found]})
    elif not sys.stdout.isatty():
        output.table((), [_row(each) for each in found])
    elif not found:
        output.say("nothing to review")
    else:
        _ask_for_each(memory, found) if sys.stdin.isatty() else _show_all(found)
        if len(found) == arguments.limit:
            output.aside(f"more: retentive review --before {found[-1].id}")
    return 0


def _row(each: Proposal) -> tuple[str, ...]:
    target = f"move to {each.move_to}" if each.move_to else each.older
    return each.id, each.newer, target, f"{each.rule}: {each.reason}"


def _show_all(found: Sequence[Proposal]) -> None:
    for number, each in enumerate(found, start=1):
        _show(number, each)


def _show(number: int, each: Proposal) -> None:
    if each.move_to:
        output.say(
            f"{number:3}  {output.paint('MOVE', 'green')}   {each.older_time:%Y-%m-%d}  {output.line(each.older)}"
        )
        output.say(f"     {output.paint('TO', 'yellow')}     {output.line(each.move_to)}")
        output.say(f"     {output.line(f'{each.rule}: {each.reason}')}  {output.paint(each.id, 'dim')}")
        return
    output.say(f"{number:3}  {output.paint('NEWER', 'green')}  {each.newer_time:%Y-%m-%d}  {output.line(each.newer)}")
    output.say(f"     {output.paint('OLDER', 'yellow')}  {each.older_time:%Y-%m-%d}  {output.line(each.older)}")
    output.say(f"     {output.line(f'{each.rule}: {each.reason}')}  {output.paint(each.id, 'dim')}")


def _ask_for_each(memory: Retentive, found: Sequence[Proposal]) -> None:
    """Show one after the other, and do what is typed; the end of the input is `q`."""
    for number, each in enumerate(found, start=1):
        _show(number, each)
        key = _typed_key()
        if key == "q":
            return
        if key == "s":
            continue
        try:
            _decide(memory, key, each)
        except (Conflict, NotFound) as error:  # somebody else was first; the rest can still be decided
            output.say(output.line(f"     {error}"))


def _typed_key() -> str:
    while True:
        sys.stderr.write(f"     {KEYS}: ")
        sys.stderr.flush()
        typed = sys.stdin.readline()
        key = typed.strip().lower()[:1]
        if not typed or key in {"a", "r", "s", "q"}:
            return key or "q"


def _decide(memory: Retentive, key: str, each: Proposal) -> None:
    if key == "a":
        memory.proposals.accept(each.id)
        output.say(f"     {'moved' if each.move_to else 'replaced'}; undo: retentive restore {each.older_id}")
    else:
        memory.proposals.reject(each.id)
        output.say("     it stays" if each.move_to else "     both stay")


def _accept(memory: Retentive, arguments: Any) -> int:
    done = [memory.proposals.accept(each.id) for each in _wanted(memory, arguments.ids)]
    if is_json(arguments):
        output.as_json({"accepted": [serialize.proposal(each) for each in done]})
        return 0
    for each in done:
        output.say(output.line(_moved(each) if each.move_to else _replaced(_ended(each))))
    return 0


def _ended(each: Proposal) -> Ended:
    return Ended(each.older_id, each.older, each.rule, each.reason)


def _moved(each: Proposal) -> str:
    return f"Moved to {each.move_to} as {each.newer_id}: {each.older}; undo: retentive restore {each.older_id}"


def _reject(memory: Retentive, arguments: Any) -> int:
    done = [memory.proposals.reject(each.id) for each in _wanted(memory, arguments.ids)]
    if is_json(arguments):
        output.as_json({"rejected": [serialize.proposal(each) for each in done]})
        return 0
    for each in done:
        output.say(
            output.line(f"It stays: {each.older}" if each.move_to else f"Both stay: {each.newer} / {each.older}")
        )
    return 0


def _wanted(memory: Retentive, ids: Sequence[str]) -> list[Proposal]:
    """All of them, or an error for the first that is not there, before any is decided."""
    return [memory.proposals.get(id) for id in dict.fromkeys(ids)]


VERBS: dict[str, Callable[[Retentive, Any], int]] = {
    "review list": _list,
    "review accept": _accept,
    "review reject": _reject,
}
