"""Verbs of the clients that start us: put into their settings, taken out again."""

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from retentive import clients, config
from retentive.cli import output
from retentive.cli.args import given, is_json
from retentive.clients import entry
from retentive.errors import Invalid
from retentive.served_namespaces import AUTO

_TELL = {
    "installed": "{title} will start Retentive: {file}",
    "updated": "{title} will start Retentive as said now: {file}",
    "already": "already there: {file}",
    "removed": "{title} no longer starts Retentive: {file}",
    "absent": "nothing to remove: Retentive is not in {file}",
}
_STATES = {"installed": "yes", "other": "another of the name", "absent": "no", "unreadable": "cannot be read"}


def _install(arguments: Any) -> int:
    if arguments.client is None:
        return _survey(arguments)
    client, here = clients.client(arguments.client), _here()
    wanted = client.shape(_command(arguments, client, here))
    if arguments.print:
        return _print(arguments, client, wanted)
    try:
        done = clients.install(client, arguments.scope, here, wanted, force=arguments.force, dry=arguments.dry_run)
    except Invalid:
        if not is_json(arguments):
            sys.stderr.write(f"Nothing was changed. This is what belongs there:\n{clients.snippet(client, wanted)}")
        raise
    notes = _notes(done, here, arguments)
    return _told(done, here, arguments, {"entry": wanted, "notes": notes})


def _uninstall(arguments: Any) -> int:
    client, here = clients.client(arguments.client), _here()
    done = clients.uninstall(client, arguments.scope, here, force=arguments.force, dry=arguments.dry_run)
    return _told(done, here, arguments, {"entry": None, "notes": []})


def _here() -> clients.Here:
    return clients.Here(sys.platform, Path.home(), Path.cwd(), config.environment())


def _command(arguments: Any, client: clients.Client, here: clients.Here) -> list[str]:
    """What was said here goes along, as it means the same elsewhere."""
    from retentive.store.validate import namespace_of

    namespace = getattr(arguments, "namespace", client.namespace)
    for name in (*([] if namespace == AUTO else [namespace]), *arguments.also):
        namespace_of(name.removesuffix("/*"))
    db = _db(arguments, here)
    if db and arguments.scope == "project" and config.without_password(db) != db:
        hint = "Set `db` in Retentive's own settings, or leave --scope project out."
        raise Invalid("the address has a password, and files of a project are shared", hint)
    options = {"db": db, "namespace": namespace, "also": arguments.also, "tools": arguments.tools}
    return entry.words(entry.program(entry.Program(), here.variables, db), options | given(arguments, ("embedder",)))


def _db(arguments: Any, here: clients.Here) -> str | None:
    """A file named by the environment is passed on, which a client may not have; an address may hold a password."""
    named = here.variables.get("RETENTIVE_DB", "")
    db: str | None = getattr(arguments, "db", None) or (named if "://" not in named else None)
    return entry.address(db, here.folder) if db else None


def _notes(done: clients.Done, here: clients.Here, arguments: Any) -> list[str]:
    passed = {"RETENTIVE_DB"} if _db(arguments, here) else set()
    unseen = sorted(name for name in here.variables if name.startswith("RETENTIVE_") and name not in passed)
    found = []
    if done.new_folder:
        found.append(f"{_short(done.file.parent, here)} was not there before: is {done.client.title} installed?")
    if unseen:
        file = config.config_file()
        found.append(f"{done.client.title} may not see {', '.join(unseen)}; what is set in {file} it does")
    return found


def _print(arguments: Any, client: clients.Client, wanted: Mapping[str, Any]) -> int:
    text = clients.snippet(client, wanted)
    if is_json(arguments):
        output.as_json({"client": client.name, "entry": wanted, "snippet": text})
    else:
        sys.stdout.write(text)
    return 0


def _told(done: clients.Done, here: clients.Here, arguments: Any, more: dict[str, Any]) -> int:
    if is_json(arguments):
        output.as_json(_as_json(done, dry=arguments.dry_run) | more)
    elif arguments.dry_run and done.diff:
        sys.stdout.write(done.diff)
    else:
        _say(done, here)
        output.notes(more["notes"])
    return 0


def _as_json(done: clients.Done, *, dry: bool) -> dict[str, Any]:
    return {
        "client": done.client.name,
        "scope": done.scope,
        "file": str(done.file),
        "done": done.done,
        "dry_run": dry,
        "diff": done.diff if dry else None,  # what is around our entry may be secret: shown when asked for
        "backup": str(done.backup) if done.backup else None,
        "next": done.client.next if done.done in ("installed", "updated", "already") else None,
    }


def _say(done: clients.Done, here: clients.Here) -> None:
    output.say(_TELL[done.done].format(title=done.client.title, file=_short(done.file, here)))
    if done.backup:
        output.say(f"as it was before: {_short(done.backup, here)}")
    if done.done in ("installed", "updated", "already"):
        output.say(done.client.next)
    elif done.done == "removed":
        output.say(f"Restart {done.client.title} if it runs.")


def _survey(arguments: Any) -> int:
    here = _here()
    found = [*clients.survey(here)]
    if is_json(arguments):
        keys = [(each, {"client": each.client.name, "scope": each.scope, "file": str(each.file)}) for each in found]
        output.as_json({"clients": [told | {"exists": each.exists, "state": each.state} for each, told in keys]})
        return 0
    rows = [(each.client.name, each.scope, _STATES[each.state], _short(each.file, here)) for each in found]
    output.table(("client", "scope", "has Retentive", "file"), rows)
    output.aside("retentive install CLIENT puts it there; --dry-run shows what would change")
    return 0


def _short(path: Path, here: clients.Here) -> str:
    return str(Path("~") / path.relative_to(here.home)) if path.is_relative_to(here.home) else str(path)


VERBS: dict[str, Callable[[Any], int]] = {"install": _install, "uninstall": _uninstall}
