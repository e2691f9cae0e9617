"""Create, list and revoke access tokens."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from retentive import serialize
from retentive.api import Retentive
from retentive.cli import output
from retentive.cli.args import is_json, pick_options
from retentive.model import Token


def _create(memory: Retentive, arguments: Any) -> int:
    made = memory.tokens.create(**pick_options(arguments, ("subtree", "read_only", "name", "expires")))
    if is_json(arguments):
        output.print_json(serialize.new_token(made))
        return 0
    output.print_line(made.secret)
    rights = f"{output.show_id(made.token.id)}: {_describe_rights(made.token)}"
    output.print_hint(f"{rights}. This is the only time that its secret is shown.")
    return 0


def _list(memory: Retentive, arguments: Any) -> int:
    found = memory.tokens.list()
    if is_json(arguments):
        output.print_json({"tokens": [serialize.encode_fields(each) for each in found]})
    else:
        output.print_table(("id", "state", "created", "expires", "last used", "opens", "name"), map(_build_row, found))
    return 0


def _revoke(memory: Retentive, arguments: Any) -> int:
    gone = [memory.tokens.revoke(id) for id in arguments.ids]
    if is_json(arguments):
        output.print_json({"tokens": [serialize.encode_fields(each) for each in gone]})
    else:
        for each in gone:
            output.print_line(f"revoked {output.show_id(each.id)}")
    return 0


def _build_row(each: Token) -> tuple[Any, ...]:
    state = "revoked" if each.revoked else "active" if each.holds_at(datetime.now(UTC)) else "expired"
    times = (f"{time:%Y-%m-%d %H:%M}" if time else "-" for time in (each.created, each.expires, each.last_used))
    return output.show_id(each.id), state, *times, _describe_rights(each), each.name


def _describe_rights(each: Token) -> str:
    reach = f"{each.namespace} and below" if each.subtree else each.namespace
    return f"{reach}, read only" if each.read_only else f"{reach}, read and write"


VERBS: dict[str, Callable[[Retentive, Any], int]] = {
    "token create": _create,
    "token list": _list,
    "token revoke": _revoke,
}
