"""Commands that add Retentive to the settings of MCP clients, and remove it."""

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from retentive import clients, config
from retentive.cli import output
from retentive.cli.args import is_json, pick_options
from retentive.clients import entry
from retentive.errors import Invalid
from retentive.served_namespaces import AUTO

_OUTCOMES = {
    "installed": "{title} will start Retentive: {file}",
    "updated": "{title} will start Retentive with the new options: {file}",
    "already": "already there: {file}",
    "removed": "{title} no longer starts Retentive: {file}",
    "absent": "nothing to remove: Retentive is not in {file}",
}
_STATES = {"installed": "yes", "other": "another server of this name", "absent": "no", "unreadable": "cannot be read"}


def _install(arguments: Any) -> int:
    if arguments.client is None:
        return _list_statuses(arguments)
    client, environment = clients.find_client(arguments.client), _read_environment()
    new_entry = client.build_entry(_build_command(arguments, client, environment))
    if arguments.print:
        return _print_snippet(arguments, client, new_entry)
    options = {"force": arguments.force, "dry_run": arguments.dry_run}
    try:
        result = clients.install(client, arguments.scope, environment, new_entry, **options)
    except Invalid:
        if not is_json(arguments):
            snippet = clients.render_snippet(client, new_entry)
            sys.stderr.write(f"Nothing was changed. Add this to the file yourself:\n{snippet}")
        raise
    return _print_result(result, environment, arguments, new_entry, _find_notes(result, environment, arguments))


def _uninstall(arguments: Any) -> int:
    client, environment = clients.find_client(arguments.client), _read_environment()
    options = {"force": arguments.force, "dry_run": arguments.dry_run}
    result = clients.uninstall(client, arguments.scope, environment, **options)
    return _print_result(result, environment, arguments, None, [])


def _read_environment() -> clients.Environment:
    return clients.Environment(sys.platform, Path.home(), Path.cwd(), config.environment())


def _build_command(arguments: Any, client: clients.McpClient, environment: clients.Environment) -> list[str]:
    """Build the command for the client, with the options that were given here."""
    from retentive.store.validate import require_namespace

    namespace = arguments.given.get("namespace", client.namespace)
    for name in (*([] if namespace == AUTO else [namespace]), *arguments.also):
        require_namespace(name.removesuffix("/*"))
    db = _find_db(arguments, environment)
    if db and arguments.scope == "project" and config.mask_password(db) != db:
        hint = "Set `db` in Retentive's own settings, or leave out --scope project."
        raise Invalid("the address has a password, and files of a project are shared", hint)
    program = entry.find_program(entry.RunningProgram(), environment.variables, db)
    options = {"db": db, "namespace": namespace, "also": arguments.also, "tools": arguments.tools}
    return entry.build_command(program, options | pick_options(arguments, ("embedder",)))


def _find_db(arguments: Any, environment: clients.Environment) -> str | None:
    """Return the store to name in the command: that of --db, or a file named by RETENTIVE_DB.

    The client may not have that variable. An address in it is left out, because it may have a password.
    """
    variable = environment.variables.get("RETENTIVE_DB", "")
    db: str | None = arguments.db or (variable if "://" not in variable else None)
    return entry.resolve_store(db, environment.folder) if db else None


def _find_notes(result: clients.InstallResult, environment: clients.Environment, arguments: Any) -> list[str]:
    """Say what may not work as the user expects."""
    passed_on = {"RETENTIVE_DB"} if _find_db(arguments, environment) else set()
    unseen = sorted(name for name in environment.variables if name.startswith("RETENTIVE_") and name not in passed_on)
    title, notes = result.client.title, []
    if result.is_new_folder:
        folder = _shorten(result.file.parent, environment)
        notes.append(f"{folder} was not there before: is {title} installed?")
    if unseen:
        file = config.config_file()
        notes.append(f"{title} may not see {', '.join(unseen)}; it does see the settings in {file}")
    return notes


def _print_snippet(arguments: Any, client: clients.McpClient, new_entry: Mapping[str, Any]) -> int:
    snippet = clients.render_snippet(client, new_entry)
    if is_json(arguments):
        output.print_json({"client": client.name, "entry": new_entry, "snippet": snippet})
    else:
        sys.stdout.write(snippet)
    return 0


def _print_result(
    result: clients.InstallResult,
    environment: clients.Environment,
    arguments: Any,
    new_entry: Mapping[str, Any] | None,
    notes: list[str],
) -> int:
    if is_json(arguments):
        output.print_json(_serialize(result, dry_run=arguments.dry_run) | {"entry": new_entry, "notes": notes})
    elif arguments.dry_run and result.diff:
        sys.stdout.write(result.diff)
    else:
        _print_outcome(result, environment)
        output.print_notes(notes)
    return 0


def _serialize(result: clients.InstallResult, *, dry_run: bool) -> dict[str, Any]:
    is_there = result.outcome in ("installed", "updated", "already")
    return {
        "client": result.client.name,
        "scope": result.scope,
        "file": str(result.file),
        "done": result.outcome,
        "dry_run": dry_run,
        "diff": result.diff if dry_run else None,  # the lines around our entry may be secret
        "backup": str(result.backup) if result.backup else None,
        "next": result.client.next_step if is_there else None,
    }


def _print_outcome(result: clients.InstallResult, environment: clients.Environment) -> None:
    client = result.client
    output.print_line(_OUTCOMES[result.outcome].format(title=client.title, file=_shorten(result.file, environment)))
    if result.backup:
        output.print_line(f"backup of the old file: {_shorten(result.backup, environment)}")
    if result.outcome in ("installed", "updated", "already"):
        output.print_line(client.next_step)
    elif result.outcome == "removed":
        output.print_line(f"Restart {client.title} if it is running.")


def _list_statuses(arguments: Any) -> int:
    environment = _read_environment()
    statuses = [*clients.list_statuses(environment)]
    if is_json(arguments):
        output.print_json({"clients": [_serialize_status(each) for each in statuses]})
        return 0
    rows = [(each.client.name, each.scope, _STATES[each.state], _shorten(each.file, environment)) for each in statuses]
    output.print_table(("client", "scope", "has Retentive", "file"), rows)
    output.print_hint("`retentive install CLIENT` adds it; --dry-run shows what would change")
    return 0


def _serialize_status(each: clients.ClientStatus) -> dict[str, Any]:
    return {
        "client": each.client.name,
        "scope": each.scope,
        "file": str(each.file),
        "exists": each.exists,
        "state": each.state,
    }


def _shorten(path: Path, environment: clients.Environment) -> str:
    """Write `~` for the user's home."""
    return str(Path("~") / path.relative_to(environment.home)) if path.is_relative_to(environment.home) else str(path)


VERBS: dict[str, Callable[[Any], int]] = {"install": _install, "uninstall": _uninstall}
