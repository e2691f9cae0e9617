"""Tables: what was written is what is read, however it was written."""

import csv
import io
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from retentive.errors import Invalid
from retentive.model import Kind, RefusedItem
from retentive.transfer.memories import ImportItem, MemoryFormat, ReadResult
from tests.transfer.memory_files import open_results

TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=80)
SAID = TEXTS.map(str.strip).filter(lambda text: any(letter.isalnum() for letter in text))
ENCODINGS = ("utf-8", "utf-8-sig", "utf-16")
TAGS = st.lists(st.text("abcdefgé", min_size=1, max_size=8), max_size=4, unique=True)
ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "text": SAID,
            "kind": st.sampled_from([*Kind]),
            "tags": TAGS,
            "importance": st.integers(1, 10),
            "confidence": st.floats(0, 1).map(lambda value: round(value, 4)),
            "shade of green": st.text("xyz;,|\"'\n", max_size=10).map(str.strip),
        }
    ),
    min_size=1,
    max_size=6,
)


def read(path: Path, text: str | bytes) -> list[ReadResult]:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    with open_results(path, MemoryFormat.CSV) as (_, results):
        return [*results]


def written(rows: list[dict[str, Any]], delimiter: str, end: str) -> str:
    """Python before 3.13 leaves a lone carriage return without quotes, if lines end otherwise."""
    file = io.StringIO()
    dialect = csv.unix_dialect if any("\r" in row["text"] for row in rows) else csv.excel  # the one quotes all
    writer = csv.DictWriter(file, [*rows[0]], dialect=dialect, delimiter=delimiter, lineterminator=end)
    writer.writeheader()
    writer.writerows({**row, "tags": ",".join(row["tags"])} for row in rows)
    return file.getvalue()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    ROWS, st.sampled_from(",;\t|"), st.sampled_from(["\n", "\r\n"]), st.sampled_from(["utf-8", "utf-8-sig", "utf-16"])
)
def test_what_was_written_is_read(
    tmp_path: Path, rows: list[dict[str, Any]], delimiter: str, end: str, encoding: str
) -> None:
    """Whatever the delimiter, the line ends, the encoding, and what the cells hold."""
    read_items = read(tmp_path / "x.csv", written(rows, delimiter, end).encode(encoding))
    expected = [
        {
            "kind": row["kind"],
            **({"tags": row["tags"]} if row["tags"] else {}),
            "importance": row["importance"],
            "confidence": row["confidence"],
            **({"metadata": {"shade of green": row["shade of green"]}} if row["shade of green"] else {}),
        }
        for row in rows
    ]
    assert [each.text for each in read_items if isinstance(each, ImportItem)] == [row["text"] for row in rows]
    assert [each.options for each in read_items if isinstance(each, ImportItem)] == expected


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        ("text,importance\ngood,1\nbad,much\n", ["line 3: importance is 'much', not a number"]),
        ("text,created\ngood,\nbad,soon\n", ["line 3: cannot read 'soon' as a time"]),
        ("text,kind\ngood,\n,fact\n", ["line 3: it has no text under 'text'"]),
        ("text,kind\ngood,\na,b,c\n", ["line 3: it has 3 cells; the header has 2"]),
        ('text,kind\ngood,\n"two\nlines",x,y\nbad,x,y\n', ["line 3: it has 3 cells", "line 5: it has 3 cells"]),
        (b"text,kind\ngood,\nGr\xfc\xdfe,\n", ["line 3: it is not UTF-8"]),
        (f"text,kind\ngood,\n{'x' * 140_000},\n", ["line 3: field larger than field limit"]),
    ],
)
def test_a_bad_row_is_refused_with_its_line_and_the_others_are_read(
    tmp_path: Path, text: str | bytes, refused: list[str]
) -> None:
    read_items = read(tmp_path / "x.csv", text)
    results = [f"{each.place}: {each.reason}" for each in read_items if isinstance(each, RefusedItem)]
    assert [each.text for each in read_items if isinstance(each, ImportItem)] == ["good"]
    assert all(f"x.csv, {wanted}" in said for wanted, said in zip(refused, results, strict=True))


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("Memory,Memory Type\nx,decision", {"kind": "decision"}),  # however the header is spelt
        ("content\tlabels\nx\ta; b", {"tags": ["a", "b"]}),
        ('text,tags\nx,"[""a"", ""b, c""]"', {"tags": ["a", "b, c"]}),
        ("sep=;\ntext;session\nx;s", {"session": "s"}),  # as Excel writes
        ("text,kind\nx,gadget", {"metadata": {"kind": "gadget"}}),  # a word that says no kind is not lost
        ('text,metadata,a\nx,"{""b"": 1}",2', {"metadata": {"b": 1, "a": "2"}}),
        ("text,metadata\nx,no json", {"metadata": {"metadata": "no json"}}),
        ("text,context,context\nx,a,b", {"context": "a", "metadata": {"context": "b"}}),
        ("text,importance\nx,LOW", {"importance": 3}),
        ("\n\n text , slot \n x , s ", {"slot": "s"}),
        ("text,kind\nx", {}),  # cells that are missing are empty
    ],
)
def test_columns(tmp_path: Path, text: str, options: dict[str, Any]) -> None:
    (item,) = read(tmp_path / "x", text)
    assert isinstance(item, ImportItem)
    assert (item.text, item.options) == ("x", options)


def test_a_table_without_texts_says_which_columns_would_do(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="no column of its header") as error:
        read(tmp_path / "x.csv", "a,b\n1,2\n")
    assert "text, content, memory" in error.value.hint
