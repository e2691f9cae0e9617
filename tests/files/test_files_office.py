"""PDF and DOCX."""

import io
import subprocess
import sys
import zipfile

import pypdf
import pytest

from retentive.errors import Invalid
from retentive.files.readers import docx as reader
from retentive.files.readers.read import read
from retentive.model.files import Section
from tests.files.written import W, docx, paragraph, pdf


def test_a_pdf_is_read_by_pages() -> None:
    found = read("a.pdf", pdf([["One page"], ["word " * 90], ["word " * 90]], "A title"))
    assert (found.title, found.metadata, found.unit) == ("A title", {"author": "Ada"}, "page")
    assert found.links == ("https://example.org/1", "https://example.org/2", "https://example.org/3")
    assert [(each.first, each.last, each.text[:8]) for each in found.sections] == [
        (1, 2, "One page"),
        (3, 3, "word wor"),
    ]


def locked(password: str, algorithm: str) -> bytes:
    writer = pypdf.PdfWriter(clone_from=io.BytesIO(pdf([["Hidden"]])))
    writer.encrypt(password, "owner", algorithm=algorithm)
    file = io.BytesIO()
    writer.write(file)
    return file.getvalue()


def test_an_encrypted_pdf_is_refused() -> None:
    with pytest.raises(Invalid, match="is encrypted"):
        read("a.pdf", locked("secret", "RC4-128"))


def test_a_pdf_that_anybody_may_open_is_read() -> None:
    """It is encrypted against changes, with an empty password."""
    assert read("a.pdf", locked("", "RC4-128")).sections[0].text == "Hidden"


@pytest.mark.parametrize("data", [b"", b"%PDF-1.7\n", b"hello", pdf([["x"]])[:200]])
def test_a_broken_pdf_is_refused(data: bytes) -> None:
    with pytest.raises(Invalid, match="cannot be read"):
        read("a.pdf", data)


def test_a_page_that_cannot_be_read_is_named() -> None:
    """The others are read nevertheless."""
    whole = pdf([["First"], ["Second"]])
    place = whole.rindex(b"/Length")
    found = read("a.pdf", whole[:place] + b"/Filter /NoSuch " + whole[place:])
    assert found.metadata["unread_pages"] == [2]
    assert [each.text for each in found.sections] == ["First"]
    with pytest.raises(Invalid, match="cannot be read"):
        read("a.pdf", whole.replace(b"/Length", b"/Filter /NoSuch /Length"))


def test_nothing_is_said_behind_our_back() -> None:
    """What pypdf has to complain about is not written to the terminal."""
    code = "import sys; from retentive.files.readers.read import read; read('a.pdf', sys.stdin.buffer.read())"
    moved = pdf([["x"]]).replace(b"%PDF-1.7", b"%PDF-1.7     ")
    run = subprocess.run([sys.executable, "-c", code], input=moved, capture_output=True, check=True)
    assert run.stderr == run.stdout == b""


def test_without_the_extra_it_is_named() -> None:
    code = (
        "import sys; sys.modules['pypdf'] = None\n"
        "from retentive.files.readers.read import read\nfrom retentive.errors import MissingExtra\n"
        "try: read('a.pdf', b'x')\nexcept MissingExtra as error: print(error.hint)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "retentive[pdf]" in run.stdout


LINKED = (
    '<w:p><w:r><w:t>See</w:t><w:tab/><w:delText>gone</w:delText></w:r><w:hyperlink r:id="r1"><w:r><w:t>there</w:t>'
    "</w:r></w:hyperlink><w:r><w:instrText>CODE</w:instrText><w:br/><w:t>below</w:t></w:r></w:p>"
)
BODY = "".join(
    [
        paragraph("The boats", "Titel"),
        paragraph("Rex", "Mine"),  # a style that is based on a heading
        paragraph("mid</w:t><w:noBreakHyphen/><w:t>May"),
        paragraph("Sails", "Second"),  # by its outline level
        LINKED,
        f"<w:tbl><w:tr><w:tc>{paragraph('1')}</w:tc><w:tc>{paragraph('2')}{paragraph('3')}</w:tc></w:tr></w:tbl>",
        f"<w:p><w:r><mc:Choice>{paragraph('boxed')}</mc:Choice><mc:Fallback>{paragraph('boxed')}</mc:Fallback></w:r></w:p>",
        paragraph("Tom", "Heading1"),  # as others than Word name it
        paragraph("", "Ring"),
    ]
)


def test_a_docx_is_read_by_headings() -> None:
    found = read("a.docx", docx(BODY, "Title inside"))
    assert (found.title, found.metadata, found.unit) == ("Title inside", {"author": "Ada & Co"}, "paragraph")
    assert found.links == ("https://example.org/a",)
    assert found.sections == (
        Section((), 1, 1, "The boats"),
        Section(("Rex",), 2, 3, "Rex\nmid-May"),
        Section(("Rex", "Sails"), 4, 7, "Sails\nSee there\nbelow\n1 | 2 3\nboxed"),
        Section(("Tom",), 10, 10, "Tom"),
    )


def test_the_title_of_a_docx_may_be_in_its_text() -> None:
    assert read("a.docx", docx(BODY)).title == "The boats"
    assert read("a.docx", docx(paragraph("x") + paragraph("Rex", "Mine"))).title == "Rex"


@pytest.mark.parametrize(
    "document",
    [
        f'<!DOCTYPE x [<!ENTITY a "aaaa">]><w:document xmlns:w="{W}"><w:p><w:r><w:t>&a;</w:t></w:r></w:p></w:document>',
        '<?xml version="1.0" encoding="no-such"?><a/>',
        "<a><b></a>",
        "",
        "text",
    ],
)
def test_a_docx_with_bad_xml_is_refused(document: str) -> None:
    with pytest.raises(Invalid, match="cannot be read"):
        read("a.docx", docx("", parts={"word/document.xml": document}))


def test_a_bomb_is_not_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "MAX_PART_BYTES", 100_000)
    with pytest.raises(Invalid, match="unpack to more"):
        read("a.docx", docx(paragraph(" " * 200_000)))


def test_what_is_no_docx_is_refused() -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_BZIP2) as archive:
        archive.writestr("word/document.xml", "<a/>")
    for data in (b"", b"PK\3\4", file.getvalue(), docx("")[:-9]):
        with pytest.raises(Invalid, match="cannot be read"):
            read("a.docx", data)


def test_depth_does_no_harm_to_a_docx() -> None:
    found = read("a.docx", docx("<w:p>" * 20_000 + "<w:r><w:t>deep</w:t></w:r>" + "</w:p>" * 20_000))
    assert [each.text for each in found.sections] == ["deep"]
