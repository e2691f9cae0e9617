"""Add our entry to the text of a client's settings, or remove it. Every change is parsed again and verified."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from retentive.clients.entry import is_ours
from retentive.clients.registry import SERVER_NAME, McpClient
from retentive.errors import Conflict, Invalid

MISSING = object()
_BYTE_ORDER_MARK = "\ufeff"


class Edit(NamedTuple):
    text: str
    outcome: str
    """`installed`, `updated` or `already`; `removed` or `absent`."""


def put_entry(text: str, client: McpClient, entry: Mapping[str, Any], *, force: bool = False) -> Edit:
    """Add or update our entry. Keys that the user added to it (`env`, `disabled`) stay.

    Another program's entry of our name is a `Conflict`, or replaced by `force`.
    """
    bom, body = _split_bom(text)
    document, path = _parse(body, client)
    current = _find_value(document, path)
    if current is MISSING:
        return Edit(bom + _put_whole_entry(client, body, document, path, entry), "installed")
    if not is_ours(current):
        if not force:
            raise _foreign_entry_error(client)
        return Edit(bom + _put_whole_entry(client, body, document, path, entry), "updated")
    wanted = {**current, **entry}
    if wanted == current:
        return Edit(text, "already")
    changed = body
    for key in entry:
        if current.get(key) != entry[key]:
            changed = client.format.put(changed, (*path, key), entry[key])
    _verify(client, changed, document, path, wanted)
    return Edit(bom + changed, "updated")


def remove_entry(text: str, client: McpClient, originals: Iterable[str] = (), *, force: bool = False) -> Edit:
    """Remove our entry.

    `originals` are the texts of the file's backups. If one of them with our entry added is the text, it is restored.
    """
    bom, body = _split_bom(text)
    document, path = _parse(body, client)
    current = _find_value(document, path)
    if current is MISSING:
        return Edit(text, "absent")
    if not is_ours(current) and not force:
        raise _foreign_entry_error(client)
    original = find_original(text, client, originals)
    if original is not None:
        return Edit(original, "removed")
    changed = client.format.remove(body, path)
    _verify(client, changed, document, path, MISSING)
    return Edit(bom + changed, "removed")


def find_original(text: str, client: McpClient, originals: Iterable[str]) -> str | None:
    """Return the original that the text is equal to, as it is or with our entry added."""
    document, path = _parse(_split_bom(text)[1], client)
    entry = _find_value(document, path)
    for original in originals:
        if original == text or _is_with_entry(text, original, client, entry):
            return original
    return None


def find_state(text: str, client: McpClient) -> str:
    """Return `installed`, `other` (another program's entry of our name) or `absent`."""
    document, path = _parse(_split_bom(text)[1], client)
    current = _find_value(document, path)
    if current is MISSING:
        return "absent"
    return "installed" if is_ours(current) else "other"


def _is_with_entry(text: str, original: str, client: McpClient, entry: Any) -> bool:
    try:
        return is_ours(entry) and put_entry(original, client, entry).text == text
    except (Invalid, Conflict):
        return False


def _split_bom(text: str) -> tuple[str, str]:
    return (_BYTE_ORDER_MARK, text[1:]) if text.startswith(_BYTE_ORDER_MARK) else ("", text)


def _parse(body: str, client: McpClient) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the document, and the path of our entry in it."""
    document = client.format.parse(body)
    return document, client.find_path(document)


def _find_value(document: dict[str, Any], path: Sequence[str]) -> Any:
    value: Any = document
    for depth, key in enumerate(path):
        if not isinstance(value, dict):
            raise Invalid(f"{'.'.join(path[:depth])} is not a table of servers")
        if key not in value:
            return MISSING
        value = value[key]
    return value


def _put_whole_entry(
    client: McpClient, body: str, document: dict[str, Any], path: Sequence[str], entry: Mapping[str, Any]
) -> str:
    changed = client.format.put(body, path, entry)
    _verify(client, changed, document, path, entry)
    return changed


def _verify(client: McpClient, changed: str, document: dict[str, Any], path: Sequence[str], entry: Any) -> None:
    """Refuse a changed text that does not mean the document with this entry."""
    try:
        parsed = client.format.parse(changed)
    except Invalid:
        parsed = None
    if parsed is None or _render(_with_entry(parsed, path, _find_value(parsed, path))) != _render(
        _with_entry(document, path, entry)
    ):
        raise Invalid("the file is written in a way that cannot be edited safely", "The file was not changed.")


def _with_entry(table: Mapping[str, Any], path: Sequence[str], entry: Any) -> dict[str, Any]:
    """Return a copy of the table with this entry, or without one if it is `MISSING`. Empty tables on the path go."""
    key, *rest = path
    value = _with_entry(table.get(key, {}), rest, entry) if rest else entry
    others = {name: table[name] for name in table if name != key}
    return others if value is MISSING or (rest and not value) else {**others, key: value}


def _render(document: dict[str, Any]) -> str:
    """Render a document as one comparable text."""
    return json.dumps(document, sort_keys=True, default=repr)


def _foreign_entry_error(client: McpClient) -> Conflict:
    return Conflict(
        f"{client.title} has a server called {SERVER_NAME} that does not start `retentive mcp`",
        "Nothing was changed. Use --force to replace or remove it anyway.",
    )
