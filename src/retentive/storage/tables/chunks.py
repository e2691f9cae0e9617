"""Chunks as rows: the steps that write them, what the indexes read of them, which still want a vector."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from retentive.model import Memory, Space, to_micros
from retentive.storage import Engine, Params, Step, step
from retentive.storage.tables import spaces
from retentive.storage.tables.memories import trait_values
from retentive.text.terms import terms

_PAGE = 1000  # rows read at a time: bounds the memory of a load (20,000: 15 MB more), costs nothing in speed


class Pending(NamedTuple):
    """A chunk that wants a vector, and the text to embed."""

    chunk: int
    namespace: str
    text: str


def embedded_text(content: str, context: str | None) -> str:
    """What the vector of a slice is made from."""
    return f"{content}\n{context}" if context else content


def field_values(context: str | None, tags: Sequence[str]) -> dict[str, Any]:
    """The fields of full text beside the content, as they are written."""
    return {
        "f_context": terms(context) if context else None,
        "f_tags": terms(" ".join(tags)) if tags else None,
        "f_before": None,
        "f_after": None,
        "f_speaker": None,
        "f_date": None,
    }


def chunk_values(slices: Sequence[str], vectors: Sequence[bytes | None]) -> Iterator[dict[str, Any]]:
    """What is a chunk's own, for each slice of one owner. `vectors` are the bytes of each, None where it is pending."""
    if len(slices) == 1:
        yield {"ordinal": 0, "text": None, "vector": vectors[0], "f_content": terms(slices[0])}
        return
    for ordinal, (text, vector) in enumerate(zip(slices, vectors, strict=True)):
        yield {"ordinal": ordinal, "text": text, "vector": vector, "f_content": terms(text)}


def insert_steps(rows: Sequence[Params], space: Space | None, query: str = "chunk_insert") -> Iterator[Step]:
    """Chunks with all that belongs to them: full text, vectors, changes."""
    embedded = [row for row in rows if row["vector"]]
    if space and embedded:  # a space begins with its first vector, which proves its dimension
        yield spaces.insert_step(space)
    yield Step(f"{query}_embedded", embedded)
    yield Step(query, [row for row in rows if not row["vector"]])


def anew_steps(
    memory: Memory, slices: Sequence[str], space: Space | None, vectors: Sequence[bytes | None]
) -> Iterator[Step]:
    """A memory's chunks in place of those it had."""
    common = {**_facets(memory), **field_values(memory.context, memory.tags), "space": space.name if space else None}
    yield step("chunk_delete", **_owner(memory))
    yield from insert_steps([{**common, **own} for own in chunk_values(slices, vectors)], space)


def refresh_step(memory: Memory) -> Step:
    return step("chunk_refresh", **_facets(memory), **field_values(memory.context, memory.tags))


def vector_steps(space: Space, vectors: Iterable[tuple[Pending, bytes]]) -> Iterator[Step]:
    yield spaces.insert_step(space)
    yield Step(
        "vector_put",
        [
            {"chunk": pending.chunk, "namespace": pending.namespace, "space": space.name, "vector": vector}
            for pending, vector in vectors
        ],
    )


def _owner(memory: Memory) -> dict[str, Any]:
    return {"namespace": memory.namespace, "owner": memory.id, "owner_type": "memory"}


def _facets(memory: Memory) -> dict[str, Any]:
    """What searches filter by, repeated on each chunk."""
    return {**trait_values(memory), **_owner(memory), "valid_from": to_micros(memory.valid_from)}


def _make_pending(rows: Iterable[tuple[Any, ...]]) -> list[Pending]:
    """Those that can be read."""
    return [
        Pending(n, namespace, embedded_text(text, context))
        for n, namespace, text, context in rows
        if isinstance(text, str) and (context is None or isinstance(context, str))
    ]


