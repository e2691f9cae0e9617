"""Files that grow: what was appended is read alone, and it is as if all had been read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retentive.errors import Invalid
from retentive.files.readers.read import read
from retentive.files.readers.resume import RESUMABLE_KINDS, find_resume_point, resume
from retentive.model.files import Document, ResumePoint
from tests.files.test_files_any import TEXTS

NAMES = {"markdown": "a.md", "text": "a.txt"}


def continued(kind: str, known: Document, mark: ResumePoint, data: bytes) -> Document:
    """As the docstring of resume.py has it."""
    more = resume(kind, mark.headings, data[mark.offset :], mark.line, mark.encoding)
    links = tuple(dict.fromkeys([*mark.links, *more.links]))
    sections = tuple(each for each in known.sections if each.first < mark.line) + more.sections
    return Document(mark.title or more.title, more.metadata if mark.line == 1 else known.metadata, links, sections)


@pytest.mark.parametrize("kind", RESUMABLE_KINDS)
@given(text=TEXTS, more=TEXTS, encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]), data=st.data())
def test_resuming_is_as_reading_all(kind: str, text: str, more: str, encoding: str, data: st.DataObject) -> None:
    """Wherever the known part ends, even inside a character; and again after that."""
    whole = (text + "\n" + more).encode(encoding)
    known = whole[: data.draw(st.integers(0, len(whole)))]
    mark = find_resume_point(known, kind)
    assert continued(kind, read(NAMES[kind], known), mark, whole) == read(NAMES[kind], whole)
    assert find_resume_point(whole[mark.offset :], kind, mark) == find_resume_point(whole, kind)


@pytest.mark.parametrize(
    ("text", "line", "headings"),
    [
        ("# A\n\nx\n\n## B\n\ny\n", 5, ("A",)),  # before the last heading
        ("# A\n\n### B\n\n### C\n", 5, ("A", "", "B")),  # by level
        ("# A\n\nx\n\n```\n# no\n", 1, ()),  # never inside a fence
        ("# A\n\nx\n\n# B\n\n<!--\n# no\n", 5, ("A",)),
        ("---\na: 1\n", 1, ()),  # front matter that is still open
        ("---\na: 1\n---\nx\n", 4, ()),
        ("# A\n# B", 1, ()),  # a line that may go on is not relied on
    ],
)
def test_the_mark_is_the_last_safe_place(text: str, line: int, headings: tuple[str, ...]) -> None:
    mark = find_resume_point(text.encode())
    assert (mark.line, mark.headings) == (line, headings)
    assert mark.offset == len("".join(text.splitlines(keepends=True)[: line - 1]))


@pytest.mark.parametrize(
    ("kind", "line"), [("text", "a line of a log"), ("markdown", "- an entry of a diary"), ("markdown", "# Day\nwords")]
)
def test_little_is_read_again(kind: str, line: str) -> None:
    """A log without blank lines and a list of thousands of items resume near their end."""
    data = f"{line}\n".encode() * 2000
    assert len(data) - find_resume_point(data, kind).offset < 2000


def test_title_and_links_before_the_mark_are_known() -> None:
    mark = find_resume_point(b"# A\n\n[x](y)\n\n## B\n\n[z](http://exa")
    assert (mark.title, mark.links) == ("A", ("y",))


@pytest.mark.parametrize("data", ["caf\xe9\n".encode("cp1252"), "thé th\xe9 ".encode() + b"\xe9\n"])
def test_an_uncertain_encoding_is_read_from_the_start(data: bytes) -> None:
    assert find_resume_point(data * 9, "text") == ResumePoint()


def test_another_encoding_is_refused() -> None:
    """The caller reads all of it anew."""
    with pytest.raises(Invalid, match="changes its encoding"):
        resume("text", (), b"caf\xe9\n", 9)


def test_only_text_is_resumed() -> None:
    assert find_resume_point(b"x", "code") == ResumePoint()
    with pytest.raises(Invalid, match="from the start"):
        resume("code", (), b"x", 1)
