"""No secret gets into the index of files, whatever kind of file it is in."""

from pathlib import Path

import pytest

from retentive import Retentive
from retentive.testing import parts_of
from tests.files.written import docx, paragraph

KEY = ["-----BEGIN RSA PRIVATE KEY-----", *["MIIEpAIBAAKCAQEA7q3Zx" * 3] * 30, "-----END RSA PRIVATE KEY-----"]
TOKEN = "ghp_" + "Zk3v9Q" * 6


def told(store: Retentive, path: Path) -> str:
    """All that is kept of a file."""
    store.files.index(path)
    file = store.files.get(path)
    rows = parts_of(store).tables.files
    row = rows.get("default", file.id)
    assert row
    return "\n".join([repr(file), *(repr(each[:5]) for each in rows.list_chunks(row, None))])


def test_one_that_is_in_several_sections_is_redacted_in_each(store: Retentive, tmp_path: Path) -> None:
    """A key in a document from an office is a paragraph for each of its lines."""
    body = "".join(map(paragraph, ["The heron nests.", *KEY, "The end."]))
    (tmp_path / "key.docx").write_bytes(docx(body))
    kept = told(store, tmp_path / "key.docx")
    assert "MIIE" not in kept
    assert "The heron nests." in kept
    assert "The end." in kept


@pytest.mark.parametrize("where", ["heading", "title"])
def test_headings_and_titles_are_looked_at(store: Retentive, tmp_path: Path, where: str) -> None:
    heading = paragraph(f"Token {TOKEN}" if where == "heading" else "Tokens", "berschrift1")
    title = f"About {TOKEN}" if where == "title" else ""
    (tmp_path / "token.docx").write_bytes(docx(heading + paragraph("Below it."), title))
    kept = told(store, tmp_path / "token.docx")
    assert TOKEN not in kept
    assert "redacted" in kept


def test_of_a_page_what_is_shown_counts(store: Retentive, tmp_path: Path) -> None:
    """In its source, markup stands between a name and its secret."""
    (tmp_path / "page.html").write_text("<p>The <b>password</b>: <code>hunter2-Xk9!pQ</code></p><p>The end.</p>")
    kept = told(store, tmp_path / "page.html")
    assert "hunter2" not in kept
    assert "The end." in kept
