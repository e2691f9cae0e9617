"""Rebuild a conversation within a budget of tokens."""

from collections.abc import Sequence
from itertools import chain, takewhile

from retentive.conversations.turns import group_turns, has_hidden, has_missing_call, render_line
from retentive.model import Event, Replay
from retentive.text.clip import clip_to_tokens, find_largest
from retentive.text.quote import quote_lines
from retentive.text.sentences import SUMMARY_HEADING
from retentive.text.token_counters import TokenCounter

MIN_CUT_CHARS = 40  # of a message; less is not worth showing


def build_replay(
    session: str,
    summary: str,
    events: Sequence[Event],
    earlier: int,
    budget: int,
    count: TokenCounter,
    imported: int = 0,
) -> Replay:
    """Return the summary, then the newest whole turns that fit, without gaps.

    `events` are the newest messages that no summary covers, in order; `earlier` of them lie before these. If there are
    some, a turn whose tool call may be among them is left out, and so is a turn with a hidden message. A summary that
    does not fit is left out. Messages up to the sequence `imported` are quoted. The summary is quoted, too: it contains
    words of tools.
    """
    if count(render_summary(summary)) > budget:
        summary = ""
    heading = [render_summary(summary)] if summary else []
    whole = takewhile(lambda turn: not (earlier > 0 and has_missing_call(turn)), reversed(group_turns(events)))
    usable = [turn for turn in whole if not has_hidden(turn)]
    lines = ["\n".join(render_line(each, is_imported=each.sequence <= imported) for each in turn) for turn in usable]

    def text(number: int) -> str:
        return "\n".join([*heading, *reversed(lines[:number])])

    fitting = find_largest(lambda number: count(text(number)) <= budget, len(usable))
    if not fitting and usable and len(usable[0]) == 1:
        # If the newest message is too long, show its beginning rather than nothing.
        beginning = clip_to_tokens(lines[0], budget - count("\n".join([*heading, ""])), count)
        if len(beginning) >= MIN_CUT_CHARS and count("\n".join([*heading, beginning])) <= budget:
            lines[0], fitting = beginning, 1
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
    return SUMMARY_HEADING + quote_lines(summary)
