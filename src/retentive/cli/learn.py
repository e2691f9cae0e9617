"""Learn from conversations, and print how the requests in them were handled."""

from collections.abc import Callable, Sequence
from typing import Any

from retentive import serialize
from retentive.api import Retentive
from retentive.cli import output
from retentive.cli.args import is_json
from retentive.cli.review import describe_proposal
from retentive.model import HandledRequest, LearnResult, LlmCost


def _learn(memory: Retentive, arguments: Any) -> int:
    count = 0
    with output.show_progress("learning", "sessions") as progress:

        def report(learned: LearnResult) -> None:
            nonlocal count
            count += 1
            progress.report(count)
            if not is_json(arguments):
                with progress.step_aside():
                    _print_learned(memory, learned)

        progress.show_name(arguments.session or "")
        done = memory.learn(arguments.session, report)
    if is_json(arguments):
        output.print_json({"learned": [serialize.learn_result(each) for each in done]})
    elif not done:
        output.print_line("nothing new to learn from")
    return 0


def _print_learned(memory: Retentive, learned: LearnResult) -> None:
    counts = [
        f"{len(ids)} {what}"
        for what, ids in (
            ("added", learned.kept),
            ("already known", learned.reinforced),
            ("replaced", learned.superseded),
            ("forgotten", learned.forgotten),
            ("not stored", learned.refused),
        )
        if ids
    ]
    read = output.format_count(learned.events, "message", "messages")
    output.print_line(f"{learned.session}: {read} read by {learned.by}; {', '.join(counts) or 'nothing to remember'}")
    for what, ids in (("added", learned.kept), ("replaced", learned.superseded), ("forgot", learned.forgotten)):
        for id in ids:
            home = _find_store(memory, learned, id)
            where = f" (in {home.namespace})" if home.namespace != memory.namespace else ""
            undo = f"  (undo: retentive restore {output.show_id(id)})" if what != "added" else ""
            output.print_line(f"  {what} {output.show_id(id)}  {home.why(id).memory.content}{where}{undo}")
    for each in learned.proposals:
        output.print_line(f"  {describe_proposal(each)}; decide with: retentive review")
    for why in dict.fromkeys(learned.refused):
        output.print_line(f"  not stored: {why}")
    print_handled_requests(learned.unclear)
    if learned.cost.calls:
        output.print_line(f"  cost: {describe_cost(learned.cost)}")
    for note in learned.notes:
        output.print_line(f"  note: {note}")


def describe_cost(cost: LlmCost) -> str:
    """`2 calls, 1,930 tokens read, 210 written`."""
    calls = output.format_count(cost.calls, "call", "calls")
    return f"{calls}, {cost.tokens_in:,} tokens read, {cost.tokens_out:,} written"


def _find_store(memory: Retentive, learned: LearnResult, id: str) -> Retentive:
    """Return the store for the namespace of a learned memory: that of the person, or of the session."""
    person = memory.sessions.get(learned.session).person if id in learned.personal else None
    return memory.in_namespace(person) if person else memory


def print_handled_requests(requests: Sequence[HandledRequest]) -> None:
    for each in requests:
        if each.refused:
            output.print_line(f"not stored: {each.refused}")
        elif each.memories:
            output.print_line(
                f"{'added' if each.verb == 'keep' else 'forgot'} {output.show_id(each.memories[0])}  {each.text}"
            )
        elif each.candidates:
            output.print_line(f"unclear which memory {each.text!r} means; choose one and run `retentive forget ID`:")
            for candidate in each.candidates:
                output.print_line(f"  {output.show_id(candidate.id)}  {candidate.content}")
        else:
            output.print_line(f"nothing to forget for {each.text!r}")


VERBS: dict[str, Callable[[Retentive, Any], int]] = {"learn": _learn}
