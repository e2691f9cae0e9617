"""Index and watch folders, and list, show and remove indexed files."""

import json
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from retentive import serialize
from retentive.api import Retentive
from retentive.cli import output
from retentive.cli.args import is_json
from retentive.cli.work import stop_on_signals
from retentive.model import File, IndexResult, SkippedFile

FAILURE_CHECK_SECONDS = 0.5  # between two checks whether watching has failed
MAX_LISTED_FILES = 20  # of skipped or removed files
_COUNT_FIELDS = ("added", "updated", "appended", "renamed", "removed", "unchanged")


def _index(memory: Retentive, arguments: Any) -> int:
    with output.show_progress("indexing", "files") as progress:
        result = memory.files.index(
            arguments.paths,
            **_options(arguments),
            dry_run=arguments.dry_run,
            progress=progress.report,
            on_file=lambda path: progress.show_name(Path(path).name),
            on_wait=lambda root: _print_waiting(progress, root),
        )
    if is_json(arguments):
        output.print_json(serialize.index_result(result))
        return 0
    output.print_line(("would be: " if arguments.dry_run else "") + summarise(result))
    print_skipped(result.skipped)
    return 0


def _watch(memory: Retentive, arguments: Any) -> int:
    print_change = _print_json_line if is_json(arguments) else _print_change
    changes = SimpleQueue[IndexResult]()
    options = {**_options(arguments), "poll": arguments.poll or None}
    watch = memory.files.watch(arguments.paths, **options, on_change=changes.put)
    with stop_on_signals(watch) as stopped:
        sys.stderr.write("watching; Ctrl-C ends it\n")
        with watch:
            last_failure = ""
            while watch.running and not stopped.is_set():
                with suppress(Empty):
                    print_change(changes.get(timeout=FAILURE_CHECK_SECONDS))
                failure = str(watch.failure or watch.note)
                if failure and failure != last_failure:
                    output.print_notes([failure])
                last_failure = failure
        while not changes.empty():
            print_change(changes.get())
    return 0 if stopped.is_set() else 1


def _print_change(each: IndexResult) -> None:
    output.print_line(f"{datetime.now().astimezone():%H:%M:%S}  {summarise(each)}")
    print_skipped(each.skipped)
    sys.stdout.flush()


def _print_json_line(each: IndexResult) -> None:
    sys.stdout.write(json.dumps(serialize.index_result(each), ensure_ascii=False) + "\n")
    sys.stdout.flush()


def _options(arguments: Any) -> dict[str, Any]:
    return {name: getattr(arguments, name) for name in ("session", "tags", "limit_kb", "ignore")}


def _print_waiting(progress: output.Progress, root: str) -> None:
    with progress.step_aside():
        output.print_notes([f"another process is indexing {root}; waiting for it"])


def summarise(result: IndexResult) -> str:
    parts = [f"{count} {name}" for name in _COUNT_FIELDS if (count := getattr(result, name))]
    left = [f"{count} {name}" for name in ("ignored", "unknown") if (count := getattr(result, name))]
    left += [f"{len(result.skipped)} skipped"] if result.skipped else []
    return (", ".join(parts) or "no files") + (f" (left out: {', '.join(left)})" if left else "")


def print_skipped(found: Sequence[SkippedFile]) -> None:
    mark = output.paint("skipped:", "yellow", sys.stderr)
    for each in found[:MAX_LISTED_FILES]:
        sys.stderr.write(f"{mark} {output.sanitise(each.path)}: {output.sanitise(each.reason)}\n")
    if len(found) > MAX_LISTED_FILES:
        sys.stderr.write(f"and {len(found) - MAX_LISTED_FILES} more; --json names them all\n")


def _list(memory: Retentive, arguments: Any) -> int:
    found = memory.files.list(arguments.limit, arguments.after, arguments.session)
    if is_json(arguments):
        output.print_json({"files": [serialize.file(each) for each in found]})
    elif found or not sys.stdout.isatty():
        output.print_table(("modified", "kind", "passages", "path"), map(_build_row, found))
        if len(found) == arguments.limit:
            output.print_hint(f"there may be more: retentive files list --after {output.show_id(found[-1].id)}")
    else:
        output.print_line("nothing yet: retentive index FOLDER adds files")
    return 0


def _build_row(each: File) -> tuple[Any, ...]:
    return f"{each.modified:%Y-%m-%d %H:%M}", each.kind, each.sections, each.path


def _show(memory: Retentive, arguments: Any) -> int:
    found = serialize.file(memory.files.get(arguments.path, arguments.session))
    if is_json(arguments):
        output.print_json(found)
        return 0
    output.print_raw(output.paint(found.pop("path"), "bold"))
    output.print_values(found)
    return 0


def _remove(memory: Retentive, arguments: Any) -> int:
    gone = [
        file
        for path in arguments.paths
        for file in memory.files.remove(path, arguments.session, dry_run=arguments.dry_run)
    ]
    if is_json(arguments):
        output.print_json({"removed": [serialize.file(each) for each in gone]})
        return 0
    for each in gone[:MAX_LISTED_FILES]:
        output.print_line(f"{'would remove' if arguments.dry_run else 'removed'} {each.path}")
    if len(gone) > MAX_LISTED_FILES:
        output.print_line(f"and {len(gone) - MAX_LISTED_FILES} more")
    return 0


VERBS: dict[str, Callable[[Retentive, Any], int]] = {
    "index": _index,
    "watch": _watch,
    "files list": _list,
    "files show": _show,
    "files remove": _remove,
}
