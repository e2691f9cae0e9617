"""What holds for every file: nothing is lost, nothing breaks, nothing takes forever."""

import io
import re
import zipfile
from pathlib import PurePath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retentive.errors import Invalid
from retentive.files.kinds import SUFFIXES
from retentive.files.readers.read import read
from retentive.model.files import Document
from retentive.text.chunk import CHUNK_SIZE
from tests.files.written import docx, paragraph, pdf

MANY = 100_000  # repetitions: minutes and hours for whatever is quadratic

LINES = st.sampled_from(
    [
        "",
        "",
        "  ",
        "# A",
        "## B",
        "### *C*",
        "===",
        "---",
        "words and more",
        "A sentence. Another one!",
        "w" * 300,
        "long words " * 90,
        "x" * 1500,
        "- item",
        "  - inner",
        "1. one",
        "```",
        "~~~py",
        "    code",
        "<!--",
        "-->",
        "> quoted",
        "| a | b |",
        "|---|---|",
        "[a]: b.md",
        "'title'",
        "[[link]] https://a.org",
        "def f(x):",
        "    return x",
        "class A {",
        "}",
        "@decorated",
        "\u3000",
        "\xa0",
        "e\u0301" * 400,
        "+++",
        "<b>bold</b>",
        "\u2028",
    ]
)
TEXTS = st.tuples(st.lists(LINES, max_size=40), st.sampled_from(["\n", "\r\n", "\r"])).map(
    lambda each: each[1].join(each[0])
)


def body(document: Document, lines: list[str]) -> list[tuple[int, str]]:
    """The lines that are not front matter, with their numbers; none is blank."""
    begun = document.sections[0].first if document.metadata and document.sections else 1
    return [(number, line) for number, line in enumerate(lines, 1) if number >= begun and line.strip()]


@pytest.mark.parametrize("name", ["a.md", "a.txt", "a.py"])
@given(text=TEXTS)
def test_no_line_is_lost(name: str, text: str) -> None:
    """Sections are in order, apart from each other but for lines too long for one, and have all words."""
    document = read(name, text.encode())
    lines = re.split(r"\r\n|\r|\n", text)
    last = 0
    for section in document.sections:
        assert section.text.strip()
        assert len(section.text) <= CHUNK_SIZE
        assert section.first <= section.last
        assert section.first > last or (section.first == last and len(lines[last - 1]) > CHUNK_SIZE)
        last = section.last
    if not document.metadata and "+++" not in lines[0] and "---" not in lines[0]:
        kept = "".join(section.text for section in document.sections)
        assert "".join(kept.split()) == "".join(text.split())
        spans = [(section.first, section.last) for section in document.sections]
        assert all(any(a <= number <= b for a, b in spans) for number, _ in body(document, lines))


@given(text=TEXTS)
def test_a_section_has_the_words_of_its_lines(text: str) -> None:
    lines = re.split(r"\r\n|\r|\n", text)
    for section in read("a.md", text.encode()).sections:
        there = "".join("".join(lines[section.first - 1 : section.last]).split())
        assert "".join(section.text.split()) in there


SAMPLES = {
    "markdown": b"---\ntitle: x\n---\n# A\n\n- b\n\n```\nc\n```\n[d](e) [[f]] <https://g.org>\n",
    "text": "Some words.\n\nMore of thém.\n".encode(),
    "code": b"import x\n\n\nclass A:\n    def f(self):\n        return 1\n",
    "html": b"<!doctype html><title>A</title><body><h1>B</h1><p>c &amp; <a href='d'>e</a><script>f</script><pre>g",
    "pdf": pdf([["One page", "with lines"], ["and another"]], "Title"),
    "docx": docx(paragraph("One", "Mine") + paragraph("Two"), "Title"),
}


def name_of(kind: str) -> str:
    return f"a.{SUFFIXES[kind][0]}"


def survives(name: str, data: bytes) -> None:
    try:
        document = read(name, data)
    except Invalid as error:
        assert error.hint  # noqa: PT017 - any other error fails the test
    else:
        assert all(section.text.strip() for section in document.sections)
        repr(document).encode()


def test_there_is_a_sample_of_every_kind() -> None:
    assert SAMPLES.keys() == SUFFIXES.keys()
    assert all(read(name_of(kind), data).sections for kind, data in SAMPLES.items())


@pytest.mark.parametrize("kind", SAMPLES)
@given(data=st.binary(max_size=300))
def test_random_bytes_are_a_document_or_invalid(kind: str, data: bytes) -> None:
    survives(name_of(kind), data)


@pytest.mark.parametrize("kind", SAMPLES)
@given(cut=st.integers(0, 4000), at=st.integers(0, 4000), junk=st.binary(max_size=8))
def test_damaged_files_are_a_document_or_invalid(kind: str, cut: int, at: int, junk: bytes) -> None:
    """Cut off, and with bytes overwritten."""
    data = SAMPLES[kind]
    at %= len(data)
    survives(name_of(kind), data[: at % len(data)] + junk + data[at + len(junk) :])
    survives(name_of(kind), data[: cut % len(data)])


@given(
    junk=st.binary(max_size=200), part=st.sampled_from(["word/document.xml", "word/styles.xml", "docProps/core.xml"])
)
def test_a_zip_with_anything_inside_is_a_document_or_invalid(junk: bytes, part: str) -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(part, b"<?xml version='1.0'?>" + junk)
        archive.writestr("word/document.xml" if part != "word/document.xml" else "x", "<a/>")
    survives("a.docx", file.getvalue())


@pytest.mark.parametrize(
    ("name", "piece"),
    [
        *(
            ("a.md", piece)
            for piece in ["[", "*a ", "![[", "[a](", "<", "` ``", "# a\n", "- ", ">", "](<", "http://a)"]
        ),
        *(("a.md", piece) for piece in ["[a\n", "<!--\n", "a. ", " ", "\t", "\n", "x\n", "_a*", "~~~\n", "# *a\n\n"]),
        *(
            ("a.html", piece)
            for piece in ["<!--", "<a ", "<a b='", "</", "<![", "&", "<script>", "<svg>", "<a href=x>"]
        ),
        *(("a.html", piece) for piece in ["<td> ", "<h1>", "<pre>\n", "<title>", "<a b=c ", "<"]),
        *(
            ("a.py", piece)
            for piece in ["static ", "def a():\n", "#\n", "\n@a\ndef b():\n x\n", " ", "a(){\n", "(", "}\n"]
        ),
        *(("a.txt", piece) for piece in ["a", "a ", "a\n", "\n", "a\u0301", ".", "\xa0"]),
    ],
)
def test_repetitions_take_linear_time(name: str, piece: str) -> None:
    """It comes to an end at all: with what is quadratic, it would not while one waits."""
    assert read(name, (piece * (MANY // len(piece))).encode()) is not None


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.md", "".join("  " * depth + "- a\n" for depth in range(1000))),
        ("a.md", " ".join("`" * length for length in range(600))),
        ("a.md", "> " * 5000 + "a"),
        ("a.py", "".join(" " * depth + "class A:\n" for depth in range(1500))),
        ("a.html", "<div>" * 50_000 + "a" + "</div>" * 50_000),
        ("a.md", "".join(f"{'#' * (1 + number % 6)} {number}\n" for number in range(20_000))),
    ],
)
def test_depth_and_numbers_do_no_harm(name: str, text: str) -> None:
    assert read(name, text.encode()).sections


def test_other_names_are_not_read() -> None:
    with pytest.raises(Invalid, match="type that is not supported"):
        read(str(PurePath("folder", "picture.png")), b"x")
