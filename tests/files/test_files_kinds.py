"""Names, encodings, text, code and HTML."""

import re
from pathlib import Path, PurePath

import pytest

from retentive.errors import Invalid
from retentive.files.kinds import NAMES, SUFFIXES, find_kind
from retentive.files.readers.read import read
from retentive.model.files import Section

PAGE = Path(__file__).parent.parent.parent / "docs" / "reference" / "files.md"


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a.md", "markdown"),
        ("folder.x/A.MD", "markdown"),
        ("README", "text"),
        ("readme", "text"),
        ("data.json", "text"),
        ("Makefile", "code"),
        ("CMakeLists.txt", "code"),  # its name tells more than its suffix
        ("a.py", "code"),
        ("a.HTML", "html"),
        ("a.pdf", "pdf"),
        ("a.docx", "docx"),
        ("a.png", None),
        ("a", None),
        (".md", None),
        ("a.md~", None),
        ("", None),
    ],
)
def test_the_name_decides_how_a_file_is_read(name: str, kind: str | None) -> None:
    assert find_kind(PurePath(name)) == kind


def test_no_suffix_and_no_name_is_of_two_kinds() -> None:
    for table in (SUFFIXES, NAMES):
        every = [each.lower() for row in table.values() for each in row]
        assert len(every) == len(set(every))


def test_the_page_has_what_is_read() -> None:
    """The table of docs/reference/files.md is that of the code."""
    rows = re.findall(r"^\| `(\w+)` \| (.*?) \| (.*?) \|", PAGE.read_text("utf-8"), re.MULTILINE)
    shown = {kind: (re.findall(r"`(.+?)`", suffixes), re.findall(r"`(.+?)`", names)) for kind, suffixes, names in rows}
    assert shown == {kind: (list(suffixes), list(NAMES.get(kind, ()))) for kind, suffixes in SUFFIXES.items()}


TEXT = "Café … “naïve”\nsecond"


@pytest.mark.parametrize(
    "data",
    [
        TEXT.encode(),
        TEXT.encode("utf-8-sig"),
        TEXT.encode("utf-16"),
        b"\xfe\xff" + TEXT.encode("utf-16-be"),
        TEXT.encode("cp1252"),
        TEXT.replace("\n", "\r\n").encode(),
        TEXT.replace("\n", "\r").encode(),
        TEXT.encode() + "é".encode()[:1],  # still being written
        TEXT.encode("utf-16") + b"x",
    ],
)
def test_encodings_and_ends_of_lines(data: bytes) -> None:
    assert read("a.txt", data).sections == (Section((), 1, 2, TEXT),)


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ("é".encode() * 9 + b"\xff!", "é" * 9 + "\ufffd!"),  # damaged UTF-8 stays UTF-8
        (b"caf\xe9", "café"),  # a last byte that may be half a character, or Latin-1
        (b"\x81 x" + b"y" * 200, "\x81 x" + "y" * 200),  # not Windows-1252
        (b"\x1b[31mred\x1b[0m\x07", "\x1b[31mred\x1b[0m\x07"),  # logs have colours
    ],
)
def test_what_is_not_quite_text_is_read(data: bytes, text: str) -> None:
    assert [section.text for section in read("a.log", data).sections] == [text]


@pytest.mark.parametrize(
    "data", [b"a\0b", "a\0b".encode("utf-16"), bytes(range(1, 256)), b"\xff\xfe\x00\xd8a\0", b"\x7fELF\x02\x01\x01\0"]
)
@pytest.mark.parametrize("name", ["a.txt", "a.md", "a.py", "a.html"])
def test_binary_is_refused(name: str, data: bytes) -> None:
    with pytest.raises(Invalid, match="is binary"):
        read(name, data)


@pytest.mark.parametrize("name", ["a.txt", "a.md", "a.py", "a.html"])
def test_an_empty_file_has_no_sections(name: str) -> None:
    assert read(name, b"").sections == ()
    assert read(name, b" \n\t\r\n").sections == ()


CODE = '''"""What it does."""

import os

LIMIT = 3


# Adds.
@cached
def add(a, b):
    total = a + b

    return total


class Boat:
    """Floats."""

{methods}

if __name__ == "__main__":
    add(1, 2)
'''


