"""Integrity mode of one store: switched on and off, its key changed, what is there compared with what was sealed."""

from collections.abc import Callable
from contextlib import AbstractContextManager, closing
from pathlib import Path
from typing import Any

import apsw

from retentive.errors import Conflict, Invalid
from retentive.storage.error_map import translated
from retentive.storage.integrity.keys import Head, KeyFile
from retentive.storage.integrity.sealing import Sealer
from retentive.storage.integrity.verify import Progress, Tampering, verify
from retentive.storage.queries import Queries

SHOWN = 3  # rows that an error names; `doctor --verify` names all


class IntegrityMode:
    def __init__(
        self,
        sealer: Sealer,
        queries: Queries,
        lock: AbstractContextManager[Any],
        transaction: Callable[[], AbstractContextManager[Any]],
        connect: Callable[[], apsw.Connection],
    ) -> None:
        """`lock` is that of the writing connection; `transaction` takes it, and is not sealed by itself."""
        self._sealer, self._queries = sealer, queries
        self._lock, self._transaction, self._connect = lock, transaction, connect

    @property
    def is_on(self) -> bool:
        with self._lock, translated("the store"):
            return bool(self._sealer.read_mark())

    @property
    def has_lost_mark(self) -> bool:
        """Whether there is a log, and the store does not say any more that integrity mode is on."""
        with self._lock, translated("the store"):
            return not self._sealer.read_mark() and bool(self._sealer.read_last())

    @property
    def store_id(self) -> str:
        with self._lock, translated("the store"):
            return self._sealer.store_id

    @property
    def key(self) -> Path | None:
        return self._sealer.keys.path if self._sealer.keys else None

    def start(self, path: Path, progress: Progress) -> None:
        """Seal all that there is, with the key of a file, which is made if it is not there."""
        if self.is_on:
            raise Conflict("integrity mode is on already", "`retentive integrity rotate` changes the key.")
        keys = KeyFile(path)
        keys.create()
        key = keys.read(self.store_id)
        with self._transaction():
            head = self._sealer.seal_all(key, progress)
        self._sealer.keys = keys
        self._keep_head(head)

    def stop(self) -> None:
        """No more entries; those that there are go. The key file stays."""
        keys = self._require_key()
        with self._transaction() as connection:
            for query in ("integrity_clear", "integrity_mark_clear"):
                connection.execute(self._queries.sql(query))
        keys.forget_head(self.store_id)

    def rotate(self, progress: Progress) -> Path:
        """Seal all that there is with a new key, which takes the place of the old one; where that is kept."""
        keys = self._require_key()
        if others := keys.other_stores(self.store_id):
            hint = "Give each store a key of its own: stop and start integrity mode with another file."
            raise Conflict(f"{keys.path} also seals other stores: {', '.join(others)}", hint)
        self._refuse_tampered(self.verify(progress))
        keys.next.create()
        key = keys.next.read(self.store_id)
        with self._transaction():
            head = self._sealer.seal_all(key, progress)
        kept = keys.replace(keys.next)
        self._keep_head(head)
        return kept

    def accept(self, progress: Progress) -> None:
        """Take the store as it is for the newest, though it is older: a backup was restored."""
        self._require_key()
        self._refuse_tampered(self._verify(None, progress))
        with self._lock:
            rows = self._sealer.read_last()
        if rows:
            seq, chain, at = rows[0]
            self._keep_head(Head(seq, chain, at))

    def verify(self, progress: Progress) -> list[Tampering]:
        """All that was changed without the key."""
        keys = self._require_key()
        return self._verify(keys.head(self.store_id), progress)

    def _verify(self, head: Head | None, progress: Progress) -> list[Tampering]:
        key = self._require_key().read(self.store_id)
        with translated("the store"), closing(self._connect()) as connection:
            return verify(connection, self._queries, key, head, progress)

    def _require_key(self) -> KeyFile:
        with self._lock:
            mark = self._sealer.prepare()
        if not mark:
            hint = "`retentive integrity start --key FILE` begins it; the setting `integrity_key` then names the file."
            raise Invalid("integrity mode is off for this store", hint)
        if self._sealer.keys is None:
            raise Invalid("the key of this store's integrity mode was not given", "Set `integrity_key` to its file.")
        return self._sealer.keys

    @staticmethod
    def _refuse_tampered(found: list[Tampering]) -> None:
        if found:
            rows = "; ".join(f"{each.row}: {each.problem}" for each in found[:SHOWN])
            hint = "`retentive doctor --verify` names all. Restore a backup, or look at each row."
            raise Conflict(f"the store is not what was sealed ({len(found)} findings): {rows}", hint)

    def _keep_head(self, head: Head) -> None:
        assert self._sealer.keys is not None  # noqa: S101 - it was just used
        self._sealer.keys.write_head(self.store_id, head, older=True)
