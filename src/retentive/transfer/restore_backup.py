"""A backup into the place of a store, whoever has that open.

1. The backup is checked and copied beside the store. The copy is brought to the schema of this program and examined.
2. From here on nobody else writes to the store. What it holds is kept as a file.
3. The copy is made fit for those who followed the store: its changes go on after all they have seen, with a floor that
   has them load anew; chunks get numbers that were never given. What was revoked stays revoked.
4. The store becomes the copy, in one transaction. Until its commit, all is as it was.
"""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from retentive.errors import Conflict, Corrupt, Invalid, NotFound
from retentive.fs.atomic import passing, place, writable
from retentive.fs.regular_files import require_regular
from retentive.model import Restored
from retentive.storage import Engine, Step, step
from retentive.storage.engines.sqlite import SqliteEngine
from retentive.storage.error_map import translated
from retentive.storage.store_file import Past, Replacing, copy, identity, is_sealed, reading, replaceable, replacing
from retentive.transfer.backup_file import Progress, dated, verify

GAP = 1 << 30  # changes that a store may have had whose log cannot be read any more, many times over


def restore(
    file: Path, store: Path, *, dry_run: bool, progress: Progress, integrity_key: Path | None = None
) -> Restored:
    store = store.resolve()
    require_regular(store)
    if store.exists() and file.exists() and file.samefile(store):
        raise Invalid(f"{file} is the store itself", "Give a backup of it.")
    if not store.parent.is_dir():
        raise NotFound(f"the folder {store.parent} does not exist", f"Create it: mkdir -p '{store.parent}'")
    backup = verify(file, progress)
    there = store.exists()
    if there:
        replaceable(store)
    else:
        _alone(store)
    same = identity(store) in (backup.store_id, "")
    if dry_run:
        return Restored(store, backup, None, same, (), done=False)
    key = integrity_key if is_sealed(file) else None
    kept: Path | None = None
    returned: tuple[str, ...] = ()
    with passing(store.parent) as fresh:
        _staged(file, fresh, progress, key)
        if there or not _placed(fresh, store):
            kept, returned = _replaced(store, fresh, progress, key)
    if key:
        _take_for_newest(store, key)
    return Restored(store, backup, kept, same, returned, done=True)


def _take_for_newest(store: Path, key: Path) -> None:
    """What was restored is older than the last write that integrity mode knows of."""
    with closing(SqliteEngine(str(store), integrity_key=key)) as engine:
        if engine.integrity:
            engine.integrity.accept(lambda _: None)


def _alone(store: Path) -> None:
    """A log without its store would be taken for that of the new one."""
    for log in (Path(f"{store}-wal"), Path(f"{store}-journal")):
        if log.exists():
            raise Conflict(f"{log} is there without its store", "Move it away: what is lost may be in it.")


def _staged(file: Path, fresh: Path, progress: Progress, key: Path | None) -> None:
    """As a store of this program, whole."""
    with translated(str(file)), reading(file) as connection:
        copy(connection, fresh, lambda done, of: progress("copying", done, of))
    with closing(SqliteEngine(str(fresh), integrity_key=key)) as engine:
        progress("checking", 0, 1)
        for finding in engine.check():
            if not finding.ok:
                raise Corrupt(f"{file}: {finding.name}: {finding.detail}", "Take another one; nothing was changed.")
        engine.apply([step("lease_clear")])
        progress("checking", 1, 1)


def _placed(fresh: Path, store: Path) -> bool:
    """Where nothing is; False if somebody was first."""
    try:
        with writable(store.parent):
            place(fresh, store)
    except FileExistsError:
        return False
    return True


def _replaced(store: Path, fresh: Path, progress: Progress, key: Path | None) -> tuple[Path, tuple[str, ...]]:
    with replacing(store, fresh) as work:
        kept = keep_old(work, store, "before-restore", progress)
        returned = continue_store(fresh, work.past(), key)
        work.finish(lambda done, of: progress("restoring", done, of))
    return kept, returned


def keep_old(work: Replacing, store: Path, label: str, progress: Progress) -> Path:
    """What is there now, under a name that tells when it ended, and why."""
    with passing(store.parent) as path:
        work.keep(path, lambda done, of: progress("keeping what was there", done, of))
        with writable(store.parent):
            name = dated(path, lambda when: store.with_name(f"{store.name}.{label}-{when}"))
            log = Path(f"{path}-wal")
            if log.exists():
                log.replace(f"{name}-wal")
    return name


def continue_store(fresh: Path, past: Past, key: Path | None) -> tuple[str, ...]:
    """Make a new store fit for those who followed the old one; what is back of that which was purged."""
    with closing(SqliteEngine(str(fresh), integrity_key=key)) as engine:
        known = {(namespace, id) for namespace, id in engine.read("purge_list")}
        engine.apply(_following(engine, past))
        gone = [each for each in past.purged if each not in known]
        return tuple(id for namespace, id in gone if _is_there(engine, namespace, id))


def _following(engine: Engine, past: Past) -> Iterator[Step]:
    head, chunk = (int(engine.read(query)[0][0]) for query in ("change_head", "chunk_last"))
    head = head + GAP if past.head is None else max(head, past.head) + 1
    yield step("change_restart", head=head)
    yield step("meta_set", key="changes_floor", value=str(head))
    yield step("chunk_continue", chunk=max(chunk, past.chunk))
    yield Step("token_revoke", [{"id": id, "at": at} for id, at in past.revoked])


def _is_there(engine: Engine, namespace: str, id: str) -> bool:
    session, _, number = id.rpartition("#")
    sequence = int(number) if session and number.isdecimal() else -1
    return bool(engine.read("is_there", {"namespace": namespace, "id": id, "session": session, "sequence": sequence}))
