"""Vectors that an export brought, for the slices they were made of."""

from collections.abc import Iterable, Iterator, Sequence

from retentive.app.intake.tally import Desk
from retentive.storage import Step, step
from retentive.transfer.lines import Row


def fitting(slices: Sequence[str], vectors: Sequence[Row]) -> list[Row]:
    """None, if there are of more slices: another version cut the text otherwise, and they are of something else."""
    return [*vectors] if all(each["ordinal"] < len(slices) for each in vectors) else []


def steps(desk: Desk, rows: Iterable[tuple[str, str, str, Row]]) -> Iterator[Step]:
    """Each is namespace, type and id of the owner, and the vector. One that its space cannot have is made anew."""
    given = [row for row in rows if _fits(desk, row[-1])]
    for space in sorted({each["space"] for *_, each in given}):
        yield step("space_insert", space=space, dimension=desk.dimensions[space])
    yield Step(
        "vector_restore",
        [
            {"namespace": namespace, "owner_type": type, "owner": owner, **each}
            for namespace, type, owner, each in given
        ],
    )


def _fits(desk: Desk, vector: Row) -> bool:
    if not desk.dimensions:
        desk.dimensions.update(desk.parts.chunks.spaces())
        if (space := desk.parts.space) and space.dimension:
            desk.dimensions[space.name] = space.dimension
    length = len(vector["vector"]) // 2
    return desk.dimensions.setdefault(vector["space"], length) == length
