"""A part of a long list."""

from collections.abc import Iterator, Sequence
from typing import Generic, TypeVar, overload

from retentive.frozen_dataclass import dataclass

T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Page(Sequence[T_co], Generic[T_co]):
    """Items in the order of their list. Pass `next` to `list(after=...)` to get the next page; None at the end."""

    items: tuple[T_co, ...]
    next: str | None = None
    notes: tuple[str, ...] = ()
    """Damaged items that were left out."""

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[T_co]:
        return iter(self.items)

    @overload
    def __getitem__(self, index: int) -> T_co: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[T_co, ...]: ...

    def __getitem__(self, index: int | slice) -> T_co | tuple[T_co, ...]:
        return self.items[index]
