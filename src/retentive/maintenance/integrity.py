"""Integrity mode: switch it on and off, change its key, and find what was changed without the key."""

from collections.abc import Callable, Sequence
from pathlib import Path

from retentive.errors import Invalid
from retentive.fs.paths import parse_path
from retentive.model import from_micros, iso
from retentive.storage import Finding
from retentive.storage.integrity import IntegrityMode, Tampering
from retentive.store import OpenStore
from retentive.store.views import whole_store

TAMPERING_HINT = "Restore a backup, or inspect the row; docs/how-to/notice-tampering.md lists other ways."

SEALS_LOST = "integrity mode was on, but its entry in the store is lost: nothing is sealed now"
SEAL_AGAIN_HINT = "Restore a backup, or seal the store as it is now: `integrity.start(key=FILE)`."

Progress = Callable[[int], None]


class Integrity:
    """Seals every row with a key outside the store, so that changes by other programs are found."""

    def __init__(self, store: OpenStore) -> None:
        self._store = store

    @whole_store
    def start(self, key: str | Path | None = None, progress: Progress | None = None) -> Path:
        """Seal all rows with the key in a file, and return the file. It is created if it does not exist.

        `key` is by default the setting `integrity_key`, which must name the file from then on.
        """
        given = key or self._store.config.integrity_key
        if not given:
            hint = "Give a file on another disk, or one that only this user can read: `key=FILE`."
            raise Invalid("integrity mode needs a file for its key", hint)
        path = parse_path(given).absolute()
        _require_mode(self._store).start(path, progress or _ignore)
        return path

    @whole_store
    def stop(self) -> None:
        """Switch integrity mode off and delete the seals. The key file stays."""
        _require_mode(self._store).stop()

    @whole_store
    def rotate(self, progress: Progress | None = None) -> Path:
        """Seal all rows with a new key, if none was changed without the old one. Return where the old key is kept."""
        return _require_mode(self._store).rotate(progress or _ignore)

    @whole_store
    def accept(self, progress: Progress | None = None) -> None:
        """Accept a store that is older than its last write: a backup was restored on purpose."""
        _require_mode(self._store).accept(progress or _ignore)

    @whole_store
    def verify(self, progress: Progress | None = None) -> Sequence[Tampering]:
        """Return every change made without the key: rows that differ, are missing, are new, or are older."""
        return _require_mode(self._store).verify(progress or _ignore)


def _require_mode(store: OpenStore) -> IntegrityMode:
    mode = store.engine.integrity
    if mode is None:
        raise Invalid(
            "integrity mode is for a store in a file", "A database server protects its own rows; see docs/scale.md."
        )
    return mode


def check_integrity(store: OpenStore, *, verify: bool) -> list[Finding]:
    """Check whether integrity mode is on; with `verify`, also find every row that was changed without the key."""
    mode = store.engine.integrity
    if mode is not None and mode.has_lost_fingerprint:
        return [Finding("integrity", ok=False, detail=SEALS_LOST, remedy=SEAL_AGAIN_HINT)]
    if mode is None or not (mode.is_on or verify):
        return []
    if not verify:
        detail = "on; `doctor(verify=True)` compares every row with its seal"
        return [Finding("integrity", ok=True, detail=detail)]
    found = mode.verify(_ignore)
    if not found:
        return [Finding("integrity", ok=True, detail=f"every row is as it was sealed{_describe_quarantine(store)}")]
    return [Finding("integrity", ok=False, detail=_describe(each), remedy=TAMPERING_HINT) for each in found]


def _describe_quarantine(store: OpenStore) -> str:
    """Count the rows in quarantine: a repair also moves rows there that somebody damaged on purpose."""
    count = len(store.tables.quarantine.all())
    return f"; a repair moved {count} rows to the quarantine, where nothing is sealed" if count else ""


def _describe(found: Tampering) -> str:
    written = f" (last written with the key: {iso(from_micros(found.at))})" if found.at is not None else ""
    return f"{found.row}: {found.problem}{written}"


def _ignore(_: int) -> None: ...
