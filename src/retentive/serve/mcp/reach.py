"""How far whoever asks may reach: a namespace to read and write, others to read only."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from retentive.app import Retentive
from retentive.errors import Invalid, NotFound

T = TypeVar("T")
_WHY = re.compile(r"^(.* (?:not|were) used): .*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Reached:
    memory: Retentive
    also: tuple[str, ...] = ()
    """Read, never written, with one exception:"""
    person: str | None = None
    """where to keep what concerns the person rather than the project."""
    writes: bool = True
    whole: bool = True
    """What is about the whole store is allowed."""
    near: bool = True
    """Whoever asks is on this machine, and may know what is wrong with it."""

    def allows(self, *, whole: bool, near: bool) -> bool:
        """What is about the whole store, and what names files of this machine."""
        return (self.whole or not whole) and (self.near or not near)

    def keeping(self, *, personal: bool) -> Retentive:
        """Where a new memory belongs."""
        return self.memory.in_namespace(self.person) if personal and self.person else self.memory

    def first(self, look: Callable[[Retentive], T]) -> T:
        """The answer of the first namespace that has what is looked for: one's own, then the others."""
        missing: NotFound | None = None
        for each in self.readable():
            try:
                return look(each)
            except NotFound as error:
                missing = missing or error
        raise missing or NotFound("there is no such thing")

    def changing(self, id: str) -> Retentive:
        """The namespace that holds this memory, if it may be changed there."""
        held = self.first(lambda memory: memory.get(id)).namespace
        if held not in (self.memory.namespace, self.person):
            hint = "It can be read here, not changed: it belongs to another namespace."
            raise Invalid(f"{id} is in namespace {held!r}", hint)
        return self.memory.in_namespace(held)

    def noted(self, notes: Sequence[str]) -> list[str]:
        """What a search did without; why, only for those near."""
        return [each if self.near else _WHY.sub(r"\1", each) for each in notes]

    def readable(self) -> Iterator[Retentive]:
        """Oneself first."""
        yield self.memory
        for name in self.memory.namespaces(self.also) if self.also else ():
            if name != self.memory.namespace:
                yield self.memory.in_namespace(name)
