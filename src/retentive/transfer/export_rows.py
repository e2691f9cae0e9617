"""A store, or some of its namespaces, as the lines of an export (`lines.py`).

Every query names the namespace, so restricted views export what is theirs. Rows are read by pages whose size follows
that of the rows: memory stays the same, however large the store or a message is. Each line is of one state; what others
write meanwhile is in it or not.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from retentive.storage import Engine
from retentive.storage.damage import damaged_row, intact
from retentive.transfer import export_format
from retentive.transfer.export_format import Line, Row, dumped

FIRST, MOST = 16, 500  # rows of the first page, and of any
ENOUGH = 4_000_000  # characters of a page
TRIES = 20  # to read what others are just changing

Owner = tuple[str, str]  # type and id


class Wanted(NamedTuple):
    namespaces: Sequence[str]
    vectors: bool = False
    without: Sequence[str] = ()
    """Of `lines.PARTS`."""
    product: str = ""
    """Its version."""


def export(engine: Engine, wanted: Wanted) -> Iterator[tuple[str, bytes]]:
    """The type of each line, and the line."""
    counts: Counter[str] = Counter()
    yield "header", dumped(export_format.header(wanted.product, vectors=wanted.vectors, without=wanted.without))
    for namespace in sorted(wanted.namespaces):
        for line, row in rows(engine, namespace, wanted):
            counts[line.type] += 1
            yield line.type, dumped({"type": line.type, **row})
    yield "end", dumped(export_format.end(counts))


def rows(engine: Engine, namespace: str, wanted: Wanted) -> Iterator[tuple[Line, Row]]:
    """Of one namespace."""
    for made in intact(engine.read("export_namespaces", {"namespace": namespace}), export_format.NAMESPACE.encode):
        yield export_format.NAMESPACE, made
    for part in export_format.PARTS:
        if part not in wanted.without:
            yield from _WRITERS[part](_Reading(engine, namespace, wanted.vectors))


class _Reading(NamedTuple):
    engine: Engine
    namespace: str
    vectors: bool

    def read(self, query: str, **values: Any) -> list[tuple[Any, ...]]:
        return self.engine.read(query, {"namespace": self.namespace, **values})

    def pages(self, query: str, *key: tuple[int, Any], **values: Any) -> Iterator[list[tuple[Any, ...]]]:
        """`key` has the place of each column of the key, and what comes before its first value."""
        after = {f"k{at}": first for at, (_, first) in enumerate(key, start=1)}
        limit = FIRST
        while page := self.read(query, **values, **after, limit=limit):
            yield page
            after = {f"k{at}": page[-1][place] for at, (place, _) in enumerate(key, start=1)}
            limit = _fitting(limit, page)

    def vectors_of(self, owners: Sequence[Owner]) -> Mapping[Owner, list[Row]]:
        found: dict[Owner, list[Row]] = defaultdict(list)
        if self.vectors and owners:
            types, ids = {type for type, _ in owners}, [id for _, id in owners]
            for type, owner, *vector in self.read("export_vectors", types=[*types], owners=ids):
                found[type, owner] += _inner([vector], export_format.VECTORS, owner)
        return found


def _fitting(limit: int, page: Sequence[tuple[Any, ...]]) -> int:
    """As many rows as make a page that is large enough and not too large."""
    size = sum(len(value) for row in page for value in row if isinstance(value, str)) // len(page) + 1
    return max(1, min(MOST, 4 * limit, ENOUGH // size))


def _memories(reading: _Reading) -> Iterator[tuple[Line, Row]]:
    for page in reading.pages("export_memories", (1, "")):
        rows, history, vectors = _settled(reading, page)
        for made in intact(rows, export_format.MEMORY.encode):
            id, version = made["id"], made["version"]
            past = _inner(history[id], export_format.MEMORY.inner["history"], id)
            made["history"] = [each for each in past if each["version"] < version]
            yield export_format.MEMORY, _with(made, reading, vectors["memory", id])


def _inner(rows: Sequence[Sequence[Any]], line: Line, of: str) -> list[Row]:
    """The lesser lines of one, without those that are damaged."""
    return [*intact(rows, lambda row: line.encode(row, of))]


def _settled(
    reading: _Reading, page: list[tuple[Any, ...]]
) -> tuple[list[tuple[Any, ...]], Mapping[str, list[Any]], Mapping[Owner, list[Row]]]:
    """Memories with what belongs to them, of one state: read again if one was changed in between."""
    for _ in range(TRIES):
        ids = [row[1] for row in page]
        history: dict[str, list[Any]] = defaultdict(list)
        for id, *change in reading.read("export_memory_history", ids=ids):
            history[id].append(change)
        vectors = reading.vectors_of([("memory", id) for id in ids])
        if not reading.vectors:
            break
        some = {row[1]: row for row in reading.read("export_memory_some", ids=ids)}
        now = [some.get(row[1], row) for row in page if row[1] in some or not isinstance(row[1], str)]
        if [(row[1], row[-1]) for row in now] == [(row[1], row[-1]) for row in page]:
            break
        page = now
    return page, history, vectors


def _with(made: Row, reading: _Reading, vectors: list[Row]) -> Row:
    return {**made, "vectors": vectors} if reading.vectors else made


def _sessions(reading: _Reading) -> Iterator[tuple[Line, Row]]:
    for page in reading.pages("export_sessions", (1, "")):
        for made in intact(page, _encode_session):
            yield export_format.SESSION, made
            yield from _events(reading, made["id"], made["last_sequence"])


def _encode_session(row: Sequence[Any]) -> Row:
    """With the claims that are left; what stands in their place while there are none means nothing to others."""
    *columns, claims, left = row
    if not isinstance(left, int):
        raise damaged_row("session_state", {"session": columns[1], "claims_left": left})
    made = export_format.SESSION.encode([*columns, claims if left else ""])
    made["claims"] = made["claims"][-left:] if left else []
    return made


def _events(reading: _Reading, session: str, upto: int) -> Iterator[tuple[Line, Row]]:
    for page in reading.pages("export_events", (2, -1), session=session, upto=upto):
        vectors = reading.vectors_of([("event", f"{session}#{row[2]}") for row in page])
        for made in intact(page, export_format.EVENT.encode):
            yield export_format.EVENT, _with(made, reading, vectors["event", f"{session}#{made['sequence']}"])


def _records(reading: _Reading) -> Iterator[tuple[Line, Row]]:
    for page in reading.pages("export_records", (0, ""), (2, "")):
        owners = [(row[0], row[2]) for row in page]
        named = {"types": [*{type for type, _ in owners}], "ids": [id for _, id in owners]}
        history: dict[Owner, list[Any]] = defaultdict(list)
        for type, id, *change in reading.read("export_record_history", **named):
            history[type, id].append(change)
        links: dict[Owner, list[str]] = defaultdict(list)
        for type, id, target in reading.read("export_record_links", **named):
            links[type, id].append(target)
        vectors = reading.vectors_of(owners)
        rows = [(*row, links[owner]) for owner, row in zip(owners, page, strict=True)]
        for line, made in intact(rows, _encode_record):
            owner = line.type, made["id"]
            past = _inner(history[owner], line.inner["history"], made["id"])
            made["history"] = [each for each in past if each["version"] <= made["version"]]
            yield line, _with(made, reading, vectors[owner])
    for page in reading.pages("export_skill_runs", (1, ""), (2, -1), (3, "")):
        yield from _encoded(page, export_format.RUN)


def _encode_record(row: Sequence[Any]) -> tuple[Line, Row]:
    type, *columns = row
    if type not in export_format.RECORDS:
        raise damaged_row("records", {"type": type, "id": row[2]})
    return export_format.RECORDS[type], export_format.RECORDS[type].encode(columns)


def _encoded(page: Sequence[Sequence[Any]], line: Line) -> Iterator[tuple[Line, Row]]:
    return ((line, made) for made in intact(page, line.encode))


def _files(reading: _Reading) -> Iterator[tuple[Line, Row]]:
    for page in reading.pages("export_files", (1, "")):
        yield from ((export_format.FILE, found) for found in intact(page, lambda row: _file(reading, row)) if found)


def _file(reading: _Reading, row: Sequence[Any]) -> Row | None:
    """With its slices, of one state; nothing if it went meanwhile, and `DamagedRow` if a slice is damaged."""
    id = row[1]
    for _ in range(TRIES):
        made = export_format.FILE.encode(row)
        slices = reading.read("export_file_slices", id=id)
        made["slices"] = [export_format.FILE.inner["slices"].encode(each, f"of {row[2]}") for each in slices]
        made = _with(made, reading, reading.vectors_of([("file", id)])["file", id])
        now = reading.read("export_file_some", ids=[id])
        if not now:
            return None
        if now[0][-1] == row[-1]:
            break
        row = now[0]
    return made


def _expectations(reading: _Reading) -> Iterator[tuple[Line, Row]]:
    for page in reading.pages("export_expectations", (1, "")):
        yield from _encoded(page, export_format.EXPECTATION)


def _proposals(reading: _Reading) -> Iterator[tuple[Line, Row]]:
    for page in reading.pages("export_proposals", (1, "")):
        yield from _encoded(page, export_format.PROPOSAL)


def _hidden_messages(reading: _Reading) -> Iterator[tuple[Line, Row]]:
    for page in reading.pages("export_hidden_messages", (1, ""), (2, -1), (3, "")):
        yield from _encoded(page, export_format.HIDDEN)


def _accesses(reading: _Reading) -> Iterator[tuple[Line, Row]]:
    for page in reading.pages("export_access_log", (0, 0)):
        yield from _encoded([row[1:] for row in page], export_format.ACCESS)


def _purges(reading: _Reading) -> Iterator[tuple[Line, Row]]:
    for page in reading.pages("export_purges", (1, ""), (2, -1)):
        yield from _encoded(page, export_format.PURGE)


_WRITERS = {
    "memories": _memories,
    "sessions": _sessions,
    "records": _records,
    "files": _files,
    "expectations": _expectations,
    "proposals": _proposals,
    "hidden-messages": _hidden_messages,
    "access-log": _accesses,
    "purges": _purges,
}
