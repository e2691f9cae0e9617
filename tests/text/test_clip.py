import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retentive.text.clip import ELLIPSIS, clip, clip_to_tokens, find_largest
from retentive.text.token_counters import TokenCounter
from tests.conversations.conversations import counters


@given(st.integers(0, 300), st.integers(0, 300))
def test_most_finds_the_largest_that_fits(limit: int, upto: int) -> None:
    """Where whatever fits does so with less in it, nothing larger would have fitted."""
    assert find_largest(lambda number: number <= limit, upto) == min(limit, upto)


@given(st.sets(st.integers(1, 100)), st.integers(0, 100))
def test_most_gives_only_what_was_seen_to_fit(fitting: set[int], upto: int) -> None:
    """Whatever the rule, the answer keeps it or is 0."""
    found = find_largest(fitting.__contains__, upto)
    assert found == 0 or (found in fitting and found <= upto)


def test_most_tries_little_beyond_the_answer() -> None:
    """A long text is counted a few times, and never whole if it is far too long."""
    tried: list[int] = []

    def fits(number: int) -> bool:
        tried.append(number)
        return number <= 1000

    assert find_largest(fits, 1_000_000) == 1000
    assert len(tried) <= 20
    assert max(tried) < 2100


@pytest.mark.parametrize(
    ("text", "size", "expected"),
    [
        ("short", 5, "short"),
        ("one two three", 9, "one two…"),  # behind a word
        ("one two three", 8, "one two…"),
        ("one two three", 7, "one…"),
        ("a verylongwordindeed", 12, "a verylongw…"),  # a blank too far back is not worth it
        ("决定使用新系统", 4, "决定使…"),
        ("cafe\u0301s", 5, "caf…"),  # a letter and its accent
        ("กินข้าวแล้ว", 5, "กิน…"),  # a consonant and its tone
        ("ab👨\u200d👩\u200d👧cd", 6, "ab…"),  # a family
        ("ab👍🏽cd", 4, "ab…"),  # a thumb and its skin
        ("ab🇩🇪cd", 4, "ab…"),  # a flag
        ("ab\ud83d\ude00cd", 4, "ab…"),  # half a pair
        ("\u0301\u0301\u0301", 2, ""),
        ("abc", 1, ""),
        ("abc", 0, ""),
    ],
)
def test_a_cut_falls_behind_a_word_or_a_whole_character(text: str, size: int, expected: str) -> None:
    """What belongs together stays together."""
    assert clip(text, size) == expected


@given(
    st.text(alphabet=st.characters(codec="utf-8") | st.sampled_from(" \u0301\u200d\ufe0f👍🏽🇩"), max_size=40),
    st.integers(0, 45),
)
def test_a_cut_never_divides_a_character(text: str, size: int) -> None:
    """No mark loses its letter, whatever the text."""
    kept = clip(text, size)
    assert len(kept) <= size
    if kept != text and kept:
        rest = text[len(kept.removesuffix(ELLIPSIS)) :]
        assert text.startswith(kept.removesuffix(ELLIPSIS))
        assert not unicodedata.category(rest[0]).startswith("M") or rest[0].isspace()


@given(st.text(max_size=80), st.integers(0, 100), counters)
def test_a_cut_is_within_its_limit(text: str, limit: int, count: TokenCounter) -> None:
    """By any counter."""
    assert count(clip_to_tokens(text, limit, count)) <= limit
