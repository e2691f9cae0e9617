"""Each format gives the memories that are in it, recognised by what it is."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

import pytest

from retentive.conversations.formats.source import as_file
from retentive.errors import Invalid
from retentive.model import RefusedItem, iso
from retentive.transfer.memories import ImportItem, MemoryFormat, Remark
from tests.transfer.memory_files import (
    CLAUDE,
    CSV,
    GRAPH,
    MEM0,
    NOTE,
    open_results,
    write_all_formats,
    write_service_database,
)


def read_items(path: Path | IO[bytes], format: str | None = None) -> list[ImportItem]:
    with open_results(path, MemoryFormat(format) if format else None) as (_, results):
        return [each for each in results if isinstance(each, ImportItem)]


def said(path: Path | IO[bytes], format: str | None = None) -> list[str]:
    return [each.text for each in read_items(path, format)]


def read_others(path: Path) -> list[RefusedItem | Remark]:
    with open_results(path, None) as (_, results):
        return [each for each in results if not isinstance(each, ImportItem)]


@pytest.mark.parametrize("format", MemoryFormat)
def test_a_format_is_recognised_by_its_content(tmp_path: Path, format: MemoryFormat) -> None:
    with open_results(write_all_formats(tmp_path)[format], None) as (recognised, _):
        assert recognised is format


@pytest.mark.parametrize("format", ["mem0", "mcp-memory", "csv"])
def test_the_name_of_a_file_does_not_matter(tmp_path: Path, format: str) -> None:
    path = write_all_formats(tmp_path)[format].rename(tmp_path / "x")
    with open_results(path, None) as (recognised, _):
        assert recognised == format


def test_mem0(tmp_path: Path) -> None:
    first, second, third = read_items(write_all_formats(tmp_path)["mem0"])
    assert (first.text, first.id, iso(first.created)) == ("Dana prefers window seats", "5f1c", "2025-03-02T16:00:00Z")
    assert first.options == {
        "kind": "preference",
        "tags": ["travel", "user_preferences"],
        "metadata": {"user_id": "dana", "trip": "lisbon"},
    }
    assert (second.text, iso(second.options["expires"])) == (
        "Dana is training for a half marathon",
        "2099-10-01T00:00:00Z",
    )
    assert (third.text, third.options) == ("dana works at acme", {"tags": ["dana", "acme"]})


@pytest.mark.parametrize(
    "text",
    [
        '[{"memory": "one"}, {"memory": "two"}]',
        '{"memory": "one"}\n{"memory": "two"}\n',
        '{"results": [{"memory": "one"}, {"memory": "two"}]}',
        '{"memories": [{"memory": "one"}, {"memory": "two"}]}',
        '[{"results": [{"memory": "one"}]}, {"results": [{"memory": "two"}]}]',
        '{"results": [{"memory": "one"}]}\n{"results": [{"memory": "two"}]}',
        '[\n  {\n    "memory": "one"\n  },\n  {\n    "memory": "two"\n  }\n]',
    ],
)
def test_mem0_in_lists_pages_and_lines(tmp_path: Path, text: str) -> None:
    (tmp_path / "m").write_text(text)
    assert said(tmp_path / "m") == ["one", "two"]


def test_the_graph_of_the_reference_server(tmp_path: Path) -> None:
    """An observation names its entity: two that say the same of two people are two memories."""
    items = read_items(write_all_formats(tmp_path)["mcp-memory"])
    assert [each.text for each in items] == [
        "Anna Berg: Speaks Spanish",
        "Anna Berg plays the oboe",
        "Bo: Speaks Spanish",
        "Acme (organization)",
        "Anna Berg works at Acme",
    ]
    assert items[0].id == "Anna_Berg"
    assert items[0].options == {
        "kind": "contact",
        "tags": ["knowledge-graph", "Anna_Berg", "person"],
        "context": "Anna Berg (person)",
        "metadata": {"graph": [{"entity": "Anna_Berg", "type": "person", "observation": "Speaks Spanish"}]},
    }


def test_a_name_inside_a_word_is_not_the_name(tmp_path: Path) -> None:
    (tmp_path / "g").write_text('{"type":"entity","name":"Bo","observations":["builds robots"]}')
    assert said(tmp_path / "g") == ["Bo: builds robots"]


def test_the_graph_as_its_tool_gives_it(tmp_path: Path) -> None:
    (tmp_path / "g").write_text(
        '{"entities": [{"name": "Bo", "entityType": "dog", "observations": ["barks"]}],'
        ' "relations": [{"from": "Bo", "to": "Rex", "relationType": "chases"}]}'
    )
    assert said(tmp_path / "g") == ["Bo: barks", "Bo chases Rex"]


def test_notes_of_basic_memory(tmp_path: Path) -> None:
    items = read_items(write_all_formats(tmp_path)["basic-memory"])
    assert [(each.text, each.options["context"]) for each in items] == [
        ("The starter lives in the fridge, next to the Miso.", "Sourdough"),
        ("Sourdough: Fold four times", "Sourdough > from the course"),
        ("Sourdough: Dark crust", "Sourdough"),
        ("buy rye flour", "Sourdough"),
        ("[00:12] let us begin", "Sourdough"),
        ("Sourdough pairs with Salted Butter", "Sourdough"),
        ("Sourdough is better than Toast", "Sourdough > always"),
        ("Sourdough links to Flour", "Sourdough"),
    ]
    assert items[1].options["tags"] == ["technique", "folding", "dough", "bread", "slow food"]
    assert items[2].options["kind"] == "preference"
    assert (items[0].id, iso(items[0].created)) == ("kitchen/sourdough", "2025-01-05T07:30:00Z")
    assert items[1].place == "kitchen/sourdough.md, line 15"


def test_the_same_observation_in_two_notes_is_two_memories(tmp_path: Path) -> None:
    for name in ("Anna", "Bo"):
        (tmp_path / f"{name}.md").write_text(f"---\ntitle: {name}\npermalink: {name}\n---\n- [birthday] 3 May\n")
    assert said(tmp_path) == ["Anna: 3 May", "Bo: 3 May"]


def test_rules_in_markdown(tmp_path: Path) -> None:
    items = read_items(write_all_formats(tmp_path)["markdown"])
    assert [(each.text, each.options["context"], each.options["kind"]) for each in items] == [
        ("See @README.md for the rest; ask @anna.", "Billing", "instruction"),
        ("Use two spaces", "Billing > Code style", "instruction"),
        ("run the tests, all of them", "Billing > Code style > Before a commit", "instruction"),
        ("lint", "Billing > Code style > Before a commit", "instruction"),
        ("Build it with\n```sh\nmake all\n- no bullet\n```", "Billing > Commands", "instruction"),
        ("PostgreSQL, not MySQL", "Billing > Decisions", "decision"),
        ("Decisions: Use two spaces", "Billing > Decisions", "decision"),
    ]


def test_files_that_a_text_names_are_reported_and_not_followed(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("- never seen")
    assert read_others(write_all_formats(tmp_path)["markdown"]) == [
        Remark("CLAUDE.md, line 3: @docs/architecture.md is not followed"),
        Remark("CLAUDE.md, line 4: @README.md is not followed"),
    ]


def test_the_folder_of_the_memory_tool(tmp_path: Path) -> None:
    folder = write_all_formats(tmp_path)["claude-memory"]
    (folder / "people").mkdir()
    (folder / "people" / "dana.txt").write_text("Dana lives in Porto.\n\nShe has two cats.\n")
    (folder / "habits.md").write_text("---\ntype: feedback\n---\n- Answer in German\n")
    (folder / ".hidden.md").write_text("- hidden")
    assert [
        (each.text, each.options.get("context"), each.options.get("kind"), each.id) for each in read_items(folder)
    ] == [
        ("Be kind & brief", "guide > guidelines > tone", "instruction", "guide.xml"),
        ("Refund within 30 days", "guide > guidelines > refund policy", "instruction", "guide.xml"),
        ("Ask < 2 questions", "guide > guidelines > refund policy", "instruction", "guide.xml"),
        ("Answer in German", "habits", "instruction", "habits.md"),
        ("Dana lives in Porto.", "dana", None, "people/dana.txt"),
        ("She has two cats.", "dana", None, "people/dana.txt"),
    ]


def test_an_index_of_memory_files_is_not_read_beside_them(tmp_path: Path) -> None:
    """As Claude Code keeps one: a link and a hook for each file."""
    folder = tmp_path / "memory"
    folder.mkdir()
    (folder / "MEMORY.md").write_text("- [Roles](roles.md) - what Dana does\n- [Docs](https://x.example/a.md)\n")
    (folder / "roles.md").write_text("---\nname: roles\ntype: user\n---\nDana is a nurse\n")
    assert said(folder) == ["[Docs](https://x.example/a.md)", "Dana is a nurse"]
    assert read_others(folder) == [Remark("MEMORY.md, line 1: roles.md is read itself")]


def test_links_out_of_a_folder_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("- outside")
    folder = tmp_path / "memories"
    folder.mkdir()
    (folder / "a.md").write_text("- inside")
    (folder / "b.md").symlink_to(tmp_path / "secret.md")
    assert said(folder) == ["inside"]


def test_the_columns_of_a_table(tmp_path: Path) -> None:
    first, second, third = read_items(write_all_formats(tmp_path)["csv"])
    assert (first.text, iso(first.created)) == ('He said "no",\nand left', "2024-05-01T00:00:00Z")
    assert first.options == {
        "kind": "fact",
        "tags": ["work", "people"],
        "importance": 7,
        "confidence": 0.8,
        "metadata": {"colour": "red"},
    }
    assert second.options == {"kind": "preference", "importance": 8}
    assert third.options == {"slot": "home"}
    assert (second.place, third.place) == ("table.csv, line 4", "table.csv, line 5")


def test_the_database_of_mcp_memory_service(tmp_path: Path) -> None:
    """What was deleted or has a successor there stays there."""
    first, second = read_items(write_all_formats(tmp_path)["mcp-memory-service"])
    assert (first.text, first.id, iso(first.created)) == (
        "Deploys go out on Tuesdays",
        "aa11",
        "2025-01-01T00:00:00.500000Z",
    )
    assert first.options == {
        "kind": "decision",
        "tags": ["ops", "deploy"],
        "metadata": {"host": "pc", "memory_type": "decision"},
    }
    assert second.options == {"confidence": 0.4, "metadata": {"memory_type": "note"}}


def bytes_of(path: Path) -> dict[str, bytes]:
    return {each.name: each.read_bytes() for each in path.parent.iterdir() if not each.name.endswith("-shm")}


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Path]:
    """What a running service has written and not yet moved from its WAL."""
    (tmp_path / "live").mkdir()
    database = write_service_database(tmp_path / "live" / "sqlite_vec.db")
    assert (tmp_path / "live" / "sqlite_vec.db-wal").stat().st_size
    yield tmp_path / "live" / "sqlite_vec.db"
    database.close()


def killed(live: Path) -> Path:
    """What is left where the service was killed."""
    left = live.parent.parent / "killed"
    shutil.copytree(live.parent, left)
    return left / live.name


def without_shm(live: Path) -> Path:
    path = killed(live)
    path.with_name(path.name + "-shm").unlink()
    return path


@pytest.mark.parametrize("made", [lambda live: live, killed, without_shm], ids=["live", "killed", "copied"])
def test_a_database_with_a_wal_is_read_whole_and_left_as_it_is(live: Path, made: Callable[[Path], Path]) -> None:
    path = made(live)
    before = bytes_of(path)
    assert said(path) == ["Deploys go out on Tuesdays", "The staging key rotates weekly"]
    assert bytes_of(path) == before


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is closed to root")
def test_a_database_in_a_folder_that_is_closed_to_us_is_read(tmp_path: Path) -> None:
    path = write_all_formats(tmp_path)["mcp-memory-service"]
    tmp_path.chmod(0o500)
    try:
        assert len(said(path)) == 2
    finally:
        tmp_path.chmod(0o700)


def test_an_unknown_format_lists_those_there_are(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("just some words")
    with pytest.raises(Invalid, match="the format of x is not recognised") as error, open_results(tmp_path / "x", None):
        pass
    assert all(word in error.value.hint for word in MemoryFormat)


def test_a_pipe_is_read_as_a_stream() -> None:
    read, write = os.pipe()
    os.write(write, GRAPH.encode())
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        assert len(said(pipe)) == 5


def test_a_stream_that_never_ends_is_read_up_to_a_limit() -> None:
    too_much = pytest.raises(Invalid, match="has more than 1,000,000 bytes")
    with Path("/dev/zero").open("rb") as endless, too_much, as_file(endless, 1_000_000):
        pass


@pytest.mark.parametrize("text", [MEM0, GRAPH, NOTE, CSV, CLAUDE], ids=["mem0", "graph", "note", "csv", "rules"])
@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_marks_of_the_byte_order_and_utf_16_are_read(tmp_path: Path, text: str, encoding: str) -> None:
    (tmp_path / "plain").write_text(text, "utf-8")
    (tmp_path / "marked").write_text(text, encoding)
    assert said(tmp_path / "marked") == said(tmp_path / "plain") != []
