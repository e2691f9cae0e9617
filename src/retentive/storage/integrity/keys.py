"""The key of integrity mode and the head of the log, in files outside the store."""

import hmac
import json
import os
import secrets
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from retentive.errors import BadConfig, Conflict, Invalid
from retentive.fs.regular_files import read_regular

KEY_BYTES = 32  # as long as what SHA-256 makes: more adds nothing
MAX_KEY_FILE_BYTES = 1000  # of its file: fifteen times a key in hexadecimal digits
ROW_BYTES = 16  # of the MAC that names a row: two rows do not meet by chance in 128 bits
OTHERS = 0o077  # permissions of a file's group and of everybody


class Head(NamedTuple):
    """The newest entry of a log that is known outside the store."""

    seq: int
    chain: bytes
    at: int


class Key:
    """What seals the rows of one store."""

    def __init__(self, secret: bytes, store_id: str) -> None:
        self._secret = secret
        self._store = store_id.encode()

    @property
    def fingerprint(self) -> str:
        """Tells keys apart, and nothing of the key."""
        return self._mac(b"fingerprint")[:ROW_BYTES].hex()

    @property
    def first_chain(self) -> bytes:
        """What the chain of an empty log is."""
        return self._mac(b"first")

    def row(self, table: str, key: tuple[Any, ...]) -> bytes:
        return self._mac(b"row", _encode(table, key))[:ROW_BYTES]

    def mac(self, table: str, values: tuple[Any, ...]) -> bytes:
        return self._mac(b"values", _encode(table, values))

    def chain(self, chain: bytes, seq: int, at: int, row: bytes, mac: bytes) -> bytes:
        return self._mac(b"chain", chain + seq.to_bytes(8, "big") + at.to_bytes(8, "big", signed=True) + row + mac)

    def _mac(self, purpose: bytes, text: bytes = b"") -> bytes:
        return hmac.digest(self._secret, b"\0".join((purpose, self._store, text)), "sha256")


def _encode(table: str, values: tuple[Any, ...]) -> bytes:
    """One text for one row, whatever the version of Python: numbers and texts as JSON writes them."""
    return json.dumps([table, *values], separators=(",", ":"), default=bytes.hex).encode()


class KeyFile:
    """A key in a file, with the heads of the stores that it seals beside it: `KEY.<store>.head`."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def create(self) -> None:
        """A new one, for its owner alone; one that is there stays."""
        if self.path.exists():
            return
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with open(self.path, "x", encoding="ascii", opener=_private) as file:
                file.write(secrets.token_hex(KEY_BYTES) + "\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise BadConfig(f"cannot write the key {self.path}: {error.strerror}", "Choose another file.") from error

    def read(self, store_id: str) -> Key:
        hint = "Put the key back where `integrity_key` says; nothing else can seal or verify this store."
        try:
            mode = self.path.stat().st_mode
            secret = bytes.fromhex(read_regular(self.path, MAX_KEY_FILE_BYTES).decode("ascii"))
        except Invalid as error:
            raise BadConfig(f"integrity_key: {error}", hint) from error
        except OSError as error:
            raise BadConfig(f"cannot read the integrity key {self.path}: {error.strerror}", hint) from error
        except ValueError as error:
            raise BadConfig(f"{self.path} is not a key of integrity mode", hint) from error
        if mode & OTHERS:
            raise BadConfig(f"others can read the key {self.path}", f"chmod 600 '{self.path}'")
        if len(secret) != KEY_BYTES:
            raise BadConfig(f"{self.path} is not a key of integrity mode", hint)
        return Key(secret, store_id)

    def head(self, store_id: str) -> Head | None:
        """As it was after the last write; None if there was none yet."""
        path = self._head_path(store_id)
        try:
            found = json.loads(path.read_text("ascii"))
            return Head(int(found["seq"]), bytes.fromhex(found["chain"]), int(found["at"]))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise BadConfig(
                f"cannot read {path}: {error}",
                "If the store is right, `retentive integrity accept` writes it anew.",
            ) from error

    def write_head(self, store_id: str, head: Head, *, older: bool = False) -> None:
        """Never an older one than is there, unless `older`. A head that lags behind only knows less."""
        if not older:
            with suppress(BadConfig):
                known = self.head(store_id)
                if known and known.seq >= head.seq:
                    return
        path = self._head_path(store_id)
        new = path.with_name(f"{path.name}.{os.getpid()}")
        text = json.dumps({"seq": head.seq, "chain": head.chain.hex(), "at": head.at})
        with open(new, "w", encoding="ascii", opener=_private) as file:
            file.write(text)
        new.replace(path)

    def forget_head(self, store_id: str) -> None:
        self._head_path(store_id).unlink(missing_ok=True)

    def other_stores(self, store_id: str) -> list[str]:
        """That this key seals, too."""
        heads = self.path.parent.glob(f"{self.path.name}.*.head")
        return sorted({path.name.split(".")[-2] for path in heads} - {store_id})

    def replace(self, other: "KeyFile") -> Path:
        """Take the key of `other`; the one that was here is kept beside it, for backups that it sealed."""
        for number in range(1, 1000):
            kept = self.path.with_name(f"{self.path.name}.before-{number}")
            if not kept.exists():
                kept.hardlink_to(self.path)
                other.path.replace(self.path)
                return kept
        raise Conflict(f"{self.path.parent} is full of earlier keys", "Move those that no backup needs away.")

    @property
    def next(self) -> "KeyFile":
        """Where a new key is while a store is sealed anew."""
        return KeyFile(self.path.with_name(f"{self.path.name}.new"))

    def _head_path(self, store_id: str) -> Path:
        return self.path.with_name(f"{self.path.name}.{store_id}.head")


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
