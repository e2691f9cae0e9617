"""A conversation rebuilt within a budget."""

from collections.abc import Sequence
from itertools import chain, takewhile

from retentive.conversations.turns import dangling, has_hidden, line, turns
from retentive.model import Event, Replay
from retentive.text.fit import cut, most
from retentive.text.quote import quote
from retentive.text.sentences import SUMMARY_HEADING
from retentive.text.token_counters import Counter

LEAST = 40  # characters of a message that are worth showing


def replay(
    session: str,
    summary: str,
    events: Sequence[Event],
    earlier: int,
    budget: int,
    count: Counter,
    imported: int = 0,
) -> Replay:
    """The summary, then the newest whole turns that fit, without holes.

    `events` are the newest that are in no summary, in order; `earlier` says how many of that kind lie before them. If
    there are some, a turn whose call may lie among them is not taken, nor one with a hidden message. A summary that
    does not fit is left out. Messages up to the number `imported` are quoted, and so is the summary: it is made of
    all that was said, also by tools.
    """
    if count(render_summary(summary)) > budget:
        summary = ""
    heading = [render_summary(summary)] if summary else []
    whole = takewhile(lambda turn: not (earlier > 0 and dangling(turn)), reversed(turns(events)))
    usable = [turn for turn in whole if not has_hidden(turn)]
    lines = ["\n".join(line(each, is_imported=each.sequence <= imported) for each in turn) for turn in usable]

    def text(number: int) -> str:
        return "\n".join([*heading, *reversed(lines[:number])])

    fitting = most(lambda number: count(text(number)) <= budget, len(usable))
    if not fitting and usable and len(usable[0]) == 1:
        # Of a newest message that is too long there is the beginning, not nothing.
        begun = cut(lines[0], budget - count("\n".join([*heading, ""])), count)
        if len(begun) >= LEAST and count("\n".join([*heading, begun])) <= budget:
            lines[0], fitting = begun, 1
    taken = tuple(chain.from_iterable(reversed(usable[:fitting])))
    return Replay(
        session=session,
        summary=summary,
        events=taken,
        text=text(fitting),
        tokens=count(text(fitting)),
        left_out=earlier + len(events) - len(taken),
    )


def render_summary(summary: str) -> str:
    return SUMMARY_HEADING + quote(summary)
