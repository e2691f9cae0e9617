"""Filters as callers give them, checked: which rows a question may see."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, TypedDict

from retentive import clock
from retentive.errors import Invalid
from retentive.model import Filter, Kind, Scope, Source, Status, Type, to_micros
from retentive.store import OpenStore
from retentive.store.person import find_readable_person
from retentive.store.validate import (
    UNSET,
    E,
    Unset,
    When,
    confidence_of,
    each_of,
    importance_of,
    moment,
    name_of,
    namespace_of,
    one_of,
    plain,
    tag_list,
)
from retentive.store.views import covered
from retentive.text.instants import Side


class Filters(TypedDict, total=False):
    """Which memories may be seen."""

    session: str | None
    kind: str | Iterable[str]
    tags: Iterable[str]
    source: str | Iterable[str]
    status: str | Iterable[str]
    min_importance: int | None
    min_confidence: float | None
    since: When | None
    until: When | None


class View(Filters, total=False):
    """Which memories a question may see, and at which moments: now, if neither is given."""

    as_of: When | None
    known_at: When | None


def scope(
    namespaces: Sequence[str],
    *,
    session: str | None = None,
    kind: str | Iterable[str] = (),
    tags: Iterable[str] = (),
    source: str | Iterable[str] = (),
    status: str | Iterable[str] | Unset = UNSET,
    min_importance: int | None = None,
    min_confidence: float | None = None,
    since: When | None = None,
    until: When | None = None,
    as_of: When | None = None,
    known_at: When | None = None,
    include: str | Iterable[str] = (),
    ignored: bool = False,
    now: When | None = None,
) -> Scope:
    """What a question may see. Times in words, also those of the question itself, count from `now`."""
    asked = moment(now, "now", past=True)
    past = {
        "as_of": _micros(as_of, "as_of", "last", asked),
        "known_at": _micros(known_at, "known_at", "last", asked),
    }
    wanted = Filter(
        kinds=_several(Kind, kind, "kind"),
        tags=tag_list(tags),
        sources=_several(Source, source, "source"),
        min_importance=None if min_importance is None else importance_of(min_importance),
        min_confidence=None if min_confidence is None else confidence_of(min_confidence),
        since=_micros(since, "since", now=asked),
        until=_micros(until, "until", "after", asked),
        statuses=_statuses(status, [name for name, value in past.items() if value is not None]),
        ignored=bool(ignored),
        as_of=past["as_of"],
        known_at=past["known_at"],
    )
    own = name_of(session, "session")
    asked_at = None if asked is None else to_micros(asked)
    return Scope(tuple(namespaces), own, clock.now(), wanted, types_of(include), own, asked_at)


def namespaces_of(store: OpenStore, others: Sequence[str]) -> Sequence[str]:
    """The asker's own, and those that are named; prefixes such as `work/*` resolved, to what may be seen.

    If none is named, that of the person is seen, too.
    """
    asked = [plain(name, "namespace") for name in each_of(others, "namespaces")]
    person = find_readable_person(store)
    if not asked and person:
        return [store.namespace, person]
    exact = [covered(store, namespace_of(name)) for name in asked if not name.endswith("/*")]
    prefixes = tuple(namespace_of(name[:-2]) + "/" for name in asked if name.endswith("/*"))
    known = store.tables.memories.namespaces() if prefixes else ()
    below = [name for name in known if f"{name}/".startswith(prefixes)]
    return [*dict.fromkeys([store.namespace, *exact, *below])]


def types_of(include: str | Iterable[str]) -> tuple[Type, ...]:
    """None given means all."""
    asked = each_of(include, "include")
    if unknown := [str(name) for name in asked if name not in _INCLUDED]:
        raise Invalid(f"cannot include {unknown[0][:40]!r}", f"Choose from: {', '.join(_INCLUDED)}.")
    return tuple(_INCLUDED[name] for name in asked) or tuple(Type)


_INCLUDED = {
    "memories": Type.MEMORY,
    "events": Type.EVENT,
    "files": Type.FILE,
    "profile": Type.PROFILE,
    "contacts": Type.CONTACT,
    "projects": Type.PROJECT,
    "skills": Type.SKILL,
}


def _several(choices: type[E], given: Any, name: str) -> tuple[E, ...]:
    return tuple(one_of(choices, each, name) for each in each_of(given, name))


def _statuses(given: str | Iterable[str] | Unset, moments: Sequence[str]) -> tuple[Status, ...]:
    if isinstance(given, Unset):
        return (Status.ACTIVE,)
    if moments:
        hint = "Leave out status: a question about the past is answered by what held then, whatever became of it since."
        raise Invalid(f"{moments[0]} and status cannot be combined", hint)
    return _several(Status, given, "status")


def _micros(given: When | None, name: str, side: Side = "first", now: datetime | None = None) -> int | None:
    when = moment(given, name, past=True, side=side, now=now)
    return None if when is None else to_micros(when)
