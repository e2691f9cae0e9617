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

KEY_BYTES = 32  # as long as a SHA-256: more adds nothing
MAX_KEY_FILE_BYTES = 1000  # fifteen times a key in hexadecimal digits
ROW_BYTES = 16  # of the MAC that identifies a row: in 128 bits no two rows have the same by chance
GROUP_AND_OTHERS = 0o077  # permissions of a file's group and of everybody


class Head(NamedTuple):
    """The newest entry of a log, which is also written outside the store."""

    seq: int
    chain: bytes
    at: int


class Key:
    """The key that seals the rows of one store."""

    def __init__(self, secret: bytes, store_id: str) -> None:
        self._secret = secret
        self._store = store_id.encode()

    @property
    def fingerprint(self) -> str:
        """Identifies the key, and reveals nothing about it."""
        return self._mac(b"fingerprint")[:ROW_BYTES].hex()

    @property
    def first_chain(self) -> bytes:
        """The chain of an empty log."""
        return self._mac(b"first")

    def identify_row(self, table: str, key: tuple[Any, ...]) -> bytes:
        return self._mac(b"row", _encode(table, key))[:ROW_BYTES]

    def mac_values(self, table: str, values: tuple[Any, ...]) -> bytes:
        return self._mac(b"values", _encode(table, values))

    def next_chain(self, chain: bytes, seq: int, at: int, row: bytes, mac: bytes) -> bytes:
        return self._mac(b"chain", chain + seq.to_bytes(8, "big") + at.to_bytes(8, "big", signed=True) + row + mac)

    def _mac(self, purpose: bytes, text: bytes = b"") -> bytes:
        return hmac.digest(self._secret, b"\0".join((purpose, self._store, text)), "sha256")


def _encode(table: str, values: tuple[Any, ...]) -> bytes:
    """Encode a row as JSON, which is the same in every version of Python."""
    return json.dumps([table, *values], separators=(",", ":"), default=bytes.hex).encode()


class KeyFile:
    """A key in a file, with the heads of the stores that it seals beside it: `KEY.<store>.head`."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def create(self) -> None:
        """Write a new key, readable by its owner only, unless the file exists."""
        if self.path.exists():
            return
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with open(self.path, "x", encoding="ascii", opener=_open_private) as file:
                file.write(secrets.token_hex(KEY_BYTES) + "\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise BadConfig(f"cannot write the key {self.path}: {error.strerror}", "Choose another file.") from error

    def read(self, store_id: str) -> Key:
        hint = "Restore the key file that `integrity_key` names; only that key can seal or verify this store."
        try:
            mode = self.path.stat().st_mode
            secret = bytes.fromhex(read_regular(self.path, MAX_KEY_FILE_BYTES).decode("ascii"))
        except Invalid as error:
            raise BadConfig(f"integrity_key: {error}", hint) from error
        except OSError as error:
            raise BadConfig(f"cannot read the integrity key {self.path}: {error.strerror}", hint) from error
        except ValueError as error:
            raise BadConfig(f"{self.path} is not a key of integrity mode", hint) from error
        if mode & GROUP_AND_OTHERS:
            raise BadConfig(f"others can read the key {self.path}", f"chmod 600 '{self.path}'")
        if len(secret) != KEY_BYTES:
            raise BadConfig(f"{self.path} is not a key of integrity mode", hint)
        return Key(secret, store_id)

    def read_head(self, store_id: str) -> Head | None:
        """Read the head of a store as of the last write; None if there was none yet."""
        path = self._head_path(store_id)
        try:
            found = json.loads(path.read_text("ascii"))
            return Head(int(found["seq"]), bytes.fromhex(found["chain"]), int(found["at"]))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise BadConfig(
                f"cannot read {path}: {error}",
                "If the store is right, `integrity.accept()` rewrites it.",
            ) from error

    def write_head(self, store_id: str, head: Head, *, older: bool = False) -> None:
        """Write the head of a store. Without `older`, an older head than the present one is not written."""
        if not older:
            with suppress(BadConfig):
                known = self.read_head(store_id)
                if known and known.seq >= head.seq:
                    return
        path = self._head_path(store_id)
        new = path.with_name(f"{path.name}.{os.getpid()}")
        text = json.dumps({"seq": head.seq, "chain": head.chain.hex(), "at": head.at})
        with open(new, "w", encoding="ascii", opener=_open_private) as file:
            file.write(text)
        new.replace(path)

    def forget_head(self, store_id: str) -> None:
        self._head_path(store_id).unlink(missing_ok=True)

    def list_other_stores(self, store_id: str) -> list[str]:
        """The ids of the other stores that this key seals."""
        heads = self.path.parent.glob(f"{self.path.name}.*.head")
        return sorted({path.name.split(".")[-2] for path in heads} - {store_id})

    def replace(self, other: "KeyFile") -> Path:
        """Move the key of `other` here. The old key is kept beside it, for the backups that it sealed."""
        for number in range(1, 1000):
            kept = self.path.with_name(f"{self.path.name}.before-{number}")
            if not kept.exists():
                kept.hardlink_to(self.path)
                other.path.replace(self.path)
                return kept
        raise Conflict(f"{self.path.parent} is full of earlier keys", "Move away the keys that no backup needs.")

    @property
    def next_file(self) -> "KeyFile":
        """The file of the new key, while a store is being sealed with it."""
        return KeyFile(self.path.with_name(f"{self.path.name}.new"))

    def _head_path(self, store_id: str) -> Path:
        return self.path.with_name(f"{self.path.name}.{store_id}.head")


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
