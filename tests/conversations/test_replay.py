from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retentive.conversations.replay import build_replay
from retentive.conversations.turns import group_turns, has_missing_call, render_line
from retentive.model import Event
from retentive.text.token_counters import TokenCounter
from tests.conversations.conversations import MONOTONE, answer, budgets, call, conversations, counters, event, talk

summaries = st.sampled_from(["", "Dana lives in Oslo.", "long " * 30])
earlier = st.sampled_from([0, 3])
TALK = talk("user: one", "assistant: two", "user: three")


@pytest.mark.parametrize(
    ("budget", "summary", "text", "left_out"),
    [
        (100, "", "user: one\nassistant: two\nuser: three", 0),
        (36, "", "user: one\nassistant: two\nuser: three", 0),
        (35, "", "assistant: two\nuser: three", 1),
        (11, "", "user: three", 2),
        (10, "", "", 3),
        (0, "", "", 3),
        (100, "so far", "Rolling session summary: > so far\nuser: one\nassistant: two\nuser: three", 0),
        (60, "so far", "Rolling session summary: > so far\nassistant: two\nuser: three", 1),
        (33, "so far", "Rolling session summary: > so far", 3),
        (32, "so far", "assistant: two\nuser: three", 1),  # a summary that does not fit makes room
    ],
)
def test_the_newest_that_fit_are_replayed(budget: int, summary: str, text: str, left_out: int) -> None:
    """Summary first, then messages in order, to the last token."""
    found = build_replay("s", summary, TALK, 0, budget, len)
    assert (found.text, found.left_out) == (text, left_out)


@given(summaries, conversations(), earlier, budgets, counters)
def test_a_replay_is_within_its_budget(
    summary: str, events: list[Event], before: int, budget: int, count: TokenCounter
) -> None:
    """By any counter, and the count is that of the text."""
    found = build_replay("s", summary, events, before, budget, count)
    assert found.tokens == count(found.text) <= budget


@given(summaries, conversations(), earlier, budgets, counters)
def test_a_replay_is_the_newest_whole_turns(
    summary: str, events: list[Event], before: int, budget: int, count: TokenCounter
) -> None:
    """In order, without holes, and the text is theirs."""
    found = build_replay("s", summary, events, before, budget, count)
    groups = group_turns(events)
    ends = [tuple(chain.from_iterable(groups[number:])) for number in range(len(groups) + 1)]
    assert found.events in ends
    heading = [f"Rolling session summary: > {found.summary}"] if found.summary else []
    whole = "\n".join([*heading, *map(render_line, found.events)])
    if found.text.endswith("…") and len(found.events) == 1:
        assert whole.startswith(found.text.removesuffix("…").rstrip())  # the beginning of a newest that is too long
    else:
        assert found.text == whole
    assert found.summary in (summary, "")
    assert found.left_out == before + len(events) - len(found.events)


@given(summaries, conversations(), earlier, budgets, st.sampled_from(MONOTONE))
def test_the_budget_is_used(summary: str, events: list[Event], before: int, budget: int, count: TokenCounter) -> None:
    """One turn more would not have fitted, or has lost its call."""
    found = build_replay("s", summary, events, before, budget, count)
    groups = group_turns(events)
    taken = len(group_turns(found.events))
    if len(found.events) < len(events):
        more = groups[len(groups) - taken - 1]
        longer = "\n".join([*([found.text] if found.text else []), *map(render_line, more)])
        assert count(longer) > budget or (before and has_missing_call(more))


def test_an_answer_whose_call_was_not_read_is_left_out() -> None:
    """And so is all before it."""
    events = [event(7, "x", "user"), event(8, "seen", "tool", answer("a")), event(9, "three")]
    assert build_replay("s", "", events, 6, 100, len).text == "user: three"


def test_an_answer_whose_call_was_never_logged_is_replayed() -> None:
    """With nothing before it, there is nothing to wait for."""
    events = [event(1, "seen", "tool", answer("a")), event(2, "three")]
    assert build_replay("s", "", events, 0, 100, len).text == "tool: > seen\nuser: three"


def test_a_call_and_its_answer_fit_together_or_not_at_all() -> None:
    """Though the answer alone would."""
    events = [event(1, "", "assistant", call("a")), event(2, "seen", "tool", answer("a")), event(3, "three")]
    assert build_replay("s", "", events, 0, 30, len).text == "user: three"


def test_a_long_conversation_is_not_counted_whole() -> None:
    """Of 10,000 messages the counter reads what may fit, a few times."""
    read: list[int] = []

    def count(text: str) -> int:
        read.append(len(text))
        return len(text)

    found = build_replay("s", "", talk(*["user: " + "x" * 194] * 10_000), 0, 5000, count)
    assert len(found.events) == 24
    assert sum(read) < 15 * 5000
