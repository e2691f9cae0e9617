import pytest
from hypothesis import given

from retentive.conversations.condense import ExtractiveCondenser, SummaryPolicy, choose_oldest
from retentive.conversations.turns import group_turns, render_line
from retentive.model import Event
from retentive.text.token_counters import TokenCounter
from retentive.text.token_estimate import estimate_tokens
from tests.conversations.conversations import answer, budgets, call, conversations, counters, event, talk, texts

POLICY = SummaryPolicy()
AMPLE = 1_000_000


def said(size: int, role: str = "user") -> str:
    """A message whose line has `size` characters."""
    return f"{role}: " + "x" * (size - len(role) - 2)


def condense(*lines: str, limit: int = AMPLE, summary: str = "", count: TokenCounter = estimate_tokens) -> str:
    return ExtractiveCondenser().condense(summary, talk(*lines), limit, count)


@pytest.mark.parametrize(
    ("sizes", "summary", "taken"),
    [
        ([20, 20, 20, 20], 0, 0),  # 80 of 100 is not yet past the trigger
        ([21, 20, 20, 20], 0, 2),  # 81 is; what is left is 40
        ([20, 20, 20, 10], 11, 1),  # the summary counts towards the trigger, not towards the target
        ([10, 10, 10, 10], 50, 0),  # past the trigger, but the messages are within the target
        ([40, 40, 40], 0, 0),  # too few
        ([30, 30, 30, 90], 0, 3),  # the newest stays, however long
        ([90, 10, 10, 10], 0, 1),
        ([], 99, 0),
    ],
)
def test_the_oldest_are_condensed_when_the_budget_is_nearly_used(sizes: list[int], summary: int, taken: int) -> None:
    """Not before four fifths are used, and then down to a half."""
    events = talk(*map(said, sizes))
    assert len(choose_oldest(events, 100, POLICY, len, summary)) == taken


def test_a_turn_is_condensed_whole() -> None:
    """A call is not condensed without its answer."""
    events = [
        event(1, "x" * 60, "assistant", call("a")),
        event(2, "x" * 20, "tool", answer("a")),
        *talk(said(9), said(9)),
    ]
    assert len(choose_oldest(events, 100, POLICY, len)) == 2


@given(conversations(), budgets, counters)
def test_what_is_condensed_is_whole_turns_from_the_beginning(
    events: list[Event], budget: int, count: TokenCounter
) -> None:
    """And never the newest turn."""
    taken = choose_oldest(events, budget, POLICY, count)
    assert taken == tuple(events[: len(taken)])
    assert len(taken) in [
        sum(map(len, group_turns(events)[:number])) for number in range(max(len(group_turns(events)), 1))
    ]


@given(conversations(), budgets)
def test_what_is_left_is_within_the_target(events: list[Event], budget: int) -> None:
    """Unless the newest turn alone is larger."""
    taken = choose_oldest(events, budget, POLICY, len)
    left = events[len(taken) :]
    if taken and len(group_turns(left)) > 1:
        assert sum(len(render_line(each)) for each in left) <= POLICY.target * budget


def test_a_summary_and_what_is_left_do_not_call_for_the_next_summary() -> None:
    """A full summary with the target of messages is below the trigger."""
    assert POLICY.limit(1000) == 250
    assert POLICY.share + POLICY.target < POLICY.trigger


@given(texts, conversations(), budgets, counters)
def test_a_summary_is_within_its_limit(summary: str, events: list[Event], limit: int, count: TokenCounter) -> None:
    """Whatever was said, whatever the counter."""
    assert count(ExtractiveCondenser().condense(summary, events, limit, count)) <= limit


@given(texts, conversations(), budgets, counters)
def test_the_same_conversation_has_the_same_summary(
    summary: str, events: list[Event], limit: int, count: TokenCounter
) -> None:
    """Nothing depends on chance."""
    first, second = (ExtractiveCondenser().condense(summary, events, limit, count) for _ in range(2))
    assert first == second


@given(conversations())
def test_what_a_summary_says_is_not_said_again(events: list[Event]) -> None:
    """The same messages a second time add nothing."""
    once = ExtractiveCondenser().condense("", events, AMPLE, len)
    assert ExtractiveCondenser().condense(once, events, AMPLE, len) == once


@given(conversations(), conversations())
def test_while_there_is_room_a_summary_only_grows(before: list[Event], after: list[Event]) -> None:
    """The old lines come first, as they were."""
    old = ExtractiveCondenser().condense("", before, AMPLE, len)
    assert ExtractiveCondenser().condense(old, after, AMPLE, len).startswith(old)


def test_a_summary_that_someone_else_wrote_stays_as_it_is() -> None:
    """Prose, blank lines, long sentences: nothing is touched while it fits."""
    prose = f"Dana runs a bakery.\n\n* {'very ' * 100}long"
    assert condense("user: We chose Oslo.", summary=prose) == f"{prose}\nuser: We chose Oslo."


def test_a_summary_that_is_too_long_as_it_stands_loses_its_filler_first() -> None:
    """What it says stays."""
    assert condense(summary="Thanks!\n\n\nuser: I live in Oslo.", limit=21, count=len) == "user: I live in Oslo."


