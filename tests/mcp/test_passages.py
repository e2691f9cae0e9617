"""Files in the answers of tools."""

from pathlib import Path

from retentive import Retentive
from retentive.mcp import memory_tools
from retentive.mcp.caller import Caller


def test_a_passage_is_found_with_its_place_and_read_by_its_id(store: Retentive, tmp_path: Path) -> None:
    (tmp_path / "dogs.md").write_text("# Dogs\n\n## Rex\n\nRex likes carrots.\n")
    store.files.index(tmp_path / "dogs.md")
    caller = Caller(store)
    hit = memory_tools.search(caller, "what does Rex like?", include="files").data["hits"][0]
    assert hit["kind"] == "file"
    assert hit["text"].startswith(f"> {tmp_path.resolve()}/dogs.md:3-5 > Dogs > Rex: ")
    items = memory_tools.get(caller, [hit["id"]]).data["items"]
    assert items[-1]["content"] == "## Rex\n\nRex likes carrots."
    assert items[-1]["headings"] == ["Dogs", "Rex"]
