"""The table of indexed files: `FileRows` reads it, functions make the steps that write a file and its chunks."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any, NamedTuple

from retentive.frozen_dataclass import dataclass
from retentive.model import (
    DEFAULT_CONFIDENCE,
    DEFAULT_IMPORTANCE,
    File,
    Passage,
    Scope,
    Section,
    Source,
    Space,
    from_micros,
)
from retentive.storage import Engine, Step, step
from retentive.storage.damage import (
    TEXTS,
    WHOLE,
    decode_intact,
    decodes,
    read_intact,
    read_list,
    read_object,
    require_types,
)
from retentive.storage.scopes import chunk_filters
from retentive.storage.tables.chunks import insert_steps
from retentive.storage.tables.memories import namespace_step
from retentive.text.terms import segment_text

_PAGE_SIZE = 1000  # rows read at a time


@dataclass(frozen=True, slots=True)
class FileRow:
    namespace: str
    id: str
    path: str
    session: str | None
    kind: str
    hash: str
    size: int
    modified: int
    stamp: str
    title: str
    tags: tuple[str, ...]
    """The tags that the user gave."""
    metadata: Mapping[str, Any]
    links: tuple[str, ...]
    unit: str
    sections: int
    mark: Mapping[str, Any] | None
    """Where reading may resume once the file has grown."""
    indexed: int
    version: int

    @property
    def all_tags(self) -> tuple[str, ...]:
        """The given tags, the name of the folder and the name of the file."""
        folder, _, name = self.path.rpartition("/")
        return tuple(dict.fromkeys(tag for tag in (*self.tags, folder.rpartition("/")[2], name) if tag))


class FileChunk(NamedTuple):
    """A stored chunk of a file, and its vector in a space."""

    ordinal: int
    text: str
    context: str | None
    first: int
    last: int
    vector: bytes | None

    def is_of(self, section: Section) -> bool:
        stored = (self.text, self.context, self.first, self.last)
        return stored == (section.text, join_headings(section), section.first, section.last)


def join_headings(section: Section) -> str | None:
    """The headings of a section as they are stored and embedded: one per line."""
    return "\n".join(section.headings) or None


@dataclass(frozen=True, slots=True)
class FileRows:
    engine: Engine

    def get(self, namespace: str, id: str) -> FileRow | None:
        rows = self.engine.read("file_get", {"namespace": namespace, "id": id})
        return _decode_file(rows[0]) if rows else None

    def list_by_path(self, namespace: str, session: str | None, paths: Sequence[str]) -> list[FileRow]:
        values = {"namespace": namespace, "paths": [*paths], "within": session or ""}
        return read_intact(self.engine, "file_by_path", values, _decode_file) if paths else []

    def list_in_folder(self, namespace: str, session: str | None, folder: str) -> Iterator[FileRow]:
        """All files in a folder and its subfolders."""
        first = folder.rstrip("/") + "/"
        bounds = {"namespace": namespace, "within": session or "", "first": first, "beyond": first[:-1] + "0"}
        after = ""
        while page := self.engine.read("file_in_folder", {**bounds, "after": after, "limit": _PAGE_SIZE}):
            yield from decode_intact(page, _decode_file)
            after = page[-1][_FILE_COLUMNS.index("path")]

    def list_page(self, namespace: str, limit: int, session: str | None, after: FileRow | None) -> list[FileRow]:
        """Files ordered by path, of one session or (None) of all sessions and none. `after` is the last one before."""
        values = {
            "namespace": namespace,
            "limit": limit,
            "any": int(session is None),
            "within": session or "",
            "after": after.path if after else "",
            "after_session": (after.session or "") if after else "",
        }
        return read_intact(self.engine, "file_list", values, _decode_file)

    def counts(self, namespace: str) -> tuple[int, int]:
        """How many files and chunks of files a namespace has."""
        files, chunks = self.engine.read("file_counts", {"namespace": namespace})[0]
        return files, chunks

    def list_chunks(self, row: FileRow, space: Space | None) -> list[FileChunk]:
        values = {"namespace": row.namespace, "id": row.id, "space": space.name if space else ""}
        return [*decode_intact(self.engine.read("file_chunks", values), _decode_chunk)]

    def list_passages(self, chunks: Sequence[int], scope: Scope) -> dict[int, Passage]:
        """The passages of these chunks that the scope includes, by chunk."""
        filters, params = chunk_filters(scope)
        rows = self.engine.read("file_hits", {**params, "chunks": [*chunks]}, filters)
        return dict(decode_intact(rows, _decode_passage))

    def list_all_passages(self, row: FileRow) -> list[Passage]:
        """All passages of a file, in order."""
        chunks = self.list_chunks(row, None)
        return [_make_passage(row, row.all_tags, each.text, each.context, each.first, each.last) for each in chunks]

    def list_broken(self) -> list[tuple[str, str, str]]:
        """Namespace, id and path of the files of which a chunk is missing."""
        rows = self.engine.read("check_files")
        return [(namespace, id, path) for namespace, id, path in rows if isinstance(id, str) and isinstance(path, str)]


_FILE_COLUMNS = tuple(field.name for field in fields(FileRow))
_TEXT_COLUMNS = ("namespace", "id", "path", "session", "kind", "hash", "stamp", "title", "unit")


@decodes("files", " ".join(_FILE_COLUMNS))
def _decode_file(row: Sequence[Any]) -> FileRow:
    values = dict(zip(_FILE_COLUMNS, row, strict=True))
    require_types([values[name] for name in _TEXT_COLUMNS], TEXTS)
    require_types((values["size"], values["sections"], values["version"]), WHOLE)
    from_micros(values["modified"]), from_micros(values["indexed"])  # raises if it is not a time
    values["tags"], values["links"] = _read_texts(values["tags"]), _read_texts(values["links"])
    values["metadata"] = read_object(values["metadata"]) if values["metadata"] else {}
    values["mark"] = read_object(values["mark"]) if values["mark"] else None
    return FileRow(**values)


def _read_texts(text: str | None) -> tuple[str, ...]:
    return tuple(read_list(text)) if text else ()


@decodes("chunks", "ordinal text context first_sequence last_sequence vector")
def _decode_chunk(row: Sequence[Any]) -> FileChunk:
    chunk = FileChunk._make(row)
    require_types((chunk.text, chunk.context), TEXTS)
    require_types((chunk.ordinal, chunk.first, chunk.last), WHOLE)
    return chunk


def _write_json(value: Any) -> str | None:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")) if value else None


@decodes("chunks", "n text context first_sequence last_sequence tags")
def _decode_passage(row: Sequence[Any]) -> tuple[int, Passage]:
    """The number of the chunk, and its passage."""
    chunk, text, context, first, last, tags, *file = row
    require_types((text, context), TEXTS)
    return chunk, _make_passage(_decode_file(file), _read_texts(tags), text, context, first, last)


def _make_passage(
    file: FileRow, tags: tuple[str, ...], text: str, context: str | None, first: int, last: int
) -> Passage:
    headings = tuple(context.split("\n")) if context else ()
    return Passage(
        id=file.id, namespace=file.namespace, path=file.path, session=file.session, title=file.title,
        headings=headings, first=first, last=last, unit=file.unit, content=text, modified=from_micros(file.modified),
        tags=tags, metadata=file.metadata,
    )  # fmt: skip


def make_file(row: FileRow) -> File:
    return File(
        id=row.id, namespace=row.namespace, path=row.path, session=row.session, kind=row.kind, title=row.title,
        tags=row.all_tags, metadata=row.metadata, links=row.links, size=row.size, hash=row.hash,
        modified=from_micros(row.modified), indexed=from_micros(row.indexed), sections=row.sections,
    )  # fmt: skip


def save_steps(row: FileRow) -> Iterator[Step]:
    """Insert a file, or a new version of one. Refused if a concurrent writer was first."""
    values = {name: getattr(row, name) for name in _FILE_COLUMNS}
    values |= {name: _write_json(values[name]) for name in ("tags", "metadata", "links", "mark")}
    if row.version > 1:
        yield step("file_update", expect=1, **values)
        return
    yield namespace_step(row.namespace, row.indexed)
    yield step("file_insert", **values)


def replace_chunks_steps(
    row: FileRow, sections: Sequence[Section], first: int, space: Space | None, vectors: Sequence[bytes | None]
) -> Iterator[Step]:
    """Replace the chunks of a file from the ordinal `first` on by these sections."""
    if row.version > 1:
        yield step("file_chunk_delete", namespace=row.namespace, owner=row.id, first=first)
    common = {
        **_file_values(row), "session": row.session, "confidence": DEFAULT_CONFIDENCE[Source.FILE],
        "importance": DEFAULT_IMPORTANCE, "space": space.name if space else None, "f_before": None, "f_after": None,
        "f_speaker": None, "f_date": None,
    }  # fmt: skip
    own = zip(_section_values(sections, first), vectors, strict=True)
    chunks = [{**common, **values, "vector": vector} for values, vector in own]
    yield from insert_steps(chunks, space, "file_chunk_insert")


def _section_values(sections: Iterable[Section], first: int) -> Iterator[dict[str, Any]]:
    for ordinal, section in enumerate(sections, start=first):
        context = join_headings(section)
        yield {
            "ordinal": ordinal, "text": section.text, "first": section.first, "last": section.last, "context": context,
            "f_content": segment_text(section.text), "f_context": segment_text(context) if context else None,
        }  # fmt: skip


def _file_values(row: FileRow) -> dict[str, Any]:
    """The columns that all chunks of a file have in common."""
    tags = row.all_tags
    return {
        "namespace": row.namespace, "owner": row.id, "tags": _write_json(tags), "valid_from": row.modified,
        "f_tags": segment_text(" ".join((*tags, row.title))),
    }  # fmt: skip


def refresh_chunks_step(row: FileRow) -> Step:
    """Give all chunks of a file its current name, tags and time."""
    return step("file_chunk_refresh", **_file_values(row))


def stamp_step(row: FileRow) -> Step:
    """Record the stamp of a file that was touched but not changed. Not guarded: a late write does no harm."""
    return step("file_set_stamp", namespace=row.namespace, id=row.id, version=row.version, stamp=row.stamp)


def delete_steps(row: FileRow) -> Iterator[Step]:
    yield step("file_delete", expect=1, namespace=row.namespace, id=row.id, version=row.version)
    yield step("file_chunk_delete", namespace=row.namespace, owner=row.id, first=0)


def reset_step(namespace: str, id: str) -> Step:
    """Have the file read again at the next indexing."""
    return step("file_reset", namespace=namespace, id=id)
