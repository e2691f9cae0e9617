"""The tables of chunks, their full text and vectors.

`Chunks` reads what the indexes follow, and which chunks still need a vector. Functions make the steps that write them.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from retentive.frozen_dataclass import dataclass
from retentive.model import ChangedChunks, Memory, Space, to_micros
from retentive.storage import Engine, Params, Step, step
from retentive.storage.tables import spaces
from retentive.storage.tables.memories import trait_values
from retentive.text.terms import segment_text

_PAGE_SIZE = 1000  # rows read at a time: bounds the memory of a load (20,000: 15 MB more), costs nothing in speed


class PendingChunk(NamedTuple):
    """A chunk that needs a vector, and the text to embed."""

    chunk: int
    namespace: str
    text: str


def join_embedded_text(content: str, context: str | None) -> str:
    """The text that the vector of a chunk is made from."""
    return f"{content}\n{context}" if context else content


def field_values(context: str | None, tags: Sequence[str]) -> dict[str, Any]:
    """The full-text columns beside the content."""
    return {
        "f_context": segment_text(context) if context else None,
        "f_tags": segment_text(" ".join(tags)) if tags else None,
        "f_before": None,
        "f_after": None,
        "f_speaker": None,
        "f_date": None,
    }


def chunk_values(texts: Sequence[str], vectors: Sequence[bytes | None]) -> Iterator[dict[str, Any]]:
    """The columns that differ between the chunks of one owner. `vectors` has the bytes of each, None if pending."""
    if len(texts) == 1:
        yield {"ordinal": 0, "text": None, "vector": vectors[0], "f_content": segment_text(texts[0])}
        return
    for ordinal, (text, vector) in enumerate(zip(texts, vectors, strict=True)):
        yield {"ordinal": ordinal, "text": text, "vector": vector, "f_content": segment_text(text)}


def insert_steps(rows: Sequence[Params], space: Space | None, query: str = "chunk_insert") -> Iterator[Step]:
    """Insert chunks with their full text, vectors and changes."""
    embedded = [row for row in rows if row["vector"]]
    if space and embedded:  # a space begins with its first vector, which proves its dimension
        yield spaces.insert_step(space)
    yield Step(f"{query}_embedded", embedded)
    yield Step(query, [row for row in rows if not row["vector"]])


def insert_event_steps(rows: Sequence[Params], repeated: Iterable[Params], space: Space | None) -> Iterator[Step]:
    """Insert the chunks of messages. `repeated` extends those that the session has already."""
    yield from insert_steps(rows, space, "event_chunk_insert")
    yield Step("chunk_extend", repeated)


def set_following_step(rows: Iterable[Params]) -> Step:
    """Set the text that follows each of these messages."""
    return Step("chunk_set_following_text", rows)


def delete_event_chunks_step(namespace: str, session: str) -> Step:
    """Delete the chunks of all messages of a session."""
    return step("event_chunk_delete", namespace=namespace, session=session)


def replace_steps(
    memory: Memory, texts: Sequence[str], space: Space | None, vectors: Sequence[bytes | None]
) -> Iterator[Step]:
    """Replace the chunks of a memory."""
    common = {**_facets(memory), **field_values(memory.context, memory.tags), "space": space.name if space else None}
    yield step("chunk_delete", **_owner(memory))
    yield from insert_steps([{**common, **own} for own in chunk_values(texts, vectors)], space)


def refresh_step(memory: Memory) -> Step:
    return step("chunk_refresh", **_facets(memory), **field_values(memory.context, memory.tags))


def vector_steps(space: Space, vectors: Iterable[tuple[PendingChunk, bytes]]) -> Iterator[Step]:
    yield spaces.insert_step(space)
    yield Step(
        "vector_upsert",
        [
            {"chunk": pending.chunk, "namespace": pending.namespace, "space": space.name, "vector": vector}
            for pending, vector in vectors
        ],
    )


def _owner(memory: Memory) -> dict[str, Any]:
    return {"namespace": memory.namespace, "owner": memory.id, "owner_type": "memory"}


def _facets(memory: Memory) -> dict[str, Any]:
    """The columns that searches filter by, repeated on each chunk."""
    return {**trait_values(memory), **_owner(memory), "valid_from": to_micros(memory.valid_from)}


def _make_pending(rows: Iterable[tuple[Any, ...]]) -> list[PendingChunk]:
    """The chunks to embed. Rows with damaged texts are left out."""
    return [
        PendingChunk(n, namespace, join_embedded_text(text, context))
        for n, namespace, text, context in rows
        if isinstance(text, str) and (context is None or isinstance(context, str))
    ]


@dataclass(frozen=True, slots=True)
class Chunks:
    """Reads what the indexes follow (`retentive.index.ChunkSource`), and the vectors still to be made."""

    engine: Engine

    def head(self) -> int:
        """The number of the newest change."""
        return int(self.engine.read("change_head")[0][0])

    def floor(self) -> int:
        """The change up to which the log was pruned."""
        return int(self.engine.read("change_floor")[0][0])

    def read_last_number(self) -> int:
        """The highest chunk number so far: an upper bound of the number of chunks that costs nothing to read."""
        return int(self.engine.read("chunk_newest")[0][0])

    def count(self, namespace: str) -> int:
        return int(self.engine.read("chunk_count", {"namespace": namespace})[0][0])

    def rows(self, namespace: str, space: str | None) -> Iterator[tuple[Any, ...]]:
        after = 0
        while True:
            values = {"namespace": namespace, "space": space, "after": after, "limit": _PAGE_SIZE}
            page = self.engine.read("chunk_rows", values)
            yield from page
            if len(page) < _PAGE_SIZE:
                return
            after = page[-1][0]

    def rows_of(self, namespace: str, space: str | None, chunks: Sequence[int]) -> list[tuple[Any, ...]]:
        return self.engine.read("chunk_rows_of", {"namespace": namespace, "space": space, "chunks": [*chunks]})

    def list_changed(self, namespace: str, after: int, upto: int) -> ChangedChunks:
        """The chunks that changed in a range of the change log."""
        rows = self.engine.read("change_list", {"namespace": namespace, "after": after, "upto": upto})
        # The first row has the floor of the log alone.
        return ChangedChunks([chunk for _, chunk in rows[1:]], after >= rows[0][0])

    def postings(self, namespace: str) -> list[tuple[Any, ...]]:
        return self.engine.read("text_postings", {"namespace": namespace})

    def fields(self, chunks: Sequence[int]) -> list[tuple[int, list[list[str]]]]:
        rows = self.engine.read("text_fields", {"chunks": [*chunks]})
        return [(n, [self._tokenize(text) for text in texts]) for n, *texts in rows]

    def _tokenize(self, text: Any) -> list[str]:
        """The tokens of a field; none if it is empty or damaged."""
        return self.engine.tokens(text) if text and type(text) is str else []

    def list_broken(self) -> list[tuple[str, str]]:
        """Namespace and id of the memories whose chunks are missing or wrong."""
        return [(namespace, id) for namespace, id in self.engine.read("memory_broken_chunks") if isinstance(id, str)]

    def list_texts(self, namespaces: Sequence[str], chunks: Sequence[int]) -> dict[int, str]:
        """The texts of those chunks that are only a part of their owner."""
        values = {"namespaces": namespaces, "chunks": [*chunks]}
        rows = self.engine.read("chunk_texts", values) if chunks else []
        return {chunk: text for chunk, text in rows if isinstance(text, str)}

    def find_known_terms(self, namespaces: Sequence[str], terms: Sequence[str]) -> set[str]:
        """Which of these terms occur in the texts of these namespaces, as the tokenizer makes them."""
        rows = self.engine.read("term_known", {"namespaces": namespaces, "terms": [*terms]}) if terms else []
        return {term for (term,) in rows}

    def count_terms(self, namespaces: Sequence[str], terms: Sequence[str], most: int) -> dict[str, float]:
        """About how many rows of these namespaces have each term, counted up to `most`; no entry for unknown terms."""
        values = {"namespaces": [*namespaces], "terms": [*terms], "most": most}
        return dict(self.engine.read("term_count", values)) if terms else {}

    def count_rows(self, namespaces: Sequence[str], terms: Sequence[str], most: int) -> tuple[dict[str, float], int]:
        """How many rows of these namespaces have each term, and how many rows there are: both counted up to `most`."""
        values = {"namespaces": [*namespaces], "most": most}
        counts = dict(self.engine.read("term_rows", {**values, "terms": [*terms]})) if terms else {}
        return counts, int(self.engine.read("chunk_count_of", values)[0][0])

    def list_memory_vectors(self, namespace: str, ids: Sequence[str], space: Space) -> dict[str, bytes]:
        """The stored vector of the first chunk of each memory that has one."""
        values = {"namespace": namespace, "owners": [*ids], "space": space.name}
        return dict(self.engine.read("memory_vectors", values)) if ids else {}

    def list_pending(
        self, space: Space, after: int, limit: int, namespaces: Sequence[str] | None = None
    ) -> list[PendingChunk]:
        """Chunks of the store, or of these namespaces, that have no vector in the space."""
        values = {"space": space.name, "after": after, "limit": limit}
        if namespaces is None:
            rows = self.engine.read("chunk_pending", values)
        else:
            rows = self.engine.read("chunk_pending_of", {**values, "namespaces": [*namespaces]})
        return _make_pending(rows)

    def count_pending(self, space: Space | None, namespaces: Sequence[str] | None = None) -> int:
        """How many chunks of the store, or of these namespaces, have no vector in the space."""
        name = space.name if space else None
        if namespaces is None:
            return int(self.engine.read("chunk_pending_count", {"space": name})[0][0])
        return int(self.engine.read("chunk_pending_count_of", {"space": name, "namespaces": [*namespaces]})[0][0])

    def list_unbuilt(self, space: Space, old: str, after: int, limit: int) -> list[PendingChunk]:
        """Chunks without a vector in a new space: the active ones, and those that have one in the old space."""
        values = {"space": space.name, "old": old, "after": after, "limit": limit}
        return _make_pending(self.engine.read("chunk_without_vector", values))

    def count_unbuilt(self, space: str, old: str) -> int:
        return int(self.engine.read("chunk_without_vector_count", {"space": space, "old": old})[0][0])

    def list_spaces(self) -> list[tuple[Any, ...]]:
        """Name and dimension of each space."""
        return self.engine.read("space_list")

    def count_vectors(self, namespaces: Sequence[str] | None = None) -> list[tuple[Any, ...]]:
        """Name, dimension and number of vectors of each space, in the store or in these namespaces."""
        if namespaces is None:
            return self.engine.read("space_counts")
        return self.engine.read("space_counts_of", {"namespaces": [*namespaces]})
