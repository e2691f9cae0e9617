"""Vectors that an export brought, for the slices they were made of."""

from collections.abc import Iterable, Iterator, Sequence

from retentive.storage import Step, step
from retentive.transfer.lines import Row


def fitting(slices: Sequence[str], vectors: Sequence[Row]) -> list[Row]:
    """None, if there are of more slices: another version cut the text otherwise, and they are of something else."""
    return [*vectors] if all(each["ordinal"] < len(slices) for each in vectors) else []


def steps(rows: Iterable[tuple[str, str, str, Row]]) -> Iterator[Step]:
    """Each is namespace, type and id of the owner, and the vector."""
    given = [*rows]
    sizes = {each["space"]: len(each["vector"]) // 2 for *_, each in given}
    for space, dimension in sorted(sizes.items()):
        yield step("space_insert", space=space, dimension=dimension)
    yield Step(
        "vector_restore",
        [
            {"namespace": namespace, "owner_type": type, "owner": owner, **each}
            for namespace, type, owner, each in given
        ],
    )
