"""Vectors of callers and of the embedder, checked and packed: float32 of length one in memory, float16 in the store."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from retentive.embed.time_limit import without_time_limit
from retentive.errors import Invalid
from retentive.model import Draft, Space
from retentive.storage.tables.chunks import PendingChunk, vector_steps
from retentive.storage.tables.spaces import GIVEN_PREFIX
from retentive.store import OpenStore

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

EMBED_BATCH_SIZE = 50  # texts: about a second on a slow core, so that little is lost if it is stopped
REEMBED_BATCH_SIZE = 100  # texts per commit: half a second with MiniLM on two cores, so little is lost or delayed
GIVEN_THRESHOLD = 0.35  # nothing is known of the model behind vectors that a caller brings; MiniLM's


def find_space(store: OpenStore, dimension: int | None = None) -> Space | None:
    """The embedder's space; without an embedder, that of the vectors callers bring, whose length the first one sets."""
    if store.space or dimension is None:
        return store.space
    known = [size for name, size in store.tables.chunks.list_spaces() if name.startswith(GIVEN_PREFIX)]
    if known and dimension not in known:
        raise Invalid(f"the vector has {dimension} numbers; those in the store have {known[0]}")
    return Space(f"{GIVEN_PREFIX}{dimension}", dimension, GIVEN_THRESHOLD)


def find_space_of_vectors(store: OpenStore, vectors: Sequence[Any]) -> Space | None:
    """The space of the first vector that was brought; None if none was."""
    first = next((vector for vector in vectors if vector is not None), None)
    return None if first is None else find_space(store, vector_length(first))


def with_vectors(
    drafts: Sequence[Draft], vectors: Sequence[Any], space: Space | None, numbers: Sequence[int] = (1,)
) -> list[Draft]:
    """Fresh drafts with the vectors that callers brought, checked and packed. `numbers` are those of the items."""
    given = [vector for vector in vectors if vector is not None]
    if not given:
        return [*drafts]
    try:
        rows = iter(pack_vectors(normalize_vectors(given, space)))
    except Invalid:
        _raise_for_item(vectors, space, numbers)
        raise
    return [
        draft if vector is None else Draft(draft.content, draft.content_hash, draft.traits, next(rows))
        for draft, vector in zip(drafts, vectors, strict=True)
    ]


def _raise_for_item(vectors: Sequence[Any], space: Space | None, numbers: Sequence[int]) -> None:
    """Raise an error that names the first item whose vector cannot be used."""
    if len(vectors) == 1:
        return
    for number, vector in zip(numbers, vectors, strict=True):
        try:
            if vector is not None:
                normalize_vectors([vector], space)
        except Invalid as error:
            raise Invalid(f"item {number}: {error}", error.hint) from error


def vector_length(vector: Any) -> int:
    """The number of dimensions. Raise `Invalid` if it is no list of numbers."""
    shape = getattr(vector, "shape", None)
    if isinstance(vector, str | bytes) or not hasattr(vector, "__len__") or (shape is not None and len(shape) != 1):
        raise Invalid("a vector must be a list of numbers", "Give as many numbers as the model has dimensions.")
    return len(vector)


def normalize_vectors(vectors: Sequence[Any], space: Space | None) -> "NDArray[np.float32]":
    """Scale vectors to length one. Raise `Invalid` for zero vectors and those of another dimension than the space."""
    import numpy as np

    try:
        matrix = np.asarray(vectors, dtype=np.float32)
    except (TypeError, ValueError, OverflowError) as error:
        raise Invalid("a vector must be a list of numbers, all of one length") from error
    if matrix.ndim != 2:  # noqa: PLR2004
        raise Invalid("a vector must be a list of numbers", "Give as many numbers as the model has dimensions.")
    if space and not space.dimension:
        hint = "Give vectors once it has, or open the store with embedder='none'."
        raise Invalid(f"the length of vectors of {space.name} is not known: its provider has not answered yet", hint)
    if space and matrix.shape[1:] != (space.dimension,):
        hint = "Give vectors of the store's own model, or open the store with embedder='none'."
        raise Invalid(f"the vector has {matrix.shape[1]} numbers; {space.name} has {space.dimension}", hint)
    lengths = np.sqrt(np.vecdot(matrix, matrix))
    if not np.isfinite(lengths).all() or not lengths.all():
        raise Invalid("a vector must have finite numbers, not all of them zero")
    return np.asarray(matrix / lengths[:, None], dtype=np.float32)


def embed_pending(
    store: OpenStore, after: int, batch: int = EMBED_BATCH_SIZE, namespaces: Sequence[str] | None = None
) -> Sequence[PendingChunk]:
    """Embed and store the next chunks without vectors, after the chunk `after`. Return them."""
    embedder = store.embedder
    pending = store.tables.chunks.list_pending(embedder.space, after, batch, namespaces) if embedder else []
    if embedder and pending:
        with without_time_limit():
            vectors = pack_vectors(embedder.embed([each.text for each in pending]))
        store.engine.apply(vector_steps(embedder.space, zip(pending, vectors, strict=True)))
        store.journal.note_write()
    return pending


def pack_vectors(vectors: "NDArray[np.float32]") -> Sequence[bytes]:
    """Pack the rows of a matrix as the store keeps them."""
    rows = vectors.astype("<f2")
    width, whole = rows.shape[1] * 2, rows.tobytes()
    return [whole[at : at + width] for at in range(0, len(whole), width)]


def pack_rows(rows: Sequence["NDArray[np.float32]"]) -> Sequence[bytes]:
    """Pack single vectors as the store keeps them."""
    return [row.astype("<f2").tobytes() for row in rows]


def count_dimensions(packed: bytes) -> int:
    return len(packed) // 2  # a float16 has two bytes


def unpack_vector(vector: bytes) -> "NDArray[np.float32]":
    """Unpack a vector of the store."""
    import numpy as np

    return np.frombuffer(vector, dtype="<f2").astype(np.float32)
