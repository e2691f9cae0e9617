"""State that two hooks of one conversation share: the memories shown to the model, and the last line recorded.

Each value has a file of its own, named after store, namespace and conversation. Two hooks may run at once, and each
writes only its own file. The files save work and repetition; nothing depends on them. If they are lost, a memory is
shown twice, and the last recorded line is looked up in the store.
"""

import hashlib
import os
import tempfile
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from retentive.errors import Invalid
from retentive.fs.folders import make_private
from retentive.fs.regular_files import read_regular

MAX_AGE_DAYS = 30  # a conversation that was silent for longer starts without state
MAX_SHOWN_IDS = 500
MAX_STATE_BYTES = 1_000_000  # of a file: 500 ids have 20,000


@dataclass(frozen=True, slots=True)
class HookState:
    folder: Path
    name: str

    @classmethod
    def of(cls, folder: Path, *names: str) -> "HookState":
        return cls(folder, hashlib.sha256("\0".join(names).encode("utf-8", "replace")).hexdigest()[:32])

    def load_shown(self) -> list[str]:
        """Return the ids of the memories that the model was shown."""
        return self._read("shown")

    def save_shown(self, ids: Iterable[str]) -> None:
        self._write("shown", [*dict.fromkeys(ids)][-MAX_SHOWN_IDS:])

    def load_last_recorded(self) -> str | None:
        """Return the uuid of the last transcript line that was recorded."""
        return next(iter(self._read("through")), None)

    def save_last_recorded(self, uuid: str) -> None:
        self._write("through", [uuid])

    def prune(self) -> None:
        """Remove the files of all conversations that were silent for long."""
        oldest = time.time() - MAX_AGE_DAYS * 86_400
        with suppress(OSError):
            for each in self.folder.iterdir():
                with suppress(OSError):  # another hook removed it first
                    if each.stat().st_mtime < oldest:
                        each.unlink()

    def _read(self, suffix: str) -> list[str]:
        try:
            text = read_regular(self.folder / f"{self.name}.{suffix}", MAX_STATE_BYTES).decode("utf-8")
        except (OSError, Invalid, UnicodeDecodeError):
            return []
        return text.split("\n") if text else []

    def _write(self, suffix: str, lines: Iterable[str]) -> None:
        """Write atomically. A folder that cannot be written costs a repetition, not the hook."""
        with suppress(OSError):
            make_private(self.folder)
            handle, temporary = tempfile.mkstemp(dir=self.folder)  # 0600
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write("\n".join(lines))
            Path(temporary).replace(self.folder / f"{self.name}.{suffix}")
