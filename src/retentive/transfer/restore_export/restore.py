"""An export, taken in: into an empty store exactly as it was, into another without doubling.

Lines come in batches of one part of one namespace, each held against what is here, decided and written whole or not at
all. Nothing is remembered of an import: what was stopped is simply repeated, and what came in before is found to be the
same. Vectors that did not come, or are of another model, are made at the end.

A view of the store takes in an export only if every line of it is of a namespace that the view may change. Otherwise
the export is refused before anything is written, and the answer says nothing about what the other namespaces hold.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import IO, Any

from retentive.errors import EmbedError, Forbidden, Invalid
from retentive.model import ImportedMemories, ImportTrust, Refusal
from retentive.store import OpenStore, backfill, validate
from retentive.store.vectors import embed_pending
from retentive.store.views import can_write, writable
from retentive.transfer.export_format import PARTS
from retentive.transfer.export_reader import Bad, Entry, inlet
from retentive.transfer.memories import Format, Given
from retentive.transfer.restore_export import conversations, files, memories, others, records
from retentive.transfer.restore_export.run import Desk, Outcome, Tally

AT_ONCE = 500  # lines that share a commit
MOST = 8_000_000  # and bytes
SHOWN_NAMES = 3  # namespaces that a refusal names; one shows what is wrong with a file
SHOWN_NAME = 60  # characters of each: what a file says can be any length

Progress = Callable[[int, int | None], None]
_PART = {line.type: part for part, found in PARTS.items() for line in found} | {"run": "runs"}


def restored(
    store: OpenStore,
    given: Given,
    options: Mapping[str, Any],
    *,
    trust: ImportTrust,
    dry_run: bool,
    progress: Progress | None,
) -> ImportedMemories:
    """`progress` hears how many lines were read, and at the end of how many; then the same of vectors."""
    if options:
        raise Invalid(f"an export is restored as it is; {min(options)} cannot be set for all of it", "Leave it out.")
    _refuse_closed_namespaces(store, given)
    tally = restore(store, given.path, given.name, trust=trust, dry_run=dry_run, progress=progress)
    counts = tally.counts.get("memory", Counter())
    known = sum(counts[each] for each in (Outcome.SAME, Outcome.KNOWN, Outcome.KEPT, Outcome.FORGOTTEN, Outcome.PURGED))
    names = sorted(tally.namespaces)
    return ImportedMemories(
        format=Format.RETENTIVE,
        created=counts[Outcome.CREATED] + counts[Outcome.PROPOSED],
        known=known,
        superseded=tally.superseded,
        pending=store.tables.chunks.pending_count(store.space, names) if names and not dry_run else 0,
        refused=tally.refused,
        refusals=tuple(Refusal(f"{given.name}, line {number}", reason) for number, reason in tally.refusals),
        kinds=dict(tally.kinds),
        examples=tuple(tally.examples),
        notes=tuple(tally.notes),
        dry_run=dry_run,
        proposed=tally.proposed,
        lines={type: {str(name): count for name, count in each.items()} for type, each in tally.counts.items()},
    )


def _refuse_closed_namespaces(store: OpenStore, given: Given) -> None:
    if store.bounds is None:
        return
    with inlet(given.path, given.name) as lines:
        named = {each.namespace for each in lines if isinstance(each, Entry)}
    closed = sorted(name for name in named if not can_write(store, name))
    if closed:
        shown = ", ".join(repr(name[:SHOWN_NAME]) for name in closed[:SHOWN_NAMES])
        more = f" and {len(closed) - SHOWN_NAMES} more" if len(closed) > SHOWN_NAMES else ""
        hint = (
            f"Nothing was brought in: only {_list_writable(store)} can be changed here. Give an export of that alone, "
            "or use `retentive import FILE` in a terminal, where all namespaces are open."
        )
        raise Forbidden(f"{given.name} has lines of other namespaces: {shown}{more}", hint)


def _list_writable(store: OpenStore) -> str:
    bounds = store.bounds.writable if store.bounds else None
    return ", ".join(repr(name) for name in bounds.names) if bounds else ""


def restore(
    store: OpenStore,
    source: Path | IO[bytes],
    name: str = "",
    *,
    trust: ImportTrust = ImportTrust.STATED,
    dry_run: bool,
    progress: Progress | None,
) -> Tally:
    tell = progress or (lambda _, __: None)
    desk, wrote = Desk(store, Tally(), dry_run, trust), store.journal.wrote
    store.journal.flush()
    with inlet(source, name) as lines:
        _take_in(desk, lines, tell)
    memories.propose_successors(desk)
    tell(desk.tally.done, desk.tally.done)
    if not dry_run:
        _fill(desk, tell)
        store.journal.wrote = wrote  # chores are left to whoever writes next: what came in is as it was
    return desk.tally


def _take_in(desk: Desk, lines: Iterator[Entry | Bad], tell: Progress) -> None:
    current, seen = conversations.Talk(), others.Seen()
    for part, namespace, batch in _batches(_usable(desk, lines)):
        if part == "sessions":
            current = conversations.take_in(desk, current, namespace, batch)
            tell(desk.tally.done, None)
            continue
        current = conversations.finish(desk, current)
        if part == "namespace":
            seen.pop(namespace, None)  # once more in one file: what came in of it before is here now
        if part == "access-log":
            others.accesses(desk, seen, namespace, batch)
        else:
            _TAKING[part](desk, namespace, batch)
        tell(desk.tally.done, None)
    if not desk.tally.cut_off:
        conversations.finish(desk, current)


_TAKING: Mapping[str, Callable[[Desk, str, Sequence[Entry]], None]] = {
    "namespace": others.namespaces,
    "memories": memories.take_in,
    "records": records.take_in,
    "runs": others.runs,
    "files": files.take_in,
    "expectations": others.expectations,
    "proposals": others.proposals,
    "hidden-messages": others.hidden_messages,
    "purges": others.purges,
}


def _usable(desk: Desk, lines: Iterator[Entry | Bad]) -> Iterator[Entry]:
    known: dict[str, str] = {}
    allowed = partial(_allowed, desk.store, known)
    for each in lines:
        if isinstance(each, Bad):
            desk.tally.refuse(each.number, each.reason)
            desk.tally.cut_off |= each.is_end
        elif reason := allowed(each.namespace):
            desk.tally.refuse(each.number, reason)
        else:
            yield each


def _allowed(store: OpenStore, known: dict[str, str], namespace: str) -> str:
    """Why a namespace cannot be written to, if so."""
    if namespace not in known:
        try:
            named = writable(store, validate.namespace_of(namespace))
            known[namespace] = "" if named == namespace else f"namespace {namespace!r} is not normalised Unicode (NFC)"
        except (Invalid, Forbidden) as error:
            known[namespace] = str(error)
    return known[namespace]


def _batches(entries: Iterator[Entry]) -> Iterator[tuple[str, str, list[Entry]]]:
    batch: list[Entry] = []
    size = 0
    key = ("", "")
    for entry in entries:
        own = _PART.get(entry.type, entry.type), entry.namespace
        if batch and (own != key or len(batch) == AT_ONCE or size + entry.size > MOST):
            yield *key, batch
            batch, size = [], 0
        key = own
        batch.append(entry)
        size += entry.size
    if batch:
        yield *key, batch


def _fill(desk: Desk, tell: Progress) -> None:
    """The vectors that are wanting."""
    store = desk.store
    if store.space is None:
        return
    names = backfill.list_writable(store)
    total, done, after = store.tables.chunks.pending_count(store.space, names), 0, 0
    try:
        while total and (filled := embed_pending(store, after, namespaces=names)):
            done, after = done + len(filled), filled[-1].chunk
            tell(done, max(total, done))
    except EmbedError as error:
        store.journal.failed("embed", error)
