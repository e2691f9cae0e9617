"""Which memories say the same, by their form; and how outcomes are summed up."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from retentive.consolidation.outcomes import MAX_SUMMARY_CHARS, split_outcomes, summarise_outcomes, write_outcomes
from retentive.consolidation.same_meaning import FormIndex, choose_text, is_same, make_group
from retentive.model import ConsolidationRule, Kind, Memory, Source, Status
from retentive.text.normalize import hash_content
from tests.consolidation.consolidation_pairs import ALSO_DIFFERENT, ALSO_SAME, DIFFERENT, IN_DOUBT, SAME

DAY = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


def memory(content: str, number: int = 0, **traits: Any) -> Memory:
    time = traits.pop("time", DAY)
    values: dict[str, Any] = {
        "id": f"m{number:04}", "namespace": "default", "session": None, "kind": Kind.FACT, "content": content,
        "context": None, "tags": (), "slot": None, "source": Source.EXPLICIT, "origin": None, "confidence": 0.9,
        "importance": 5, "status": Status.ACTIVE, "superseded_by": None, "content_hash": hash_content(content),
        "valid_from": time, "valid_to": None, "created": time, "updated": time, "expires": None, "access_count": 0,
        "last_access": None, "metadata": {}, "version": 1,
    }  # fmt: skip
    return Memory(**{**values, **traits})


def groups(*found: Memory) -> list[list[str]]:
    index = FormIndex()
    for each in found:
        index.add(each)
    return index.groups()


@pytest.mark.parametrize(("one", "other"), [*SAME, *ALSO_SAME])
def test_what_says_the_same_is_merged(one: str, other: str) -> None:
    assert is_same(one, other)
    assert is_same(other, one)


@pytest.mark.parametrize(("one", "other"), [*DIFFERENT, *ALSO_DIFFERENT, *IN_DOUBT])
def test_what_differs_is_never_merged(one: str, other: str) -> None:
    assert not is_same(one, other)
    assert not is_same(other, one)


def test_no_two_of_all_different_texts_share_a_group() -> None:
    """Grouping by keys finds nothing that comparing pairs does not."""
    texts = dict.fromkeys(text for pair in (*DIFFERENT, *ALSO_DIFFERENT) for text in pair)
    known = {f"m{number:04}": text for number, text in enumerate(texts)}
    for ids in groups(*(memory(text, number) for number, text in enumerate(texts))):
        assert all(is_same(known[ids[0]], known[id]) for id in ids)


@pytest.mark.parametrize(
    "other",
    [
        {"kind": Kind.PREFERENCE},  # another kind
        {"session": "monday"},  # local to a session
        {"context": "the summer house"},  # about something else
        {"expires": DAY},  # holds for a while only
        {"kind": Kind.NOTE},  # known by its id
    ],
)
def test_another_scope_is_another_group(other: dict[str, Any]) -> None:
    assert groups(memory("I like tea", 1), memory("The user likes tea.", 2, **other)) == []


@pytest.mark.parametrize(
    "text",
    [
        "The user's flight leaves tomorrow.",  # a day that is told from that of the memory
        "The deploy failed on staging.",  # an event without a date
        "I met Anna last week.",
    ],
)
def test_the_same_words_on_another_day_tell_of_something_else(text: str) -> None:
    later = memory(f"{text[:-1]}!", 2, time=datetime(2026, 4, 2, tzinfo=UTC))
    assert groups(memory(text, 1), later) == []
    assert groups(memory(text, 1), memory(f"{text[:-1]}!", 2)) == [["m0001", "m0002"]]


def test_outcomes_of_two_days_are_two_outcomes() -> None:
    first = memory("Staging is green", 1, kind=Kind.OUTCOME)
    second = memory("Staging is green.", 2, kind=Kind.OUTCOME, time=datetime(2026, 3, 3, tzinfo=UTC))
    assert groups(first, second) == []


def test_a_statement_with_two_refinements_joins_neither() -> None:
    found = [
        memory(text, n)
        for n, text in enumerate(("I live in Paris", "I live in Paris, Texas", "I live in Paris, France"))
    ]
    assert groups(*found) == []


def test_instructions_are_merged_only_word_for_word() -> None:
    """The order of a list may be the order of what is to be done."""
    one = memory("Ask Anna and Ben for a review", 1, kind=Kind.INSTRUCTION)
    other = memory("Ask Ben and Anna for a review", 2, kind=Kind.INSTRUCTION)
    again = memory("Please ask Anna and Ben for a review.", 3, kind=Kind.INSTRUCTION)
    assert groups(one, other, again) == [["m0001", "m0003"]]


def test_the_fullest_and_newest_wording_is_chosen() -> None:
    old = memory("I live in Oslo, Norway", 1)
    new = memory("The user lives in Oslo.", 2, time=datetime(2026, 5, 1, tzinfo=UTC))
    assert choose_text([old, new]) == old.content
    again = memory("I live in Oslo, Norway.", 3, time=datetime(2026, 6, 1, tzinfo=UTC))
    assert choose_text([old, new, again]) == again.content


def test_a_group_names_its_rule() -> None:
    same = make_group([memory("I like tea", 1), memory("I like tea.", 2)])
    fuller = make_group([memory("I live in Oslo", 1), memory("I live in Oslo, Norway", 2)])
    assert same
    assert fuller
    assert (same.rule, fuller.rule) == (ConsolidationRule.RESTATEMENT, ConsolidationRule.REFINEMENT)
    assert fuller.text == "I live in Oslo, Norway"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"slot": "user.home"}, {"slot": "user.address"}),  # values of two slots
        ({"metadata": {"team": "a"}}, {"metadata": {"team": "b"}}),  # what callers wrote differs
    ],
)
def test_what_callers_told_apart_stays_apart(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert make_group([memory("I live in Oslo", 1, **one), memory("I live in Oslo.", 2, **other)]) is None


def outcomes(count: int, text: str = "Build {} went to staging.") -> Sequence[Memory]:
    days = [datetime(2026, 3, 1 + number % 28, tzinfo=UTC) for number in range(count)]
    return [
        memory(text.format(number), number, kind=Kind.OUTCOME, tags=("alpha",), time=day)
        for number, day in enumerate(sorted(days))
    ]


def test_a_summary_has_its_span_and_a_dated_line_for_each_outcome() -> None:
    text = summarise_outcomes(outcomes(5))
    assert text.splitlines()[:2] == [
        "Outcomes (alpha) from 2026-03-01 to 2026-03-05:",
        "- 2026-03-01: Build 0 went to staging.",
    ]
    assert len(text.splitlines()) == 6


def test_a_summary_of_long_outcomes_keeps_what_says_most_and_its_limit() -> None:
    long = outcomes(25, "We decided to use Postgres 16 for build {}. " + "And then it went on as usual. " * 8)
    text = summarise_outcomes(long)
    assert len(text) <= MAX_SUMMARY_CHARS
    assert text.count("Postgres 16") == 25


def test_a_few_outcomes_are_left_and_many_become_several_summaries() -> None:
    assert split_outcomes(outcomes(4)) == []
    assert [len(part) for part in split_outcomes(outcomes(60))] == [25, 25, 10]


@pytest.mark.parametrize(
    ("written", "is_believed"),
    [
        ("- 2026-03-01: builds 0 to 4 went to staging", True),
        ("- 2026-03-01: 99 builds went to staging", False),  # a number that no outcome has
        ("x" * 4000, False),  # too long
        ("", False),
    ],
)
def test_what_a_model_writes_is_checked(written: str, is_believed: bool) -> None:
    text = write_outcomes(outcomes(5), lambda *_: written)
    assert (text is not None) == is_believed
    assert text is None or text.startswith("Outcomes (alpha) from 2026-03-01 to 2026-03-05:\n")
