"""Restores an export: into an empty store exactly as it was, into another one without duplicates.

Lines are read in batches of one part of one namespace. Each batch is compared with the store, and written in one
transaction. No progress is stored: an import that was stopped is repeated, and lines that were written are found to be
the same. Vectors that are missing, or of another model, are computed at the end.

A view may restore an export only if it may write the namespace of every line. Otherwise the export is refused before
anything is written, and the error says nothing about the content of other namespaces.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import IO, Any

from retentive.errors import EmbedError, Forbidden, Invalid
from retentive.model import ImportMemoriesResult, ImportTrust, RefusedItem
from retentive.store import OpenStore, backfill, validate
from retentive.store.vectors import embed_pending
from retentive.store.views import can_write, require_writable
from retentive.transfer.export_format import PARTS
from retentive.transfer.export_reader import BadLine, ExportLine, open_export
from retentive.transfer.memories import ImportSource, MemoryFormat
from retentive.transfer.restore_export import conversations, files, memories, others, records
from retentive.transfer.restore_export.run import Outcome, Report, RestoreRun

MAX_BATCH_LINES = 500  # per commit
MAX_BATCH_BYTES = 8_000_000
MAX_SHOWN_NAMES = 3  # of namespaces that a refusal lists
MAX_SHOWN_NAME_CHARS = 60  # a name in a file can have any length

Progress = Callable[[int, int | None], None]
_PART_OF_TYPE = {line.type: part for part, found in PARTS.items() for line in found} | {"run": "runs"}


def import_export(
    store: OpenStore,
    source: ImportSource,
    options: Mapping[str, Any],
    *,
    trust: ImportTrust,
    into: str | None,
    dry_run: bool,
    progress: Progress | None,
) -> ImportMemoriesResult:
    """Restore an export, `into` another namespace than its own if one is given.

    `progress` gets the number of lines read, at the end also the total; then vectors likewise.
    """
    if options:
        raise Invalid(f"an export is restored as it is; {min(options)} cannot be set for all of it", "Leave it out.")
    if into is None:
        _refuse_closed_namespaces(store, source)
    elif len(names := _list_namespaces(source)) > 1:
        shown = ", ".join(name[:MAX_SHOWN_NAME_CHARS] for name in names[:MAX_SHOWN_NAMES])
        raise Invalid(f"{source.name} has {len(names)} namespaces: {shown}", "Only an export of one can be renamed.")
    report = restore(store, source.path, source.name, trust=trust, into=into, dry_run=dry_run, progress=progress)
    counts = report.counts.get("memory", Counter())
    known = sum(counts[each] for each in (Outcome.SAME, Outcome.KNOWN, Outcome.KEPT, Outcome.FORGOTTEN, Outcome.PURGED))
    names = sorted(report.namespaces)
    return ImportMemoriesResult(
        format=MemoryFormat.RETENTIVE,
        created=counts[Outcome.CREATED] + counts[Outcome.PROPOSED],
        known=known,
        superseded=report.superseded,
        pending=store.tables.chunks.count_pending(store.space, names) if names and not dry_run else 0,
        refused=report.refused,
        refusals=tuple(RefusedItem(f"{source.name}, line {number}", reason) for number, reason in report.refusals),
        kinds=dict(report.kinds),
        examples=tuple(report.examples),
        notes=tuple(report.notes),
        dry_run=dry_run,
        proposed=report.proposed,
        lines={type: {str(name): count for name, count in each.items()} for type, each in report.counts.items()},
    )


def _refuse_closed_namespaces(store: OpenStore, source: ImportSource) -> None:
    """Refuse an export that has lines of namespaces which this view may not write."""
    if store.bounds is None:
        return
    closed = [name for name in _list_namespaces(source) if not can_write(store, name)]
    if closed:
        shown = ", ".join(repr(name[:MAX_SHOWN_NAME_CHARS]) for name in closed[:MAX_SHOWN_NAMES])
        more = f" and {len(closed) - MAX_SHOWN_NAMES} more" if len(closed) > MAX_SHOWN_NAMES else ""
        hint = (
            f"Nothing was imported: only {_list_writable(store)} can be changed here. Give an export of that alone, "
            "or import it where all namespaces are open, as in a terminal."
        )
        raise Forbidden(f"{source.name} has lines of other namespaces: {shown}{more}", hint)


def _list_namespaces(source: ImportSource) -> list[str]:
    with open_export(source.path, source.name) as lines:
        return sorted({each.namespace for each in lines if isinstance(each, ExportLine)})


def _rename(lines: Iterable[ExportLine | BadLine], namespace: str) -> Iterator[ExportLine | BadLine]:
    for line in lines:
        if isinstance(line, ExportLine):
            yield line._replace(row={**line.row, "name" if line.type == "namespace" else "namespace": namespace})
        else:
            yield line


def _list_writable(store: OpenStore) -> str:
    bounds = store.bounds.writable if store.bounds else None
    return ", ".join(repr(name) for name in bounds.names) if bounds else ""


def restore(
    store: OpenStore,
    source: Path | IO[bytes],
    name: str = "",
    *,
    trust: ImportTrust = ImportTrust.STATED,
    into: str | None = None,
    dry_run: bool,
    progress: Progress | None,
) -> Report:
    report_progress = progress or (lambda _, __: None)
    run = RestoreRun(store, Report(), dry_run, trust)
    had_written = store.journal.has_written
    store.journal.flush()
    with open_export(source, name) as lines:
        _restore_lines(run, lines if into is None else _rename(lines, into), report_progress)
    memories.propose_successors(run)
    report_progress(run.report.done, run.report.done)
    if not dry_run:
        _embed_missing(run, report_progress)
        store.journal.note_write()
        store.journal.has_written = had_written  # `close` does no chores: restored rows are as they were
    return run.report


def _restore_lines(run: RestoreRun, lines: Iterator[ExportLine | BadLine], report_progress: Progress) -> None:
    current, unmatched = conversations.CurrentSession(), others.UnmatchedAccesses()
    for part, namespace, batch in _group_lines(_select_usable(run, lines)):
        if part == "sessions":
            current = conversations.restore_sessions(run, current, namespace, batch)
            report_progress(run.report.done, None)
            continue
        current = conversations.finish_session(run, current)
        if part == "namespace":
            unmatched.pop(namespace, None)  # the file has the namespace twice: its earlier lines are stored now
        if part == "access-log":
            others.restore_accesses(run, unmatched, namespace, batch)
        else:
            _RESTORERS[part](run, namespace, batch)
        report_progress(run.report.done, None)
    if not run.report.is_cut_off:
        conversations.finish_session(run, current)


_RESTORERS: Mapping[str, Callable[[RestoreRun, str, Sequence[ExportLine]], None]] = {
    "namespace": others.restore_namespaces,
    "memories": memories.restore_memories,
    "records": records.restore_records,
    "runs": others.restore_skill_runs,
    "files": files.restore_files,
    "expectations": others.restore_expectations,
    "proposals": others.restore_proposals,
    "hidden-messages": others.restore_hidden_messages,
    "purges": others.restore_purges,
}


def _select_usable(run: RestoreRun, lines: Iterator[ExportLine | BadLine]) -> Iterator[ExportLine]:
    known: dict[str, str] = {}
    allowed = partial(_find_refusal, run.store, known)
    for each in lines:
        if isinstance(each, BadLine):
            run.report.refuse(each.number, each.reason)
            run.report.is_cut_off |= each.is_end
        elif reason := allowed(each.namespace):
            run.report.refuse(each.number, reason)
        else:
            yield each


def _find_refusal(store: OpenStore, known: dict[str, str], namespace: str) -> str:
    """The reason why a namespace cannot be written; empty if it can."""
    if namespace not in known:
        try:
            named = require_writable(store, validate.require_namespace(namespace))
            known[namespace] = "" if named == namespace else f"namespace {namespace!r} is not normalised Unicode (NFC)"
        except (Invalid, Forbidden) as error:
            known[namespace] = str(error)
    return known[namespace]


def _group_lines(entries: Iterator[ExportLine]) -> Iterator[tuple[str, str, list[ExportLine]]]:
    batch: list[ExportLine] = []
    size = 0
    key = ("", "")
    for entry in entries:
        own = _PART_OF_TYPE.get(entry.type, entry.type), entry.namespace
        if batch and (own != key or len(batch) == MAX_BATCH_LINES or size + entry.size > MAX_BATCH_BYTES):
            yield *key, batch
            batch, size = [], 0
        key = own
        batch.append(entry)
        size += entry.size
    if batch:
        yield *key, batch


def _embed_missing(run: RestoreRun, report_progress: Progress) -> None:
    """Compute the vectors that are missing."""
    store = run.store
    if store.space is None:
        return
    names = backfill.list_writable(store)
    total, done, after = store.tables.chunks.count_pending(store.space, names), 0, 0
    try:
        while total and (filled := embed_pending(store, after, namespaces=names)):
            done, after = done + len(filled), filled[-1].chunk
            report_progress(done, max(total, done))
    except EmbedError as error:
        store.journal.record_failure("embed", error)
