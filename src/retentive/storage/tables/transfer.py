"""Rows of one namespace as an export reads them, and as a restore compares them with the lines of a file.

`ExportedRows` reads by pages in the order of the keys, or some rows by their ids. The columns of each row type are in
the order of the keys of its line (`transfer/export_format.py`). Values are not checked: a damaged row is passed on.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from retentive.frozen_dataclass import dataclass
from retentive.storage import Engine

FIRST_PAGE_SIZE, MAX_PAGE_SIZE = 16, 500  # rows
MAX_PAGE_CHARS = 4_000_000  # memory stays bounded, however long the rows are
MAX_ROWS = 1_000_000  # of one read without pages

Owner = tuple[str, str]
"""Type and id of a memory, message, record or file that has vectors or a history."""
R = TypeVar("R", bound=tuple[Any, ...])


class ExportedNamespace(NamedTuple):
    name: str
    created: int


class ExportedMemory(NamedTuple):
    namespace: str
    id: str
    kind: str
    content: str
    context: str | None
    tags: str | None
    slot: str | None
    session: str | None
    source: str
    origin: str | None
    confidence: float
    importance: int
    status: str
    superseded_by: str | None
    valid_from: int
    valid_to: int | None
    created: int
    updated: int
    expires: int | None
    access_count: int
    last_access: int | None
    metadata: str | None
    version: int


class ExportedChange(NamedTuple):
    """One change in the history of a memory or a record."""

    version: int
    action: str
    at: int
    actor: str
    reason: str | None
    body: str | None
    """A memory as it was before the change; a record as it was after it."""


class ExportedSession(NamedTuple):
    """A session with its state."""

    namespace: str
    id: str
    agent: str | None
    tags: str | None
    metadata: str | None
    person: str | None
    created: int
    last_sequence: int
    events: int
    active: int
    summary: str
    summary_upto: int
    epoch: int
    learned_upto: int
    claims: str
    claims_left: int


class ExportedEvent(NamedTuple):
    namespace: str
    session: str
    sequence: int
    role: str
    speaker: str | None
    content: str
    payload: str | None
    time: int
    count_handled_requests: int
    tags: str | None


class ExportedRecord(NamedTuple):
    type: str
    namespace: str
    id: str
    body: str
    version: int
    created: int
    updated: int
    deleted: int | None
    merged_into: str | None

    @property
    def owner(self) -> Owner:
        return self.type, self.id

    @property
    def columns(self) -> tuple[Any, ...]:
        """All values but the type, which is that of the line."""
        return self[1:]


class ExportedSkillRun(NamedTuple):
    namespace: str
    skill: str
    at: int
    memory: str


class ExportedFile(NamedTuple):
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
    tags: str | None
    metadata: str | None
    links: str | None
    unit: str
    mark: str | None
    indexed: int
    version: int


class ExportedChunk(NamedTuple):
    """One chunk of a file."""

    text: str
    context: str | None
    first_sequence: int
    last_sequence: int


class ExportedVector(NamedTuple):
    ordinal: int
    """The number of its chunk within the owner."""
    whole: int
    """Whether the owner is embedded as one piece."""
    space: str
    vector: bytes


class ExportedExpectation(NamedTuple):
    namespace: str
    id: str
    question: str
    session: str | None
    finds: str
    absent: str
    depth: int
    created: int


class ExportedProposal(NamedTuple):
    namespace: str
    id: str
    newer: str
    older: str
    newer_hash: str
    older_hash: str
    rule: str
    reason: str
    status: str
    created: int
    decided: int | None
    move_to: str | None


class ExportedHiddenMessage(NamedTuple):
    namespace: str
    session: str
    sequence: int
    memory: str
    hidden: int


class ExportedAccess(NamedTuple):
    number: int
    namespace: str
    memory: str
    at: int
    how: str
    query: str | None
    score: float | None

    @property
    def columns(self) -> tuple[Any, ...]:
        """All values but the number, which is of this store alone."""
        return self[1:]


class ExportedPurge(NamedTuple):
    namespace: str
    id: str
    at: int
    actor: str
    reason: str | None
    gone: int | None


@dataclass(frozen=True, slots=True)
class ExportedRows:
    """Reads the rows of one namespace. A view of the store sees only what it may read."""

    engine: Engine
    namespace: str

    def read_namespace(self) -> list[ExportedNamespace]:
        """The row of the namespace, if it has one."""
        return self._read("export_namespaces", ExportedNamespace)

    def page_memories(self) -> Iterator[list[ExportedMemory]]:
        return self._pages("export_memories", ExportedMemory, {"id": ""})

    def read_memories(self, ids: Sequence[str]) -> list[ExportedMemory]:
        return self._read("export_memory_some", ExportedMemory, ids=[*ids])

    def read_memory_history(self, ids: Sequence[str]) -> Mapping[str, list[ExportedChange]]:
        """The changes of each memory, the oldest first."""
        history: dict[str, list[ExportedChange]] = defaultdict(list)
        for id, *change in self._rows("export_memory_history", ids=[*ids]):
            history[id].append(ExportedChange(*change))
        return history

    def page_sessions(self) -> Iterator[list[ExportedSession]]:
        return self._pages("export_sessions", ExportedSession, {"id": ""})

    def read_sessions(self, names: Sequence[str]) -> list[ExportedSession]:
        return self._read("export_session_some", ExportedSession, ids=[*names])

    def page_events(self, session: str, upto: int) -> Iterator[list[ExportedEvent]]:
        """The messages of a session up to a number."""
        return self._pages("export_events", ExportedEvent, {"sequence": -1}, session=session, upto=upto)

    def read_events(self, session: str, first: int, last: int) -> list[ExportedEvent]:
        """The messages of a session from one number to another."""
        return self._read("export_events", ExportedEvent, session=session, k1=first - 1, upto=last, limit=MAX_ROWS)

    def page_records(self) -> Iterator[list[ExportedRecord]]:
        return self._pages("export_records", ExportedRecord, {"type": "", "id": ""})

    def read_records(self, type: str, ids: Sequence[str]) -> list[ExportedRecord]:
        return self._read("export_record_some", ExportedRecord, type=type, ids=[*ids])

    def read_record_history(self, owners: Sequence[Owner]) -> Mapping[Owner, list[ExportedChange]]:
        """The changes of each record, the oldest first."""
        history: dict[Owner, list[ExportedChange]] = defaultdict(list)
        for type, id, *change in self._rows("export_record_history", **_split_owners(owners)):
            history[type, id].append(ExportedChange(*change))
        return history

    def read_record_links(self, owners: Sequence[Owner]) -> Mapping[Owner, list[str]]:
        """The ids of the contacts that each record names."""
        links: dict[Owner, list[str]] = defaultdict(list)
        for type, id, target in self._rows("export_record_links", **_split_owners(owners)):
            links[type, id].append(target)
        return links

    def page_skill_runs(self, after: tuple[str, int, str] = ("", -1, "")) -> Iterator[list[ExportedSkillRun]]:
        """The runs after this skill, time and memory."""
        skill, at, memory = after
        return self._pages("export_skill_runs", ExportedSkillRun, {"skill": skill, "at": at, "memory": memory})

    def page_files(self) -> Iterator[list[ExportedFile]]:
        return self._pages("export_files", ExportedFile, {"id": ""})

    def read_file(self, id: str) -> ExportedFile | None:
        rows = self._read("export_file_some", ExportedFile, ids=[id])
        return rows[0] if rows else None

    def read_file_chunks(self, id: str) -> list[ExportedChunk]:
        return self._read("export_file_chunks", ExportedChunk, id=id)

    def read_vectors(self, owners: Sequence[Owner]) -> Mapping[Owner, list[ExportedVector]]:
        """The vectors of each owner, in the order of its chunks."""
        vectors: dict[Owner, list[ExportedVector]] = defaultdict(list)
        if owners:
            types, ids = {type for type, _ in owners}, [id for _, id in owners]
            for type, id, *vector in self._rows("export_vectors", types=[*types], owners=ids):
                vectors[type, id].append(ExportedVector(*vector))
        return vectors

    def page_expectations(self) -> Iterator[list[ExportedExpectation]]:
        return self._pages("export_expectations", ExportedExpectation, {"id": ""})

    def read_expectations(self) -> list[ExportedExpectation]:
        """All of them: people write them, so there are few."""
        return self._read("export_expectations", ExportedExpectation, k1="", limit=MAX_ROWS)

    def page_proposals(self) -> Iterator[list[ExportedProposal]]:
        return self._pages("export_proposals", ExportedProposal, {"id": ""})

    def read_proposals(self) -> list[ExportedProposal]:
        """All of them: people decide on them, so there are few."""
        return self._read("export_proposals", ExportedProposal, k1="", limit=MAX_ROWS)

    def page_hidden_messages(self) -> Iterator[list[ExportedHiddenMessage]]:
        first = {"session": "", "sequence": -1, "memory": ""}
        return self._pages("export_hidden_messages", ExportedHiddenMessage, first)

    def read_hidden_messages(self) -> list[ExportedHiddenMessage]:
        return self._read("export_hidden_messages", ExportedHiddenMessage, k1="", k2=-1, k3="", limit=MAX_ROWS)

    def page_accesses(self) -> Iterator[list[ExportedAccess]]:
        return self._pages("export_access_log", ExportedAccess, {"number": 0})

    def page_purges(self, after: tuple[str, int] = ("", -1)) -> Iterator[list[ExportedPurge]]:
        """The purges after this id and time."""
        id, at = after
        return self._pages("export_purges", ExportedPurge, {"id": id, "at": at})

    def has_purges(self) -> bool:
        return bool(self._rows("export_purges", k1="", k2=-1, limit=1))

    def _rows(self, query: str, **values: Any) -> list[tuple[Any, ...]]:
        return self.engine.read(query, {"namespace": self.namespace, **values})

    def _read(self, query: str, make_row: Callable[..., R], **values: Any) -> list[R]:
        return [make_row(*row) for row in self._rows(query, **values)]

    def _pages(
        self, query: str, make_row: Callable[..., R], first_key: Mapping[str, Any], **values: Any
    ) -> Iterator[list[R]]:
        """`first_key` has the columns of the key, each with a value that sorts before the first one wanted."""
        key = [*first_key.values()]
        limit = FIRST_PAGE_SIZE
        while page := self._read(query, make_row, **values, **_number_key(key), limit=limit):
            yield page
            key = [getattr(page[-1], name) for name in first_key]
            limit = _next_page_size(limit, page)


def _number_key(values: Sequence[Any]) -> dict[str, Any]:
    """The parameters `k1`, `k2` ... of a query that reads on after a key."""
    return {f"k{number}": value for number, value in enumerate(values, start=1)}


def _next_page_size(limit: int, page: Sequence[tuple[Any, ...]]) -> int:
    """As many rows as make a page of at most `MAX_PAGE_CHARS`, judged by the page before."""
    chars = sum(len(value) for row in page for value in row if isinstance(value, str))
    chars_per_row = chars // len(page) + 1
    return max(1, min(MAX_PAGE_SIZE, 4 * limit, MAX_PAGE_CHARS // chars_per_row))


def _split_owners(owners: Sequence[Owner]) -> dict[str, list[str]]:
    return {"types": [*{type for type, _ in owners}], "ids": [id for _, id in owners]}
