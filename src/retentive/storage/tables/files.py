"""Files that were indexed, as rows: reading them, and the steps that write them with their slices."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

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
    decodes,
    intact,
    read_intact,
    read_list,
    read_object,
    require_types,
)
from retentive.storage.scopes import chunk_filters
from retentive.storage.tables.chunks import insert_steps
from retentive.storage.tables.memories import namespace_step
from retentive.text.terms import terms

_PAGE = 1000  # rows read at a time


@dataclass(frozen=True, slots=True)
class Row:
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
    """Those that were given."""
    metadata: Mapping[str, Any]
    links: tuple[str, ...]
    unit: str
    sections: int
    mark: Mapping[str, Any] | None
    indexed: int
    version: int

    @property
    def all_tags(self) -> tuple[str, ...]:
        """With the name of its folder, and its own."""
        folder, _, name = self.path.rpartition("/")
        return tuple(dict.fromkeys(tag for tag in (*self.tags, folder.rpartition("/")[2], name) if tag))


class Slice(NamedTuple):
    """A slice of a file as it is kept, and its vector in a space."""

    ordinal: int
    text: str
    context: str | None
    first: int
    last: int
    vector: bytes | None

    def is_of(self, section: Section) -> bool:
        kept = (self.text, self.context, self.first, self.last)
        return kept == (section.text, context_of(section), section.first, section.last)


def context_of(section: Section) -> str | None:
    """The headings of a section as they are kept and embedded: a line each."""
    return "\n".join(section.headings) or None


@dataclass(frozen=True, slots=True)
class FileRows:
    engine: Engine

    def get(self, namespace: str, id: str) -> Row | None:
        rows = self.engine.read("file_get", {"namespace": namespace, "id": id})
        return _row(rows[0]) if rows else None

    def at(self, namespace: str, session: str | None, paths: Sequence[str]) -> list[Row]:
        values = {"namespace": namespace, "paths": [*paths], "within": session or ""}
        return read_intact(self.engine, "file_at", values, _row) if paths else []

    def below(self, namespace: str, session: str | None, folder: str) -> Iterator[Row]:
        """All that are in a folder, and in those inside it."""
        first = folder.rstrip("/") + "/"
        bounds = {"namespace": namespace, "within": session or "", "first": first, "beyond": first[:-1] + "0"}
        after = ""
        while page := self.engine.read("file_below", {**bounds, "after": after, "limit": _PAGE}):
            yield from intact(page, _row)
            after = page[-1][2]

    def page(self, namespace: str, limit: int, session: str | None, after: Row | None) -> list[Row]:
        """In the order of their paths; of one session, or of all and none."""
        asked = {"namespace": namespace, "limit": limit, "any": int(session is None), "within": session or ""}
        last = {"after": after.path, "after_session": after.session or ""} if after else {}
        return read_intact(self.engine, "file_list", {"after": "", "after_session": "", **asked, **last}, _row)

    def counts(self, namespace: str) -> tuple[int, int]:
        """Files, and their slices."""
        files, slices = self.engine.read("file_counts", {"namespace": namespace})[0]
        return files, slices

    def slices(self, row: Row, space: Space | None) -> list[Slice]:
        values = {"namespace": row.namespace, "id": row.id, "space": space.name if space else ""}
        return [*intact(self.engine.read("file_slices", values), _slice)]

    def passages(self, chunks: Sequence[int], scope: Scope) -> dict[int, Passage]:
        """What these chunks are slices of, as far as the scope still sees it."""
        filters, params = chunk_filters(scope)
        rows = self.engine.read("file_hits", {**params, "chunks": [*chunks]}, filters)
        return dict(intact(rows, lambda row: (row[0], _passage(row))))

    def all_passages(self, row: Row) -> list[Passage]:
        """Of a file, in their order."""
        found = self.slices(row, None)
        return [_made(row, row.all_tags, each.text, each.context, each.first, each.last) for each in found]

    def broken(self) -> list[tuple[str, str, str]]:
        """Namespace, id and path of those of which a slice is missing."""
        rows = self.engine.read("check_files")
        return [(namespace, id, path) for namespace, id, path in rows if isinstance(id, str) and isinstance(path, str)]


_FILE = (
    "namespace id path session kind hash size modified stamp title tags metadata links unit sections mark indexed"
    " version"
)


@decodes("files", _FILE)
def _row(row: Sequence[Any]) -> Row:
    (
        namespace, id, path, session, kind, hash, size, modified, stamp, title, tags, metadata, links, unit, sections,
        mark, indexed, version,
    ) = row  # fmt: skip
    require_types((namespace, id, path, session, kind, hash, stamp, title, unit), TEXTS)
    require_types((size, sections, version), WHOLE)
    from_micros(modified), from_micros(indexed)  # what is no time shows here
    return Row(
        namespace, id, path, session, kind, hash, size, modified, stamp, title, _texts(tags),
        read_object(metadata) if metadata else {}, _texts(links), unit, sections,
        read_object(mark) if mark else None, indexed, version,
    )  # fmt: skip


def _texts(text: str | None) -> tuple[str, ...]:
    return tuple(read_list(text)) if text else ()


@decodes("chunks", "ordinal text context first_sequence last_sequence vector")
def _slice(row: Sequence[Any]) -> Slice:
    found = Slice._make(row)
    require_types((found.text, found.context), TEXTS)
    require_types((found.ordinal, found.first, found.last), WHOLE)
    return found


def _written(value: Any) -> str | None:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")) if value else None


@decodes("chunks", "n text context first_sequence last_sequence tags")
def _passage(row: Sequence[Any]) -> Passage:
    _, text, context, first, last, tags, *rest = row
    require_types((text, context), TEXTS)
    return _made(_row(rest), _texts(tags), text, context, first, last)


def _made(file: Row, tags: tuple[str, ...], text: str, context: str | None, first: int, last: int) -> Passage:
    headings = tuple(context.split("\n")) if context else ()
    return Passage(
        file.id, file.namespace, file.path, file.session, file.title, headings, first, last, file.unit, text,
        from_micros(file.modified), tags, file.metadata,
    )  # fmt: skip


def file_of(row: Row) -> File:
    return File(
        row.id, row.namespace, row.path, row.session, row.kind, row.title, row.all_tags, row.metadata, row.links,
        row.size, row.hash, from_micros(row.modified), from_micros(row.indexed), row.sections,
    )  # fmt: skip


def save_steps(row: Row) -> Iterator[Step]:
    """A new file, or a new version of one: refused if another was first."""
    values: dict[str, Any] = {
        "namespace": row.namespace, "id": row.id, "path": row.path, "session": row.session, "kind": row.kind,
        "hash": row.hash, "size": row.size, "modified": row.modified, "stamp": row.stamp, "title": row.title,
        "tags": _written(row.tags), "metadata": _written(row.metadata), "links": _written(row.links),
        "unit": row.unit, "sections": row.sections, "mark": _written(row.mark), "indexed": row.indexed,
        "version": row.version,
    }  # fmt: skip
    if row.version > 1:
        yield step("file_update", expect=1, **values)
        return
    yield namespace_step(row.namespace, row.indexed)
    yield step("file_insert", **values)


def slice_steps(
    row: Row, sections: Sequence[Section], first: int, space: Space | None, vectors: Sequence[bytes | None]
) -> Iterator[Step]:
    """These sections in place of its slices from the ordinal `first` on."""
    if row.version > 1:
        yield step("file_chunk_delete", namespace=row.namespace, owner=row.id, first=first)
    common = {
        **_labels(row), "session": row.session, "confidence": DEFAULT_CONFIDENCE[Source.FILE],
        "importance": DEFAULT_IMPORTANCE, "space": space.name if space else None, "f_before": None, "f_after": None,
        "f_speaker": None, "f_date": None,
    }  # fmt: skip
    own = zip(_slices(sections, first), vectors, strict=True)
    yield from insert_steps([{**common, **each, "vector": vector} for each, vector in own], space, "file_chunk_insert")


def _slices(sections: Iterable[Section], first: int) -> Iterator[dict[str, Any]]:
    for ordinal, section in enumerate(sections, start=first):
        context = context_of(section)
        yield {
            "ordinal": ordinal, "text": section.text, "first": section.first, "last": section.last, "context": context,
            "f_content": terms(section.text), "f_context": terms(context) if context else None,
        }  # fmt: skip


def _labels(row: Row) -> dict[str, Any]:
    """What all slices of a file have of it."""
    tags = row.all_tags
    return {
        "namespace": row.namespace, "owner": row.id, "tags": _written(tags), "valid_from": row.modified,
        "f_tags": terms(" ".join((*tags, row.title))),
    }  # fmt: skip


def refresh_step(row: Row) -> Step:
    """All its slices by its present name, tags and time."""
    return step("file_chunk_refresh", **_labels(row))


def stamp_step(row: Row) -> Step:
    """It was touched, and nothing else: who is late does no harm."""
    return step("file_stamp", namespace=row.namespace, id=row.id, version=row.version, stamp=row.stamp)


def delete_steps(row: Row) -> Iterator[Step]:
    yield step("file_delete", expect=1, namespace=row.namespace, id=row.id, version=row.version)
    yield step("file_chunk_delete", namespace=row.namespace, owner=row.id, first=0)


def reset_step(namespace: str, id: str) -> Step:
    return step("file_reset", namespace=namespace, id=id)
