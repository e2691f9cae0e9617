"""Scopes: the filters of callers, validated, as the rows that a question may see."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, TypedDict

from retentive import clock
from retentive.errors import Invalid
from retentive.model import Filter, ItemType, Kind, Reach, Scope, Source, Status, to_micros
from retentive.store import OpenStore
from retentive.store.person import find_person_namespace
from retentive.store.traits import parse_bounded
from retentive.store.validate import (
    UNSET,
    E,
    TimeInput,
    Unset,
    as_list,
    optional_name,
    parse_choice,
    parse_tags,
    parse_time,
    require_namespace,
    require_text,
)
from retentive.store.views import require_readable
from retentive.surface.memory import CONFIDENCE, IMPORTANCE
from retentive.text.instants import Side


class Filters(TypedDict, total=False):
    """Filters by which memories are chosen."""

    session: str | None
    kind: str | Iterable[str]
    tags: Iterable[str]
    source: str | Iterable[str]
    status: str | Iterable[str]
    min_importance: int | None
    min_confidence: float | None
    since: TimeInput | None
    until: TimeInput | None


class View(Filters, total=False):
    """Filters of a question, and the moments that it is about; by default now."""

    as_of: TimeInput | None
    known_at: TimeInput | None


def make_scope(
    namespaces: Sequence[str],
    *,
    session: str | None = None,
    kind: str | Iterable[str] = (),
    tags: Iterable[str] = (),
    source: str | Iterable[str] = (),
    status: str | Iterable[str] | Unset = UNSET,
    min_importance: int | None = None,
    min_confidence: float | None = None,
    since: TimeInput | None = None,
    until: TimeInput | None = None,
    as_of: TimeInput | None = None,
    known_at: TimeInput | None = None,
    include: str | Iterable[str] = (),
    ignored: bool = False,
    now: TimeInput | None = None,
    reach: str = Reach.ALL,
) -> Scope:
    """Validate filters and make a scope. Times in words, also those of the question itself, count from `now`."""
    asked = parse_time(now, "now", past=True)
    past = {
        "as_of": _parse_micros(as_of, "as_of", "last", asked),
        "known_at": _parse_micros(known_at, "known_at", "last", asked),
    }
    wanted = Filter(
        kinds=_parse_choices(Kind, kind, "kind"),
        tags=parse_tags(tags),
        sources=_parse_choices(Source, source, "source"),
        min_importance=None if min_importance is None else parse_bounded(IMPORTANCE, min_importance),
        min_confidence=None if min_confidence is None else parse_bounded(CONFIDENCE, min_confidence),
        since=_parse_micros(since, "since", now=asked),
        until=_parse_micros(until, "until", "after", asked),
        statuses=_parse_statuses(status, [name for name, value in past.items() if value is not None]),
        ignored=bool(ignored),
        as_of=past["as_of"],
        known_at=past["known_at"],
    )
    own = optional_name(session, "session")
    asked_at = None if asked is None else to_micros(asked)
    is_session_only = parse_choice(Reach, reach, "scope") is Reach.SESSION
    if is_session_only and own is None:
        raise Invalid("scope is 'session', but no session is given", "Give it as `session`.")
    seen = tuple(namespaces[:1] if is_session_only else namespaces)
    return Scope(seen, own, clock.now(), wanted, _parse_types(include), own, asked_at, is_session_only)


def resolve_namespaces(store: OpenStore, others: Sequence[str]) -> Sequence[str]:
    """The store's own namespace and the named ones, with prefixes such as `work/*` resolved.

    If none is named, the namespace of the person is added.
    """
    asked = [require_text(name, "namespace") for name in as_list(others, "namespaces")]
    person = find_person_namespace(store)
    if not asked and person:
        return [store.namespace, person]
    return [*dict.fromkeys([store.namespace, *find_named_namespaces(store, asked)])]


def find_named_namespaces(store: OpenStore, names: Sequence[str]) -> list[str]:
    """The named namespaces, and the existing ones that prefixes such as `work/*` cover: `work` and all below it."""
    exact = [require_readable(store, require_namespace(name)) for name in names if not name.endswith("/*")]
    prefixes = tuple(require_namespace(name[:-2]) + "/" for name in names if name.endswith("/*"))
    known = store.tables.memories.list_namespaces() if prefixes else ()
    below = [name for name in known if f"{name}/".startswith(prefixes)]
    return [*dict.fromkeys([*exact, *below])]


def _parse_types(include: str | Iterable[str]) -> tuple[ItemType, ...]:
    """The item types of `include`, by default all."""
    names = as_list(include, "include")
    if unknown := [str(name) for name in names if name not in _ITEM_TYPES]:
        raise Invalid(f"cannot include {unknown[0][:40]!r}", f"Choose from: {', '.join(_ITEM_TYPES)}.")
    return tuple(_ITEM_TYPES[name] for name in names) or tuple(ItemType)


_ITEM_TYPES = {
    "memories": ItemType.MEMORY,
    "events": ItemType.EVENT,
    "files": ItemType.FILE,
    "profile": ItemType.PROFILE,
    "contacts": ItemType.CONTACT,
    "projects": ItemType.PROJECT,
    "skills": ItemType.SKILL,
}


def _parse_choices(choices: type[E], given: Any, name: str) -> tuple[E, ...]:
    return tuple(parse_choice(choices, each, name) for each in as_list(given, name))


def _parse_statuses(given: str | Iterable[str] | Unset, moments: Sequence[str]) -> tuple[Status, ...]:
    if isinstance(given, Unset):
        return (Status.ACTIVE,)
    if moments:
        hint = "Leave out status: a question about the past is answered by what was true then, whatever its status now."
        raise Invalid(f"{moments[0]} and status cannot be combined", hint)
    return _parse_choices(Status, given, "status")


def _parse_micros(given: TimeInput | None, name: str, side: Side = "first", now: datetime | None = None) -> int | None:
    when = parse_time(given, name, past=True, side=side, now=now)
    return None if when is None else to_micros(when)
