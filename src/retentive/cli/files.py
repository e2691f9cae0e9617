"""What the verbs of files do."""

import json
import sys
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from retentive import wire
from retentive.app import Retentive
from retentive.cli import show
from retentive.cli.given import is_json
from retentive.cli.working import ended_by_signals
from retentive.model import File, Indexed, Skipped

EVERY = 0.5  # seconds between two looks at whether something is wrong
SHOWN = 20  # files that were left out, named on the screen
_COUNTS = ("added", "updated", "appended", "renamed", "removed", "unchanged")


def _index(memory: Retentive, arguments: Any) -> int:
    told = memory.files.index(
        arguments.paths,
        **_options(arguments),
        dry_run=arguments.dry_run,
        progress=show.progress(None, "files"),
        waiting=_waiting,
    )
    if is_json(arguments):
        show.as_json(wire.indexed(told))
        return 0
    show.say(("would be: " if arguments.dry_run else "") + summary(told))
    skipped(told.skipped)
    return 0


def _watch(memory: Retentive, arguments: Any) -> int:
    told = _told_json if is_json(arguments) else _told
    watch = memory.files.watch(arguments.paths, **_options(arguments), poll=arguments.poll or None, told=told)
    with ended_by_signals(watch) as over:
        sys.stderr.write("watching; Ctrl-C ends it\n")
        with watch:
            said = ""
            while not over.wait(EVERY):
                why = str(watch.failure or watch.note)
                if why and why != said:
                    show.notes([show.line(why)])
                said = why
    return 0


def _told(each: Indexed) -> None:
    show.say(f"{datetime.now().astimezone():%H:%M:%S}  {summary(each)}")
    skipped(each.skipped)
    sys.stdout.flush()


def _told_json(each: Indexed) -> None:
    sys.stdout.write(json.dumps(wire.indexed(each), ensure_ascii=False) + "\n")
    sys.stdout.flush()


def _options(arguments: Any) -> dict[str, Any]:
    return {name: getattr(arguments, name) for name in ("session", "tags", "limit_kb", "ignore")}


def _waiting(root: str) -> None:
    show.notes([f"another process is indexing {show.line(root)}; waiting for it"])


def summary(told: Indexed) -> str:
    parts = [f"{count} {name}" for name in _COUNTS if (count := getattr(told, name))]
    left = [f"{count} {name}" for name in ("ignored", "unknown") if (count := getattr(told, name))]
    left += [f"{len(told.skipped)} skipped"] if told.skipped else []
    return (", ".join(parts) or "no files") + (f" (left out: {', '.join(left)})" if left else "")


def skipped(found: Sequence[Skipped]) -> None:
    for each in found[:SHOWN]:
        sys.stderr.write(f"{show.paint('skipped:', 'yellow', sys.stderr)} {show.line(each.path)}: {each.reason}\n")
    if len(found) > SHOWN:
        sys.stderr.write(f"and {len(found) - SHOWN} more; --json names them all\n")


def _list(memory: Retentive, arguments: Any) -> int:
    found = memory.files.list(arguments.limit, arguments.after, arguments.session)
    if is_json(arguments):
        show.as_json({"files": [wire.file(each) for each in found]})
    elif found or not sys.stdout.isatty():
        show.table(("modified", "kind", "passages", "path"), map(_row, found))
        if len(found) == arguments.limit:
            show.aside(f"perhaps more: retentive files list --after {found[-1].id}")
    else:
        show.say("nothing yet: retentive index FOLDER adds files")
    return 0


def _row(each: File) -> tuple[Any, ...]:
    return f"{each.modified:%Y-%m-%d %H:%M}", each.kind, each.sections, each.path


def _show(memory: Retentive, arguments: Any) -> int:
    found = wire.file(memory.files.get(arguments.path, arguments.session))
    if is_json(arguments):
        show.as_json(found)
        return 0
    show.say(show.paint(show.line(found.pop("path")), "bold"))
    for name, value in found.items():
        if value not in (None, [], {}):
            told = json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else str(value)
            show.say(f"  {show.paint(name.ljust(14), 'dim')} {show.line(told)}")
    return 0


def _remove(memory: Retentive, arguments: Any) -> int:
    gone = [
        file
        for path in arguments.paths
        for file in memory.files.remove(path, arguments.session, dry_run=arguments.dry_run)
    ]
    if is_json(arguments):
        show.as_json({"removed": [wire.file(each) for each in gone]})
        return 0
    for each in gone[:SHOWN]:
        show.say(f"{'would remove' if arguments.dry_run else 'removed'} {show.line(each.path)}")
    if len(gone) > SHOWN:
        show.say(f"and {len(gone) - SHOWN} more")
    return 0


VERBS: dict[str, Callable[[Retentive, Any], int]] = {
    "index": _index,
    "watch": _watch,
    "files list": _list,
    "files show": _show,
    "files remove": _remove,
}
