"""Make, verify and restore backups, and compact the store."""

from collections.abc import Callable
from typing import Any

from retentive import config, serialize
from retentive.api import Retentive
from retentive.cli import output
from retentive.cli.args import confirm, is_json, pick_options
from retentive.errors import NotFound
from retentive.fs.paths import parse_path
from retentive.fs.regular_files import require_regular
from retentive.model import Backup, RestoreResult


def _create(memory: Retentive, arguments: Any) -> int:
    with output.show_progress("copying") as progress:
        made = memory.backup(
            arguments.target, keep=arguments.keep, overwrite=arguments.force, progress=progress.report_stage
        )
    return _print_backup(arguments, made)


def _verify(arguments: Any) -> int:
    with output.show_progress("checking") as progress:
        verified = Retentive.verify_backup(arguments.file, progress.report_stage)
    return _print_backup(arguments, verified)


def _print_backup(arguments: Any, backup: Backup) -> int:
    if is_json(arguments):
        output.print_json(serialize.backup(backup))
    else:
        output.print_line(f"{backup.path}: complete, {_describe_content(backup)}")
        for path in backup.removed:
            output.print_line(f"removed {path}")
    return 0


def _describe_content(backup: Backup) -> str:
    memories = output.format_count(backup.memories, "memory", "memories")
    messages = f"{output.format_count(backup.events, 'message')} in {output.format_count(backup.sessions, 'session')}"
    return f"{memories} and {messages}, {backup.bytes} bytes"


def _restore(arguments: Any) -> int:
    result = None
    if arguments.dry_run or not arguments.yes:
        result = _run_restore(arguments, dry_run=True)
    if not arguments.dry_run:
        if result and result.path.exists() and not _confirm_restore(result):
            output.print_line("nothing was restored")
            return 1
        result = _run_restore(arguments, dry_run=False)
    if result and is_json(arguments):
        output.print_json(serialize.restore_result(result))
    elif result:
        _print_restore(result)
    return 0


def _run_restore(arguments: Any, *, dry_run: bool) -> RestoreResult:
    settings = pick_options(arguments, ("namespace", "embedder"))
    with output.show_progress("checking") as progress:
        return Retentive.restore_backup(
            arguments.file, arguments.db, dry_run=dry_run, progress=progress.report_stage, **settings
        )


def _confirm_restore(result: RestoreResult) -> bool:
    content = _describe_content(result.backup)
    other = "" if result.same_store else " It is a backup of another store."
    question = f"Replace {result.path} with a backup of {content}?{other} A copy of the present store will be kept."
    return confirm(output.sanitise(question), f"this would replace {result.path}")


def _print_restore(result: RestoreResult) -> None:
    verb = "restored" if result.done else "would restore"
    output.print_line(f"{verb} {result.path}: {_describe_content(result.backup)}")
    notes = []
    if not result.same_store:
        notes.append(f"this is a backup of another store than the one that {'was' if result.done else 'is'} there")
    if result.kept:
        output.print_line(f"copy of the store before: {result.kept}")
    if result.returned:
        notes.append(f"purged since, and now restored: {', '.join(result.returned)}. Purge them again.")
    output.print_notes(notes)


def _compact(memory: Retentive, arguments: Any) -> int:
    with output.show_progress("compacting") as progress:
        done = memory.compact(progress.report_stage)
    if is_json(arguments):
        output.print_json(serialize.compact_result(done))
    else:
        output.print_line(f"{done.before} bytes before, {done.after} now")
        if done.detail:
            output.print_line(done.detail)
    return 0


def require_store(arguments: Any) -> None:
    """Refuse a store that does not exist: opening it would create it, and hide a mistyped name."""
    if where := find_missing_store(arguments):
        raise NotFound(f"there is no store at {where}", "Set it with --db or RETENTIVE_DB.")


def find_missing_store(arguments: Any) -> str | None:
    """Return the path of the configured store if it is a file that does not exist."""
    where = str(config.resolve(pick_options(arguments, ("db",)))["db"].value)
    if "://" in where or where == ":memory:":
        return None
    require_regular(parse_path(where))
    return None if parse_path(where).is_file() else where


WITHOUT_STORE: dict[str, Callable[[Any], int]] = {"backup verify": _verify, "backup restore": _restore}
VERBS: dict[str, Callable[[Retentive, Any], int]] = {"backup create": _create, "compact": _compact}