@dataclass(frozen=True, slots=True)
class Chunks:
    """What the indexes follow (`retentive.index.Source`), and the vectors still to come."""

    engine: Engine

    def head(self) -> int:
        return int(self.engine.read("change_head")[0][0])

    def floor(self) -> int:
        return int(self.engine.read("change_floor")[0][0])

    def newest(self) -> int:
        """The highest number given so far: no fewer than there are chunks, and known at once."""
        return int(self.engine.read("chunk_newest")[0][0])

    def count(self, namespace: str) -> int:
        return int(self.engine.read("chunk_count", {"namespace": namespace})[0][0])

    def rows(self, namespace: str, space: str | None) -> Iterator[tuple[Any, ...]]:
        after = 0
        while True:
            values = {"namespace": namespace, "space": space, "after": after, "limit": _PAGE}
            page = self.engine.read("chunk_rows", values)
            yield from page
            if len(page) < _PAGE:
                return
            after = page[-1][0]

    def rows_of(self, namespace: str, space: str | None, chunks: Sequence[int]) -> list[tuple[Any, ...]]:
        return self.engine.read("chunk_rows_of", {"namespace": namespace, "space": space, "chunks": [*chunks]})

    def changed(self, namespace: str, after: int, upto: int) -> list[int]:
        values = {"namespace": namespace, "after": after, "upto": upto}
        return [row[0] for row in self.engine.read("change_list", values)]

    def postings(self, namespace: str) -> list[tuple[Any, ...]]:
        return self.engine.read("text_postings", {"namespace": namespace})

    def fields(self, chunks: Sequence[int]) -> list[tuple[int, list[list[str]]]]:
        rows = self.engine.read("text_fields", {"chunks": [*chunks]})
        return [(n, [self._tokens(text) for text in texts]) for n, *texts in rows]

    def _tokens(self, text: Any) -> list[str]:
        """Those of a field; none of one that is empty or damaged."""
        return self.engine.tokens(text) if text and type(text) is str else []

    def broken(self) -> list[tuple[str, str]]:
        """Namespace and id of the memories whose chunks are not as they should be."""
        return [(namespace, id) for namespace, id in self.engine.read("chunk_broken") if isinstance(id, str)]

    def texts(self, namespaces: Sequence[str], chunks: Sequence[int]) -> dict[int, str]:
        """Of those that are a part of their owner."""
        values = {"namespaces": namespaces, "chunks": [*chunks]}
        rows = self.engine.read("chunk_texts", values) if chunks else []
        return {chunk: text for chunk, text in rows if isinstance(text, str)}

    def known_terms(self, namespaces: Sequence[str], terms: Sequence[str]) -> set[str]:
        """Those that a text of these namespaces has, as the tokenizer breaks texts up."""
        rows = self.engine.read("terms_known", {"namespaces": namespaces, "terms": [*terms]}) if terms else []
        return {term for (term,) in rows}

    def count_terms(self, namespaces: Sequence[str], terms: Sequence[str], most: int) -> dict[str, float]:
        """About how many rows of these namespaces have each of the terms that a text has, counted up to `most`."""
        values = {"namespaces": [*namespaces], "terms": [*terms], "most": most}
        return dict(self.engine.read("terms_counted", values)) if terms else {}

    def memory_vectors(self, namespace: str, ids: Sequence[str], space: Space) -> dict[str, bytes]:
        """The vector of the first chunk of each memory that has one, as it is stored."""
        values = {"namespace": namespace, "owners": [*ids], "space": space.name}
        return dict(self.engine.read("memory_vectors", values)) if ids else {}

    def pending(self, space: Space, after: int, limit: int, namespaces: Sequence[str] | None = None) -> list[Pending]:
        """Of the store, or of these namespaces."""
        values = {"space": space.name, "after": after, "limit": limit}
        if namespaces is None:
            rows = self.engine.read("chunk_pending", values)
        else:
            rows = self.engine.read("chunk_pending_of", {**values, "namespaces": [*namespaces]})
        return _make_pending(rows)

    def pending_count(self, space: Space | None, namespaces: Sequence[str] | None = None) -> int:
        """Of the store, or of these namespaces."""
        name = space.name if space else None
        if namespaces is None:
            return int(self.engine.read("chunk_pending_count", {"space": name})[0][0])
        return int(self.engine.read("chunk_pending_count_of", {"space": name, "namespaces": [*namespaces]})[0][0])

    def unbuilt(self, space: Space, old: str, after: int, limit: int) -> list[Pending]:
        """What a new space still lacks beside the old one: all that is active, and what questions of the past find."""
        return _make_pending(
            self.engine.read("chunk_unbuilt", {"space": space.name, "old": old, "after": after, "limit": limit})
        )

    def unbuilt_count(self, space: str, old: str) -> int:
        return int(self.engine.read("chunk_unbuilt_count", {"space": space, "old": old})[0][0])

    def spaces(self) -> list[tuple[Any, ...]]:
        """Name and dimension of each."""
        return self.engine.read("space_list")

    def vector_counts(self, namespaces: Sequence[str] | None = None) -> list[tuple[Any, ...]]:
        """Name, dimension and number of vectors of each space; of the store, or of these namespaces."""
        if namespaces is None:
            return self.engine.read("space_counts")
        return self.engine.read("space_counts_of", {"namespaces": [*namespaces]})
