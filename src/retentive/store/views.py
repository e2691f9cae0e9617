"""Views: restricted stores, of which a caller sees certain namespaces, perhaps without writing.

`storage/namespace_guard.py` enforces the bounds. This module checks them before a verb begins, for a clear error.
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


class VerbGroup(Protocol):
    """Verbs over an open store, such as `Retentive` or `Sessions`."""

    _store: OpenStore


V = TypeVar("V", bound=VerbGroup)
P = ParamSpec("P")
R = TypeVar("R")
Method = Callable[Concatenate[V, P], R]


def mutates(verb: Method[V, P, R]) -> Method[V, P, R]:
    """Mark a verb that changes the store. A read-only view refuses it, except as a dry run.

    The verb runs with the model of the active space. If a switch of models is announced, it first waits a moment.
    """

    @wraps(verb)
    def check_and_call(self: V, /, *args: P.args, **named: P.kwargs) -> R:
        if not named.get("dry_run"):
            _refuse_if_read_only(self._store, _public_name(self, verb))
        return verb(_with_active_model(self), *args, **named)

    return check_and_call


def changes(verb: Method[V, P, R]) -> Method[V, P, R]:
    """Mark a verb that changes the store, as `mutates` does, but which finds the active model itself.

    So it can read that together with other things.
    """

    @wraps(verb)
    def check_and_call(self: V, /, *args: P.args, **named: P.kwargs) -> R:
        _refuse_if_read_only(self._store, _public_name(self, verb))
        return verb(self, *args, **named)

    return check_and_call


def _with_active_model(verbs: V) -> V:
    """Return the group with the model of the active space, for one verb."""
    store = with_active_model(verbs._store, is_writing=True)  # noqa: SLF001 - the protocol is of this module
    if store is verbs._store:  # noqa: SLF001
        return verbs
    current = copy.copy(verbs)
    current._store = store  # noqa: SLF001
    return current


def _refuse_if_read_only(store: OpenStore, verb: str) -> None:
    if can_write(store, store.namespace):
        return
    if store.bounds and store.bounds.read_only:
        raise Forbidden(f"{verb} changes the store, but this view of it is read-only")
    raise Forbidden(f"{verb} changes the store, but namespace {store.namespace!r} is read-only in this view")


def can_write(store: OpenStore, namespace: str) -> bool:
    """Whether this view of the store may change a namespace."""
    return store.bounds is None or store.bounds.can_write(namespace)


def whole_store(verb: Method[V, P, R]) -> Method[V, P, R]:
    """Mark a verb about the whole store: a view refuses it."""

    @wraps(verb)
    def check_and_call(self: V, /, *args: P.args, **named: P.kwargs) -> R:
        if self._store.bounds:
            raise Forbidden(
                f"{_public_name(self, verb)} works on the whole store, but this view is limited to a part of it"
            )
        return verb(self, *args, **named)

    return check_and_call


def _public_name(verbs: VerbGroup, verb: Callable[..., Any]) -> str:
    """Return the verb as callers write it, such as `add` or `sessions.append`."""
    owner, _, name = verb.__qualname__.rpartition(".")
    if owner in ("Retentive", "MaintenanceVerbs"):
        return name
    return f"{type(verbs).__name__.removesuffix('Verbs').lower()}.{name}"


def make_bounds(namespaces: Any, *, subtree: bool, read_only: bool, also_read: Any) -> Bounds:
    names = tuple(
        dict.fromkeys(validate.require_namespace(name) for name in validate.as_list(namespaces, "namespaces"))
    )
    if not names:
        raise Invalid("a view needs a namespace", "Name at least one.")
    others = tuple(dict.fromkeys(_parse_pattern(name) for name in validate.as_list(also_read, "also_read")))
    return Bounds(names, bool(subtree), bool(read_only), others)


def _parse_pattern(given: Any) -> str:
    """Validate a namespace, or a prefix such as `team/*`."""
    text = validate.require_text(given, "namespace")
    return f"{validate.require_namespace(text[:-2])}/*" if text.endswith("/*") else validate.require_namespace(text)


def restrict_store(store: OpenStore, bounds: Bounds) -> OpenStore:
    """Return the store over an engine that lets nothing outside the bounds through.

    Raises `Forbidden` if the store may not read all of them. What the store may not change can only be read.
    """
    if store.bounds and not store.bounds.can_read_all_of(bounds):
        raise outside_error(*bounds.names)
    allowed = store.bounds.limit_writes(bounds) if store.bounds else bounds
    engine = store.engine.within(allowed)
    return replace(
        store,
        bounds=allowed,
        namespace=store.namespace if allowed.cover(store.namespace) else allowed.names[0],
        engine=engine,
        tables=Tables(engine),
    )


def require_readable(store: OpenStore, namespace: str) -> str:
    """Return the namespace; raise `Forbidden` if this view may not read it."""
    if store.bounds and not store.bounds.cover(namespace):
        raise outside_error(namespace)
    return namespace


def require_writable(store: OpenStore, namespace: str) -> str:
    """Return the namespace; raise `Forbidden` if this view may not change it."""
    require_readable(store, namespace)
    if not can_write(store, namespace):
        raise Forbidden(f"namespace {namespace!r} is read-only in this view of the store")
    return namespace


def outside_error(*namespaces: str) -> Forbidden:
    return Forbidden(f"namespace {', '.join(map(repr, namespaces))} is not open to this view of the store")
