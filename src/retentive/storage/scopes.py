"""A scope as filter fragments and their values."""

from typing import Any

from retentive.model import Filter, Scope, Status


def scope_filters(scope: Scope) -> tuple[list[str], dict[str, Any]]:
    names, params = _filter(scope.filter)
    return ["session", *names], {"namespaces": scope.namespaces, "session": scope.session, "now": scope.now, **params}


def _filter(wanted: Filter) -> tuple[list[str], dict[str, Any]]:
    params = {
        name: value
        for name in ("kinds", "tags", "sources", "min_importance", "min_confidence", "since", "until")
        if (value := getattr(wanted, name)) not in ((), None)
    }
    if wanted.statuses == (Status.ACTIVE,):
        return ["active", *params], params
    if wanted.statuses:
        return ["statuses", *params], {**params, "statuses": wanted.statuses}
    return list(params), params
