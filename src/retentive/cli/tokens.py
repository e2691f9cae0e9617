"""Access tokens: who may come in over the network."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from retentive import serialize
from retentive.api import Retentive
from retentive.cli import output
from retentive.cli.args import given, is_json
from retentive.model import Token


def _create(memory: Retentive, arguments: Any) -> int:
    made = memory.tokens.create(**given(arguments, ("subtree", "read_only", "name", "expires")))
    if is_json(arguments):
        output.as_json(serialize.issued(made))
        return 0
    output.say(made.secret)
    output.aside(f"{made.token.id}: {_rights(made.token)}. This is the only time that its secret is shown.")
    return 0


def _list(memory: Retentive, arguments: Any) -> int:
    found = memory.tokens.list()
    if is_json(arguments):
        output.as_json({"tokens": [serialize.shown(each) for each in found]})
    else:
        output.table(("id", "state", "made", "expires", "last used", "opens", "name"), map(_row, found))
    return 0


def _revoke(memory: Retentive, arguments: Any) -> int:
    gone = [memory.tokens.revoke(id) for id in arguments.ids]
    if is_json(arguments):
        output.as_json({"tokens": [serialize.shown(each) for each in gone]})
    else:
        for each in gone:
            output.say(f"revoked {each.id}")
    return 0


def _row(each: Token) -> tuple[Any, ...]:
    state = "revoked" if each.revoked else "active" if each.holds_at(datetime.now(UTC)) else "expired"
    times = (f"{time:%Y-%m-%d %H:%M}" if time else "-" for time in (each.created, each.expires, each.last_used))
    return each.id, state, *times, _rights(each), each.name


def _rights(each: Token) -> str:
    reach = f"{each.namespace} and below" if each.subtree else each.namespace
    return f"{reach}, to read" if each.read_only else f"{reach}, to read and write"


VERBS: dict[str, Callable[[Retentive, Any], int]] = {
    "token create": _create,
    "token list": _list,
    "token revoke": _revoke,
}
