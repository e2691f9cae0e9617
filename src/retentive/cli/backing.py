"""Backups, putting one back, and compacting."""

from collections.abc import Callable
from typing import Any

from retentive import config, wire
from retentive.app import Retentive
from retentive.cli import show
from retentive.cli.given import agreed, given, is_json
from retentive.errors import NotFound
from retentive.model import Backup, Restored
from retentive.paths import parse_path
from retentive.regular_files import require_regular


def _create(memory: Retentive, arguments: Any) -> int:
    made = memory.backup(arguments.target, keep=arguments.keep, overwrite=arguments.force, progress=_progress())
    return _told(arguments, made)


def _verify(arguments: Any) -> int:
    return _told(arguments, Retentive.verify_backup(arguments.file, _progress()))


def _told(arguments: Any, backup: Backup) -> int:
    if is_json(arguments):
        show.as_json(wire.backup(backup))
    else:
        show.say(show.line(f"{backup.path}: whole, {_holding(backup)}"))
        for path in backup.removed:
            show.say(show.line(f"removed {path}"))
    return 0


def _holding(backup: Backup) -> str:
    memories = show.counted(backup.memories, "memory", "memories")
    talk = f"{show.counted(backup.events, 'message')} in {show.counted(backup.sessions, 'session')}"
    return f"{memories} and {talk}, {backup.bytes} bytes"


def _restore(arguments: Any) -> int:
    told = None
    if arguments.dry_run or not arguments.yes:
        told = _restored(arguments, dry_run=True)
    if not arguments.dry_run:
        if told and told.path.exists() and not _sure(told):
            show.say("nothing was restored")
            return 1
        told = _restored(arguments, dry_run=False)
    if told and is_json(arguments):
        show.as_json(wire.restored(told))
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
    return agreed(show.line(question), f"this would replace {told.path}")


def _say(told: Restored) -> None:
    done = "restored" if told.done else "would restore"
    show.say(show.line(f"{done} {told.path}: {_holding(told.backup)}"))
    if not told.same_store:
        show.notes([f"this is a backup of another store than the one that {'was' if told.done else 'is'} there"])
    if told.kept:
        show.say(show.line(f"what was there: {told.kept}"))
    if told.returned:
        show.notes([show.line(f"purged since, and back: {', '.join(told.returned)}. Purge what should not be there.")])


def _compact(memory: Retentive, arguments: Any) -> int:
    done = memory.compact(_progress())
    if is_json(arguments):
        show.as_json(wire.compacted(done))
    else:
        show.say(f"{done.before} bytes before, {done.after} now")
        if done.detail:
            show.say(done.detail)
    return 0


def _progress() -> Callable[[str, int, int], None]:
    lines: dict[str, Callable[..., None]] = {}

    def tell(stage: str, done: int, of: int) -> None:
        lines.setdefault(stage, show.progress(None, stage))(done, of)

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
