"""Backfill: embed the chunks that have no vector yet."""

from collections.abc import Callable, Sequence

from retentive.errors import EmbedError
from retentive.model import BackfillResult
from retentive.store import OpenStore
from retentive.store.vectors import embed_pending
from retentive.store.views import can_write


def backfill(store: OpenStore, batch: int, progress: Callable[[int, int], None] | None) -> BackfillResult:
    """Embed all chunks without a vector of the active model, in all namespaces that may be changed.

    It can be stopped and run again at any time.
    """
    if store.space is None:
        raise EmbedError("the embedder is switched off", "Set embedder to minilm, or open the store with an embedder.")
    names = list_writable(store)
    total = store.tables.chunks.count_pending(store.space, names)
    done = after = 0
    while filled := embed_pending(store, after, batch, names):
        done += len(filled)
        after = filled[-1].chunk
        if progress:
            progress(done, max(total, done))
    return BackfillResult(done, store.tables.chunks.count_pending(store.space, names))


def list_writable(store: OpenStore) -> Sequence[str] | None:
    """The namespaces that this view of the store may change; None if it may change all."""
    if store.bounds is None:
        return None
    return [name for name in store.tables.memories.list_namespaces() if can_write(store, name)]
