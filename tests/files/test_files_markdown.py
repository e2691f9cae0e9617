"""Markdown: headings, front matter, links, and what stays together."""

import json
from typing import Any

import pytest

from retentive.files.readers.front_matter import MAX_FRONT_MATTER_CHARS
from retentive.files.readers.read import read
from retentive.model.files import Document, Section
from retentive.text.chunk import CHUNK_SIZE


def markdown(text: str) -> Document:
    return read("note.md", text.encode())


def paths(document: Document) -> list[tuple[str, ...]]:
    return [section.headings for section in document.sections]


NOTE = """---
title: Boats
tags: [sea, wood]
date: 2024-05-01
---
# Boats we had

The first was *small*.

## Rex

Bought in May.

Sold in June.

### Sails

Two of them.

## Tom
"""


def test_a_note_is_read() -> None:
    """Front matter, headings as paths, and lines counted as an editor does."""
    assert markdown(NOTE) == Document(
        "Boats",
        {"title": "Boats", "tags": ["sea", "wood"], "date": "2024-05-01"},
        (),
        (
            Section(("Boats we had",), 6, 8, "# Boats we had\n\nThe first was *small*."),
            Section(("Boats we had", "Rex"), 10, 14, "## Rex\n\nBought in May.\n\nSold in June."),
            Section(("Boats we had", "Rex", "Sails"), 16, 18, "### Sails\n\nTwo of them."),
            Section(("Boats we had", "Tom"), 20, 20, "## Tom"),
        ),
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# A\nx\n# B\ny", [("A",), ("B",)]),
        ("A\n===\nx\n\nB\n---\ny", [("A",), ("A", "B")]),  # setext
        ("# A\n\n### C\n\n## B", [("A",), ("A", "C"), ("A", "B")]),  # a level was skipped
        ("before\n\n# A", [(), ("A",)]),
        ("# A #\n", [("A",)]),
        ("# **A** [b](c) `d` &amp; \\*", [("A b d & *",)]),  # as readers see it
        ("#A\n\n#\n\n####### B", [()]),  # no headings, or empty
        ("```\n# x\n```\n\n~~~sh\n# y\n~~~", [()]),
        ("````\n```\n# x\n````\n# A", [(), ("A",)]),  # a shorter fence does not close
        ("<!--\n# x\n-->\n# A", [(), ("A",)]),
        ("    # x", [()]),  # indented code
        ("- # x\n\n> # y", [()]),  # inside something else
        ("a\n\n---\n\nb", [()]),  # a rule, not an underline
        ("# A\nx\n# A\ny", [("A",)]),  # neighbours under the same path
    ],
)
def test_headings(text: str, expected: list[tuple[str, ...]]) -> None:
    assert paths(markdown(text)) == expected


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("# A\n# B", "A"),
        ("## A\n\n# B", "B"),
        ("---\ntitle: T\n---\n# A", "T"),
        ("+++\ntitle = 'T'\n+++\n# A", "T"),
        ("---\ntitle: 2024\n---\n", "2024"),
        ("---\ntitle: [x]\n---\n# A", "A"),
        ("words", None),
    ],
)
def test_titles(text: str, title: str | None) -> None:
    assert markdown(text).title == title


@pytest.mark.parametrize(
    ("text", "metadata"),
    [
        ("---\na: 1\nb: {c: [x, 2.5, true, null]}\n---\n", {"a": 1, "b": {"c": ["x", 2.5, True, None]}}),
        ("---\r\na: 1\r\n...\r\nx", {"a": 1}),
        ("---\nat: 2024-05-01 10:00:00Z\n---\n", {"at": "2024-05-01T10:00:00+00:00"}),
        ("+++\nat = 2024-05-01\nt = 10:00:00\n[x]\ny = 1\n+++\n", {"at": "2024-05-01", "t": "10:00:00", "x": {"y": 1}}),
        ("---\n---\nx", {}),
        ("---\n2: x\n2024-05-01: y\n---\n", {"2": "x", "2024-05-01": "y"}),
        ("---\na: .nan\nb: 99999999999999999999\n---\n", {"a": "nan", "b": "99999999999999999999"}),
        ("---\na: !!set {x}\n---\n", {"a": ["x"]}),
        ('---\na: "\\ud800\\0"\n---\n', {"a": "\ufffd\ufffd"}),  # neither can be stored
    ],
)
def test_front_matter(text: str, metadata: dict[str, Any]) -> None:
    """It is fit for JSON, and none of it is text."""
    found = markdown(text).metadata
    assert found == metadata
    assert json.loads(json.dumps(found, allow_nan=False)) == metadata


