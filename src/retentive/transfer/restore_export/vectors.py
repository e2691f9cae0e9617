"""Steps that write the vectors of an export to the chunks that they were made of."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from retentive.model import Space, SpaceState
from retentive.storage import Step
from retentive.storage.tables.restore import insert_vectors_step
from retentive.storage.tables.spaces import GIVEN_PREFIX, insert_step
from retentive.store.vectors import count_dimensions
from retentive.transfer.export_format import Row
from retentive.transfer.restore_export.run import RestoreRun


class OwnedVector(NamedTuple):
    """A vector of an export, and what it belongs to."""

    namespace: str
    owner_type: str
    owner: str
    vector: Row


def select_matching(texts: Sequence[str], vectors: Sequence[Row]) -> list[Row]:
    """The vectors, or none if they have more chunks: then another version cut the text differently."""
    is_same_cut = all(vector["ordinal"] < len(texts) for vector in vectors)
    return [*vectors] if is_same_cut else []


def insert_steps(run: RestoreRun, vectors: Iterable[OwnedVector]) -> Iterator[Step]:
    """Write vectors whose dimension is that of their space. The others are embedded again later."""
    usable = [each for each in vectors if _has_dimension_of_space(run, each.vector)]
    for name in sorted({each.vector["space"] for each in usable}):
        yield _make_space_step(run, name)
    rows = [
        {"namespace": each.namespace, "owner_type": each.owner_type, "owner": each.owner, **each.vector}
        for each in usable
    ]
    yield insert_vectors_step(rows)


def _make_space_step(run: RestoreRun, name: str) -> Step:
    """Add a space. One of another model than the store's is kept, but does not become the active space."""
    own = run.store.space
    if own and own.name == name:
        return insert_step(own)
    state = SpaceState.GIVEN if name.startswith(GIVEN_PREFIX) else SpaceState.KEPT
    return insert_step(Space(name, run.dimensions[name], 0.0), state)


def _has_dimension_of_space(run: RestoreRun, vector: Row) -> bool:
    if not run.dimensions:
        run.dimensions.update(run.store.tables.chunks.list_spaces())
        if (space := run.store.space) and space.dimension:
            run.dimensions[space.name] = space.dimension
    dimension = count_dimensions(vector["vector"])
    return run.dimensions.setdefault(vector["space"], dimension) == dimension
