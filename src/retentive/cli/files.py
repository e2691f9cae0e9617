"""What the verbs of files do."""

import json
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from queue import Empty, SimpleQueue
from typing import Any

from retentive import serialize
from retentive.api import Retentive
from retentive.cli import output
from retentive.cli.args import is_json
from retentive.cli.work import ended_by_signals
from retentive.model import File, Indexed, Skipped

EVERY = 0.5  # seconds between two looks at whether something is wrong
SHOWN = 20  # files that were left out, named on the screen
_COUNTS = ("added", "updated", "appended", "renamed", "removed", "unchanged")


def _index(memory: Retentive, arguments: Any) -> int:
    told = memory.files.index(
        arguments.paths,
        **_options(arguments),
        dry_run=arguments.dry_run,
        progress=output.progress(None, "files"),
        waiting=_waiting,
    )
    if is_json(arguments):
        output.as_json(serialize.indexed(told))
        return 0
    output.say(("would be: " if arguments.dry_run else "") + summary(told))
    skipped(told.skipped)
    return 0


def _watch(memory: Retentive, arguments: Any) -> int:
    tell = _told_json if is_json(arguments) else _told
    news = SimpleQueue[Indexed]()
    watch = memory.files.watch(arguments.paths, **_options(arguments), poll=arguments.poll or None, told=news.put)
    with ended_by_signals(watch) as over:
        sys.stderr.write("watching; Ctrl-C ends it\n")
        with watch:
            said = ""
            while watch.running and not over.is_set():
                with suppress(Empty):
                    tell(news.get(timeout=EVERY))
                why = str(watch.failure or watch.note)
                if why and why != said:
                    output.notes([output.line(why)])
                said = why
        while not news.empty():
            tell(news.get())
    return 0 if over.is_set() else 1


def _told(each: Indexed) -> None:
    output.say(f"{datetime.now().astimezone():%H:%M:%S}  {summary(each)}")
    skipped(each.skipped)
    sys.stdout.flush()


def _told_json(each: Indexed) -> None:
    sys.stdout.write(json.dumps(serialize.indexed(each), ensure_ascii=False) + "\n")
    sys.stdout.flush()


def _options(arguments: Any) -> dict[str, Any]:
    return {name: getattr(arguments, name) for name in ("session", "tags", "limit_kb", "ignore")}


def _waiting(root: str) -> None:
    output.notes([f"another process is indexing {output.line(root)}; waiting for it"])


def summary(told: Indexed) -> str:
    parts = [f"{count} {name}" for name in _COUNTS if (count := getattr(told, name))]
    left = [f"{count} {name}" for name in ("ignored", "unknown") if (count := getattr(told, name))]
    left += [f"{len(told.skipped)} skipped"] if told.skipped else []
    return (", ".join(parts) or "no files") + (f" (left out: {', '.join(left)})" if left else "")


def skipped(found: Sequence[Skipped]) -> None:
    mark = output.paint("skipped:", "yellow", sys.stderr)
    for each in found[:SHOWN]:
        sys.stderr.write(f"{mark} {output.line(each.path)}: {output.line(each.reason)}\n")
    if len(found) > SHOWN:
        sys.stderr.write(f"and {len(found) - SHOWN} more; --json names them all\n")


def _list(memory: Retentive, arguments: Any) -> int:
    found = memory.files.list(arguments.limit, arguments.after, arguments.session)
    if is_json(arguments):
        output.as_json({"files": [serialize.file(each) for each in found]})
    elif found or not sys.stdout.isatty():
        output.table(("modified", "kind", "passages", "path"), map(_row, found))
        if len(found) == arguments.limit:
            output.aside(f"perhaps more: retentive files list --after {found[-1].id}")
    else:
        output.say("nothing yet: retentive index FOLDER adds files")
    return 0


def _row(each: File) -> tuple[Any, ...]:
    return f"{each.modified:%Y-%m-%d %H:%M}", each.kind, each.sections, each.path


def _show(memory: Retentive, arguments: Any) -> int:
    found = serialize.file(memory.files.get(arguments.path, arguments.session))
    if is_json(arguments):
        output.as_json(found)
        return 0
    output.say(output.paint(output.line(found.pop("path")), "bold"))
    for name, value in found.items():
        if value not in (None, [], {}):
            told = json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else str(value)
            output.say(f"  {output.paint(name.ljust(14), 'dim')} {output.line(told)}")
    return 0


def _remove(memory: Retentive, arguments: Any) -> int:
    gone = [
        file
        for path in arguments.paths
        for file in memory.files.remove(path, arguments.session, dry_run=arguments.dry_run)
    ]
    if is_json(arguments):
        output.as_json({"removed": [serialize.file(each) for each in gone]})
        return 0
    for each in gone[:SHOWN]:
        output.say(f"{'would remove' if arguments.dry_run else 'removed'} {output.line(each.path)}")
    if len(gone) > SHOWN:
        output.say(f"and {len(gone) - SHOWN} more")
    return 0


VERBS: dict[str, Callable[[Retentive, Any], int]] = {
    "index": _index,
    "watch": _watch,
    "files list": _list,
    "files show": _show,
    "files remove": _remove,
}