def test_a_decision_outlives_greetings() -> None:
    """With room for one line, it is the one with a name and a number."""
    kept = condense(
        "user: Hi there!",
        "assistant: Hello! How can I help you today?",
        "user: We decided to pay Hetzner 8 euros a month.",
        "assistant: Great, sounds good!",
        "user: Thanks a lot, Dana!",
        limit=14,
    )
    assert kept == "user: We decided to pay Hetzner 8 euros a month."


@pytest.mark.parametrize(
    "filler",
    [
        *("Hi!", "hello", "Thanks a lot!", "Thank you, Dana.", "ok", "Sure, sounds good!", "You're welcome!", "No."),
        *("Let me know if you need anything else.", "How can I help you?", "Good morning, Anna", "That makes sense."),
        *("👍", "...", ""),
    ],
)
def test_greetings_and_thanks_are_never_in_a_summary(filler: str) -> None:
    """However much room there is."""
    assert condense(f"user: {filler}", f"assistant: {filler}") == ""


def test_sentences_of_one_message_share_a_line_in_their_order() -> None:
    """Filler between them goes."""
    assert condense("user: I live in Oslo. Thanks! My dog is called Rex.", "assistant: Noted for Dana.") == (
        "user: I live in Oslo. My dog is called Rex.\nassistant: Noted for Dana."
    )


def test_a_speaker_is_named() -> None:
    """As in the conversation."""
    events = [event(1, "I live in Oslo.", speaker="Dana")]
    assert ExtractiveCondenser().condense("", events, AMPLE, len) == "Dana: I live in Oslo."


def test_of_tools_only_a_glimpse_is_kept() -> None:
    """A short first line of each call and each result."""
    result = "\n{\nstatus: 7 rooms free in Oslo" + " and more" * 40 + "\nsecond line"
    events = [event(1, "", "assistant", call("a")), event(2, result, "tool", answer("a"))]
    first, second = ExtractiveCondenser().condense("", events, AMPLE, len).splitlines()
    assert first == 'assistant: look {"at": 1}'
    assert second.startswith("tool: status: 7 rooms free in Oslo and more")
    assert len(second) < 110
    assert "second line" not in second


def test_a_long_sentence_is_shortened_behind_a_word() -> None:
    """A pasted list does not take all the room."""
    kept = condense("user: " + "number 12345 " * 100)
    assert len(kept) < 260
    assert kept.endswith(("number…", "12345…"))


def test_a_pasted_page_does_not_push_out_the_rest() -> None:
    """Further sentences of one message count less and less."""
    page = " ".join(f"Station {number} in Oslo has {number} rooms." for number in range(100))
    assert "I like the second plan best" in condense(f"user: {page}", "user: I like the second plan best.", limit=100)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("我们决定使用新系统。好的！预算是50000元。", "预算是50000元。"),  # noqa: RUF001
        ("🎉🎉 launch on 12 May 🎉🎉", "🎉🎉 launch on 12 May 🎉🎉"),
        ("```py\ndef price(x):\n    return 12 * x\n```", "def price(x):"),
        ("for i in range(10): print(i)", "for i in range(10): print(i)"),
        ("Мы решили переехать в Осло в 2027 году.", "Мы решили переехать в Осло в 2027 году."),
        ("नमस्ते, बैठक 12 मार्च को है।", "नमस्ते, बैठक 12 मार्च को है।"),
    ],
)
def test_any_language_can_be_condensed(text: str, kept: str) -> None:
    """Chinese, emoji, code, Russian, Hindi."""
    assert kept in condense(f"user: {text}")


def test_with_hardly_any_room_the_best_line_is_cut() -> None:
    """Behind a word, as far as it goes."""
    assert (
        condense("user: ok", "user: We decided to move to Oslo in May.", limit=20, count=len) == "user: We decided to…"
    )


def test_a_greeting_does_not_fill_the_room_of_a_fact() -> None:
    """Though it fits, and the fact does not."""
    assert condense("user: 你好", "user: 我们公司有120名员工。", limit=10) == "user: 我们公司有120名…"


@pytest.mark.parametrize("count", [len, lambda _: 0])
def test_no_room_no_summary(count: TokenCounter) -> None:
    """Not even an ellipsis, not even if a counter says it is nothing."""
    assert condense("user: We decided to move to Oslo.", limit=0, summary="Dana lives here.", count=count) == ""


def test_a_summary_fed_for_ever_stays_within_its_limit_and_keeps_what_counts() -> None:
    """Hundreds of times chatter does not wash out a decision, and of equals the newest stay."""
    summary = condense("user: We decided to pay Hetzner 8 euros, never more.")
    for number in range(300):
        chatter = (f"user: The weather is mild on day {number} of it all", "assistant: That is nice to hear indeed")
        summary = condense(*chatter, summary=summary, limit=60)
        assert estimate_tokens(summary) <= 60
    assert "We decided to pay Hetzner 8 euros, never more." in summary
    assert "day 299" in summary
    assert "day 1 " not in summary


def test_ten_thousand_messages_are_counted_a_few_times_only() -> None:
    """The counter reads some thirty summaries, not the growing whole for each line."""
    read: list[int] = []

    def count(text: str) -> int:
        read.append(len(text))
        return estimate_tokens(text)

    lines = [f"user: On day {number} we decided to move {number} boxes to Oslo. Thanks!" for number in range(10_000)]
    condense(*lines, limit=500, count=count)
    assert sum(read) < 30 * 4 * 500
