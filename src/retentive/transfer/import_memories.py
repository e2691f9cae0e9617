"""Memories that people have elsewhere, brought in.

Five hundred at a time are checked, compared with what is here, and kept: an import that was stopped is begun anew, and
what came in before is known then. Known is a text that is here already; and one that was here and has been replaced,
forgotten or has expired, unless it is told as newer than its end: an old export must not bring back what was forgotten.

What comes in is of the source `import`, so it ends nothing that the user said (`weigh.py`). If the person who imports
it vouches for it, it counts as their own word.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import IO, Any

from retentive import clock
from retentive.errors import Invalid
from retentive.fs.paths import parse_path
from retentive.memories.add import cut, draft_of
from retentive.memories.write import write_memories
from retentive.model import Draft, ImportedMemories, ImportTrust, Memory, Refusal, Source, Status, iso, may_replace
from retentive.store import OpenStore, validate
from retentive.store.validate import Common
from retentive.transfer.memories import READERS, Format, Item, Remark, Told, chosen
from retentive.transfer.restore_export.restore import restored

BATCH = 500  # that share a commit: three seconds of embedding, which is what a crash loses
TOLD = 20  # refusals and notes that are told; more say no more, and a file may have millions
EXAMPLES = 5

Progress = Callable[[int, int | None], None]
Given = str | Path | IO[bytes]
Key = tuple[str | None, str]  # session and hash: one text is kept once in each


@dataclass(slots=True)
class _Tally:
    """What has been found so far."""

    read: int = 0
    created: int = 0
    known: int = 0
    superseded: int = 0
    proposed: int = 0
    pending: int = 0
    refused: int = 0
    refusals: list[Refusal] = field(default_factory=list)
    kinds: dict[str, int] = field(default_factory=dict)
    examples: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def refuse(self, refusal: Refusal) -> None:
        self.refused += 1
        if len(self.refusals) < TOLD:
            self.refusals.append(refusal)

    def remark(self, remark: Remark) -> None:
        if len(self.notes) < TOLD:
            self.notes.append(remark.text)

    def make(self, draft: Draft) -> None:
        self.created += 1
        self.kinds[draft.traits.kind] = self.kinds.get(draft.traits.kind, 0) + 1
        if len(self.examples) < EXAMPLES:
            self.examples.append(draft.content)


def import_memories(
    store: OpenStore,
    source: Given,
    format: str | None,
    options: Mapping[str, Any],
    *,
    trust: str,
    dry_run: bool,
    progress: Progress | None,
) -> ImportedMemories:
    validate.known(options, Common, "import_memories")
    vouched = validate.one_of(ImportTrust, trust, "trust")
    kept_source = Source.EXPLICIT if vouched is ImportTrust.USER else Source.IMPORT
    draft_of(store, "x", options)  # what is wrong for all of them should be told once
    known = None if format is None else validate.one_of(Format, format, "format")
    tally, seen = _Tally(), set[Key]()
    name = str(source) if isinstance(source, str | Path) else "the input"
    with chosen(_given(source), known) as (found, given):
        if found is Format.RETENTIVE:
            return restored(store, given, options, trust=vouched, dry_run=dry_run, progress=progress)
        items = _items(tally, _to_the_end(READERS[found].read(given), name))
        while batch := [*islice(items, BATCH)]:
            drafts = [*_drafts(store, tally, batch, found, {**options, "source": kept_source})]
            fresh = [*_fresh(store, tally, drafts, seen if dry_run else None)]
            _keep(store, tally, fresh, dry_run=dry_run)
            if progress:
                progress(tally.read, None)
    if progress:
        progress(tally.read, tally.read)
    return _answer(tally, found, name, dry_run=dry_run)


def _given(source: Given) -> Path | IO[bytes]:
    return parse_path(source) if isinstance(source, str | Path) else source


def _to_the_end(told: Iterator[Told], name: str) -> Iterator[Told]:
    """What cannot be read on from some place is a refusal like others, if something was read before."""
    begun = False
    try:
        for each in told:
            begun = True
            yield each
    except Invalid as error:
        if not begun:
            raise
        yield Refusal(name, str(error))


def _items(tally: _Tally, told: Iterator[Told]) -> Iterator[Item]:
    for each in told:
        match each:
            case Refusal():
                tally.refuse(each)
            case Remark():
                tally.remark(each)
            case Item():
                tally.read += 1
                yield each


def _drafts(
    store: OpenStore, tally: _Tally, items: Sequence[Item], format: Format, options: Mapping[str, Any]
) -> Iterator[Draft]:
    for item in items:
        try:
            yield draft_of(store, item.text, _options(item, format, options))
        except Invalid as error:
            tally.refuse(Refusal(item.place, str(error)))


def _options(item: Item, format: Format, common: Mapping[str, Any]) -> dict[str, Any]:
    own = dict(item.told)
    if item.created:
        own.setdefault("valid_from", item.created)
    tags = [*own.get("tags", ()), *validate.each_of(common.get("tags"), "tags")]
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


def _fresh(store: OpenStore, tally: _Tally, drafts: Sequence[Draft], seen: set[Key] | None) -> Iterator[Draft]:
    """Those that tell something new. What may change what is here, by a slot, is left to `keep` to decide on.

    `seen` is for a dry run, which keeps nothing: what was new before.
    """
    here = _here(store, drafts)
    before: set[Key] = set() if seen is None else seen
    for draft in drafts:
        key = draft.traits.session, draft.content_hash
        repeated = key in before and (seen is not None or draft.traits.slot is None)
        if repeated or any(_is_told_by(memory, draft) for memory in here[key]):
            tally.known += 1
        else:
            before.add(key)
            yield draft


def _here(store: OpenStore, drafts: Sequence[Draft]) -> Mapping[Key, list[Memory]]:
    """What says the same as one of them, or did."""
    here: dict[Key, list[Memory]] = defaultdict(list)
    asked = store.namespace, [draft.content_hash for draft in drafts], clock.now()
    for memory in (*store.tables.memories.same_text(*asked), *store.tables.memories.ended(*asked)) if drafts else ():
        here[memory.session, memory.content_hash].append(memory)
    return here


def _is_told_by(memory: Memory, draft: Draft) -> bool:
    if memory.status is Status.ACTIVE and not may_replace(memory.source, draft.traits.source):
        return False  # it is now vouched for
    if memory.status is Status.ACTIVE:
        longer = memory.expires is not None and draft.traits.expires != memory.expires
        return draft.traits.slot in (None, memory.slot) and not longer
    mine, its = draft.traits.origin or {}, memory.origin or {}
    same = its.get("product") == mine.get("product")
    when = draft.traits.valid_from
    if when is None or (same and "id" in mine and its.get("id") == mine["id"]):
        return same
    return when <= (memory.valid_to or memory.updated)


def _keep(store: OpenStore, tally: _Tally, drafts: Sequence[Draft], *, dry_run: bool) -> None:
    for piece in cut(drafts) if drafts and not dry_run else ():
        for draft, kept in zip(piece, write_memories(store, piece, "import"), strict=True):
            tally.superseded += len(kept.superseded)
            tally.proposed += len(kept.proposals)
            tally.pending += kept.pending
            if kept.created:
                tally.make(draft)
            else:
                tally.known += 1
    for draft in drafts if dry_run else ():
        tally.make(draft)


def _answer(tally: _Tally, format: Format, path: str, *, dry_run: bool) -> ImportedMemories:
    if not tally.created and not tally.known:
        if tally.refusals:
            first = tally.refusals[0]
            raise Invalid(f"nothing of {path} could be kept; {first.place}: {first.reason}")
        raise Invalid(f"{path} holds no memories, read as {format}", "Say its format with --from if it is another.")
    return ImportedMemories(
        format=str(format),
        created=tally.created,
        known=tally.known,
        superseded=tally.superseded,
        pending=tally.pending,
        refused=tally.refused,
        refusals=tuple(tally.refusals),
        kinds=tally.kinds,
        examples=tuple(tally.examples),
        notes=tuple(tally.notes),
        dry_run=dry_run,
        proposed=tally.proposed,
    )
