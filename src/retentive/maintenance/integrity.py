"""Integrity mode: switched on and off, its key changed, and what was changed without the key."""

from collections.abc import Callable, Sequence
from pathlib import Path

from retentive.errors import Invalid
from retentive.fs.paths import parse_path
from retentive.model import from_micros, iso
from retentive.storage import Finding
from retentive.storage.integrity import IntegrityMode, Tampering
from retentive.store import OpenStore
from retentive.store.views import whole

REMEDY = "Restore a backup, or look at the row; `retentive integrity --help` says what else there is."

LOST_MARK = "integrity mode was on, and what the store knew of it is lost: nothing is sealed any more"
SEAL_AGAIN = "Restore a backup, or seal the store as it is now: `retentive integrity start --key FILE`."

Progress = Callable[[int], None]


class Integrity:
    """Seals every row with a key outside the store, so that changes behind Retentive's back are found."""

    def __init__(self, store: OpenStore) -> None:
        self._store = store

    @whole
    def start(self, key: str | Path | None = None, progress: Progress | None = None) -> Path:
        """Seal all rows with the key of a file, which is made if it is not there; the file.

        Without `key`, that of the setting `integrity_key`, which must name it from then on.
        """
        given = key or self._store.config.integrity_key
        if not given:
            hint = "Name a file on another disk, or one that only this user can read: --key FILE."
            raise Invalid("integrity mode needs a file for its key", hint)
        path = parse_path(given).absolute()
        integrity_of(self._store).start(path, progress or _ignore)
        return path

    @whole
    def stop(self) -> None:
        """End it: what was sealed is deleted. The key file stays."""
        integrity_of(self._store).stop()

    @whole
    def rotate(self, progress: Progress | None = None) -> Path:
        """Seal all rows with a new key, if nothing was changed without the old one; where the old one is kept."""
        return integrity_of(self._store).rotate(progress or _ignore)

    @whole
    def accept(self, progress: Progress | None = None) -> None:
        """Take the store for the newest though it is older than its last write: a backup was restored on purpose."""
        integrity_of(self._store).accept(progress or _ignore)

    @whole
    def verify(self, progress: Progress | None = None) -> Sequence[Tampering]:
        """All that was changed without the key: rows that differ, are missing, are new, or are older."""
        return integrity_of(self._store).verify(progress or _ignore)


def integrity_of(store: OpenStore) -> IntegrityMode:
    mode = store.engine.integrity
    if mode is None:
        raise Invalid("integrity mode is for a store in a file", "A server guards its own rows; see docs/scale.md.")
    return mode


def check_integrity(store: OpenStore, *, verify: bool) -> list[Finding]:
    """Of a check-up: whether it is on, and if asked for, every row that was changed without the key."""
    mode = store.engine.integrity
    if mode is not None and mode.has_lost_mark:
        return [Finding("integrity", ok=False, detail=LOST_MARK, remedy=SEAL_AGAIN)]
    if mode is None or not (mode.is_on or verify):
        return []
    if not verify:
        detail = "on; `retentive doctor --verify` compares every row with what was sealed"
        return [Finding("integrity", ok=True, detail=detail)]
    found = mode.verify(_ignore)
    if not found:
        return [Finding("integrity", ok=True, detail=f"every row is as it was sealed{_count_moved(store)}")]
    return [Finding("integrity", ok=False, detail=_describe(each), remedy=REMEDY) for each in found]


def _count_moved(store: OpenStore) -> str:
    """A repair takes damaged rows out of what is sealed, also rows that somebody else damaged on purpose."""
    count = len(store.tables.quarantine.all())
    return f"; rows that a repair moved to the quarantine, where nothing is sealed: {count}" if count else ""


def _describe(found: Tampering) -> str:
    written = f" (last written with the key: {iso(from_micros(found.at))})" if found.at is not None else ""
    return f"{found.row}: {found.problem}{written}"


def _ignore(_: int) -> None: ...
