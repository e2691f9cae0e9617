from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retentive.errors import Invalid
from retentive.text.chunk import chunk_text
from retentive.text.instants import parse_instant
from retentive.text.normalize import hash_content, normalise_text
from retentive.text.sentences import MEMORIES_HEADING, SUMMARY_HEADING, find_sentences, mask_quoted_text
from retentive.text.terms import find_query_words, segment_text
from retentive.text.token_estimate import estimate_tokens

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("a  b\n", "a b", True),  # white space does not count
        ("caf\u00e9", "cafe\u0301", True),  # one letter in two encodings
        ("foo", "FOO", False),  # case may matter
        ("It is so", "It is so.", False),
    ],
)
def test_texts_are_the_same_when_they_read_the_same(one: str, other: str, same: bool) -> None:
    assert (hash_content(one) == hash_content(other)) is same


@given(st.text())
def test_normalising_twice_changes_nothing(text: str) -> None:
    assert normalise_text(normalise_text(text)) == normalise_text(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain words stay", "plain words stay"),
        ("東京都", " 東京 京都 "),
        ("犬", " 犬 "),
        ("I love 寿司 a lot", "I love  寿司  a lot"),
    ],
)
def test_scripts_without_blanks_become_pairs(text: str, expected: str) -> None:
    assert segment_text(text) == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What is the name of my dog?", ["name", "dog"]),  # stop words go
        ("who is it", ["who", "is", "it"]),  # unless nothing is left
        ("dog DOG dog", ["dog"]),
        ('"quoted" AND (x OR y*) NEAR -z', ["quoted", "x", "y", "near", "z"]),  # operators are only words
        ("don't", ["don", "t"]),
        ("", []),
        ("\0\0", []),
        ("北京大学", ["北京", "京大", "大学"]),
        ("กินข้าว", ["กิ", "ิน", "นข", "ข้", "้า", "าว"]),
    ],
)
def test_a_question_is_its_telling_words(question: str, expected: list[str]) -> None:
    assert find_query_words(question) == expected


def test_a_pasted_document_is_a_bounded_question() -> None:
    assert len(find_query_words(" ".join(f"w{n}" for n in range(10_000)))) == 64


@given(st.text(max_size=4000), st.integers(20, 200))
def test_chunks_rejoin_to_the_text(text: str, size: int) -> None:
    """Whatever the text: no character is lost, each slice fits, and each begins within the one before."""
    chunks = chunk_text(text, size, size // 6)
    end = 0
    for piece in chunks:
        assert len(piece) <= size
        begin = text.find(piece, max(0, end - size // 6 - 1))
        assert begin <= end
        end = begin + len(piece)
    assert end == len(text)


def test_cuts_fall_behind_sentences() -> None:
    text = "This is the first sentence, of some length. " * 30
    assert all(piece.rstrip().endswith(".") for piece in chunk_text(text))


def test_a_letter_is_not_cut_from_its_marks() -> None:
    pieces = chunk_text("e\u0301" * 500, size=101, overlap=10)
    assert not any(piece.startswith("\u0301") for piece in pieces)


def test_a_run_of_marks_is_cut_like_any_other() -> None:
    pieces = chunk_text("a" + "\u0301" * 40_000)
    assert len(pieces) < 100


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("2026-12-31", datetime(2026, 12, 31, tzinfo=UTC)),
        ("2026-12-31T18:00:00+01:00", datetime(2026, 12, 31, 17, tzinfo=UTC)),
        ("2026-12-31T18:00:00Z", datetime(2026, 12, 31, 18, tzinfo=UTC)),
        ("90m", datetime(2026, 11, 15, 13, 30, tzinfo=UTC)),
        ("7d", datetime(2026, 11, 22, 12, tzinfo=UTC)),
    ],
)
def test_times_are_read_as_people_write_them(written: str, expected: datetime) -> None:
    assert parse_instant(written, NOW, "expires") == expected


def test_a_span_counts_backwards_for_the_past() -> None:
    assert parse_instant("1w", NOW, "since", past=True) == datetime(2026, 11, 8, 12, tzinfo=UTC)


@pytest.mark.parametrize("written", ["", "soon", "2026-13-01", "99999999999d", "9y9"])
def test_a_bad_time_is_refused_with_the_ways_to_write_one(written: str) -> None:
    with pytest.raises(Invalid, match="expires") as caught:
        parse_instant(written, NOW, "expires")
    assert "2026-12-31" in caught.value.hint


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("a", 1),
        ("The quick brown fox jumps over the lazy dog.", 12),  # 35 letters and a sign; a real tokenizer says 10
        ("2026-11-16", 5),  # digits and signs are dearer than letters
        ("我们昨天决定", 6),  # each sign of Chinese is one
        ("Übergänge", 4),
    ],
)
def test_tokens_are_estimated(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens


@given(st.text(max_size=50), st.text(max_size=50))
def test_the_estimate_of_a_whole_is_at_most_that_of_its_parts(one: str, other: str) -> None:
    assert (
        max(estimate_tokens(one), estimate_tokens(other))
        <= estimate_tokens(one + other)
        <= estimate_tokens(one) + estimate_tokens(other)
    )


def test_sentences_know_where_they_stand() -> None:
    text = "Hi there!  I live in Graz.\n- Dr. Kim is my dentist. And yours?"
    found = [*find_sentences(text)]
    assert [each.text for each in found] == ["Hi there!", "I live in Graz.", "Dr. Kim is my dentist.", "And yours?"]
    assert all(text[each.start : each.end] == each.text for each in found)


@pytest.mark.parametrize(
    "carried",
    [
        "```py\nx = 1\n```",
        "```\nnever closed",
        "~~~\nx = 1\n~~~",
        "> quoted\n> twice",
        f"{MEMORIES_HEADING}\n- The user lives in Rome.\n  It is large.",
        f"{SUMMARY_HEADING}user: I live in Rome.\nassistant: Nice.",
    ],
)
def test_what_a_message_only_carries_is_not_its_senders_own(carried: str) -> None:
    assert mask_quoted_text(carried).strip() == ""
    assert mask_quoted_text(f"Mine.\n\n{carried}").split() == ["Mine."]


@given(st.text(max_size=200))
def test_blanks_keep_every_character_in_its_place(text: str) -> None:
    kept = mask_quoted_text(text)
    assert len(kept) == len(text)
    assert all(after in (before, " ") for before, after in zip(text, kept, strict=True))
    assert all(text[each.start : each.end] == each.text and each.text.strip() for each in find_sentences(text))
