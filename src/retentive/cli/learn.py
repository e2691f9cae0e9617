"""Learning from conversations, and what was done about requests in them."""

from collections.abc import Callable, Sequence
from typing import Any

from retentive import serialize
from retentive.api import Retentive
from retentive.cli import output
from retentive.cli.args import is_json
from retentive.cli.review import describe_proposal
from retentive.model import Cost, Heard, Learned


def _learn(memory: Retentive, arguments: Any) -> int:
    tell = (lambda _: None) if is_json(arguments) else (lambda learned: _told(memory, learned))
    done = memory.learn(arguments.session, tell)
    if is_json(arguments):
        output.as_json({"learned": [serialize.learned(each) for each in done]})
    elif not done:
        output.say("nothing new to learn from")
    return 0


def _told(memory: Retentive, learned: Learned) -> None:
    counts = [
        f"{len(ids)} {what}"
        for what, ids in (
            ("kept", learned.kept),
            ("known already", learned.reinforced),
            ("superseded", learned.superseded),
            ("forgotten", learned.forgotten),
            ("not kept", learned.refused),
        )
        if ids
    ]
    read = output.counted(learned.events, "message", "messages")
    output.say(f"{learned.session}: {read} read by {learned.by}; {', '.join(counts) or 'nothing to keep'}")
    for what, ids in (("", learned.kept), ("superseded ", learned.superseded), ("forgot ", learned.forgotten)):
        for id in ids:
            home = _find_home(memory, learned, id)
            where = f" (in {home.namespace})" if home.namespace != memory.namespace else ""
            output.say(output.line(f"  {what}{id}  {home.why(id).memory.content}{where}"))
    for each in learned.proposals:
        output.say(output.line(f"  {describe_proposal(each)}; decide with: retentive review"))
    for why in dict.fromkeys(learned.refused):
        output.say(f"  not kept: {why}")
    heard(learned.unclear)
    if learned.cost.calls:
        output.say(f"  cost: {describe_cost(learned.cost)}")
    for note in learned.notes:
        output.say(f"  note: {note}")


def describe_cost(cost: Cost) -> str:
    """`2 calls, 1,930 tokens read, 210 written`."""
    calls = output.counted(cost.calls, "call", "calls")
    return f"{calls}, {cost.tokens_in:,} tokens read, {cost.tokens_out:,} written"


def _find_home(memory: Retentive, learned: Learned, id: str) -> Retentive:
    """The store for the namespace of a memory that was learned."""
    person = memory.sessions.get(learned.session).person if id in learned.personal else None
    return memory.in_namespace(person) if person else memory


def heard(told: Sequence[Heard]) -> None:
    """What was done about requests."""
    for each in told:
        if each.refused:
            output.say(f"not kept: {each.refused}")
        elif each.memories:
            output.say(
                output.line(f"{'remembers' if each.verb == 'keep' else 'forgot'} {each.memories[0]}  {each.text}")
            )
        elif each.candidates:
            output.say(f"unclear what to forget by {each.text!r}; retentive forget ID, of:")
            for candidate in each.candidates:
                output.say(output.line(f"  {candidate.id}  {candidate.content}"))
        else:
            output.say(f"nothing to forget by {each.text!r}")


VERBS: dict[str, Callable[[Retentive, Any], int]] = {"learn": _learn}
