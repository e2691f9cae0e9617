"""How far whoever asks may reach: a namespace to read and write, others to read only.

Tools work on a restricted view of the store (`limit_store`), so that whatever a call or a file names, other namespaces
are neither changed nor shown.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from retentive.api import Retentive
from retentive.errors import Invalid, NotFound

T = TypeVar("T")
_WHY = re.compile(r"^(.* (?:not|were) used): .*", re.DOTALL)


def limit_store(memory: Retentive, namespace: str, person: str | None, also: Sequence[str]) -> Retentive:
    """A view that changes `namespace` and that of the person, reads `also`, and knows of no other namespace."""
    own = [namespace, person] if person else [namespace]
    return memory.restricted(own, also_read=also).in_namespace(namespace, person=person or "")


@dataclass(frozen=True, slots=True)
class Reached:
    memory: Retentive
    """A view of the store: see `limit_store`."""
    also: tuple[str, ...] = ()
    """Read, never written, with one exception:"""
    person: str | None = None
    """where to keep what concerns the person rather than the project."""
    writes: bool = True
    near: bool = True
    """Whoever asks is on this machine: may name its files, and may know what is wrong with it."""
    caller: str = ""
    """Whoever shares the server with others: one of them takes a part of its threads. Empty: there are no others."""
    failures: Callable[[], Mapping[str, str]] = dict
    """What went wrong in the server's process, by part, as far as whoever asks may know."""

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
