"""Files that are damaged, cut off, or something else: what can be read is, and the rest is refused."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from retentive.errors import Invalid
from retentive.model import RefusedItem
from retentive.transfer.memories import ImportItem, MemoryFormat, ReadResult
from tests.transfer.memory_files import (
    CLAUDE,
    CSV,
    GRAPH,
    GUIDE,
    MEM0,
    NOTE,
    open_results,
    write_all_formats,
    write_service_database,
)

TEXTS = (MEM0, GRAPH, NOTE, CLAUDE, GUIDE, CSV)
NAMES = ("x", "x.md", "x.json", "x.csv", "x.xml", "x.db")

slow = settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])


def read(path: Path, format: MemoryFormat | None) -> list[ReadResult]:
    """All results, or none if the source is refused as a whole."""
    try:
        with open_results(path, format) as (_, results):
            return [*results]
    except Invalid:
        return []


def never_breaks(path: Path) -> None:
    for format in (None, *MemoryFormat):
        for each in read(path, format):
            assert not isinstance(each, ImportItem) or each.text.strip()


@slow
@given(st.binary(max_size=400), st.sampled_from(NAMES))
def test_any_bytes(tmp_path: Path, data: bytes, name: str) -> None:
    (tmp_path / name).write_bytes(data)
    never_breaks(tmp_path / name)


@slow
@given(st.sampled_from(TEXTS), st.data())
def test_files_that_were_changed_anywhere(tmp_path: Path, text: str, data: st.DataObject) -> None:
    """Some bytes replaced, and cut off somewhere."""
    damaged = bytearray(text.encode(data.draw(st.sampled_from(["utf-8", "utf-16", "latin-1"]))))
    for _ in range(data.draw(st.integers(0, 4))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    (tmp_path / "x").write_bytes(damaged[: data.draw(st.integers(0, len(damaged)))])
    never_breaks(tmp_path / "x")


@pytest.mark.parametrize("keep", [0.001, 0.2, 0.5, 0.9, 0.99])
def test_databases_that_were_cut_off(tmp_path: Path, keep: float) -> None:
    path = write_all_formats(tmp_path)["mcp-memory-service"]
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * keep)])
    never_breaks(path)


@slow
@given(st.data())
def test_databases_that_were_changed_anywhere(tmp_path: Path, data: st.DataObject) -> None:
    path = tmp_path / "x.db"
    path.unlink(missing_ok=True)
    write_service_database(path).close()
    damaged = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 20))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(damaged)
    never_breaks(path)


def test_rows_of_a_database_that_are_no_text_are_refused(tmp_path: Path) -> None:
    rows = [
        ("a", b"\xff\xfe", None, None, None, None, None, None, None),
        ("b", "", None, None, None, None, None, None, None),
        ("c", "fine", None, 7, "[1]", "yesterday", None, None, "x"),
        ("d", "good", None, 7, "not json", 0, None, None, "x"),
    ]
    write_service_database(tmp_path / "x.db", rows).close()
    results = read(tmp_path / "x.db", None)
    assert [each.text for each in results if isinstance(each, ImportItem)] == ["good"]
    assert [each.reason for each in results if isinstance(each, RefusedItem)] == [
        "its text is not UTF-8",
        "it has no text under 'content'",
        "cannot read 'yesterday' as a time",
    ]


@pytest.mark.parametrize(
    ("text", "kept", "refused"),
    [
        ('{"memory": "a"}\n{"memory": \n{"memory": "b"}\n', ["a", "b"], ["x, line 2: column 11: not JSON"]),
        ('{"memory"\n{"memory": "b"}\n', ["b"], ["x, line 1: column 10: not JSON"]),
        ('{"memory": "a"}\n7\n[]\n', ["a"], ["x, line 2: an object was expected, not a number"]),
        ('[{"memory": "a"}, {"memory": 7}, null]', ["a"], ["x, item 2: it has no text", "x, item 3: an object was"]),
        ('[{"memory": "a", "created_at": "never"}, {"memory": "b"}]', ["b"], ["x, item 1: cannot read 'never' as a"]),
        ('{"results": [{"memory": "a"}], "relations": [{"source": "x"}]}', ["a"], ["x, relations 1: a relation needs"]),
        (
            '{"type":"entity","name":"Bo","observations":["x", 7]}\n{"type":"dog"}',
            ["Bo: x"],
            ["observation 2", "line 2"],
        ),
        ('{"type":"entity","name":"Bo","observations":"x"}\n{"type":"entity"}', [], ["a list of", "an entity needs"]),
        ('{"type":"relation","from":"a","to":"b"}', [], ["a relation needs from, to and relationType"]),
    ],
)
def test_a_bad_line_does_not_stop_the_rest(tmp_path: Path, text: str, kept: list[str], refused: list[str]) -> None:
    (tmp_path / "x").write_text(text)
    results = read(tmp_path / "x", None)
    said = [f"{each.place}: {each.reason}" for each in results if isinstance(each, RefusedItem)]
    assert [each.text for each in results if isinstance(each, ImportItem)] == kept
    assert all(wanted in each for wanted, each in zip(refused, said, strict=True))


def test_a_line_in_another_encoding_does_not_stop_the_rest(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b'{"memory": "a"}\n{"memory": "Gr\xfc\xdfe"}\n{"memory": "b"}')
    assert read(tmp_path / "x", None)[1] == RefusedItem("x, line 2", "not UTF-8")
    assert len(read(tmp_path / "x", None)) == 3


def test_a_bad_file_of_a_folder_does_not_stop_the_rest(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"- Gr\xfc\xdfe")
    (tmp_path / "b.md").write_bytes(b"- fine")
    (tmp_path / "c.md").write_bytes(b"\0\1\2")
    results = read(tmp_path, None)
    assert [each.text for each in results if isinstance(each, ImportItem)] == ["fine"]
    assert [each for each in results if isinstance(each, RefusedItem)] == [
        RefusedItem("a.md", "it is not UTF-8; save it as UTF-8"),
        RefusedItem("c.md", "it is not a text file"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "# a" + " " * 100_000 + "b",
        "---\na" + " " * 100_000 + "b\n---\n",
        "- [a] " + "#a " * 30_000 + "x",
        "<!--" * 30_000,
        "<a>" * 30_000 + "x",
        "<![CDATA[" * 10_000,
        "text" + "," * 100_000,
        "a\n" * 50_000,
    ],
    ids=lambda text: text[:6],
)
@pytest.mark.parametrize(
    "format", [MemoryFormat.BASIC_MEMORY, MemoryFormat.CLAUDE_MEMORY, MemoryFormat.MARKDOWN, MemoryFormat.CSV]
)
def test_no_text_takes_more_than_its_length(tmp_path: Path, text: str, format: MemoryFormat) -> None:
    """Patterns that go back and forth over such texts would take minutes."""
    (tmp_path / "x.xml").write_text(text)
    begun = time.monotonic()
    read(tmp_path / "x.xml", format)
    assert time.monotonic() - begun < 20


def _missing(path: Path) -> None:
    pass


def _zip(path: Path) -> None:
    path.write_bytes(b"PK\x03\x04" + b"x" * 100)


def _ours(path: Path) -> None:
    path.write_bytes(b"SQLite format 3\0" + b"\0" * 52 + b"RTNV" + b"\0" * 100)


def _empty(path: Path) -> None:
    path.write_bytes(b"")


def _cut(path: Path) -> None:
    path.write_text('[\n  {"memory": "a"},\n  {"memory": "b')


def _bare(path: Path) -> None:
    path.mkdir()


@pytest.mark.parametrize(
    ("make", "format", "message"),
    [
        (_missing, None, "there is no file"),
        (_zip, MemoryFormat.MEM0, "x is a zip"),
        (_ours, None, "x is a store of Retentive"),
        (_empty, None, "x is empty"),
        (_empty, MemoryFormat.CSV, "x is empty"),
        (_cut, None, "x, line 3, column 14: not JSON: Unterminated string"),
        (_bare, None, "the format of x is not recognised"),
        (_bare, MemoryFormat.MEM0, "x is a folder"),
        (_cut, MemoryFormat.MCP_MEMORY_SERVICE, "x is not an SQLite database"),
        (_ours, MemoryFormat.CSV, "x is not a text file"),
    ],
)
def test_what_cannot_be_read_at_all_says_why(
    tmp_path: Path, make: Callable[[Path], None], format: MemoryFormat | None, message: str
) -> None:
    make(tmp_path / "x")
    with pytest.raises(Invalid, match=message), open_results(tmp_path / "x", format) as (_, results):
        assert [*results]
