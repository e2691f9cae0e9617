"""A store, or some of its namespaces, as the lines of an export (`lines.py`).

Every query names the namespace, so restricted views export what is theirs. Rows are read by pages whose size follows
that of the rows: memory stays the same, however large the store or a message is. Each line is of one state; what others
write meanwhile is in it or not.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from retentive.storage import Engine
from retentive.transfer import lines
from retentive.transfer.lines import Line, Row, dumped

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
    yield "header", dumped(lines.header(wanted.product, vectors=wanted.vectors, without=wanted.without))
    for namespace in sorted(wanted.namespaces):
        for line, row in rows(engine, namespace, wanted):
            counts[line.type] += 1
            yield line.type, dumped({"type": line.type, **row})
    yield "end", dumped(lines.end(counts))


def rows(engine: Engine, namespace: str, wanted: Wanted) -> Iterator[tuple[Line, Row]]:
    """Of one namespace."""
    for row in engine.read("export_namespaces", {"namespace": namespace}):
        yield lines.NAMESPACE, lines.NAMESPACE.encode(row)
    for part in lines.PARTS:
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
                found[type, owner].append(lines.VECTORS.encode(vector))
        return found


def _fitting(limit: int, page: Sequence[tuple[Any, ...]]) -> int:
    """As many rows as make a page that is large enough and not too large."""
    size = sum(len(value) for row in page for value in row if isinstance(value, str)) // len(page) + 1
    return max(1, min(MOST, 4 * limit, ENOUGH // size))


def _memories(reading: _Reading) -> Iterator[tuple[Line, Row]]:
    for page in reading.pages("export_memories", (1, "")):
        rows, history, vectors = _settled(reading, page)
        for row in rows:
            id, version = row[1], row[-1]
            made = lines.MEMORY.encode(row)
            past = lines.MEMORY.inner["history"]
            made["history"] = [past.encode(each) for each in history[id] if each[0] < version]
            yield lines.MEMORY, _with(made, reading, vectors["memory", id])


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
        now = sorted(reading.read("export_memory_some", ids=ids), key=lambda row: row[1])
        if [(row[1], row[-1]) for row in now] == [(row[1], row[-1]) for row in page]:
            break
        page = now
    return page, history, vectors


def _with(made: Row, reading: _Reading, vectors: list[Row]) -> Row:
    return {**made, "vectors": vectors} if reading.vectors else made


def _sessions(reading: _Reading) -> Iterator[tuple[Line, Row]]:
    for page in reading.pages("export_sessions", (1, "")):
        for *row, left in page:
            made = lines.SESSION.encode(row)
            made["claims"] = made["claims"][-left:] if left else []
            yield lines.SESSION, made
            yield from _events(reading, made["id"], made["last_sequence"])


def _events(reading: _Reading, session: str, upto: int) -> Iterator[tuple[Line, Row]]:
    for page in reading.pages("export_events", (2, -1), session=session, upto=upto):
        vectors = reading.vectors_of([("event", f"{session}#{row[2]}") for row in page])
        for row in page:
            made = lines.EVENT.encode(row)
            yield lines.EVENT, _with(made, reading, vectors["event", f"{session}#{row[2]}"])


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
        for owner, (type, *row) in zip(owners, page, strict=True):
            line = lines.RECORDS[type]
            made = line.encode([*row, links[owner]])
            made["history"] = [
                line.inner["history"].encode(each) for each in history[owner] if each[0] <= made["version"]
            ]
            yield line, _with(made, reading, vectors[owner])
    for page in reading.pages("export_skill_runs", (1, ""), (2, -1), (3, "")):
        yield from ((lines.RUN, lines.RUN.encode(row)) for row in page)


def _files(reading: _Reading) -> Iterator[tuple[Line, Row]]:
    for page in reading.pages("export_files", (1, "")):
        for row in page:
            if found := _file(reading, row):
                yield lines.FILE, found


def _file(reading: _Reading, row: tuple[Any, ...]) -> Row | None:
    """With its slices, of one state; nothing if it went meanwhile."""
    id = row[1]
    for _ in range(TRIES):
        made = lines.FILE.encode(row)
        slices = reading.read("export_file_slices", id=id)
        made["slices"] = [lines.FILE.inner["slices"].encode(each) for each in slices]
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
        yield from ((lines.EXPECTATION, lines.EXPECTATION.encode(row)) for row in page)


def _proposals(reading: _Reading) -> Iterator[tuple[Line, Row]]:
    for page in reading.pages("export_proposals", (1, "")):
        yield from ((lines.PROPOSAL, lines.PROPOSAL.encode(row)) for row in page)


def _hidden_messages(reading: _Reading) -> Iterator[tuple[Line, Row]]:
    for page in reading.pages("export_hidden_messages", (1, ""), (2, -1), (3, "")):
        yield from ((lines.HIDDEN, lines.HIDDEN.encode(row)) for row in page)


def _accesses(reading: _Reading) -> Iterator[tuple[Line, Row]]:
    for page in reading.pages("export_access_log", (0, 0)):
        yield from ((lines.ACCESS, lines.ACCESS.encode(row[1:])) for row in page)


def _purges(reading: _Reading) -> Iterator[tuple[Line, Row]]:
    for page in reading.pages("export_purges", (1, ""), (2, -1)):
        yield from ((lines.PURGE, lines.PURGE.encode(row)) for row in page)


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
