"""The vectors still to come."""

from collections.abc import Callable, Sequence

from retentive.app.bounds import can_write
from retentive.app.parts import Parts
from retentive.app.vectors import packed
from retentive.embed.hurried import background
from retentive.errors import EmbedError
from retentive.model import Backfilled
from retentive.storage.chunks import Pending, vector_steps

BATCH = 50  # a batch is embedded and committed in about a second on a slow core: little is lost if it is stopped


def backfill(parts: Parts, batch: int, progress: Callable[[int, int], None] | None) -> Backfilled:
    """Embed what has no vector of the present model, in all namespaces that may be changed.

    May be stopped and run again at any time.
    """
    if parts.space is None:
        raise EmbedError("the embedder is switched off", "Set embedder to minilm, or open the store with one.")
    names = list_writable(parts)
    total, done, after = parts.chunks.pending_count(parts.space, names), 0, 0
    while filled := fill(parts, after, batch, names):
        done, after = done + len(filled), filled[-1].chunk
        if progress:
            progress(done, max(total, done))
    return Backfilled(done, parts.chunks.pending_count(parts.space, names))


def list_writable(parts: Parts) -> Sequence[str] | None:
    """The namespaces that a view of the store may change; None: all of the store."""
    if parts.bounds is None:
        return None
    return [name for name in parts.memories.namespaces() if can_write(parts, name)]


def fill(parts: Parts, after: int, batch: int, namespaces: Sequence[str] | None = None) -> Sequence[Pending]:
    """The next ones after this number, embedded and kept; none: all have their vectors, or there is no embedder."""
    embedder = parts.embedder
    pending = parts.chunks.pending(embedder.space, after, batch, namespaces) if embedder else []
    if embedder and pending:
        with background():
            vectors = packed(embedder.embed([each.text for each in pending]))
        parts.engine.apply(vector_steps(embedder.space, zip(pending, vectors, strict=True)))
        parts.journal.wrote = True
    return pending
