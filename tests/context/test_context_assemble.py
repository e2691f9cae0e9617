from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from itertools import count as numbers

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retentive.context.assemble import ContextItem, ContextSection, assemble
from retentive.context.distinct import find_distinct
from retentive.model import Omission
from retentive.text.token_counters import TokenCounter
from tests.conversations.conversations import MONOTONE, budgets, counters, texts

FIVE = [f"memory number {number}" for number in range(5)]
THREE, ALL = "\n".join(FIVE[:3]), "\n".join(FIVE)
AMPLE = 100_000_000
LONG_HEADING = "## What is known about it"
NO_ROOM = "does not fit the budget"


def section(
    name: str, *texts: str, share: float = 0.5, heading: str = "", stop_at_misfit: bool = False
) -> ContextSection:
    """One group for each text, the first the most relevant; shown in alphabetical order."""
    groups = [(ContextItem(text[:1], text, text),) for text in texts]
    return ContextSection(name, heading, share, groups, stop_at_misfit=stop_at_misfit)


@st.composite
def sections(draw: st.DrawFn) -> list[ContextSection]:
    ids = numbers()
    items = st.builds(lambda text, order: ContextItem(f"i{next(ids)}", text, order), texts, st.integers(0, 9))
    made = st.builds(
        ContextSection,
        st.just(""),
        st.sampled_from(["", "## Facts"]),
        st.sampled_from([0.0, 0.2, 0.5, 1.0]),
        st.lists(st.lists(items, max_size=3).map(tuple), max_size=5),
        max_groups_in_share=st.none() | st.integers(0, 2),
        stop_at_misfit=st.booleans(),
        is_served_last=st.booleans(),
    )
    return [replace(each, name=f"{n}") for n, each in enumerate(draw(st.lists(made, max_size=4)))]


def kept(each: ContextSection, cites: Sequence[str]) -> list[bool]:
    """Of each group that has items: whether it is in."""
    return [all(item.id in cites for item in group) for group in each.groups if group]


@given(sections(), budgets, counters)
def test_a_context_is_within_its_budget(given_: list[ContextSection], budget: int, count: TokenCounter) -> None:
    """By any counter, and the count is that of the text."""
    found = assemble(given_, budget, count)
    assert found.tokens == count(found.text) <= budget == found.budget


@given(sections(), budgets, counters)
def test_a_group_is_kept_or_dropped_whole(given_: list[ContextSection], budget: int, count: TokenCounter) -> None:
    """What is not cited is left out, with the reason; nothing is both."""
    found = assemble(given_, budget, count)
    groups = [(each.name, group) for each in given_ for group in each.groups]
    assert {*found.cites} == {item.id for _, group in groups for item in group if group[0].id in found.cites}
    assert found.left_out == tuple(
        Omission(name, item.id, NO_ROOM) for name, group in groups for item in group if item.id not in found.cites
    )


@given(sections(), budgets, counters)
def test_sections_and_items_stand_in_their_order(
    given_: list[ContextSection], budget: int, count: TokenCounter
) -> None:
    """Headings only where there are items; items by their own order."""
    found = assemble(given_, budget, count)
    shown = [
        (each, sorted((item for item in chain(*each.groups) if item.id in found.cites), key=lambda item: item.order))
        for each in given_
    ]
    written = {
        each.name: "\n".join([*filter(None, (each.heading,)), *(item.text for item in items)])
        for each, items in shown
        if items
    }
    assert found.text == "\n\n".join(written.values())
    assert found.cites == tuple(item.id for _, items in shown for item in items)
    assert found.parts == {each.name: count(written.get(each.name, "")) for each in given_}


@given(sections(), budgets, counters)
def test_recent_messages_have_no_holes(given_: list[ContextSection], budget: int, count: TokenCounter) -> None:
    """A section in sequence is taken from its first group on, without gaps."""
    found = assemble(given_, budget, count)
    for each in given_:
        if each.stop_at_misfit:
            inside = kept(each, found.cites)
            assert inside == sorted(inside, reverse=True)


@given(sections(), budgets, counters)
def test_the_same_input_gives_the_same_context(given_: list[ContextSection], budget: int, count: TokenCounter) -> None:
    """To the byte."""
    assert assemble(given_, budget, count) == assemble(given_, budget, count)


@given(sections(), st.sampled_from(MONOTONE))
def test_with_room_for_all_nothing_is_left_out(given_: list[ContextSection], count: TokenCounter) -> None:
    """To the last token, whatever the shares."""
    whole = assemble(given_, AMPLE, count)
    assert whole.left_out == ()
    assert assemble(given_, whole.tokens, count).text == whole.text


