"""A store of which a caller sees a part: how such a view is made, and which verbs it does not have.

`storage/namespace_guard.py` refuses what is outside. This module says so before anything is done, in the words of the
verb.
"""

import copy
from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from retentive.errors import Forbidden, Invalid
from retentive.model import Bounds
from retentive.storage.tables import Tables
from retentive.store import OpenStore, validate
from retentive.store.active_model import with_active_model


class Verbs(Protocol):
    _store: OpenStore


V = TypeVar("V", bound=Verbs)
P = ParamSpec("P")
R = TypeVar("R")
Method = Callable[Concatenate[V, P], R]


def writes(verb: Method[V, P, R]) -> Method[V, P, R]:
    """A verb that a view for reading does not have, but for dry runs."""

    @wraps(verb)
    def checked(self: V, /, *given: P.args, **named: P.kwargs) -> R:
        if not named.get("dry_run"):
            _require_writable(self._store, _public_name(self, verb))
        return verb(_with_active_model(self), *given, **named)

    return checked


def _with_active_model(verbs: V) -> V:
    """The same verbs with the model of the active space, until this one ends."""
    store = with_active_model(verbs._store, is_writing=True)  # noqa: SLF001 - the protocol is of this module
    if store is verbs._store:  # noqa: SLF001
        return verbs
    followed = copy.copy(verbs)
    followed._store = store  # noqa: SLF001
    return followed


def _require_writable(store: OpenStore, verb: str) -> None:
    if can_write(store, store.namespace):
        return
    if store.bounds and store.bounds.read_only:
        raise Forbidden(f"{verb} changes the store, and this view of it is for reading only")
    raise Forbidden(f"{verb} changes the store, and namespace {store.namespace!r} is for reading only in this view")


def can_write(store: OpenStore, namespace: str) -> bool:
    """Whether this view of the store may change a namespace."""
    return store.bounds is None or store.bounds.can_write(namespace)


def whole(verb: Method[V, P, R]) -> Method[V, P, R]:
    """A verb about the whole store."""

    @wraps(verb)
    def checked(self: V, /, *given: P.args, **named: P.kwargs) -> R:
        if self._store.bounds:
            raise Forbidden(f"{_public_name(self, verb)} is about the whole store, of which this view sees a part")
        return verb(self, *given, **named)

    return checked


def _public_name(verbs: Verbs, verb: Callable[..., Any]) -> str:
    """The verb as callers write it: `add`, `sessions.append`, `profile.set`."""
    owner, _, name = verb.__qualname__.rpartition(".")
    if owner in ("Retentive", "MaintenanceVerbs"):
        return name
    return f"{type(verbs).__name__.removesuffix('Verbs').lower()}.{name}"


def bounds_of(namespaces: Any, *, subtree: bool, read_only: bool, also_read: Any) -> Bounds:
    names = tuple(dict.fromkeys(validate.namespace_of(name) for name in validate.each_of(namespaces, "namespaces")))
    if not names:
        raise Invalid("a view needs a namespace", "Name at least one.")
    others = tuple(dict.fromkeys(_pattern_of(name) for name in validate.each_of(also_read, "also_read")))
    return Bounds(names, bool(subtree), bool(read_only), others)


def _pattern_of(given: Any) -> str:
    """A namespace, or a prefix such as `team/*`, checked."""
    text = validate.plain(given, "namespace")
    return f"{validate.namespace_of(text[:-2])}/*" if text.endswith("/*") else validate.namespace_of(text)


def restricted(store: OpenStore, bounds: Bounds) -> OpenStore:
    """The same open store over an engine that lets nothing outside of the bounds through."""
    if store.bounds and not store.bounds.contain(bounds):
        raise outside(*bounds.names)
    within = store.bounds.narrow(bounds) if store.bounds else bounds
    engine = store.engine.within(within)
    return replace(
        store,
        bounds=within,
        namespace=store.namespace if within.cover(store.namespace) else within.names[0],
        engine=engine,
        tables=Tables(engine),
    )


def covered(store: OpenStore, namespace: str) -> str:
    """A namespace that may be read here."""
    if store.bounds and not store.bounds.cover(namespace):
        raise outside(namespace)
    return namespace


def writable(store: OpenStore, namespace: str) -> str:
    """A namespace that may be changed here."""
    covered(store, namespace)
    if not can_write(store, namespace):
        raise Forbidden(f"namespace {namespace!r} is for reading only in this view of the store")
    return namespace


def outside(*namespaces: str) -> Forbidden:
    return Forbidden(f"namespace {', '.join(map(repr, namespaces))} is not open to this view of the store")
