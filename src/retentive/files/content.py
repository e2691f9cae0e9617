"""A file as it is to be kept: without secrets, read from its start or from where it grew."""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import PurePath
from typing import Any, NamedTuple

from retentive.errors import Invalid
from retentive.files.load import Loaded, fingerprint
from retentive.files.readers.decode import decode, decode_more
from retentive.files.readers.read import read
from retentive.files.readers.resume import KINDS, resumable, resume
from retentive.model import Document, Mark, Section
from retentive.storage.tables.files import Row
from retentive.store import OpenStore, secret_policy

_PACKED = ("pdf", "docx")  # no text before they are read
_MADE = (*_PACKED, "html")  # what they say is not what is written in them


class Read(NamedTuple):
    """What a file says, from a slice on."""

    title: str | None
    metadata: Mapping[str, Any]
    links: tuple[str, ...]
    unit: str
    first: int
    """The ordinal of the first section; those before it stay."""
    sections: tuple[Section, ...]
    mark: Mapping[str, Any] | None


def binary(data: bytes, kind: str) -> bool:
    """Whether it only has the name of a text."""
    return kind not in _PACKED and b"\0" in data[:8000] and not data.startswith((b"\xff\xfe", b"\xfe\xff"))


def whole(store: OpenStore, path: str, kind: str, data: bytes) -> Read:
    name = PurePath(path).name
    safe, mark = _without_secrets(store, name, kind, data), None
    found = read(name, safe)
    if kind in _MADE:
        found = _guarded(store, found)
    elif safe is data and kind in KINDS:
        mark = _mark(resumable(data, kind, name=name), found.sections, 0)
    return Read(found.title, found.metadata, found.links, found.unit, 0, found.sections, mark)


def grown(store: OpenStore, row: Row, loaded: Loaded) -> Read | None:
    """What is new at its end; None: it was changed elsewhere, or must be read from its start for another reason."""
    data = loaded.data
    if not row.mark or len(data) <= row.size or fingerprint(data[: row.size]) != row.hash:
        return None
    known = dict(row.mark)
    first = known.pop("sections")
    mark = Mark(**{**known, "headings": tuple(known["headings"]), "links": tuple(known["links"])})
    name, rest = PurePath(row.path).name, data[mark.offset :]
    try:
        text = decode_more(name, rest, mark.encoding)
        if secret_policy.guarded(store, text, "file") != text:
            return None
        more = resume(row.kind, mark.headings, rest, mark.line, mark.encoding, name)
        after = _mark(resumable(rest, row.kind, mark, name), more.sections, first)
    except Invalid:
        return None  # by reading it from its start one learns why
    title = mark.title or more.title
    if (title or PurePath(row.path).stem) != row.title:
        return None
    links = tuple(dict.fromkeys((*mark.links, *more.links)))
    return Read(title, row.metadata, links, row.unit, first, more.sections, after)


def _mark(mark: Mark, sections: tuple[Section, ...], before: int) -> Mapping[str, Any] | None:
    """With the number of sections that are before it; None: it is the beginning."""
    if mark.offset == 0:
        return None
    return {**asdict(mark), "sections": before + sum(each.first < mark.line for each in sections)}


def _without_secrets(store: OpenStore, name: str, kind: str, data: bytes) -> bytes:
    """What replaces a secret has as many lines, so that what follows keeps its place."""
    if kind in _PACKED:
        return data
    text = decode(name, data).text
    safe = secret_policy.guarded(store, text, "file")
    return data if safe == text else safe.encode()


def _guarded(store: OpenStore, found: Document) -> Document:
    texts = secret_policy.guarded_pieces(store, [each.text for each in found.sections], "file")
    sections = tuple(
        Section(tuple(secret_policy.guarded_json(store, each.headings, "file")), each.first, each.last, text)
        for each, text in zip(found.sections, texts, strict=True)
        if text.strip()
    )
    metadata = secret_policy.guarded_json(store, dict(found.metadata), "file")
    title, links = secret_policy.guarded_json(store, (found.title, found.links), "file")
    return Document(title, metadata, links, sections, found.unit)
