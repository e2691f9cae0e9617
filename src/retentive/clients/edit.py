"""Our entry, put into the text of a client's settings or taken out of it. Every change is read again and compared."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from retentive.clients.entry import is_ours
from retentive.clients.registry import NAME, Client
from retentive.errors import Conflict, Invalid

MISSING = object()
_MARK = "\ufeff"


class Edit(NamedTuple):
    text: str
    done: str
    """`installed`, `updated` or `already`; `removed` or `absent`."""


def put(text: str, client: Client, entry: Mapping[str, Any], *, force: bool = False) -> Edit:
    """With our entry. What its user added to it (`env`, `disabled`) stays; a stranger's of the name is kept."""
    mark, body = _split(text)
    document, path = _read(body, client)
    there = _at(document, path)
    if there is MISSING:
        return Edit(mark + _checked(client, body, document, path, entry), "installed")
    if not is_ours(there):
        if not force:
            raise _stranger(client)
        return Edit(mark + _checked(client, body, document, path, entry), "updated")
    wanted = {**there, **entry}
    if wanted == there:
        return Edit(text, "already")
    changed = body
    for key in entry:
        if there.get(key) != entry[key]:
            changed = client.format.put(changed, (*path, key), entry[key])
    _compare(client, changed, document, path, wanted)
    return Edit(mark + changed, "updated")


def take(text: str, client: Client, befores: Iterable[str] = (), *, force: bool = False) -> Edit:
    """Without our entry. If it is all that tells the text from one of before, it is that one again."""
    mark, body = _split(text)
    document, path = _read(body, client)
    there = _at(document, path)
    if there is MISSING:
        return Edit(text, "absent")
    if not is_ours(there) and not force:
        raise _stranger(client)
    before = origin(text, client, befores)
    if before is not None:
        return Edit(before, "removed")
    changed = client.format.drop(body, path)
    _compare(client, changed, document, path, MISSING)
    return Edit(mark + changed, "removed")


def origin(text: str, client: Client, befores: Iterable[str]) -> str | None:
    """Which of these the text is: as it stands, or with our entry put in."""
    document, path = _read(_split(text)[1], client)
    entry = _at(document, path)
    return next((each for each in befores if each == text or _is_with(text, each, client, entry)), None)


def state(text: str, client: Client) -> str:
    """`installed`, `other` (someone else's entry of the name) or `absent`."""
    document, path = _read(_split(text)[1], client)
    there = _at(document, path)
    if there is MISSING:
        return "absent"
    return "installed" if is_ours(there) else "other"


def _is_with(text: str, before: str, client: Client, entry: Any) -> bool:
    try:
        return is_ours(entry) and put(before, client, entry).text == text
    except (Invalid, Conflict):
        return False


def _split(text: str) -> tuple[str, str]:
    return (_MARK, text[1:]) if text.startswith(_MARK) else ("", text)


def _read(body: str, client: Client) -> tuple[dict[str, Any], tuple[str, ...]]:
    document = client.format.read(body)
    return document, client.path(document)


def _at(document: dict[str, Any], path: Sequence[str]) -> Any:
    there: Any = document
    for depth, key in enumerate(path):
        if not isinstance(there, dict):
            raise Invalid(f"{'.'.join(path[:depth])} in it is not a table of servers")
        if key not in there:
            return MISSING
        there = there[key]
    return there


def _checked(client: Client, body: str, document: dict[str, Any], path: Sequence[str], entry: Mapping[str, Any]) -> str:
    changed = client.format.put(body, path, entry)
    _compare(client, changed, document, path, entry)
    return changed


def _compare(client: Client, changed: str, document: dict[str, Any], path: Sequence[str], entry: Any) -> None:
    """What was written must mean what was there, and our entry as it should be; else nothing is changed."""
    try:
        found = client.format.read(changed)
    except Invalid:
        found = None
    if found is None or _canonical(found, path, _at(found, path)) != _canonical(document, path, entry):
        raise Invalid("it is written in a way that cannot be edited safely", "It was left as it is.")


def _canonical(document: dict[str, Any], path: Sequence[str], entry: Any) -> str:
    """As one text: the document, with this entry. Tables that it alone would fill do not count if there is none."""
    document = {**document}
    tables = [document]
    for key in path[:-1]:
        tables[-1][key] = {**tables[-1].get(key, {})}
        tables.append(tables[-1][key])
    tables[-1].pop(path[-1], None)
    if entry is not MISSING:
        tables[-1][path[-1]] = entry
    for key, table, inner in reversed([*zip(path, tables, tables[1:], strict=False)]):
        if not inner:
            del table[key]
    return json.dumps(document, sort_keys=True, default=repr)


def _stranger(client: Client) -> Conflict:
    return Conflict(
        f"{client.title} has a server called {NAME} that does not start `retentive mcp`",
        "It was left as it is; --force replaces or removes it all the same.",
    )
