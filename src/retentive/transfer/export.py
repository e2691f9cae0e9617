"""A store, or some of its namespaces, written out."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import IO, Any

from retentive import __version__
from retentive.errors import Invalid
from retentive.fs.paths import parse_path
from retentive.model import Exported
from retentive.storage.damage import collect_damage
from retentive.store import OpenStore, validate
from retentive.store.scope import namespaces_of
from retentive.transfer import markdown
from retentive.transfer.export_format import PARTS
from retentive.transfer.export_rows import Wanted
from retentive.transfer.export_rows import export as exported
from retentive.transfer.export_writer import outlet, refuse_special
from retentive.transfer.leftover_files import note_copy

TELL_EVERY = 500  # lines

Progress = Callable[[int], None]
Target = str | Path | IO[bytes]


class Format(StrEnum):
    JSONL = "jsonl"
    MARKDOWN = "markdown"


def wanted(store: OpenStore, namespaces: Any, *, vectors: bool, without: str | Iterable[str]) -> Wanted:
    """Checked. `namespaces` are names and prefixes; None stands for one's own, "*" for all that may be seen."""
    left_out = [validate.plain(each, "without") for each in validate.each_of(without, "without")]
    if unknown := [each for each in left_out if each not in PARTS]:
        raise Invalid(f"an export has no part {unknown[0][:40]!r}", f"It has: {', '.join(PARTS)}.")
    if namespaces == "*":
        return Wanted([*store.tables.memories.namespaces()], bool(vectors), left_out, __version__)
    named = namespaces_of(store, () if namespaces is None else namespaces)
    own = namespaces is None or store.namespace in validate.each_of(namespaces, "namespaces")
    names = [name for name in named if own or name != store.namespace]
    return Wanted(names, bool(vectors), left_out, __version__)


def export(
    store: OpenStore, target: Target, asked: Wanted, format: Format, progress: Progress | None, *, force: bool
) -> Exported:
    if isinstance(target, str | Path) and _is_store(store, parse_path(target)):
        raise Invalid(f"{target} is the store itself", "Choose another name.")
    store.journal.flush()
    with collect_damage() as damage:
        done = _export(store, target, asked, format, progress, force=force)
    return replace(done, notes=tuple(damage.notes()))


def _export(
    store: OpenStore, target: Target, asked: Wanted, format: Format, progress: Progress | None, *, force: bool
) -> Exported:
    if not isinstance(target, str | Path):
        return _written(store, target, asked, format, progress, force=force)
    if format is Format.JSONL:
        refuse_special(Path(target).expanduser())  # before anything is noted
    with note_copy(store, Path(target).expanduser().resolve().parent):
        return _written(store, target, asked, format, progress, force=force)


def _written(
    store: OpenStore, target: Target, asked: Wanted, format: Format, progress: Progress | None, *, force: bool
) -> Exported:
    if format is Format.JSONL:
        return _lines(store, target, asked, progress, force=force)
    if not isinstance(target, str | Path):
        raise Invalid("Markdown is a folder of pages", "Give the path of the folder.")
    folder = Path(target).expanduser()
    counts = markdown.write(store.engine, folder, asked, progress or (lambda _: None), force=force)
    return Exported(format, str(target), tuple(sorted(asked.namespaces)), counts)


def _is_store(store: OpenStore, target: Path) -> bool:
    """Or one of the files beside it, which are no less needed."""
    own = Path(store.config.db).expanduser().resolve()
    return target.resolve() in (own, *(own.with_name(f"{own.name}-{each}") for each in ("wal", "shm", "journal")))


def _lines(store: OpenStore, target: Target, asked: Wanted, progress: Progress | None, *, force: bool) -> Exported:
    counts: Counter[str] = Counter()
    with outlet(target, force=force) as stream:
        for done, (type, line) in enumerate(exported(store.engine, asked)):
            stream.write(line)
            counts[type] += 1
            if progress and done % TELL_EVERY == 0:
                progress(done)
    del counts["header"], counts["end"]
    if progress:
        progress(counts.total())
    path = None if hasattr(target, "write") else str(target)
    return Exported(Format.JSONL, path, tuple(sorted(asked.namespaces)), dict(counts))
