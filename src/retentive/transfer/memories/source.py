"""The file or folder that is imported, with the properties by which its format is recognised."""

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

from retentive.conversations.formats.source import Document, as_file, open_lenient, read_beginning
from retentive.conversations.formats.values import Record, clean_value
from retentive.errors import Invalid
from retentive.fs.regular_files import is_kernel_file, read_regular, require_regular
from retentive.model import RefusedItem
from retentive.transfer.export_reader import MAX_EXPORT_BYTES

MAX_HEAD_BYTES = 64_000  # read to recognise a format
MAX_TEXT_BYTES = 20_000_000  # of a text that is read whole: a thousand times what people write by hand
SKIPPED_FOLDERS = ("node_modules", "__pycache__")

_ZIP_MAGIC = b"PK\x03\x04"
_UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


@dataclass(frozen=True)
class ImportSource:
    path: Path
    name: str

    @cached_property
    def is_folder(self) -> bool:
        return self.path.is_dir()

    @cached_property
    def head(self) -> bytes:
        """The first bytes of a file; empty for a folder."""
        return b"" if self.is_folder else read_beginning(self.path, MAX_HEAD_BYTES, MAX_EXPORT_BYTES)

    @cached_property
    def head_text(self) -> str:
        """The beginning of a text; empty if this is no text."""
        return self.head.decode(_detect_encoding(self.head), "replace") if self.is_text else ""

    @property
    def first_value(self) -> Any:
        """The first JSON value of a JSON file; None for other files."""
        return None if isinstance(self.json, Invalid) else self.json

    @cached_property
    def json(self) -> Any:
        """The first JSON value, None, or the error if the JSON cannot be read."""
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
        return not self.is_folder and (self.head.startswith(_UTF16_MARKS) or b"\0" not in self.head)

    @contextmanager
    def document(self) -> Iterator[Document]:
        if self.is_folder:
            raise Invalid(f"{self.name} is a folder", "Give the file itself.")
        if self.head.startswith(_ZIP_MAGIC):
            raise Invalid(f"{self.name} is a zip", "Unpack it and give what is inside.")
        if not self.is_text:
            raise Invalid(f"{self.name} is not a text file")
        with open_lenient(self.path) as text:
            text.name = self.name
            yield text

    def records(self) -> Iterator[Record]:
        """The JSON values of a file; errors among them."""
        with self.document() as text:
            if not text.is_json:
                raise Invalid(f"{self.name} is not JSON", "Leave out the format to have it recognised.")
            yield from text.records()

    def files(self, *endings: str) -> Iterator[tuple[str, Path]]:
        """The files of a folder with these endings, sorted, each with its relative path; or the file itself.

        Hidden files are left out, and links, which may lead anywhere. Folders that cannot be read come last: reading
        them reports why.
        """
        if not self.is_folder:
            yield self.name, self.path
            return
        unreadable: list[OSError] = []
        for folder, folders, names in os.walk(self.path, onerror=unreadable.append):
            folders[:] = sorted(each for each in folders if each[0] != "." and each not in SKIPPED_FOLDERS)
            for name in sorted(names):
                file = Path(folder, name)
                if name[0] != "." and name.lower().endswith(endings) and not file.is_symlink() and file.is_file():
                    yield file.relative_to(self.path).as_posix(), file
        yield from ((Path(each.filename).name, Path(each.filename)) for each in unreadable)


def read_text(name: str, path: Path) -> str | RefusedItem:
    """The text of a file, or why it cannot be read."""
    try:
        data = read_regular(path, MAX_TEXT_BYTES, "it")
        if b"\0" in data and not data.startswith(_UTF16_MARKS):
            return RefusedItem(name, "it is not a text file")
        text: str = clean_value(data.decode(_detect_encoding(data)))
    except Invalid as error:
        return RefusedItem(name, str(error))
    except UnicodeDecodeError as error:
        return RefusedItem(name, f"it is not {error.encoding.removesuffix('-sig').upper()}; save it as UTF-8")
    except OSError as error:
        return RefusedItem(name, f"it cannot be read: {error.strerror or error}")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _detect_encoding(data: bytes) -> str:
    return "utf-16" if data.startswith(_UTF16_MARKS) else "utf-8-sig"


@contextmanager
def open_source(source: Path | IO[bytes]) -> Iterator[ImportSource]:
    """Open a path, or a stream that is first copied to a file."""
    with as_file(source, MAX_EXPORT_BYTES) as path:
        try:
            status = path.stat()
            if not stat.S_ISDIR(status.st_mode) or is_kernel_file(status):
                require_regular(path)
        except FileNotFoundError as error:
            raise Invalid(f"there is no file {path}", "Give the path of an existing file.") from error
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise Invalid(f"{path} cannot be read: {reason}", "Check that it exists and may be read.") from error
        yield ImportSource(path, path.name or str(path))


def parse_json_object(text: str) -> dict[str, Any]:
    """Parse a JSON object. Anything else is put under `metadata` as it is."""
    try:
        value = clean_value(json.loads(text, strict=False))
    except (ValueError, RecursionError):
        return {"metadata": text}
    return value if isinstance(value, dict) else {"metadata": value} if value is not None else {}
