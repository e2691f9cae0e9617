"""A scope as filter fragments and their values."""

from typing import Any

from retentive.model import Filter, Scope, Status

IGNORED = "ignored"
"""The status of the chunks of a contact of this type. It is not `active`, so no usual search sees them."""


def scope_filters(scope: Scope) -> tuple[list[str], dict[str, Any]]:
    """For memories."""
    names, params = _filter(scope.filter, "")
    asker = {"namespaces": scope.namespaces, "own": scope.namespaces[0], "session": scope.session, "now": scope.now}
    return ["local", *names], {**asker, **params}


def chunk_filters(scope: Scope) -> tuple[list[str], dict[str, Any]]:
    """For chunks, of whatever they are slices."""
    names, params = _filter(scope.filter, "chunk_")
    asker = {"namespaces": scope.namespaces, "own": scope.namespaces[0], "session": scope.session, "now": scope.now}
    return ["visible", *names], {**asker, **params, "types": scope.types, "within": scope.within}


def _filter(wanted: Filter, row: str) -> tuple[list[str], dict[str, Any]]:
    params = {
        name: value
        for name in ("kinds", "tags", "sources", "min_importance", "min_confidence", "since", "until")
        if (value := getattr(wanted, name)) not in ((), None)
    }
    own = ["without_replies"] if wanted.without_replies else []
    if wanted.past:
        moments = {name: at for name in ("as_of", "known_at") if (at := getattr(wanted, name)) is not None}
        return [row + "_".join(moments), *own, *params], {**params, **moments, "said_until": wanted.said_until}
    if wanted.statuses == (Status.ACTIVE,) and not wanted.ignored:
        return ["active", *own, *params], params
    if wanted.statuses:
        statuses = (*wanted.statuses, IGNORED) if wanted.ignored else wanted.statuses
        return ["statuses", *own, *params], {**params, "statuses": statuses}
    return [*own, *params], params
