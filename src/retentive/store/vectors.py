"""Vectors between callers, embedder and store: float32 of length one here, float16 bytes there."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from retentive.embed.time_limit import background
from retentive.errors import Invalid
from retentive.model import Draft, Space
from retentive.storage.tables.chunks import Pending, vector_steps
from retentive.storage.tables.spaces import GIVEN
from retentive.store import OpenStore

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BATCH = 50  # a batch is embedded and committed in about a second on a slow core: little is lost if it is stopped
GIVEN_THRESHOLD = 0.35  # nothing is known of the model behind vectors that a caller brings; MiniLM's


def space_of(store: OpenStore, dimension: int | None = None) -> Space | None:
    """The embedder's space; without an embedder, that of the vectors callers bring, whose length the first one sets."""
    if store.space or dimension is None:
        return store.space
    known = [size for name, size in store.tables.chunks.spaces() if name.startswith(GIVEN)]
    if known and dimension not in known:
        raise Invalid(f"the vector has {dimension} numbers; those in the store have {known[0]}")
    return Space(f"{GIVEN}{dimension}", dimension, GIVEN_THRESHOLD)


def space_for(store: OpenStore, vectors: Sequence[Any]) -> Space | None:
    """The space of the first vector that was brought; None if none was."""
    first = next((vector for vector in vectors if vector is not None), None)
    return None if first is None else space_of(store, length_of(first))


def with_vectors(
    drafts: Sequence[Draft], vectors: Sequence[Any], space: Space | None, numbers: Sequence[int] = (1,)
) -> list[Draft]:
    """Fresh drafts with the vectors that callers brought, checked and packed. `numbers` are those of the items."""
    given = [vector for vector in vectors if vector is not None]
    if not given:
        return [*drafts]
    try:
        rows = iter(packed(unit(given, space)))
    except Invalid:
        _refuse(vectors, space, numbers)
        raise
    return [
        draft if vector is None else Draft(draft.content, draft.content_hash, draft.traits, next(rows))
        for draft, vector in zip(drafts, vectors, strict=True)
    ]


def _refuse(vectors: Sequence[Any], space: Space | None, numbers: Sequence[int]) -> None:
    """Say which of several it is that cannot be used."""
    if len(vectors) == 1:
        return
    for number, vector in zip(numbers, vectors, strict=True):
        try:
            if vector is not None:
                unit([vector], space)
        except Invalid as error:
            raise Invalid(f"item {number}: {error}", error.hint) from error


def length_of(vector: Any) -> int:
    """How many numbers; refuses what is no list of them."""
    shape = getattr(vector, "shape", None)
    if isinstance(vector, str | bytes) or not hasattr(vector, "__len__") or (shape is not None and len(shape) != 1):
        raise Invalid("a vector must be a list of numbers", "Give as many numbers as the model has dimensions.")
    return len(vector)


def unit(vectors: Sequence[Any], space: Space | None) -> "NDArray[np.float32]":
    """Rows of length one. What has no direction, or another dimension than the space, is refused."""
    import numpy as np

    try:
        matrix = np.asarray(vectors, dtype=np.float32)
    except (TypeError, ValueError, OverflowError) as error:
        raise Invalid("a vector must be a list of numbers, all of one length") from error
    if matrix.ndim != 2:  # noqa: PLR2004
        raise Invalid("a vector must be a list of numbers", "Give as many numbers as the model has dimensions.")
    if space and not space.dimension:
        hint = "Bring vectors once it has, or open the store with embedder='none'."
        raise Invalid(f"how long vectors of {space.name} are is not known: its provider has not answered yet", hint)
    if space and matrix.shape[1:] != (space.dimension,):
        hint = "Give vectors of the store's own model, or open the store with embedder='none'."
        raise Invalid(f"the vector has {matrix.shape[1]} numbers; {space.name} has {space.dimension}", hint)
    lengths = np.sqrt(np.vecdot(matrix, matrix))
    if not np.isfinite(lengths).all() or not lengths.all():
        raise Invalid("a vector must have finite numbers, not all of them zero")
    return np.asarray(matrix / lengths[:, None], dtype=np.float32)


def embed_pending(
    store: OpenStore, after: int, batch: int = BATCH, namespaces: Sequence[str] | None = None
) -> Sequence[Pending]:
    """Embed and keep the next ones after this chunk; none: all have their vectors, or there is no embedder."""
    embedder = store.embedder
    pending = store.tables.chunks.pending(embedder.space, after, batch, namespaces) if embedder else []
    if embedder and pending:
        with background():
            vectors = packed(embedder.embed([each.text for each in pending]))
        store.engine.apply(vector_steps(embedder.space, zip(pending, vectors, strict=True)))
        store.journal.wrote = True
    return pending


def packed(vectors: "NDArray[np.float32]") -> Sequence[bytes]:
    """As the store keeps them."""
    rows = vectors.astype("<f2")
    width, whole = rows.shape[1] * 2, rows.tobytes()
    return [whole[at : at + width] for at in range(0, len(whole), width)]


def pack_rows(rows: Sequence["NDArray[np.float32]"]) -> Sequence[bytes]:
    """The same of single vectors."""
    return [row.astype("<f2").tobytes() for row in rows]


def unpack_vector(vector: bytes) -> "NDArray[np.float32]":
    """From the form in which the store keeps it."""
    import numpy as np

    return np.frombuffer(vector, dtype="<f2").astype(np.float32)
