from itertools import chain
from typing import Any

import pytest
from hypothesis import given

from retentive.conversations.turns import group_turns, has_missing_call, render_line
from retentive.model import Event
from retentive.text.messages import find_tool_calls, find_tool_results
from tests.conversations.conversations import answer, blocks, call, conversations, event

USER: tuple[str, Any] = ("user", None)
TOOL: tuple[str, Any] = ("tool", None)
OLD: tuple[str, Any] = ("assistant", {"function_call": {"name": "f", "arguments": "{}"}})  # from before calls had ids


def asks(*ids: str) -> tuple[str, Any]:
    return "assistant", call(*ids)


def answers_to(id: str) -> tuple[str, Any]:
    return "tool", answer(id)


def made(*messages: tuple[str, Any]) -> list[Event]:
    return [event(number, "x", role, payload) for number, (role, payload) in enumerate(messages, 1)]


@pytest.mark.parametrize(
    ("messages", "sizes"),
    [
        ([], []),
        ([USER, USER], [1, 1]),
        ([USER, asks("a"), answers_to("a"), USER], [1, 2, 1]),
        ([asks("a", "b"), answers_to("b"), answers_to("a")], [3]),  # two calls in one message
        ([asks("a"), USER, USER, answers_to("a")], [4]),  # what was said between them
        ([asks("a"), answers_to("a"), USER, answers_to("a")], [4]),  # a second answer, later
        ([asks("a"), asks("b"), answers_to("a"), answers_to("b")], [4]),  # crossed
        ([asks("a"), answers_to("a"), asks("b"), answers_to("b")], [2, 2]),
        ([asks("a"), answers_to("a"), asks("a"), answers_to("a")], [2, 2]),  # ids numbered anew
        ([asks("a"), USER], [1, 1]),  # never answered
        ([USER, answers_to("a")], [1, 1]),  # never asked
        ([asks("a"), answers_to("z"), USER], [2, 1]),  # a tool's message of an unknown id, behind a call
        ([OLD, TOOL, TOOL, USER, TOOL], [3, 1, 1]),
        ([USER, asks("a"), ("user", blocks("a")), USER], [1, 2, 1]),  # as Anthropic answers
        ([answers_to("a"), asks("a")], [1, 1]),  # the wrong way round
        ([asks("a"), answers_to("a"), ("assistant", [call("a")["tool_calls"][0], answer("a")])], [2, 1]),  # both in one
    ],
)
def test_a_call_and_its_answers_are_one_turn(messages: list[tuple[str, Any]], sizes: list[int]) -> None:
    """Turns are as large as tool calls make them, and no larger."""
    assert [len(turn) for turn in group_turns(made(*messages))] == sizes


@given(conversations())
def test_turns_together_are_the_conversation(events: list[Event]) -> None:
    """Nothing is lost, doubled or moved, and no turn is empty."""
    found = group_turns(events)
    assert list(chain.from_iterable(found)) == events
    assert all(found)


@given(conversations())
def test_no_turn_ends_between_a_call_and_its_answer(events: list[Event]) -> None:
    """An answer stands in the turn of the latest call of its id."""
    turn_of = {each.sequence: number for number, turn in enumerate(group_turns(events)) for each in turn}
    asked: dict[str, int] = {}
    for each in events:
        asked.update((made.id, each.sequence) for made in find_tool_calls(each.payload) if made.id)
        for given_back in find_tool_results(each.payload):
            if given_back.call in asked:
                assert turn_of[asked[given_back.call]] == turn_of[each.sequence]


def test_many_late_answers_cost_no_more_than_many_messages() -> None:
    """One call answered again and again by 20,000 messages is one turn, at once."""
    events = [event(0, "x", "assistant", call("a")), *(event(n, "x", "tool", answer("a")) for n in range(1, 20_000))]
    assert [len(turn) for turn in group_turns(events)] == [20_000]


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ([USER], False),
        ([asks("a"), answers_to("a")], False),
        ([asks("a")], False),
        ([answers_to("a")], True),
        ([asks("a"), answers_to("b")], True),
        ([answers_to("a"), asks("a")], True),
        ([OLD, TOOL], False),
        ([TOOL], True),  # a tool never speaks first
        ([("user", blocks("a"))], True),
    ],
)
def test_a_turn_dangles_if_it_holds_an_answer_without_its_call(messages: list[tuple[str, Any]], expected: bool) -> None:
    """An answer needs its call before it, in the same turn."""
    assert has_missing_call(made(*messages)) is expected


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (event(1, "Hello"), "user: Hello"),
        (event(1, "Hello", speaker="Dana"), "Dana: Hello"),
        (event(1, "", "assistant", call("a")), 'assistant: look {"at": 1}'),
        (event(1, "", "user", blocks("a")), "tool: > seen"),
        (event(1, "one\ntwo", "tool"), "tool: > one\n  > two"),
        (event(1, "one\u2028two", speaker="Da\u2028na"), "Da na: one\n  two"),
        (event(1), "user: "),
    ],
)
def test_a_message_reads_as_who_said_what(message: Event, expected: str) -> None:
    """The speaker if known, else the role; with it all that is readable, what a tool said quoted."""
    assert render_line(message) == expected
