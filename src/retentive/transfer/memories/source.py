"""What was given to be read: a file or a folder, with what tells its format."""

import codecs
import json
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO, Any

from retentive.conversations.formats.source import Document, as_file, beginning, document
from retentive.conversations.formats.values import Record, clean
from retentive.errors import Invalid
from retentive.fs.regular_files import is_made_up, read_regular, require_regular
from retentive.model import Refusal
from retentive.transfer.export_reader import MAX_EXPORT_BYTES

HEAD = 64_000  # bytes that are looked at to tell a format
LONGEST = 20_000_000  # bytes of a text that is read whole: a thousand times what people write by hand
LEFT_OUT = ("node_modules", "__pycache__")

_ZIP = b"PK\x03\x04"
_WIDE = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


@dataclass(frozen=True)
class Given:
    path: Path
    name: str

    @cached_property
    def is_folder(self) -> bool:
        return self.path.is_dir()

    @cached_property
    def head(self) -> bytes:
        """How a file begins; of a folder nothing."""
        return b"" if self.is_folder else beginning(self.path, HEAD, MAX_EXPORT_BYTES)

    @cached_property
    def opening(self) -> str:
        """How a text begins."""
        wide = self.head.startswith(_WIDE)
        return self.head.decode("utf-16" if wide else "utf-8-sig", "replace") if self.is_text else ""

    @property
    def first(self) -> Any:
        """The first JSON value of a file that is JSON, else None."""
        return None if isinstance(self.json, Invalid) else self.json

    @cached_property
    def json(self) -> Any:
        """The same, or what is wrong with it."""
        if not self.is_text:
            return None
        try:
            with self.document() as text:
                records = text.records() if text.is_json else iter(())
                return next((each.value for each in records if not isinstance(each.value, Invalid)), None)
        except Invalid as error:
            return error

    @cached_property
    def is_text(self) -> bool:
        return not self.is_folder and (self.head.startswith(_WIDE) or b"\0" not in self.head)

    @contextmanager
    def document(self) -> Iterator[Document]:
        if self.is_folder:
            raise Invalid(f"{self.name} is a folder", "Give the file itself.")
        if self.head.startswith(_ZIP):
            raise Invalid(f"{self.name} is a zip", "Unpack it and give what is inside.")
        if not self.is_text:
            raise Invalid(f"{self.name} is not a text file")
        with document(self.path) as text:
            text.name = self.name
            yield text

    def records(self) -> Iterator[Record]:
        """The JSON values of a file; errors among them."""
        with self.document() as text:
            if not text.is_json:
                raise Invalid(f"{self.name} is not JSON", "Leave out the format to have it recognised.")
            yield from text.records()

    def files(self, *endings: str) -> Iterator[tuple[str, Path]]:
        """The files of a folder that end so, and their names in it, in order; or the file itself.

        Without what is hidden, and without links, which may lead anywhere. Folders that are closed to us come last, so
        that reading them tells why.
        """
        if not self.is_folder:
            yield self.name, self.path
            return
        closed: list[OSError] = []
        for folder, folders, names in os.walk(self.path, onerror=closed.append):
            folders[:] = sorted(each for each in folders if each[0] != "." and each not in LEFT_OUT)
            for name in sorted(names):
                file = Path(folder, name)
                if name[0] != "." and name.lower().endswith(endings) and not file.is_symlink() and file.is_file():
                    yield file.relative_to(self.path).as_posix(), file
        yield from ((Path(each.filename).name, Path(each.filename)) for each in closed)


def text_in(name: str, path: Path) -> str | Refusal:
    """A file read whole, or why it cannot be."""
    try:
        data = read_regular(path, LONGEST, "it")
        wide = data.startswith(_WIDE)
        if b"\0" in data and not wide:
            return Refusal(name, "it is not a text file")
        text: str = clean(data.decode("utf-16" if wide else "utf-8-sig"))
    except Invalid as error:
        return Refusal(name, str(error))
    except UnicodeDecodeError as error:
        return Refusal(name, f"it is not {error.encoding.removesuffix('-sig').upper()}; save it as UTF-8")
    except OSError as error:
        return Refusal(name, f"it cannot be read: {error.strerror or error}")
    return text.replace("\r\n", "\n").replace("\r", "\n")


@contextmanager
def given(source: Path | IO[bytes]) -> Iterator[Given]:
    """What is at a path, or comes from a stream."""
    with as_file(source, MAX_EXPORT_BYTES) as path:
        try:
            status = path.stat()
            if not stat.S_ISDIR(status.st_mode) or is_made_up(status):
                require_regular(path)
        except FileNotFoundError as error:
            raise Invalid(f"there is no file {path}", "Give the path of a file that is there.") from error
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise Invalid(f"{path} cannot be read: {reason}", "See whether it is there and may be read.") from error
        yield Given(path, path.name or str(path))


def json_object(text: str) -> dict[str, Any]:
    """What a text says that should be a JSON object; as it stands, under `metadata`, if it is something else."""
    try:
        value = clean(json.loads(text, strict=False))
    except (ValueError, RecursionError):
        return {"metadata": text}
    return value if isinstance(value, dict) else {"metadata": value} if value is not None else {}
