"""The table of vector spaces: which of them is active, and the steps that change that."""

from collections.abc import Iterable, Iterator
from typing import Any

from retentive import clock
from retentive.frozen_dataclass import dataclass
from retentive.model import Space, SpaceState, StoredSpace, from_micros
from retentive.storage import Engine, Step, step
from retentive.storage.columns import TABLES

GIVEN_PREFIX = "given-"  # how the name of a space of callers' vectors begins; their dimension follows
NEVER_ACTIVE = from_micros(0)  # the time of change of a space that was never active in this store
DROP_PAGE = 2000  # vectors deleted in a commit: some 20 ms, for which a writer may have to wait


@dataclass(frozen=True, slots=True)
class Spaces:
    engine: Engine

    def read_rows(self) -> list[tuple[Any, ...]]:
        """The rows as they are stored: comparing them with earlier ones is cheaper than decoding them."""
        return self.engine.read("space_list_states")

    def all(self) -> list[StoredSpace]:
        return decode_spaces(self.read_rows())

    def find(self, name: str) -> StoredSpace | None:
        return next((each for each in self.all() if each.name == name), None)

    def find_active(self) -> StoredSpace | None:
        return next((each for each in self.all() if each.state is SpaceState.ACTIVE), None)

    def count_vectors(self) -> list[tuple[Any, ...]]:
        """Name, dimension and number of vectors of each space."""
        return self.engine.read("space_counts")

    def has_vectors(self, name: str) -> bool:
        return bool(self.engine.read("space_has_vectors", {"space": name})[0][0])


def decode_spaces(rows: Iterable[tuple[Any, ...]]) -> list[StoredSpace]:
    return [_decode_space(row) for row in rows if _is_readable(row)]


def _is_readable(row: tuple[Any, ...]) -> bool:
    """Whether a row is undamaged. `doctor` reports the others."""
    table = TABLES["spaces"]
    return not table.find_damage(dict(zip(table.columns, row, strict=True)))


def _decode_space(row: tuple[Any, ...]) -> StoredSpace:
    name, dimension, model, state, changed = row
    return StoredSpace(name, dimension, model, SpaceState(state), from_micros(changed))


def build_steps(space: Space) -> Iterator[Step]:
    """Begin to build a space, or continue."""
    yield insert_step(space, SpaceState.BUILDING)
    yield mark_step(space.name, SpaceState.BUILDING, space.model)


def insert_step(space: Space, state: SpaceState | None = None) -> Step:
    """Insert a space unless it exists. The space of a model becomes active if none is."""
    if state is None:
        state = SpaceState.GIVEN if space.name.startswith(GIVEN_PREFIX) else SpaceState.ACTIVE
    now = 0 if state is SpaceState.KEPT else clock.now()  # a space that came with an import was never active
    return step("space_insert", space=space.name, dimension=space.dimension, model=space.model, state=state, now=now)


def mark_step(name: str, state: SpaceState, model: str | None = None) -> Step:
    return step("space_set_state", space=name, state=state, model=model, now=clock.now())


def switch_steps(name: str, old: str) -> Iterator[Step]:
    """Make another space the active one. `Stale` if it still lacks vectors, or if the old one is not active."""
    now = clock.now()
    yield step("space_retire", expect=1, space=old, now=now)
    yield step("space_activate", expect=1, space=name, old=old, now=now)


def adopt_step(name: str, model: str | None) -> Step:
    return step("space_adopt", space=name, model=model, now=clock.now())


def release_step(name: str) -> Step:
    return step("space_release", space=name, now=clock.now())


def model_step(name: str, model: str) -> Step:
    return step("space_set_model", space=name, model=model)


def drop_step(name: str) -> Step:
    """Delete some of the vectors of a dropped space."""
    return step("vector_drop", space=name, limit=DROP_PAGE)
