"""A store of which a caller sees a part: how such a view is made, and which verbs it does not have.

`storage/fence.py` refuses what is outside; what is here says so before anything is done, in the words of the verb.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from retentive.app import check
from retentive.app.parts import Parts
from retentive.errors import Forbidden, Invalid
from retentive.model import Bounds
from retentive.storage.chunks import Chunks
from retentive.storage.conversations import Conversations
from retentive.storage.learning import Learning
from retentive.storage.memories import Memories
from retentive.storage.upkeep import Upkeep


class Verbs(Protocol):
    _parts: Parts


V = TypeVar("V", bound=Verbs)
P = ParamSpec("P")
R = TypeVar("R")
Method = Callable[Concatenate[V, P], R]


def writes(verb: Method[V, P, R]) -> Method[V, P, R]:
    """A verb that a view for reading does not have, but for dry runs."""

    @wraps(verb)
    def checked(self: V, /, *given: P.args, **named: P.kwargs) -> R:
        bounds = self._parts.bounds
        if bounds and bounds.read_only and not named.get("dry_run"):
            raise Forbidden(f"{_named(verb)} changes the store, and this view of it is for reading only")
        return verb(self, *given, **named)

    return checked


def whole(verb: Method[V, P, R]) -> Method[V, P, R]:
    """A verb about the whole store."""

    @wraps(verb)
    def checked(self: V, /, *given: P.args, **named: P.kwargs) -> R:
        if self._parts.bounds:
            raise Forbidden(f"{_named(verb)} is about the whole store, of which this view sees a part")
        return verb(self, *given, **named)

    return checked


def _named(verb: Callable[..., Any]) -> str:
    """As callers write it: `sessions.append`."""
    return verb.__qualname__.removeprefix("Retentive.").removeprefix("Care.").lower()


def bounds_of(namespaces: Any, *, subtree: bool, read_only: bool) -> Bounds:
    names = tuple(dict.fromkeys(check.namespace_of(name) for name in check.each_of(namespaces, "namespaces")))
    if not names:
        raise Invalid("a view needs a namespace", "Name at least one.")
    return Bounds(names, bool(subtree), bool(read_only))


def restricted(parts: Parts, bounds: Bounds) -> Parts:
    """The same parts over an engine that lets through what is within."""
    if parts.bounds and not parts.bounds.contain(bounds):
        raise outside(*bounds.namespaces)
    within = replace(bounds, read_only=bounds.read_only or bool(parts.bounds and parts.bounds.read_only))
    engine = parts.engine.within(within)
    return replace(
        parts,
        bounds=within,
        namespace=parts.namespace if within.cover(parts.namespace) else within.namespaces[0],
        engine=engine,
        memories=Memories(engine),
        conversations=Conversations(engine),
        chunks=Chunks(engine),
        upkeep=Upkeep(engine),
        learning=Learning(engine),
    )


def covered(parts: Parts, namespace: str) -> str:
    """A namespace that may be touched here."""
    if parts.bounds and not parts.bounds.cover(namespace):
        raise outside(namespace)
    return namespace


def outside(*namespaces: str) -> Forbidden:
    return Forbidden(f"namespace {', '.join(map(repr, namespaces))} is not open to this view of the store")