@pytest.mark.parametrize(
    ("given_", "budget", "text"),
    [
        ([section("m", "b2345", "a2345")], 11, "a2345\nb2345"),  # in their order, to the last token
        ([section("m", "b2345", "a2345")], 10, "b2345"),  # the most relevant stays
        ([section("m", "c" * 50, "a")], 10, "a"),  # a smaller one may still be taken
        ([section("m", "c" * 50, "a", stop_at_misfit=True)], 10, ""),
        ([section("m", "a2345", heading="## M")], 10, "## M\na2345"),  # headings count
        ([section("m", "a2345", heading="## M")], 9, ""),
        ([section("m", heading="## M"), section("n", "a")], 50, "a"),  # no heading without items
        ([section("m", *"ab", share=0), section("n", "x" * 30)], 6, "a\nb"),  # one without a share gets what is left
        ([section("m", *"ab", share=1), section("n", "x", share=1)], 4, "a\nb"),  # shares of more than there is
        ([section("m", *FIVE), section("n", *FIVE)], 100, f"{THREE}\n\n{THREE}"),  # each has its share
        (
            [section("m", *FIVE, heading=LONG_HEADING), section("n", *FIVE)],
            100,
            f"{LONG_HEADING}\n{FIVE[0]}\n\n{THREE}",
        ),
        ([section("m", *FIVE), section("n", FIVE[0])], 100, f"{ALL}\n\n{FIVE[0]}"),  # what is left goes to the first
        ([section("n", FIVE[0]), section("m", *FIVE)], 100, f"{FIVE[0]}\n\n{ALL}"),  # or to whoever can use it
    ],
)
def test_a_budget_is_shared_out(given_: list[ContextSection], budget: int, text: str) -> None:
    """Shares first, then what is left, in the order of the sections."""
    assert assemble(given_, budget, len).text == text


def test_the_least_relevant_goes_first_when_the_whole_counts_more_than_its_parts() -> None:
    """What was taken last is taken back."""
    found = assemble([section("m", *"abcdef"), section("n", *"xyz")], 12, lambda text: len(text) ** 2 // 4)
    assert found.text == "a\nb\nc\nd"


def test_pieces_are_counted_once() -> None:
    """The whole is counted a few times, not for each candidate."""
    read: list[str] = []

    def count(text: str) -> int:
        read.append(text)
        return (len(text) + 3) // 4

    many = [(ContextItem(str(n), f"memory number {n:04}", n),) for n in range(2000)]
    assemble([ContextSection("m", "## Memories", 0.5, many), ContextSection("n", "## More", 0.5, many)], 5000, count)
    assert len(read) <= 4000 + 20


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("The user's dog is called Rex", "the user's dog is called REX!", True),
        ("The user's dog is called Rex", "User's dog is called Rex.", True),  # articles say nothing
        ("The user's dog is called Rex", "The user's dog is called Max", False),
        ("Backups are on", "Backups are off", False),
        ("I like fish", "I don't like fish", False),
        ("It costs 8 euros", "It costs 9 euros", False),
        ("我喜欢喝茶", "我喜欢喝茶。", True),
        ("我喜欢喝茶", "我喜欢喝酒", False),
        ("!!!", "???", False),
        ("👍", "👍", True),
    ],
)
def test_two_texts_say_the_same_by_their_words(one: str, other: str, same: bool) -> None:
    """Not by case, marks or articles; a name, a figure or a "not" makes another statement."""
    assert find_distinct([("1", one), ("2", other)]).new == (["1"] if same else ["1", "2"])


LONG = (
    "every morning before work she walks along quiet river banks with two old friends who talk about books music plants"
)


@pytest.mark.parametrize(
    ("change", "same"),
    [
        (("quiet", "calm"), True),
        (("two", "2"), False),
        (("friends", "Friends"), True),
        (("with", "without"), False),
        (("river", "Thames"), False),
        (("quiet river banks", "noisy streets"), False),
    ],
)
def test_long_texts_say_the_same_if_a_plain_word_differs(change: tuple[str, str], same: bool) -> None:
    """Nine tenths of the words are the same, and the others are no names, figures or small words."""
    assert bool(find_distinct([("1", LONG), ("2", LONG.replace(*change))]).repeats) is same


def test_repeats_are_told_with_what_they_repeat() -> None:
    """The id of the better one, or nothing if the text is known already."""
    found = find_distinct(
        [("1", "I live in Oslo"), ("2", "i live in oslo"), ("3", "I like tea"), ("4", "We met")], ["I like tea!"]
    )
    assert found.new == ["1", "4"]
    assert found.repeats == [("2", "1"), ("3", "")]
