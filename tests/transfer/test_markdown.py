"""What is kept, as pages for people."""

import stat
from pathlib import Path

import pytest

from retentive import Retentive
from retentive.errors import Conflict, Invalid
from retentive.transfer.markdown.escape import escape_block, escape_inline, escape_quote, make_file_name
from tests.support import Run
from tests.transfer.stores import fill


def pages(folder: Path) -> dict[str, str]:
    return {path.relative_to(folder).as_posix(): path.read_text("utf-8") for path in folder.rglob("*.md")}


@pytest.mark.engines
def test_there_is_a_page_for_everything(store: Retentive, tmp_path: Path) -> None:
    fill(store)
    store.export(tmp_path / "pages", format="markdown")
    found = pages(tmp_path / "pages")
    assert {*found} == {
        "index.md", "profile.md", "contacts.md", "projects.md", "skills.md", "notes.md", "past/personal.md",
        *(f"memories/{kind}.md" for kind in ("fact", "outcome", "personal")),
        *(f"sessions/{name}.md" for name in ("s", "learned", "waiting", "silent")),
    }  # fmt: skip
    assert "The dog is called Max" in found["memories/fact.md"]
    assert "The dog is called Rex" in found["past/personal.md"]
    assert "Forget me" not in "".join(found.values())
    assert "- **primary contact**: Anna Ünal" in found["projects.md"]
    assert "> About herons" in found["sessions/s.md"]


def test_every_page_is_linked_from_the_index(store: Retentive, tmp_path: Path) -> None:
    fill(store)
    store.export(tmp_path / "pages", format="markdown", namespaces="*")
    found = pages(tmp_path / "pages")
    assert all(f"]({name})" in found["index.md"] for name in found if name != "index.md")


def test_the_same_store_gives_the_same_pages(store: Retentive, tmp_path: Path) -> None:
    fill(store)
    for name in ("a", "b"):
        store.export(tmp_path / name, format="markdown", namespaces="*")
    assert pages(tmp_path / "a") == pages(tmp_path / "b")


def test_pages_are_for_their_owner_alone(store: Retentive, tmp_path: Path) -> None:
    store.add("Mine")
    store.export(tmp_path / "pages", format="markdown")
    assert stat.S_IMODE((tmp_path / "pages").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "pages" / "index.md").stat().st_mode) == 0o600


def test_a_folder_that_is_not_empty_is_left_alone(store: Retentive, tmp_path: Path) -> None:
    store.add("Mine")
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "thesis.md").write_text("my own")
    with pytest.raises(Conflict, match="not empty"):
        store.export(tmp_path / "pages", format="markdown")
    assert [each.name for each in (tmp_path / "pages").iterdir()] == ["thesis.md"]
    store.export(tmp_path / "pages", format="markdown", force=True)
    assert (tmp_path / "pages" / "thesis.md").read_text() == "my own"
    assert "Mine" in (tmp_path / "pages" / "memories" / "fact.md").read_text()


def test_a_file_is_no_folder(store: Retentive, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(Invalid, match="is a file"):
        store.export(tmp_path / "file", format="markdown", force=True)


def test_pages_that_fail_leave_nothing(store: Retentive, tmp_path: Path) -> None:
    store.add("Mine")

    def stop(_: int) -> None:
        raise KeyboardInterrupt

    before = {*tmp_path.iterdir()}
    with pytest.raises(KeyboardInterrupt):
        store.export(tmp_path / "pages", format="markdown", progress=stop)
    assert {*tmp_path.iterdir()} == before


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("# not a title", r"\# not a title"),
        ("- no list", r"\- no list"),
        ("2. no list", r"2\. no list"),
        ("*a* _b_ `c`", r"\*a\* \_b\_ \`c\`"),
        ("[x](http://e.org)", r"\[x\](http\://e.org)"),
        ("<script>", r"\<script\>"),
        ("a & b &lt;", r"a \& b \&lt;"),
        ("![x](y) $z$", r"\!\[x\](y) \$z\$"),
        ("turned \u202e round", "turned  round"),
        ("a bell \x07", "a bell \ufffd"),
        ("two\nlines", "two\\\nlines"),
        ("two\n\nparagraphs", "two\n\nparagraphs"),
        ("    no code", "\u00a0\u00a0\u00a0\u00a0no code"),
        ("---", r"\---"),
    ],
)
def test_text_is_shown_as_it_is(text: str, shown: str) -> None:
    assert escape_block(text) == shown


def test_a_quote_holds_all_of_a_text() -> None:
    assert escape_quote("one\n\ntwo\nthree") == "> one\n>\n> two\\\n> three"


def test_a_title_is_one_line() -> None:
    assert escape_inline("one\n# two") == "one # two"


@pytest.mark.parametrize(
    "name", ["s", "monday-7", "Monday-7", "../../etc/passwd", "con", "犬", "a" * 200, "a b", ".", ""]
)
def test_a_name_is_that_of_a_file_here(name: str) -> None:
    made = make_file_name(name)
    assert made
    assert len(made) < 80
    assert {*made} <= {*"abcdefghijklmnopqrstuvwxyz0123456789-"}
    assert made not in ("con", "")


def test_two_names_have_two_files() -> None:
    names = ["Monday", "monday", "mon day", "mon-day", "mon/day", "犬", "猫"]
    assert len({make_file_name(name) for name in names}) == len(names)


def test_on_the_terminal(run: Run, refused: Run, tmp_path: Path) -> None:
    run("add", "The dog is called Rex")
    assert "memory\t1" in run("export", "--format", "markdown", str(tmp_path / "pages"))
    assert "Give the folder" in refused("export", "--format", "markdown", code=2)
