"""Translate a scope into filter fragments of queries and their parameters."""

from typing import Any

from retentive.model import Filter, Scope, Status

IGNORED_STATUS = "ignored"
"""The status of the chunks of an ignored contact. It is not `active`, so usual searches do not find them."""


def asker_params(scope: Scope) -> dict[str, Any]:
    return {"namespaces": scope.namespaces, "own": scope.namespaces[0], "session": scope.session, "now": scope.now}


def scope_filters(scope: Scope) -> tuple[list[str], dict[str, Any]]:
    """The filters of queries of memories."""
    names, params = _filter(scope.filter, "")
    return ["local", *_session_filters(scope), *names], {**asker_params(scope), **params}


def chunk_filters(scope: Scope) -> tuple[list[str], dict[str, Any]]:
    """The filters of queries of chunks, of any owner."""
    names, params = _filter(scope.filter, "chunk_")
    rows = {"types": scope.types, "events_of_session": scope.events_of_session}
    return ["visible", *_session_filters(scope), *names], {**asker_params(scope), **params, **rows}


def _session_filters(scope: Scope) -> list[str]:
    return ["only_session"] if scope.is_session_only else []


def _filter(wanted: Filter, prefix: str) -> tuple[list[str], dict[str, Any]]:
    """`prefix` is that of the fragments that differ between chunks and memories."""
    params = {
        name: value
        for name in ("kinds", "tags", "sources", "min_importance", "min_confidence", "since", "until")
        if (value := getattr(wanted, name)) not in ((), None)
    }
    own = ["without_replies"] if wanted.without_replies else []
    if wanted.past:
        moments = {name: at for name in ("as_of", "known_at") if (at := getattr(wanted, name)) is not None}
        return [prefix + "_".join(moments), *own, *params], {**params, **moments, "said_until": wanted.messages_until}
    if wanted.statuses == (Status.ACTIVE,) and not wanted.ignored:
        return ["active", *own, *params], params
    if wanted.statuses:
        statuses = (*wanted.statuses, IGNORED_STATUS) if wanted.ignored else wanted.statuses
        return ["statuses", *own, *params], {**params, "statuses": statuses}
    return [*own, *params], params
