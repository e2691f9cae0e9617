"""Backups, putting one back, and compacting."""

from collections.abc import Callable
from typing import Any

from retentive import config, serialize
from retentive.api import Retentive
from retentive.cli import output
from retentive.cli.args import agreed, given, is_json
from retentive.errors import NotFound
from retentive.fs.paths import parse_path
from retentive.fs.regular_files import require_regular
from retentive.model import Backup, Restored


def _create(memory: Retentive, arguments: Any) -> int:
    made = memory.backup(arguments.target, keep=arguments.keep, overwrite=arguments.force, progress=_progress())
    return _told(arguments, made)


def _verify(arguments: Any) -> int:
    return _told(arguments, Retentive.verify_backup(arguments.file, _progress()))


def _told(arguments: Any, backup: Backup) -> int:
    if is_json(arguments):
        output.as_json(serialize.backup(backup))
    else:
        output.say(output.line(f"{backup.path}: whole, {_holding(backup)}"))
        for path in backup.removed:
            output.say(output.line(f"removed {path}"))
    return 0


def _holding(backup: Backup) -> str:
    memories = output.counted(backup.memories, "memory", "memories")
    talk = f"{output.counted(backup.events, 'message')} in {output.counted(backup.sessions, 'session')}"
    return f"{memories} and {talk}, {backup.bytes} bytes"


def _restore(arguments: Any) -> int:
    told = None
    if arguments.dry_run or not arguments.yes:
        told = _restored(arguments, dry_run=True)
    if not arguments.dry_run:
        if told and told.path.exists() and not _sure(told):
            output.say("nothing was restored")
            return 1
        told = _restored(arguments, dry_run=False)
    if told and is_json(arguments):
        output.as_json(serialize.restored(told))
    elif told:
        _say(told)
    return 0


def _restored(arguments: Any, *, dry_run: bool) -> Restored:
    settings = given(arguments, ("namespace", "embedder"))
    target = getattr(arguments, "db", None)
    return Retentive.restore_backup(arguments.file, target, dry_run=dry_run, progress=_progress(), **settings)


def _sure(told: Restored) -> bool:
    other = "" if told.same_store else " It is a backup of another store."
    question = f"Replace {told.path} by a backup with {_holding(told.backup)}?{other} What is there is kept beside it."
    return agreed(output.line(question), f"this would replace {told.path}")


def _say(told: Restored) -> None:
    done = "restored" if told.done else "would restore"
    output.say(output.line(f"{done} {told.path}: {_holding(told.backup)}"))
    if not told.same_store:
        output.notes([f"this is a backup of another store than the one that {'was' if told.done else 'is'} there"])
    if told.kept:
        output.say(output.line(f"what was there: {told.kept}"))
    if told.returned:
        output.notes(
            [output.line(f"purged since, and back: {', '.join(told.returned)}. Purge what should not be there.")]
        )


def _compact(memory: Retentive, arguments: Any) -> int:
    done = memory.compact(_progress())
    if is_json(arguments):
        output.as_json(serialize.compacted(done))
    else:
        output.say(f"{done.before} bytes before, {done.after} now")
        if done.detail:
            output.say(done.detail)
    return 0


def _progress() -> Callable[[str, int, int], None]:
    lines: dict[str, Callable[..., None]] = {}

    def tell(stage: str, done: int, of: int) -> None:
        lines.setdefault(stage, output.progress(None, stage))(done, of)

    return tell


def there(arguments: Any) -> None:
    """A store is not made for being copied: whoever mistyped its name would be told that all is well."""
    where = config.resolve(given(arguments, ("db",)))["db"].value
    if "://" not in where and where != ":memory:":
        require_regular(parse_path(where))
    if "://" not in where and where != ":memory:" and not parse_path(where).is_file():
        raise NotFound(f"there is no store at {where}", "Name it with --db or RETENTIVE_DB.")


WITHOUT_STORE: dict[str, Callable[[Any], int]] = {"backup verify": _verify, "backup restore": _restore}
VERBS: dict[str, Callable[[Retentive, Any], int]] = {"backup create": _create, "compact": _compact}
