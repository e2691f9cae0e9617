"""The tools that index files, write out what is kept, and bring in what was kept elsewhere: on this machine."""

from collections.abc import Sequence
from pathlib import Path

from retentive import serialize
from retentive.errors import Invalid
from retentive.fs.paths import parse_path
from retentive.mcp.caller import Caller
from retentive.mcp.tool import Answer, Tool, choice, flag, several, text

MAX_SHOWN_SKIPPED = 20  # files, with the reason
_FORMATS = (
    "retentive", "mem0", "mcp-memory", "mcp-memory-service", "basic-memory", "claude-memory", "markdown", "csv",
)  # fmt: skip


def index(caller: Caller, paths: Sequence[str], *, dry_run: bool = False) -> Answer:
    data = serialize.index_result(
        caller.memory.files.index([_require_absolute(path) for path in paths], dry_run=dry_run)
    )
    lines = [f"{name}: {each}" for name, each in data.items() if isinstance(each, int) and each]
    lines += [f"Skipped {each['path']}: {each['reason']}" for each in data["skipped"][:MAX_SHOWN_SKIPPED]]
    return Answer("\n".join(lines) or "There is nothing to index.", data)


def export(caller: Caller, path: str, format: str = "jsonl", vectors: bool = False) -> Answer:
    done = caller.memory.export(_require_absolute(path), format=format, vectors=vectors)
    summary = ", ".join(f"{number} {what}" for what, number in done.counts.items()) or "nothing"
    return Answer(f"Written to {done.path}: {summary}.", serialize.export_result(done))


def import_memories(caller: Caller, path: str, format: str | None = None, dry_run: bool = False) -> Answer:
    done = caller.memory.import_memories(_require_absolute(path), format, dry_run=dry_run)
    lines = [f"{'Would be new' if dry_run else 'New'}: {done.created}, already known: {done.known}."]
    if done.proposed:
        lines.append(f"New ones that may replace what the user said: {done.proposed}. Only the user decides on these.")
    lines += [f"Refused: {each.place}: {each.reason}" for each in done.refusals]
    return Answer("\n".join([*lines, *done.notes]), serialize.import_result(done))


def _require_absolute(path: str) -> Path:
    """Refuse a relative path: a server may be started in any folder."""
    found = parse_path(path)
    if not found.is_absolute():
        raise Invalid(f"{path[:200]!r} is not an absolute path", "Begin with / or ~.")
    return found


def list_tools() -> Sequence[Tool]:
    where = text("Absolute path", 4096)
    return (
        Tool(
            "files_index", "Index files",
            "Index files or folders, or update their index: notes, documents, source code. memory_search then finds "
            "their passages.",
            index, takes={"paths": several(where, 50), "dry_run": flag("Preview only")}, required=("paths",),
            gives={"added": "integer", "updated": "integer", "removed": "integer", "skipped": "array"},
            repeatable=True, long=True, is_local=True,
        ),
        Tool(
            "memory_export", "Export memory",
            "Export this namespace to a file: JSON Lines that can be imported again, or a folder of Markdown pages to "
            "read. Only when the user asks. Existing files are kept, unless they are an export.",
            export, takes={"path": where, "format": choice(("jsonl", "markdown"), "jsonl"),
                           "vectors": flag("With vectors (JSON Lines)")},
            required=("path",), gives={"path": "string", "counts": "object"}, repeatable=True, long=True, is_local=True,
        ),
        Tool(
            "memory_import", "Import memories",
            "Import a file or folder: an export, or the memories of another product. Only when the user asks. "
            "Duplicates are skipped.",
            import_memories, takes={"path": where, "format": choice(_FORMATS, description="Detected if not given"),
                             "dry_run": flag("Preview only")},
            required=("path",), gives={"created": "integer", "known": "integer", "refused": "integer"},
            repeatable=True, long=True, is_local=True,
        ),
    )  # fmt: skip
