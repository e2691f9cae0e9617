"""Reads memories of other products: recognises the format of a file or folder, and yields the memories in it.

A format is a row of `READERS`. Reading continues past damage: an item that cannot be used is a `RefusedItem` with its
place. Only damage that makes all of the source unreadable is `Invalid`.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import IO, NamedTuple

from retentive.errors import Invalid
from retentive.transfer.export_reader import is_export
from retentive.transfer.memories import basic_memory, csv, mcp_memory, mcp_memory_service, mem0, pages
from retentive.transfer.memories.items import ImportItem, ReadResult, Remark
from retentive.transfer.memories.source import ImportSource, open_source

__all__ = [
    "READERS",
    "FormatReader",
    "ImportItem",
    "ImportSource",
    "MemoryFormat",
    "ReadResult",
    "Remark",
    "open_memories",
]


class MemoryFormat(StrEnum):
    RETENTIVE = "retentive"
    MEM0 = "mem0"
    MCP_MEMORY = "mcp-memory"
    MCP_MEMORY_SERVICE = "mcp-memory-service"
    BASIC_MEMORY = "basic-memory"
    CLAUDE_MEMORY = "claude-memory"
    MARKDOWN = "markdown"
    CSV = "csv"


class FormatReader(NamedTuple):
    description: str
    recognise: Callable[[ImportSource], bool]
    read: Callable[[ImportSource], Iterator[ReadResult]]


READERS: Mapping[MemoryFormat, FormatReader] = {
    # an export has more than memories: `restore_export/` reads it
    MemoryFormat.RETENTIVE: FormatReader(
        "what `export()` writes", lambda source: is_export(source.head), lambda _: iter(())
    ),
    MemoryFormat.MCP_MEMORY_SERVICE: FormatReader(
        "its SQLite database", mcp_memory_service.recognise, mcp_memory_service.read
    ),
    MemoryFormat.MCP_MEMORY: FormatReader(
        "memory.jsonl of the MCP reference server", mcp_memory.recognise, mcp_memory.read
    ),
    MemoryFormat.MEM0: FormatReader("JSON as get_all gives it", mem0.recognise, mem0.read),
    MemoryFormat.BASIC_MEMORY: FormatReader("its folder of notes", basic_memory.recognise, basic_memory.read),
    MemoryFormat.CSV: FormatReader("with a header", csv.recognise, csv.read),
    MemoryFormat.CLAUDE_MEMORY: FormatReader(
        "the folder of its memory tool", pages.recognise_claude, pages.read_claude
    ),
    MemoryFormat.MARKDOWN: FormatReader("CLAUDE.md and the like", pages.recognise_markdown, pages.read_markdown),
}
"""In the order in which they are tried: the least specific format is last."""


@contextmanager
def open_memories(
    source: Path | IO[bytes], format: MemoryFormat | None = None
) -> Iterator[tuple[MemoryFormat, ImportSource]]:
    """Open a source, and recognise its format unless it is given."""
    with open_source(source) as opened:
        yield format or _recognise(opened), opened


def _recognise(source: ImportSource) -> MemoryFormat:
    for format, reader in READERS.items():
        if reader.recognise(source):
            return format
    if isinstance(source.json, Invalid):
        raise source.json
    formats = ", ".join(f"{format} ({reader.description})" for format, reader in READERS.items())
    raise Invalid(f"the format of {source.name} is not recognised", f"Give its format: {formats}.")
