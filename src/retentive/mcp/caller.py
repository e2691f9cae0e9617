"""The caller of a tool: the namespace that it reads and writes, and those that it only reads.

Tools work on a restricted view of the store (`limit_store`). Whatever a call or a file names, other namespaces are
neither changed nor shown.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from retentive.api import Retentive
from retentive.errors import Invalid, NotFound
from retentive.hints import for_tools

T = TypeVar("T")
_NOTE_WITH_REASON = re.compile(r"^(.* (?:not|were) used): .*", re.DOTALL)


def limit_store(memory: Retentive, namespace: str, person: str | None, also_read: Sequence[str]) -> Retentive:
    """A view that changes `namespace` and that of the person, reads `also_read`, and knows of no other namespace."""
    own = [namespace, person] if person else [namespace]
    return memory.restricted(own, also_read=also_read).in_namespace(namespace, person=person or "")


@dataclass(frozen=True, slots=True)
class Caller:
    memory: Retentive
    """A view of the store: see `limit_store`."""
    also_read: tuple[str, ...] = ()
    """Namespaces, or prefixes such as `team/*`. None of them is written, except that of the person."""
    person: str | None = None
    """The namespace for what concerns the person rather than the project."""
    can_write: bool = True
    is_local: bool = True
    """Whether the caller is on this machine: it may name files, and may know what is wrong with the machine."""
    id: str = ""
    """Names one of several callers of a server: each gets a share of its threads. Empty: the only caller."""
    failures: Callable[[], Mapping[str, str]] = dict
    """The last failure of each part of the server's process, as far as the caller may know."""

    def choose_view(self, *, personal: bool) -> Retentive:
        """Return the view of the namespace where a new memory belongs."""
        return self.memory.in_namespace(self.person) if personal and self.person else self.memory

    def find_first(self, find: Callable[[Retentive], T]) -> T:
        """Return the answer of the first namespace where `find` succeeds: the caller's own, then the others."""
        missing: NotFound | None = None
        for view in self.readable_views():
            try:
                return find(view)
            except NotFound as error:
                missing = missing or error
        raise missing or NotFound("no such id")

    def find_changeable(self, id: str) -> Retentive:
        """Return the view of the namespace that holds this memory, if the caller may change it there."""
        namespace = self.find_first(lambda memory: memory.get(id)).namespace
        if namespace not in (self.memory.namespace, self.person):
            hint = "It is read-only here, because it belongs to another namespace."
            raise Invalid(f"{id} is in namespace {namespace!r}", hint)
        return self.memory.in_namespace(namespace)

    def render_notes(self, notes: Sequence[str]) -> list[str]:
        """Name the parts that a search could not use. Only a local caller sees why."""
        return [for_tools(each, ()) if self.is_local else _NOTE_WITH_REASON.sub(r"\1", each) for each in notes]

    def readable_views(self) -> Iterator[Retentive]:
        """Views of all namespaces that the caller reads, its own first."""
        yield self.memory
        for name in self.memory.namespaces(self.also_read) if self.also_read else ():
            if name != self.memory.namespace:
                yield self.memory.in_namespace(name)
