"""Integrity mode of one store: switch it on and off, change its key, compare the rows with the sealed ones."""

from collections.abc import Callable
from contextlib import AbstractContextManager, closing
from pathlib import Path
from typing import Any

import apsw

from retentive.errors import Conflict, Invalid
from retentive.storage.error_map import translate_errors
from retentive.storage.integrity.keys import Head, KeyFile
from retentive.storage.integrity.sealing import Sealer
from retentive.storage.integrity.verify import Progress, Tampering, verify
from retentive.storage.queries import Queries

MAX_NAMED_ROWS = 3  # rows that an error names; `doctor --verify` names all


class IntegrityMode:
    def __init__(
        self,
        sealer: Sealer,
        queries: Queries,
        lock: AbstractContextManager[Any],
        transaction: Callable[[], AbstractContextManager[Any]],
        connect: Callable[[], apsw.Connection],
    ) -> None:
        """`lock` is that of the writing connection; `transaction` takes it, and does not seal what is written."""
        self._sealer, self._queries = sealer, queries
        self._lock, self._transaction, self._connect = lock, transaction, connect

    @property
    def is_on(self) -> bool:
        with self._lock, translate_errors("the store"):
            return bool(self._sealer.read_key_fingerprint())

    @property
    def has_lost_fingerprint(self) -> bool:
        """Whether there is a log, but the store no longer says that integrity mode is on."""
        with self._lock, translate_errors("the store"):
            return not self._sealer.read_key_fingerprint() and self._sealer.read_head() is not None

    @property
    def store_id(self) -> str:
        with self._lock, translate_errors("the store"):
            return self._sealer.store_id

    @property
    def key(self) -> Path | None:
        return self._sealer.keys.path if self._sealer.keys else None

    def start(self, path: Path, progress: Progress) -> None:
        """Seal all rows with the key in a file. A missing file is created with a new key."""
        if self.is_on:
            raise Conflict("integrity mode is on already", "`integrity.rotate()` changes the key.")
        keys = KeyFile(path)
        keys.create()
        key = keys.read(self.store_id)
        with self._transaction():
            head = self._sealer.seal_all(key, progress)
        self._sealer.keys = keys
        self._replace_head(head)

    def stop(self) -> None:
        """Switch integrity mode off and delete the log. The key file stays."""
        keys = self._require_key()
        with self._transaction() as connection:
            for query in ("integrity_clear", "integrity_fingerprint_clear"):
                connection.execute(self._queries.sql(query))
        keys.forget_head(self.store_id)

    def rotate(self, progress: Progress) -> Path:
        """Seal all rows with a new key in place of the old one. Returns the path where the old one is kept."""
        keys = self._require_key()
        if others := keys.list_other_stores(self.store_id):
            hint = "Give each store a key of its own: stop and start integrity mode with another file."
            raise Conflict(f"{keys.path} also seals other stores: {', '.join(others)}", hint)
        self._refuse_tampered(self.verify(progress))
        keys.next_file.create()
        key = keys.next_file.read(self.store_id)
        with self._transaction():
            head = self._sealer.seal_all(key, progress)
        kept = keys.replace(keys.next_file)
        self._replace_head(head)
        return kept

    def accept(self, progress: Progress) -> None:
        """Take the present state for the newest one, though it is older: a backup was restored."""
        self._require_key()
        self._refuse_tampered(self._verify(None, progress))
        with self._lock:
            head = self._sealer.read_head()
        if head:
            self._replace_head(head)

    def verify(self, progress: Progress) -> list[Tampering]:
        """Find the rows and entries that were changed without the key."""
        keys = self._require_key()
        return self._verify(keys.read_head(self.store_id), progress)

    def _verify(self, head: Head | None, progress: Progress) -> list[Tampering]:
        key = self._require_key().read(self.store_id)
        with translate_errors("the store"), closing(self._connect()) as connection:
            return verify(connection, self._queries, key, head, progress)

    def _require_key(self) -> KeyFile:
        with self._lock:
            fingerprint = self._sealer.prepare()
        if not fingerprint:
            hint = "`integrity.start(key=FILE)` starts it; the setting `integrity_key` then names the file."
            raise Invalid("integrity mode is off for this store", hint)
        if self._sealer.keys is None:
            raise Invalid("the integrity key of this store was not given", "Set `integrity_key` to its file.")
        return self._sealer.keys

    @staticmethod
    def _refuse_tampered(found: list[Tampering]) -> None:
        if found:
            rows = "; ".join(f"{each.row}: {each.problem}" for each in found[:MAX_NAMED_ROWS])
            hint = "`doctor(verify=True)` lists all. Restore a backup, or inspect each row."
            raise Conflict(f"the store differs from what was sealed ({len(found)} findings): {rows}", hint)

    def _replace_head(self, head: Head) -> None:
        assert self._sealer.keys is not None  # noqa: S101 - it was just used
        self._sealer.keys.write_head(self.store_id, head, older=True)
