"""The vectors still to come."""

from collections.abc import Callable, Sequence

from retentive.errors import EmbedError
from retentive.model import Backfilled
from retentive.store import OpenStore
from retentive.store.vectors import BATCH, embed_pending
from retentive.store.views import can_write

__all__ = ["BATCH", "backfill", "list_writable"]


def backfill(store: OpenStore, batch: int, progress: Callable[[int, int], None] | None) -> Backfilled:
    """Embed what has no vector of the present model, in all namespaces that may be changed.

    May be stopped and run again at any time.
    """
    if store.space is None:
        raise EmbedError("the embedder is switched off", "Set embedder to minilm, or open the store with one.")
    names = list_writable(store)
    total, done, after = store.tables.chunks.pending_count(store.space, names), 0, 0
    while filled := embed_pending(store, after, batch, names):
        done, after = done + len(filled), filled[-1].chunk
        if progress:
            progress(done, max(total, done))
    return Backfilled(done, store.tables.chunks.pending_count(store.space, names))


def list_writable(store: OpenStore) -> Sequence[str] | None:
    """The namespaces that a view of the store may change; None: all of the store."""
    if store.bounds is None:
        return None
    return [name for name in store.tables.memories.namespaces() if can_write(store, name)]
