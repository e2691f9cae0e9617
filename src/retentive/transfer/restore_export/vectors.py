"""Vectors that an export brought, for the slices they were made of."""

from collections.abc import Iterable, Iterator, Sequence

from retentive.model import Space, SpaceState
from retentive.storage import Step
from retentive.storage.tables.spaces import GIVEN, insert_step
from retentive.transfer.export_format import Row
from retentive.transfer.restore_export.run import Desk


def fitting(slices: Sequence[str], vectors: Sequence[Row]) -> list[Row]:
    """None, if there are of more slices: another version cut the text otherwise, and they are of something else."""
    return [*vectors] if all(each["ordinal"] < len(slices) for each in vectors) else []


def steps(desk: Desk, rows: Iterable[tuple[str, str, str, Row]]) -> Iterator[Step]:
    """Each is namespace, type and id of the owner, and the vector. One that its space cannot have is made anew."""
    given = [row for row in rows if _fits(desk, row[-1])]
    for name in sorted({each["space"] for *_, each in given}):
        yield _space_step(desk, name)
    yield Step(
        "vector_restore",
        [
            {"namespace": namespace, "owner_type": type, "owner": owner, **each}
            for namespace, type, owner, each in given
        ],
    )


def _space_step(desk: Desk, name: str) -> Step:
    """Vectors of another model than the store's are kept, and do not choose the model of a store that has none."""
    own = desk.store.space
    if own and own.name == name:
        return insert_step(own)
    state = SpaceState.GIVEN if name.startswith(GIVEN) else SpaceState.KEPT
    return insert_step(Space(name, desk.dimensions[name], 0.0), state)


def _fits(desk: Desk, vector: Row) -> bool:
    if not desk.dimensions:
        desk.dimensions.update(desk.store.tables.chunks.spaces())
        if (space := desk.store.space) and space.dimension:
            desk.dimensions[space.name] = space.dimension
    length = len(vector["vector"]) // 2
    return desk.dimensions.setdefault(vector["space"], length) == length
