"""Chunks as rows: the steps that write them, what the indexes read of them, which still want a vector."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from retentive.model import Memory, Space
from retentive.storage import Engine, Step
from retentive.storage.memories import facets, text_fields

_PAGE = 20_000  # rows read at a time: bounds the memory of a load, costs nothing in speed


class Pending(NamedTuple):
    """A chunk that wants a vector, and the text to embed."""

    chunk: int
    namespace: str
    text: str


def embedded_text(content: str, context: str | None) -> str:
    """What the vector of a slice is made from."""
    return f"{content}\n{context}" if context else content


def insert_steps(memory: Memory, slices: Sequence[str], space: Space | None, vectors: Sequence[Any]) -> Iterator[Step]:
    """One chunk a slice. `vectors` are the bytes of each, None where it is pending."""
    common = {**facets(memory), "space": space.name if space else None}
    for ordinal, (text, vector) in enumerate(zip(slices, vectors, strict=True)):
        part = {"ordinal": ordinal, "text": text if len(slices) > 1 else None, "vector": vector}
        yield Step("chunk_insert", {**common, **part, **text_fields(memory, text)})


def space_step(space: Space) -> Step:
    return Step("space_insert", {"space": space.name, "dimension": space.dimension})


def delete_step(memory: Memory) -> Step:
    return Step("chunk_delete", {"namespace": memory.namespace, "owner": memory.id, "owner_type": "memory"})


def refresh_step(memory: Memory) -> Step:
    return Step("chunk_refresh", {**facets(memory), "f_tags": text_fields(memory, "")["f_tags"]})


def vector_steps(space: Space, vectors: Iterable[tuple[Pending, bytes]]) -> Iterator[Step]:
    yield space_step(space)
    for pending, vector in vectors:
        values = {"chunk": pending.chunk, "namespace": pending.namespace, "space": space.name, "vector": vector}
        yield Step("vector_put", values)


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
        return [(n, [self.engine.tokens(text) if text else [] for text in texts]) for n, *texts in rows]

    def broken(self) -> list[tuple[str, str]]:
        """Namespace and id of the memories whose chunks are not as they should be."""
        return [(namespace, id) for namespace, id in self.engine.read("chunk_broken")]

    def pending(self, space: Space, after: int, limit: int) -> list[Pending]:
        rows = self.engine.read("chunk_pending", {"space": space.name, "after": after, "limit": limit})
        return [Pending(n, namespace, embedded_text(text, context)) for n, namespace, text, context in rows]

    def pending_count(self, space: Space | None) -> int:
        return int(self.engine.read("chunk_pending_count", {"space": space.name if space else None})[0][0])

    def spaces(self) -> list[tuple[Any, ...]]:
        """Name and dimension of each."""
        return self.engine.read("space_list")

    def vector_counts(self) -> list[tuple[Any, ...]]:
        """Name, dimension and number of vectors of each space."""
        return self.engine.read("space_counts")
