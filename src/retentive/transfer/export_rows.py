"""Turns the rows of some namespaces into the lines of an export (`export_format.py`).

Each query names its namespace, so a restricted view exports only its own rows. Rows are read by pages whose size
follows the size of the rows: memory use does not grow with the store. Each line shows one consistent state of its
memory, session, record or file. Rows that others write during the export may be in it or not.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from retentive.storage import Engine
from retentive.storage.damage import damaged_row_error, decode_intact
from retentive.storage.tables.transfer import (
    ExportedChange,
    ExportedFile,
    ExportedMemory,
    ExportedRecord,
    ExportedRows,
    ExportedSession,
    Owner,
)
from retentive.transfer import export_format
from retentive.transfer.export_format import LineType, Row, write_line

MAX_ATTEMPTS = 20  # to read a row and its parts while others change it

Line = tuple[LineType, Row]


class ExportRequest(NamedTuple):
    """The namespaces and parts that an export is to have."""

    namespaces: Sequence[str]
    vectors: bool = False
    without: Sequence[str] = ()
    """Names of `export_format.PARTS` that are left out."""
    product: str = ""
    """The version of this program, for the header."""


def export_lines(engine: Engine, request: ExportRequest) -> Iterator[tuple[str, bytes]]:
    """The type and the bytes of each line, from the header to the end."""
    counts: Counter[str] = Counter()
    header = export_format.make_header(request.product, vectors=request.vectors, without=request.without)
    yield "header", write_line(header)
    for namespace in sorted(request.namespaces):
        for line_type, row in read_lines(engine, namespace, request):
            counts[line_type.type] += 1
            yield line_type.type, write_line({"type": line_type.type, **row})
    yield "end", write_line(export_format.make_end(counts))


def read_lines(engine: Engine, namespace: str, request: ExportRequest) -> Iterator[Line]:
    """The lines of one namespace, part after part."""
    reader = _Reader(ExportedRows(engine, namespace), request.vectors)
    yield from _encode_all(reader.rows.read_namespace(), export_format.NAMESPACE_LINE)
    for part in export_format.PARTS:
        if part not in request.without:
            yield from _PART_READERS[part](reader)


class _Reader(NamedTuple):
    """The rows of a namespace, and whether their vectors are wanted."""

    rows: ExportedRows
    has_vectors: bool

    def read_vectors(self, owners: Sequence[Owner]) -> Mapping[Owner, list[Row]]:
        """The encoded vectors of each owner. Damaged ones are left out and reported."""
        encoded: dict[Owner, list[Row]] = defaultdict(list)
        if self.has_vectors:
            for (type, id), vectors in self.rows.read_vectors(owners).items():
                encoded[type, id] = _encode_inner(vectors, export_format.VECTOR_LINE, id)
        return encoded

    def add_vectors(self, line: Row, vectors: list[Row]) -> Row:
        return {**line, "vectors": vectors} if self.has_vectors else line


def _encode_all(rows: Sequence[Sequence[Any]], line_type: LineType) -> Iterator[Line]:
    """Lines that need nothing but their row. Damaged rows are left out and reported."""
    return ((line_type, line) for line in decode_intact(rows, line_type.encode))


def _encode_inner(rows: Sequence[Sequence[Any]], line_type: LineType, owner_id: str) -> list[Row]:
    """The inner lines of one line. Damaged ones are left out and reported."""
    return [*decode_intact(rows, lambda row: line_type.encode(row, owner_id))]


def _read_memories(reader: _Reader) -> Iterator[Line]:
    history_type = export_format.MEMORY_LINE.inner["history"]
    for page in reader.rows.page_memories():
        rows, history, vectors = _read_consistent(reader, page)
        for line in decode_intact(rows, export_format.MEMORY_LINE.encode):
            id = line["id"]
            changes = _encode_inner(history[id], history_type, id)
            line["history"] = [change for change in changes if change["version"] < line["version"]]
            yield export_format.MEMORY_LINE, reader.add_vectors(line, vectors["memory", id])


class _MemoryPage(NamedTuple):
    rows: list[ExportedMemory]
    history: Mapping[str, list[ExportedChange]]
    vectors: Mapping[Owner, list[Row]]


def _read_consistent(reader: _Reader, page: list[ExportedMemory]) -> _MemoryPage:
    """Memories with their history and vectors. All are read again if a memory was changed in between."""
    for _ in range(MAX_ATTEMPTS):
        ids = [row.id for row in page]
        history = reader.rows.read_memory_history(ids)
        vectors = reader.read_vectors([("memory", id) for id in ids])
        if not reader.has_vectors:
            break
        stored = {row.id: row for row in reader.rows.read_memories(ids)}
        # a damaged id is found by no query, so its row is kept: encoding it reports the damage
        current = [stored.get(row.id, row) for row in page if row.id in stored or not isinstance(row.id, str)]
        is_unchanged = [(row.id, row.version) for row in current] == [(row.id, row.version) for row in page]
        if is_unchanged:
            break
        page = current
    return _MemoryPage(page, history, vectors)


def _read_sessions(reader: _Reader) -> Iterator[Line]:
    for page in reader.rows.page_sessions():
        for line in decode_intact(page, _encode_session):
            yield export_format.SESSION_LINE, line
            yield from _read_events(reader, line["id"], line["last_sequence"])


def _encode_session(row: ExportedSession) -> Row:
    """A session with the claims that are still to be applied; applied ones mean nothing to another store."""
    values = row._asdict()
    claims_left = values.pop("claims_left")
    if not isinstance(claims_left, int):
        raise damaged_row_error("session_state", {"session": row.id, "claims_left": claims_left})
    if not claims_left:
        values["claims"] = ""
    line = export_format.SESSION_LINE.encode([*values.values()])
    line["claims"] = line["claims"][-claims_left:] if claims_left else []
    return line


def _read_events(reader: _Reader, session: str, upto: int) -> Iterator[Line]:
    """The messages that the session had when its own line was written."""
    for page in reader.rows.page_events(session, upto):
        vectors = reader.read_vectors([("event", f"{session}#{row.sequence}") for row in page])
        for line in decode_intact(page, export_format.EVENT_LINE.encode):
            owner = "event", f"{session}#{line['sequence']}"
            yield export_format.EVENT_LINE, reader.add_vectors(line, vectors[owner])


def _read_records(reader: _Reader) -> Iterator[Line]:
    for page in reader.rows.page_records():
        owners = [row.owner for row in page]
        history = reader.rows.read_record_history(owners)
        links = reader.rows.read_record_links(owners)
        vectors = reader.read_vectors(owners)
        linked = [(row, links[row.owner]) for row in page]
        for line_type, line in decode_intact(linked, _encode_record):
            owner = line_type.type, line["id"]
            changes = _encode_inner(history[owner], line_type.inner["history"], line["id"])
            line["history"] = [change for change in changes if change["version"] <= line["version"]]
            yield line_type, reader.add_vectors(line, vectors[owner])
    for runs in reader.rows.page_skill_runs():
        yield from _encode_all(runs, export_format.RUN_LINE)


def _encode_record(record: tuple[ExportedRecord, list[str]]) -> Line:
    row, links = record
    line_type = export_format.RECORD_LINES.get(row.type)
    if line_type is None:
        raise damaged_row_error("records", {"type": row.type, "id": row.id})
    return line_type, line_type.encode([*row.columns, links])


def _read_files(reader: _Reader) -> Iterator[Line]:
    for page in reader.rows.page_files():
        for line in decode_intact(page, lambda row: _read_file(reader, row)):
            if line is not None:
                yield export_format.FILE_LINE, line


def _read_file(reader: _Reader, row: ExportedFile) -> Row | None:
    """A file with its chunks, in one consistent state. None if it was deleted; `DamagedRow` if a chunk is damaged."""
    chunk_type = export_format.FILE_LINE.inner["slices"]
    for _ in range(MAX_ATTEMPTS):
        line = export_format.FILE_LINE.encode(row)
        chunks = reader.rows.read_file_chunks(row.id)
        line["slices"] = [chunk_type.encode(each, f"of {row.path}") for each in chunks]
        line = reader.add_vectors(line, reader.read_vectors([("file", row.id)])["file", row.id])
        current = reader.rows.read_file(row.id)
        if current is None:
            return None
        if current.version == row.version:
            break
        row = current
    return line


def _read_expectations(reader: _Reader) -> Iterator[Line]:
    for page in reader.rows.page_expectations():
        yield from _encode_all(page, export_format.EXPECTATION_LINE)


def _read_proposals(reader: _Reader) -> Iterator[Line]:
    for page in reader.rows.page_proposals():
        yield from _encode_all(page, export_format.PROPOSAL_LINE)


def _read_hidden_messages(reader: _Reader) -> Iterator[Line]:
    for page in reader.rows.page_hidden_messages():
        yield from _encode_all(page, export_format.HIDDEN_LINE)


def _read_accesses(reader: _Reader) -> Iterator[Line]:
    for page in reader.rows.page_accesses():
        yield from _encode_all([row.columns for row in page], export_format.ACCESS_LINE)


def _read_purges(reader: _Reader) -> Iterator[Line]:
    for page in reader.rows.page_purges():
        yield from _encode_all(page, export_format.PURGE_LINE)


_PART_READERS = {
    "memories": _read_memories,
    "sessions": _read_sessions,
    "records": _read_records,
    "files": _read_files,
    "expectations": _read_expectations,
    "proposals": _read_proposals,
    "hidden-messages": _read_hidden_messages,
    "access-log": _read_accesses,
    "purges": _read_purges,
}
