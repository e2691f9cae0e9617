"""The content of a file as it is indexed: its bytes, read at one moment, then its sections without secrets.

A file that grew at its end is read from where it grew.
"""

import hashlib
import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import PurePath
from typing import Any, BinaryIO, NamedTuple

from retentive.errors import Invalid
from retentive.files.readers.decode import decode, decode_more
from retentive.files.readers.read import read
from retentive.files.readers.resume import RESUMABLE_KINDS, find_resume_point, resume
from retentive.files.walk import is_stamp_reliable, make_stamp
from retentive.fs.regular_files import use_regular
from retentive.model import Document, ResumePoint, Section
from retentive.storage.tables.files import FileRow
from retentive.store import OpenStore, secret_policy

MAX_READS = 3  # of a file that changes while it is read
BINARY_CHECK_BYTES = 8000  # of a file, in which a NUL shows that it is binary

_PACKED_KINDS = ("pdf", "docx")  # no text before they are read
_EXTRACTED_KINDS = (*_PACKED_KINDS, "html")  # their text is not what is written in them


class LoadedFile(NamedTuple):
    data: bytes
    hash: str
    modified: int
    """Microseconds."""
    stamp: str
    """Empty if the file changed so shortly before that a further change might not show."""


class FileContent(NamedTuple):
    """The content of a file, or of the end that is new."""

    title: str | None
    metadata: Mapping[str, Any]
    links: tuple[str, ...]
    unit: str
    first_ordinal: int
    """Of the sections. Those before it stay as they are."""
    sections: tuple[Section, ...]
    resume_point: Mapping[str, Any] | None
    """Where reading may resume once the file has grown."""


def load_file(path: str, max_bytes: int) -> LoadedFile:
    """Read the bytes of a file. `OSError` if that fails; `Invalid` if it is no longer a regular file of that size."""
    data, status, is_consistent = use_regular(path, max_bytes, _read_consistently, "it")
    stamp = make_stamp(status) if is_consistent and is_stamp_reliable(status) else ""
    return LoadedFile(data, hash_bytes(data), status.st_mtime_ns // 1000, stamp)


def hash_bytes(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def is_binary(data: bytes, kind: str) -> bool:
    """Return whether a file only has the name of a text."""
    has_nul = b"\0" in data[:BINARY_CHECK_BYTES]
    return kind not in _PACKED_KINDS and has_nul and not data.startswith((b"\xff\xfe", b"\xfe\xff"))


def read_whole(store: OpenStore, path: str, kind: str, data: bytes) -> FileContent:
    """Read a file from its start, without secrets."""
    name = PurePath(path).name
    safe = _remove_secrets(store, name, kind, data)
    document = read(name, safe)
    mark = None
    if kind in _EXTRACTED_KINDS:
        document = _apply_secret_policy(store, document)
    elif safe is data and kind in RESUMABLE_KINDS:
        mark = _encode_resume_point(find_resume_point(data, kind, name=name), document.sections, 0)
    return FileContent(document.title, document.metadata, document.links, document.unit, 0, document.sections, mark)


def read_appended(store: OpenStore, row: FileRow, loaded: LoadedFile) -> FileContent | None:
    """Read the end that is new; None if the file changed elsewhere, or must be read from its start."""
    data = loaded.data
    if not row.mark or len(data) <= row.size or hash_bytes(data[: row.size]) != row.hash:
        return None
    stored = dict(row.mark)
    first = stored.pop("sections")
    mark = ResumePoint(**{**stored, "headings": tuple(stored["headings"]), "links": tuple(stored["links"])})
    name, rest = PurePath(row.path).name, data[mark.offset :]
    try:
        text = decode_more(name, rest, mark.encoding)
        if secret_policy.apply_policy(store, text, "file") != text:
            return None
        more = resume(row.kind, mark.headings, rest, mark.line, mark.encoding, name)
        new_mark = _encode_resume_point(find_resume_point(rest, row.kind, mark, name), more.sections, first)
    except Invalid:
        return None  # reading from the start then gives the reason
    title = mark.title or more.title
    if (title or PurePath(row.path).stem) != row.title:
        return None
    links = tuple(dict.fromkeys((*mark.links, *more.links)))
    return FileContent(title, row.metadata, links, row.unit, first, more.sections, new_mark)


def _read_consistently(file: BinaryIO) -> tuple[bytes, os.stat_result, bool]:
    """Return the bytes of a file, its status, and whether the two belong together."""
    before = os.fstat(file.fileno())
    for _ in range(MAX_READS):
        file.seek(0)
        data, after = file.read(), os.fstat(file.fileno())
        if make_stamp(after) == make_stamp(before) and after.st_size == before.st_size:
            return data, after, True
        before = after
    return data, before, False


def _encode_resume_point(mark: ResumePoint, sections: tuple[Section, ...], before: int) -> Mapping[str, Any] | None:
    """Return a resume point as JSON, with the number of sections before it; None for the start of a file."""
    if mark.offset == 0:
        return None
    return {**asdict(mark), "sections": before + sum(each.first < mark.line for each in sections)}


def _remove_secrets(store: OpenStore, name: str, kind: str, data: bytes) -> bytes:
    """Replace the secrets of a text. A replacement has as many lines, so that line numbers stay right."""
    if kind in _PACKED_KINDS:
        return data
    text = decode(name, data).text
    safe = secret_policy.apply_policy(store, text, "file")
    return data if safe == text else safe.encode()


def _apply_secret_policy(store: OpenStore, document: Document) -> Document:
    """Replace the secrets in the text that was extracted from a file."""
    texts = secret_policy.apply_policy_to_pieces(store, [each.text for each in document.sections], "file")
    sections = tuple(
        Section(tuple(secret_policy.apply_policy_to_json(store, each.headings, "file")), each.first, each.last, text)
        for each, text in zip(document.sections, texts, strict=True)
        if text.strip()
    )
    metadata = secret_policy.apply_policy_to_json(store, dict(document.metadata), "file")
    title, links = secret_policy.apply_policy_to_json(store, (document.title, document.links), "file")
    return Document(title, metadata, links, sections, document.unit)
