"""The vectors still to come."""

from collections.abc import Callable

from retentive.app.parts import Parts
from retentive.app.vectors import packed
from retentive.errors import EmbedError
from retentive.model import Backfilled
from retentive.storage.chunks import vector_steps

BATCH = 50  # a batch is embedded and committed in about a second on a slow core: little is lost if it is stopped


def backfill(parts: Parts, batch: int, progress: Callable[[int, int], None] | None) -> Backfilled:
    """Embed what has no vector of the present model, in all namespaces. May be stopped and run again at any time."""
    embedder = parts.embedder
    if embedder is None:
        raise EmbedError("the embedder is switched off", "Set embedder to minilm, or open the store with one.")
    total, done, after = parts.chunks.pending_count(embedder.space), 0, 0
    while pending := parts.chunks.pending(embedder.space, after, batch):
        vectors = packed(embedder.embed([each.text for each in pending]))
        parts.journal.wrote = True
        parts.engine.apply(vector_steps(embedder.space, zip(pending, vectors, strict=True)))
        done, after = done + len(pending), pending[-1].chunk
        if progress:
            progress(done, max(total, done))
    return Backfilled(done, parts.chunks.pending_count(embedder.space))
