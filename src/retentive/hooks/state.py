"""What is remembered between two hooks of one conversation: what the model was shown, how far it was kept.

A file each, named after store, namespace and conversation, because two hooks may run at once and each writes only its
own. They save work and repetitions and are nothing to rely on: lost, something is shown twice, and how far a
conversation was kept is read from the store.
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

KEPT_DAYS = 30  # a conversation that was silent for so long begins anew
MOST_SHOWN = 500
MAX_MARK_BYTES = 1_000_000  # of a file: so many ids have 20,000


@dataclass(frozen=True, slots=True)
class Marks:
    folder: Path
    name: str

    @classmethod
    def of(cls, folder: Path, *names: str) -> "Marks":
        return cls(folder, hashlib.sha256("\0".join(names).encode("utf-8", "replace")).hexdigest()[:32])

    def shown(self) -> list[str]:
        return self._read("shown")

    def show(self, ids: Iterable[str]) -> None:
        self._write("shown", [*dict.fromkeys(ids)][-MOST_SHOWN:])

    def through(self) -> str | None:
        """The last line of the transcript that was kept."""
        return next(iter(self._read("through")), None)

    def reach(self, uuid: str) -> None:
        self._write("through", [uuid])

    def prune(self) -> None:
        """Remove those of conversations long past."""
        oldest = time.time() - KEPT_DAYS * 86_400
        with suppress(OSError):
            for each in self.folder.iterdir():
                with suppress(OSError):  # another hook was first
                    if each.stat().st_mtime < oldest:
                        each.unlink()

    def _read(self, what: str) -> list[str]:
        try:
            text = read_regular(self.folder / f"{self.name}.{what}", MAX_MARK_BYTES).decode("utf-8")
        except (OSError, Invalid, UnicodeDecodeError):
            return []
        return text.split("\n") if text else []

    def _write(self, what: str, words: Iterable[str]) -> None:
        """Whole or not at all. A folder that cannot be written costs a repetition, not the hook."""
        with suppress(OSError):
            make_private(self.folder)
            handle, half = tempfile.mkstemp(dir=self.folder)  # 0600
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write("\n".join(words))
            Path(half).replace(self.folder / f"{self.name}.{what}")
