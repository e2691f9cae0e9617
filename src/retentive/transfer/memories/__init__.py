"""Memories that people have elsewhere: which format a file or folder is in, and the memories in it.

A format is a row of `READERS`: what it is, what recognises it, and what reads it. Reading goes on past what is damaged:
what cannot be used is told as a `Refusal` with its place. Only what makes all of it unreadable is `Invalid`.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import IO, NamedTuple

from retentive.errors import Invalid
from retentive.transfer.export_reader import is_export
from retentive.transfer.memories import basic_memory, csv, mcp_memory, mcp_memory_service, mem0, pages
from retentive.transfer.memories.items import Item, Remark, Told
from retentive.transfer.memories.source import Given, given

__all__ = ["READERS", "Format", "Given", "Item", "Reader", "Remark", "Told", "chosen", "opened"]


class Format(StrEnum):
    RETENTIVE = "retentive"
    MEM0 = "mem0"
    MCP_MEMORY = "mcp-memory"
    MCP_MEMORY_SERVICE = "mcp-memory-service"
    BASIC_MEMORY = "basic-memory"
    CLAUDE_MEMORY = "claude-memory"
    MARKDOWN = "markdown"
    CSV = "csv"


class Reader(NamedTuple):
    what: str
    recognise: Callable[[Given], bool]
    read: Callable[[Given], Iterator[Told]]


def _not_by_item(_: Given) -> Iterator[Told]:
    """An export of ours has more than memories, and is restored whole (`transfer/restore_export/`)."""
    return iter(())


READERS: Mapping[Format, Reader] = {
    Format.RETENTIVE: Reader("what `retentive export` writes", lambda found: is_export(found.head), _not_by_item),
    Format.MCP_MEMORY_SERVICE: Reader("its SQLite database", mcp_memory_service.recognise, mcp_memory_service.read),
    Format.MCP_MEMORY: Reader("memory.jsonl of the MCP reference server", mcp_memory.recognise, mcp_memory.read),
    Format.MEM0: Reader("JSON as get_all gives it", mem0.recognise, mem0.read),
    Format.BASIC_MEMORY: Reader("its folder of notes", basic_memory.recognise, basic_memory.read),
    Format.CSV: Reader("with a header", csv.recognise, csv.read),
    Format.CLAUDE_MEMORY: Reader("the folder of its memory tool", pages.recognise_claude, pages.read_claude),
    Format.MARKDOWN: Reader("CLAUDE.md and the like", pages.recognise_markdown, pages.read_markdown),
}
"""In the order in which they are asked: the plainer a format is, the later."""


@contextmanager
def opened(source: Path | IO[bytes], format: Format | None) -> Iterator[tuple[Format, Iterator[Told]]]:
    """The format, recognised unless it is given, and what is in it, read as it is asked for."""
    with chosen(source, format) as (known, found):
        yield known, READERS[known].read(found)


@contextmanager
def chosen(source: Path | IO[bytes], format: Format | None) -> Iterator[tuple[Format, Given]]:
    """The format, and what is to be read."""
    with given(source) as found:
        yield format or _recognised(found), found


def _recognised(found: Given) -> Format:
    for format, reader in READERS.items():
        if reader.recognise(found):
            return format
    if isinstance(found.json, Invalid):
        raise found.json
    there = ", ".join(f"{format} ({reader.what})" for format, reader in READERS.items())
    raise Invalid(f"cannot tell what format {found.name} has", f"Say it with --from: {there}.")
