"""Imports memories of other products, and exports of Retentive.

Batches of memories are checked, compared with the store and written. An import that was stopped is repeated from the
start: what it wrote is known by then. A text that is in the store is known. So is one that was replaced, forgotten or
expired here, unless the imported memory is newer than that: an old export must not bring back what was forgotten.

Imported memories have the source `import`, so they end nothing that the user said (`model/trust.py`). If the person who
imports them vouches for them, they count as that person's own words.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import IO, Any

from retentive import clock
from retentive.errors import Invalid
from retentive.fs.paths import parse_path
from retentive.memories.add import make_draft, split_by_size
from retentive.memories.write import write_memories
from retentive.model import (
    Draft,
    ImportMemoriesResult,
    ImportTrust,
    Memory,
    RefusedItem,
    Source,
    Status,
    iso,
    may_replace,
)
from retentive.store import OpenStore, validate
from retentive.store.validate import ImportOptions
from retentive.store.views import require_writable
from retentive.transfer.memories import READERS, ImportItem, MemoryFormat, ReadResult, Remark, open_memories
from retentive.transfer.restore_export.restore import import_export

BATCH_SIZE = 500  # memories per commit: three seconds of embedding, which is what a crash loses
MAX_REPORTED = 20  # refusals and notes: a file may have millions
MAX_EXAMPLES = 5

Progress = Callable[[int, int | None], None]
TextKey = tuple[str | None, str]  # session and hash: a text is kept once in each session


@dataclass(slots=True)
class _Counts:
    """The results so far."""

    read: int = 0
    created: int = 0
    known: int = 0
    superseded: int = 0
    proposed: int = 0
    pending: int = 0
    refused: int = 0
    refusals: list[RefusedItem] = field(default_factory=list)
    kinds: Counter[str] = field(default_factory=Counter)
    examples: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add_refusal(self, refusal: RefusedItem) -> None:
        self.refused += 1
        if len(self.refusals) < MAX_REPORTED:
            self.refusals.append(refusal)

    def add_remark(self, remark: Remark) -> None:
        if len(self.notes) < MAX_REPORTED:
            self.notes.append(remark.text)

    def add_created(self, draft: Draft) -> None:
        self.created += 1
        self.kinds[draft.traits.kind] += 1
        if len(self.examples) < MAX_EXAMPLES:
            self.examples.append(draft.content)


def import_memories(
    store: OpenStore,
    source: str | Path | IO[bytes],
    format: str | None,
    options: Mapping[str, Any],
    *,
    trust: str,
    into: str | None,
    dry_run: bool,
    progress: Progress | None,
) -> ImportMemoriesResult:
    validate.reject_unknown(options, ImportOptions, "import_memories")
    import_trust = validate.parse_choice(ImportTrust, trust, "trust")
    memory_source = Source.EXPLICIT if import_trust is ImportTrust.USER else Source.IMPORT
    if into is not None:
        store = replace(store, namespace=require_writable(store, into))
    make_draft(store, "x", options)  # an option that is wrong for every memory is refused once
    named_format = None if format is None else validate.parse_choice(MemoryFormat, format, "format")
    counts, seen = _Counts(), set[TextKey]()
    path = parse_path(source) if isinstance(source, str | Path) else source
    name = str(source) if isinstance(source, str | Path) else "the input"
    with open_memories(path, named_format) as (found_format, opened):
        if found_format is MemoryFormat.RETENTIVE:
            return import_export(
                store, opened, options, trust=import_trust, into=into, dry_run=dry_run, progress=progress
            )
        items = _select_items(counts, _catch_late_error(READERS[found_format].read(opened), name))
        while batch := [*islice(items, BATCH_SIZE)]:
            drafts = [*_make_drafts(store, counts, batch, found_format, {**options, "source": memory_source})]
            new = [*_select_new(store, counts, drafts, seen if dry_run else None)]
            _write(store, counts, new, dry_run=dry_run)
            if progress:
                progress(counts.read, None)
    if progress:
        progress(counts.read, counts.read)
    return _make_result(counts, found_format, name, dry_run=dry_run)


def _catch_late_error(results: Iterator[ReadResult], name: str) -> Iterator[ReadResult]:
    """If a source cannot be read on after its first item, that is a refusal like others."""
    has_begun = False
    try:
        for result in results:
            has_begun = True
            yield result
    except Invalid as error:
        if not has_begun:
            raise
        yield RefusedItem(name, str(error))


def _select_items(counts: _Counts, results: Iterator[ReadResult]) -> Iterator[ImportItem]:
    for result in results:
        match result:
            case RefusedItem():
                counts.add_refusal(result)
            case Remark():
                counts.add_remark(result)
            case ImportItem():
                counts.read += 1
                yield result


def _make_drafts(
    store: OpenStore, counts: _Counts, items: Sequence[ImportItem], format: MemoryFormat, options: Mapping[str, Any]
) -> Iterator[Draft]:
    for item in items:
        try:
            yield make_draft(store, item.text, _merge_options(item, format, options))
        except Invalid as error:
            counts.add_refusal(RefusedItem(item.place, str(error)))


def _merge_options(item: ImportItem, format: MemoryFormat, common: Mapping[str, Any]) -> dict[str, Any]:
    """The options of an item and those of the whole import. The item's own come first."""
    own = dict(item.options)
    if item.created:
        own.setdefault("valid_from", item.created)
    tags = [*own.get("tags", ()), *validate.as_list(common.get("tags"), "tags")]
    metadata = {**(common.get("metadata") or {}), **own.get("metadata", {})}
    times = {"created": iso(item.created), "updated": iso(item.updated)}
    origin = {"product": str(format), "id": item.id, **times}
    return {
        **common,
        **own,
        "tags": tags,
        "metadata": metadata,
        "origin": {name: value for name, value in origin.items() if value is not None},
    }