def test_code_is_cut_at_definitions() -> None:
    """With the comments above them; a class that is too long is cut at its methods."""
    methods = "\n".join(
        f"    @property\n    def part_{name}(self):\n" + 9 * "        do(something, more)\n" for name in "abc"
    )
    sections = read("a.py", CODE.format(methods=methods).encode()).sections
    assert [section.headings for section in sections] == [
        (),
        ("def add(a, b)",),
        ("class Boat",),
        ("class Boat", "def part_a(self)"),
        ("class Boat", "def part_b(self)"),
        ("class Boat", "def part_c(self)"),
        (),
    ]
    assert sections[1].text.startswith("# Adds.\n@cached\ndef add")
    assert (sections[1].first, sections[1].last) == (8, 13)
    assert sections[3].text.startswith("    @property\n    def part_a")


@pytest.mark.parametrize(
    ("name", "text", "headings"),
    [
        (
            "a.rs",
            "use x;\n\npub(crate) fn f() {\n    1\n}\n\nimpl<T> A for B {\n}\n",
            ["pub(crate) fn f()", "impl<T> A for B"],
        ),
        ("a.go", "package x\n\nfunc (a *A) F() int {\n\treturn 1\n}\n", ["func (a *A) F() int"]),
        ("a.ts", "export default class A {\n  f() {\n  }\n}\n", ["export default class A"]),
        ("a.js", "const f = (a) => {\n  if (a) {\n  }\n};\n", ["const f = (a) =>"]),
        ("a.c", "int main(void) {\n  while (1) {\n  }\n}\n", ["int main(void)"]),
        ("a.sql", "CREATE TABLE a (\n  id int\n);\n", ["CREATE TABLE a ("]),
        ("a.js", "(function () {\n" + "  a();\n" * 99 + "\n  function f() {\n  }\n})();\n", ["function f()"]),
        ("a.sql", "CREATE TABLE a (\n" + "  namespace TEXT,\n" * 30 + "  id int\n);\n", ["CREATE TABLE a ("]),
        ("a.py", "type = 3\nclasses = 4\n# def x\n", []),
    ],
)
def test_definitions_of_many_languages_are_seen(name: str, text: str, headings: list[str]) -> None:
    assert [path for section in read(name, text.encode()).sections for path in section.headings] == headings


HTML = """<!DOCTYPE html>
<html><head><title>Boats &amp; more</title><meta name="Author" content="Ada">
<style>p { color: red }</style>
<script>if (a < b) document.write("<p>no</p>")</script></head>
<body><h1>Boats</h1>
<p>The <b>first</b>,<br>and
the &eacute;lan. <a href="a.html?x=1&amp;y=2">Link</a></p>
<!-- <p>hidden</p> -->
<h2 class='x > y'>Rex</h2>
<ul><li>one</li><li>two <img src=b.png></li></ul>
<table><tr><td>1</td><td>2</td></tr></table>
<pre>
  kept   as
    it is
</pre>
1 < 2
</body></html>
"""


def test_a_page_is_read() -> None:
    """Text, headings, links and lines of HTML, without scripts, styles and comments."""
    found = read("a.html", HTML.encode())
    assert (found.title, found.metadata, found.links) == (
        "Boats & more",
        {"author": "Ada"},
        ("a.html?x=1&y=2", "b.png"),
    )
    first, second = found.sections
    assert (first.headings, first.first, first.last) == (("Boats",), 5, 7)
    assert first.text.split("\n") == ["Boats", "The first,", "and", "the élan. Link"]
    assert (second.headings, second.first, second.last) == (("Boats", "Rex"), 9, 16)
    assert [line for line in second.text.split("\n") if line] == [
        *("Rex", "one", "two", "1 | 2", "  kept   as", "    it is", "1 < 2"),
    ]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<p>a<p>b", ["a", "b"]),
        ("a<br/>b", ["a", "b"]),
        ("<p>a</b></p></div>b", ["a", "b"]),  # closed without being open
        ("<p title='>'>a", ["a"]),
        ("<p title=it's>a</p>", ["a"]),  # no quote
        ("a<svg><text>x</text></svg>b", ["ab"]),
        ("<svg>a", ["a"]),  # never closed
        ("a<script>b", ["a"]),
        ("a<!-- b", ["a"]),
        ("&#0;&#xD800;&nosuch;&lt;b&gt;", ["\ufffd\ufffd&nosuch;<b>"]),
        ("<title>only", []),
    ],
)
def test_broken_pages_are_read_as_browsers_do(text: str, shown: list[str]) -> None:
    assert [line for each in read("a.htm", text.encode()).sections for line in each.text.split("\n") if line] == shown