BOMB = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{b}: &{b} [*{a},*{a},*{a},*{a},*{a},*{a},*{a},*{a},*{a}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    "front",
    [
        "---\na: [\n---\n",
        "---\njust words\n---\n",
        "---\n- a\n---\n",
        "---\na: 2024-99-99\n---\n",
        "---\na: !!python/object:os.system x\n---\n",
        "---\n? [a]\n: b\n---\n",
        "---\na: &a [*a]\n---\n",
        "---\na: " + "9" * 5000 + "\n---\n",
        "+++\na = \n+++\n",
        "+++\na = " + "[" * 5000 + "\n+++\n",
        "---\na: " + "[" * 20000 + "\n---\n",
        f"---\n{BOMB}---\n",
        "---\na: " + "x" * MAX_FRONT_MATTER_CHARS + "\n---\n",
        "---\nnever closed\n",
    ],
)
def test_front_matter_that_cannot_be_read_is_text(front: str) -> None:
    """A slip does not hide a note, and a bomb does not go off."""
    found = markdown(front + "# A\nbody")
    assert found.metadata == {}
    assert found.sections[0].first == 1
    assert found.sections[-1].text.endswith("body")


@pytest.mark.parametrize(
    ("text", "links"),
    [
        ("[a](b.md) and ![c](d.png 'title')", ["b.md", "d.png"]),
        ("[a](<b c.md>) [d](e_(f).md) [g](#h)", ["b c.md", "e_(f).md", "#h"]),
        ("[![a](b.png)](c.md)", ["b.png", "c.md"]),
        ("[a][b] [b]\n\n[b]: c.md 'title'\n[d]: <e f>", ["c.md", "e f"]),
        ("<https://a.org/x> <me@a.org>", ["https://a.org/x", "me@a.org"]),
        ("see https://a.org/x_(y), or (http://b.org).", ["https://a.org/x_(y)", "http://b.org"]),
        ("[[Note]] [[Other#Part|alias]] ![[pic.png]] | [[x\\|y]] |", ["Note", "Other#Part", "pic.png", "x"]),
        ("[a](x) [b](x) [c](y)", ["x", "y"]),  # without doubles
        ("`[a](b)` ``[[c]] ` `` [d](e)", ["e"]),  # code
        ("```\n[a](b)\n```\n\n- x\n  ```\n  [[c]]\n  ```\n\n[d](e)", ["e"]),
        ("[^1]: a note, [x] (y) ]( [](data:image/png;base64,AAAA)", []),
        ("a ` b [c](d)", ["d"]),  # a backtick alone
    ],
)
def test_links(text: str, links: list[str]) -> None:
    assert list(markdown(text).links) == links


def long(what: str, times: int) -> str:
    return "\n".join(f"{what} {number}" for number in range(times))


@pytest.mark.parametrize("block", ["```py\n" + long("x =", 60) + "\n```", long("- item", 50), long("| cell |", 45)])
def test_what_fits_is_not_torn(block: str) -> None:
    """Fences, lists and tables begin a new section rather than being divided."""
    assert len(block) < CHUNK_SIZE
    found = markdown(f"# A\n\n{'word ' * 80}\n\n{block}\n\n{'word ' * 80}\n")
    assert block in [section.text for section in found.sections]


def test_a_long_list_is_cut_between_its_items() -> None:
    items = [f"- item {number}\n  {'word ' * 20}\n\n  more of it" for number in range(20)]
    found = markdown("\n".join(items))
    assert all(section.text.startswith("- item") for section in found.sections)
    assert "\n".join(section.text for section in found.sections).split() == "\n".join(items).split()


def test_a_long_paragraph_is_cut_behind_sentences() -> None:
    text = "".join(f"This is sentence {number}, and it is not the last. " for number in range(60))
    found = markdown(f"# A\n\n{text}")
    assert all(section.text.rstrip().endswith(".") for section in found.sections[1:])
    assert {(section.first, section.last) for section in found.sections[1:]} == {(3, 3)}
