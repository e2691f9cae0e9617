"""Exports some or all namespaces of a store, as JSON Lines or as Markdown pages."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import IO, Any

from retentive import __version__
from retentive.errors import Invalid
from retentive.fs.paths import parse_path
from retentive.model import ExportResult
from retentive.storage.damage import collect_damage
from retentive.store import OpenStore, validate
from retentive.store.scope import find_named_namespaces
from retentive.transfer import markdown
from retentive.transfer.export_format import PARTS
from retentive.transfer.export_rows import ExportRequest, export_lines
from retentive.transfer.export_writer import open_target, require_regular_target
from retentive.transfer.leftover_files import noted_while_writing

PROGRESS_LINES = 500  # between two calls of `progress`

Progress = Callable[[int], None]
Target = str | Path | IO[bytes]


class ExportFormat(StrEnum):
    JSONL = "jsonl"
    MARKDOWN = "markdown"


def make_request(store: OpenStore, namespaces: Any, *, vectors: bool, without: str | Iterable[str]) -> ExportRequest:
    """Check the request.

    `namespaces` are names and prefixes; None is the own namespace alone, "*" stands for all that can be read.
    """
    left_out = [validate.require_text(each, "without") for each in validate.as_list(without, "without")]
    if unknown := [each for each in left_out if each not in PARTS]:
        raise Invalid(f"an export has no part {unknown[0][:40]!r}", f"It has: {', '.join(PARTS)}.")
    return ExportRequest(_choose_namespaces(store, namespaces), bool(vectors), left_out, __version__)


def _choose_namespaces(store: OpenStore, given: Any) -> list[str]:
    """Choose the namespaces to export. Unlike a search, an export adds neither the own nor the person's to others."""
    if given is None:
        return [store.namespace]
    if given == "*":
        return [*store.tables.memories.list_namespaces()]
    names = [validate.require_text(name, "namespace") for name in validate.as_list(given, "namespaces")]
    return find_named_namespaces(store, names)


def export(
    store: OpenStore,
    target: Target,
    request: ExportRequest,
    format: ExportFormat,
    progress: Progress | None,
    *,
    force: bool,
) -> ExportResult:
    if isinstance(target, str | Path) and _is_store(store, parse_path(target)):
        raise Invalid(f"{target} is the store itself", "Choose another name.")
    store.journal.flush()
    with collect_damage() as damage:
        done = _export_recording_the_copy(store, target, request, format, progress, force=force)
    return replace(done, notes=tuple(damage.notes()))


def _export_recording_the_copy(
    store: OpenStore,
    target: Target,
    request: ExportRequest,
    format: ExportFormat,
    progress: Progress | None,
    *,
    force: bool,
) -> ExportResult:
    """The store remembers the folder while a copy is being written there."""
    if not isinstance(target, str | Path):
        return _write_format(store, target, request, format, progress, force=force)
    if format is ExportFormat.JSONL:
        require_regular_target(Path(target).expanduser())  # before the store notes the copy
    with noted_while_writing(store, Path(target).expanduser().resolve().parent):
        return _write_format(store, target, request, format, progress, force=force)


def _write_format(
    store: OpenStore,
    target: Target,
    request: ExportRequest,
    format: ExportFormat,
    progress: Progress | None,
    *,
    force: bool,
) -> ExportResult:
    if format is ExportFormat.JSONL:
        return _write_lines(store, target, request, progress, force=force)
    if not isinstance(target, str | Path):
        raise Invalid("Markdown is a folder of pages", "Give the path of the folder.")
    folder = Path(target).expanduser()
    counts = markdown.write_pages(store.engine, folder, request, progress or (lambda _: None), force=force)
    return ExportResult(format, str(target), tuple(sorted(request.namespaces)), counts)


def _is_store(store: OpenStore, target: Path) -> bool:
    """Whether a target is the file of the store, or one of its logs."""
    own = Path(store.config.db).expanduser().resolve()
    return target.resolve() in (own, *(own.with_name(f"{own.name}-{each}") for each in ("wal", "shm", "journal")))


def _write_lines(
    store: OpenStore, target: Target, request: ExportRequest, progress: Progress | None, *, force: bool
) -> ExportResult:
    counts: Counter[str] = Counter()
    with open_target(target, force=force) as stream:
        for done, (type, line) in enumerate(export_lines(store.engine, request)):
            stream.write(line)
            counts[type] += 1
            if progress and done % PROGRESS_LINES == 0:
                progress(done)
    del counts["header"], counts["end"]
    if progress:
        progress(counts.total())
    path = None if hasattr(target, "write") else str(target)
    return ExportResult(ExportFormat.JSONL, path, tuple(sorted(request.namespaces)), dict(counts))
