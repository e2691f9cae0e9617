"""Where a thought begins and ends in Markdown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retentive.transfer.memories.blocks import parse_blocks, parse_front_matter


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("one\ntwo\n\nthree", [("one two", ()), ("three", ())]),
        ("- a\n* b\n+ c\n1. d\n2) e\n• f", [(each, ()) for each in "abcdef"]),
        ("- a\n  goes on\n\n  and on\n- b", [("a goes on and on", ()), ("b", ())]),
        ("- a\nlazily goes on\n\nnot this", [("a lazily goes on", ()), ("not this", ())]),
        ("- a\n  - b\n    - c\n  - d\n- e", [("a", ()), ("b", ("a",)), ("c", ("a", "b")), ("d", ("a",)), ("e", ())]),
        ("- a:\n  - b\n- c", [("b", ("a",)), ("c", ())]),
        ("Always:\n- a\n- b\n\nElse", [("a", ("Always",)), ("b", ("Always",)), ("Else", ())]),
        ("# A\n## B\nx\n# C\ny", [("x", ("A", "B")), ("y", ("C",))]),
        ("### deep\nx\n## less\ny", [("x", ("deep",)), ("y", ("less",))]),
        ("# **A** `b` #\nx", [("x", ("A b",))]),
        ("#tag is no heading", [("#tag is no heading", ())]),
        ("A\n===\nx\n\nB\n---\ny", [("x", ("A",)), ("y", ("A", "B"))]),
        ("a\n\n---\n\nb", [("a", ()), ("b", ())]),
        ("- [ ] todo\n- [x] done", [("todo", ()), ("done", ())]),
        ("> quoted\n> twice", [("quoted twice", ())]),
        ("a\n```\n# no heading\n\n- no bullet\n```\nb", [("a\n```\n# no heading\n\n- no bullet\n```\nb", ())]),
        ("~~~~\n~~~\n~~~~\n\nb", [("~~~~\n~~~\n~~~~", ()), ("b", ())][1:]),
        ("a\n\n```\nnever closed", [("a\n```\nnever closed", ())]),
        ("| a | b |\n|---|---|", [("| a | b |\n|---|---|", ())]),
        ("a <!-- b\n- c --> d", [("a d", ())]),
        ("a <!-- never closed", [("a <!-- never closed", ())]),
        ("-\n\n***\n* * *\n!!!", []),
        ("\t- a\n\t\t- b", [("a", ()), ("b", ("a",))]),
        ("", []),
    ],
)
def test_blocks(text: str, expected: list[tuple[str, tuple[str, ...]]]) -> None:
    assert [(each.text, each.headings) for each in parse_blocks(text)] == expected


def test_a_block_knows_its_line() -> None:
    assert [each.line for each in parse_blocks("# A\n\na\nb\n\n- c\n\n<!--\n\n-->\nd", before=10)] == [13, 16, 21]


@pytest.mark.parametrize(
    ("text", "values", "body"),
    [
        ("---\na: 1\nb: 'two words'\n---\nrest", {"a": "1", "b": "two words"}, "rest"),
        ('---\nc: [x, "y z"]\nd:\n- p\n- q\n---\n', {"c": ["x", "y z"], "d": ["p", "q"]}, ""),
        ("---\na: b: c\nnested:\n  x: 1\n---\n", {"a": "b: c", "nested": ""}, ""),
        ("---\nnever closed\n", {}, "---\nnever closed\n"),
        ("no front", {}, "no front"),
        ("---\n---\nx", {}, "x"),
    ],
)  # fmt: skip
def test_front_matter(text: str, values: dict[str, object], body: str) -> None:
    found = parse_front_matter(text)
    assert (found.values, found.body) == (values, body)


@given(st.text(alphabet=st.sampled_from("ab#-*>`~:|<!1.) \t\n[]_="), max_size=200))
def test_no_word_is_lost_and_none_is_made_up(text: str) -> None:
    """What is neither a heading nor in a comment is in a block, whatever the marks."""
    found = [*parse_blocks(text)]
    letters = "".join(each for block in found for each in (block.text, *block.headings))
    assert {*letters} <= {*text, " "}
    assert all(any(letter.isalnum() for letter in block.text) for block in found)
    lines = [line for line in text.split("\n") if "#" not in line and "a" in line]
    if not any(mark in text for mark in ("<!--", ":", "=", "--", "#")):
        assert sum(block.text.count("a") for block in found) == sum(line.count("a") for line in lines)
