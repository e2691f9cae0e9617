"""What the verb does that writes out what is kept."""

import sys
from collections.abc import Callable
from typing import Any

from retentive import serialize
from retentive.api import Retentive
from retentive.cli import output
from retentive.cli.args import is_json
from retentive.errors import Invalid, NotFound
from retentive.model import Exported


def _export(memory: Retentive, arguments: Any) -> int:
    to_stdout = arguments.target == "-"
    if to_stdout and arguments.format == "markdown":
        raise Invalid("Markdown is a folder of pages", "Give the folder: retentive export --format markdown FOLDER")
    if not arguments.all_namespaces and memory.namespace not in memory.namespaces():
        hint = "Name another one with --namespace, or say --all-namespaces."
        raise NotFound(f"nothing is kept in the namespace {memory.namespace}", hint)
    done = memory.export(
        sys.stdout.buffer if to_stdout else arguments.target,
        format=arguments.format,
        namespaces="*" if arguments.all_namespaces else None,
        vectors=arguments.vectors,
        without=arguments.without,
        force=arguments.force,
        progress=output.progress(None, "written"),
    )
    output.notes(done.notes)
    if to_stdout:
        sys.stdout.buffer.flush()
    elif is_json(arguments):
        output.as_json(serialize.exported(done))
    else:
        _told(done)
    return 0


def _told(done: Exported) -> None:
    names = ", ".join(done.namespaces) or "nothing"
    output.say(f"{done.path}: {output.line(names)}")
    output.table(("what", "number"), done.counts.items())


VERBS: dict[str, Callable[[Retentive, Any], int]] = {"export": _export}
