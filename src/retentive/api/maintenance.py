"""The verbs about a store as a whole: statistics and checks, background work, backups, import and export."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, Unpack

from retentive import config
from retentive.errors import StorageError
from retentive.model import ImportTrust, Query
from retentive.search import search
from retentive.store import validate
from retentive.store.active_model import with_active_model
from retentive.store.scope import Filters, make_scope, resolve_namespaces
from retentive.store.vectors import EMBED_BATCH_SIZE, REEMBED_BATCH_SIZE
from retentive.store.views import mutates, whole_store

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path
    from typing import IO

    from retentive.config import Settings
    from retentive.embed import Embedder
    from retentive.maintenance.reembed import Progress as ReembedCallback
    from retentive.maintenance.worker import Progress, Worker
    from retentive.model import (
        BackfillResult,
        Backup,
        CompactResult,
        ExportResult,
        ImportMemoriesResult,
        QuarantinedRow,
        ReembedResult,
        RepairResult,
        RestoreResult,
        SpaceFigures,
        TimelineDay,
    )
    from retentive.storage import Finding
    from retentive.store import OpenStore
    from retentive.store.validate import ImportOptions
    from retentive.transfer import backups
    from retentive.transfer import export as exports
    from retentive.transfer.copy_rows import Moved


class MaintenanceVerbs:
    """The verbs of `Retentive` about the store rather than about its memories."""

    _store: OpenStore

    @classmethod
    def migrate(
        cls,
        source: str | Path,
        target: str | Path,
        progress: Callable[[str, int], None] | None = None,
        **settings: Unpack[Settings],
    ) -> Sequence[Moved]:
        """Move a whole store into another, empty one: a file, or a server. The source stays as it is.

        May be stopped and called again: it goes on where it was. At the end both sides are compared, row by row.
        `progress` is called with the table and how many of its rows are done.
        """
        from retentive.transfer import migrate as move

        return move.migrate(str(source), str(target), dict(settings), progress)

    @classmethod
    def verify_backup(cls, path: str | Path, progress: backups.Progress | None = None) -> Backup:
        """Whether a file is a whole store that this program can restore: every page, full text, tables, schema."""
        from retentive.transfer import backups

        return backups.verify(path, progress)

    @classmethod
    def restore_backup(
        cls,
        path: str | Path,
        target: str | Path | None = None,
        *,
        dry_run: bool = False,
        progress: backups.Progress | None = None,
        **settings: Unpack[Settings],
    ) -> RestoreResult:
        """Make the store what a backup of it is; without a `target`, the configured one.

        The backup is checked first. What was there is kept beside it. Other processes may have the store open: they
        see one commit. Killed at any moment, it leaves the old store or the new one.
        """
        from retentive.transfer import backups

        return backups.restore(path, target, dict(settings), dry_run=dry_run, progress=progress)

    @classmethod
    def salvage(cls, db: str | Path | None = None, **settings: Unpack[Settings]) -> RepairResult:
        """Repair a store whose file is too damaged to be opened; without a `db`, the configured one.

        It is rebuilt from what can be read. The damaged file is kept beside it.
        """
        from retentive.maintenance import repair

        return repair.salvage_store(config.load(db=None if db is None else str(db), **settings))

    @mutates
    def import_memories(
        self,
        path: str | Path | IO[bytes],
        format: str | None = None,
        *,
        trust: str = ImportTrust.STATED,
        into: str | None = None,
        dry_run: bool = False,
        progress: Callable[[int, int | None], None] | None = None,
        **options: Unpack[ImportOptions],
    ) -> ImportMemoriesResult:
        """Keep the memories that a file or folder of another product holds; or restore what `export` wrote.

        `path` may also be a stream of bytes. The format is recognised unless given. Once more, it keeps only what is
        new: five hundred at a time are kept whole or not at all, so what was stopped is simply repeated. What cannot be
        kept is reported with its place and does not stop the rest. `options` hold for all that do not say otherwise
        themselves; tags are added to theirs. `dry_run` only reports. `progress` is called with
        how many were read, and at the end of how many.

        What the user said here is neither ended nor changed by it: what would is proposed. `trust="user"` vouches for
        the file, so that it counts as the user's own word; `trust="import"` has nothing in an export count for more
        than an import, whatever it says.

        An export is restored to the namespace it came from; `into` names another one, if it is of one namespace alone.
        """
        from retentive.transfer.import_memories import import_memories  # the readers take 25 ms to load

        target = None if into is None else validate.require_namespace(into)
        return import_memories(
            self._store, path, format, options, trust=trust, into=target, dry_run=dry_run, progress=progress
        )

    def export(
        self,
        target: exports.Target,
        *,
        format: str = "jsonl",
        namespaces: str | Sequence[str] | None = None,
        vectors: bool = False,
        without: str | Sequence[str] = (),
        force: bool = False,
        progress: Callable[[int], None] | None = None,
    ) -> ExportResult:
        """Write out all that a namespace holds, as JSON Lines that `import_memories` restores exactly.

        `target` is a file, which is there whole or not at all, or a stream of bytes; a name that ends in .gz is
        compressed. `namespaces` are names or prefixes such as `work/*`, by default this one; "*" stands for all.
        `without` leaves out parts: memories, sessions, records, files, expectations, proposals, access-log, purges.
        `vectors` adds those. With `format="markdown"` the target is a folder of pages for people. `force` replaces what
        is there though it is no export. `progress` is called with how many lines or pages are written.
        """
        from retentive.transfer import export as exports

        return exports.export(
            self._store, target, exports.make_request(self._store, namespaces, vectors=vectors, without=without),
            validate.parse_choice(exports.ExportFormat, format, "format"), progress, force=force,
        )  # fmt: skip

    @mutates
    def backfill(
        self, batch: int = EMBED_BATCH_SIZE, progress: Callable[[int, int], None] | None = None
    ) -> BackfillResult:
        """Make the vectors that are still missing, in all namespaces of the store, or of this view of it."""
        from retentive.store import backfill as fill

        return fill.backfill(self._store, validate.positive_int(batch, "batch"), progress)

    @whole_store
    def reembed(
        self,
        model: str | Embedder,
        *,
        force: bool = False,
        batch: int = REEMBED_BATCH_SIZE,
        progress: ReembedCallback | None = None,
    ) -> ReembedResult:
        """Change the model of the store, while it is in use.

        The vectors of the new model are made beside the old ones. Then the recall tests (`expectations`) of all
        namespaces are asked with both models. If none regresses, or with `force`, the store is switched to the new
        model; other processes follow at their next question. May be stopped and called again: it goes on where it was.
        `model` is what the setting `embedder` may be, or an object with the methods of `Embedder`. `progress` is
        called with a `ReembedProgress`.
        """
        from retentive.maintenance import reembed as reembedding

        store = with_active_model(self._store)
        return reembedding.reembed(store, model, progress, validate.positive_int(batch, "batch"), is_forced=force)

    @whole_store
    def reembed_rollback(
        self, *, batch: int = REEMBED_BATCH_SIZE, progress: ReembedCallback | None = None
    ) -> ReembedResult:
        """Return to the model that the store had before; what was written since is embedded with it first."""
        from retentive.maintenance import reembed as reembedding

        return reembedding.roll_back(with_active_model(self._store), progress, validate.positive_int(batch, "batch"))

    @whole_store
    def reembed_drop_old(self, progress: ReembedCallback | None = None) -> Sequence[str]:
        """Delete the vectors of all models but the present one; the names of their spaces. There is no way back."""
        from retentive.maintenance import reembed as reembedding

        return reembedding.drop_old(self._store, progress)

    @whole_store
    def reembed_status(self) -> Sequence[SpaceFigures]:
        """The spaces of the store, the active one first, with how many vectors each has and lacks."""
        from retentive.maintenance import reembed as reembedding

        return reembedding.list_spaces(self._store)

    def stats(self) -> dict[str, Any]:
        """Figures of this namespace and of the store."""
        from retentive.maintenance import stats as report

        return report.collect_stats(with_active_model(self._store))

    def timeline(self, days: int = 14, **filters: Unpack[Filters]) -> Sequence[TimelineDay]:
        """What happened on each of the last days, the newest first: memories made, replaced, forgotten; messages.

        The filters are those of `search` and choose memories, of any status unless one is given. Of messages, only
        `session` chooses.
        """
        from retentive.maintenance import timeline

        validate.reject_unknown(filters, Filters, "timeline")
        filters.setdefault("status", ())
        scope = make_scope([self._store.namespace], **filters)
        return timeline.make_timeline(self._store, scope, validate.positive_int(days, "days"))

    def health(self) -> dict[str, Any]:
        """Does the store answer, and is the model there? Quick, and loads nothing: for a server that is watched."""
        from retentive.maintenance import stats as report

        return report.check_health(with_active_model(self._store))

    @whole_store
    def doctor(self, *, verify: bool = False) -> Sequence[Finding]:
        """A check-up of everything; reads the whole store. `verify`: compare rows with what integrity mode sealed."""
        from retentive.maintenance import doctor

        return doctor.run_checks(with_active_model(self._store), verify=verify)

    @whole_store
    def repair(self) -> RepairResult:
        """Rebuild what is derived (chunks, full text, vectors, indexes), and move damaged rows to the quarantine.

        If pages of a file are damaged, the store is rebuilt from what can be read, and the old file is kept.
        """
        from retentive.maintenance import repair

        return repair.repair(with_active_model(self._store))

    @whole_store
    def quarantine(self) -> Sequence[QuarantinedRow]:
        """The damaged rows that repairs moved out of their tables, the oldest first."""
        from retentive.maintenance import repair

        return repair.list_quarantine(self._store)

    @whole_store
    def discard_quarantine(self, ids: str | Sequence[str]) -> int:
        """Delete rows of the quarantine permanently, by their ids; "*" stands for all. Return their number."""
        from retentive.maintenance import repair

        return repair.discard_quarantine(self._store, ids)

    @whole_store
    def backup(
        self,
        path: str | Path,
        *,
        keep: int | None = None,
        overwrite: bool = False,
        progress: backups.Progress | None = None,
    ) -> Backup:
        """Copy the store into a file while others use it, checked before it gets its name.

        In a folder it is named by its time; `keep` then removes all but so many of this store's own there. A file that
        is there is left alone unless `overwrite`. `progress` is called with the step, how much of it
        is done, and how much there is.
        """
        from retentive.transfer import backups

        return backups.backup(self._store, path, keep=keep, overwrite=overwrite, progress=progress)

    @whole_store
    def compact(self, progress: backups.Progress | None = None) -> CompactResult:
        """Release the space of deleted rows. Others may go on reading; writers wait."""
        from retentive.transfer import backups

        return backups.compact(self._store, progress)

    @whole_store
    def upkeep(self) -> None:
        """The regular chores: expiry, retention, purges, proposals, statistics, logs, unfinished copies.

        `close` does them.
        """
        from retentive import clock
        from retentive.maintenance.jobs import MAX_KEPT_CHANGES
        from retentive.memories import forget, write
        from retentive.purge.proof import scrub_pending
        from retentive.transfer import leftover_files

        self._store.journal.flush()
        sum(write.expire_memories(self._store))
        self._store.tables.proposals.prune(clock.now())
        sum(forget.apply_retention(self._store))
        self._store.tables.metrics.prune_changes(MAX_KEPT_CHANGES)
        leftover_files.sweep(self._store)
        scrub_pending(self._store)

    @whole_store
    def worker(
        self,
        *,
        poll: float | None = None,
        lease: float | None = None,
        every: float | None = None,
        progress: Progress | None = None,
    ) -> Worker:
        """A worker that learns, fills in vectors and does maintenance in the background, in all namespaces.

        Of several processes one is at work at a time. `start` and `stop` it, or `with memory.worker():`; `close` stops
        it, too. It looks every `poll` seconds (10), and at once after a write of this process; `lease` (30) is how long
        the work of one that died is left alone; every `every` seconds (3,600) it applies retention and prunes the
        change log.
        `progress` is called with each task and how much was done.
        """
        from retentive.maintenance.worker import Worker

        given = {"poll": poll, "lease": lease, "every": every}
        return Worker(
            self._store,
            **{name: validate.parse_seconds(value, name) for name, value in given.items() if value is not None},
            progress=progress,
        )

    def namespaces(self, matching: Sequence[str] | None = None) -> Sequence[str]:
        """The namespaces of the store that were ever written to.

        With `matching`, names or prefixes such as `work/*`: those that `search(namespaces=matching)` looks in.
        """
        if matching is None:
            return self._store.tables.memories.list_namespaces()
        return resolve_namespaces(self._store, matching)

    def warm(self, namespaces: Sequence[str] = ()) -> None:
        """Load what the first question needs, the model and the index: for a server, in a thread of its own."""
        looked_in = make_scope(resolve_namespaces(self._store, namespaces))
        search.answer(with_active_model(self._store), Query(text="what is known", scope=looked_in, limit=1))

    def _chores(self) -> None:
        """Do the regular maintenance, but let closing succeed on a full disk or beside another writer."""
        with suppress(StorageError):
            self.upkeep()