def _select_new(
    store: OpenStore, counts: _Counts, drafts: Sequence[Draft], seen: set[TextKey] | None
) -> Iterator[Draft]:
    """Leave out drafts that the store knows. Drafts with a slot may still be found to be known when they are written.

    `seen` is for a dry run, which writes nothing: the keys of earlier drafts that were new.
    """
    stored = _load_same_texts(store, drafts)
    new_keys: set[TextKey] = set() if seen is None else seen
    for draft in drafts:
        key = draft.traits.session, draft.content_hash
        is_repeated = key in new_keys and (seen is not None or draft.traits.slot is None)
        if is_repeated or any(_knows(memory, draft) for memory in stored[key]):
            counts.known += 1
        else:
            new_keys.add(key)
            yield draft


def _load_same_texts(store: OpenStore, drafts: Sequence[Draft]) -> Mapping[TextKey, list[Memory]]:
    """The memories with the text of one of the drafts, also those that were ended."""
    found: dict[TextKey, list[Memory]] = defaultdict(list)
    if drafts:
        hashes = [draft.content_hash for draft in drafts]
        key = store.namespace, hashes, clock.now()
        memories = store.tables.memories
        for memory in (*memories.load_active_by_text(*key), *memories.load_ended_and_notes(*key)):
            found[memory.session, memory.content_hash].append(memory)
    return found


def _knows(memory: Memory, draft: Draft) -> bool:
    """Whether a memory with the same text makes a draft superfluous."""
    traits = draft.traits
    if memory.status is Status.ACTIVE:
        is_newly_vouched = not may_replace(memory.source, traits.source)
        changes_expiry = memory.expires is not None and traits.expires != memory.expires
        return not is_newly_vouched and not changes_expiry and traits.slot in (None, memory.slot)
    old_origin, new_origin = memory.origin or {}, traits.origin or {}
    is_same_product = old_origin.get("product") == new_origin.get("product")
    is_same_item = is_same_product and "id" in new_origin and old_origin.get("id") == new_origin["id"]
    if traits.valid_from is None or is_same_item:
        return is_same_product
    return traits.valid_from <= (memory.valid_to or memory.updated)


def _write(store: OpenStore, counts: _Counts, drafts: Sequence[Draft], *, dry_run: bool) -> None:
    if dry_run:
        for draft in drafts:
            counts.add_created(draft)
        return
    for part in split_by_size(drafts) if drafts else ():
        for draft, result in zip(part, write_memories(store, part, "import"), strict=True):
            counts.superseded += len(result.superseded)
            counts.proposed += len(result.proposals)
            counts.pending += result.pending
            if result.created:
                counts.add_created(draft)
            else:
                counts.known += 1


def _make_result(counts: _Counts, format: MemoryFormat, path: str, *, dry_run: bool) -> ImportMemoriesResult:
    if not counts.created and not counts.known:
        if counts.refusals:
            first = counts.refusals[0]
            raise Invalid(f"nothing of {path} could be imported; {first.place}: {first.reason}")
        raise Invalid(f"{path} holds no memories, read as {format}", "Give its format if it is another.")
    return ImportMemoriesResult(
        format=str(format),
        created=counts.created,
        known=counts.known,
        superseded=counts.superseded,
        pending=counts.pending,
        refused=counts.refused,
        refusals=tuple(counts.refusals),
        kinds=dict(counts.kinds),
        examples=tuple(counts.examples),
        notes=tuple(counts.notes),
        dry_run=dry_run,
        proposed=counts.proposed,
    )
