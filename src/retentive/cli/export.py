"""Export namespaces of the store."""

import sys
from collections.abc import Callable
from typing import Any

from retentive import serialize
from retentive.api import Retentive
from retentive.cli import output
from retentive.cli.args import is_json
from retentive.errors import Invalid, NotFound
from retentive.model import ExportResult


def _export(memory: Retentive, arguments: Any) -> int:
    to_stdout = arguments.target == "-"
    if to_stdout and arguments.format == "markdown":
        raise Invalid("Markdown is a folder of pages", "Give the folder: retentive export --format markdown FOLDER")
    if not arguments.all_namespaces and memory.namespace not in memory.namespaces():
        hint = "Name another one with --namespace, or use --all-namespaces."
        raise NotFound(f"the namespace {memory.namespace} is empty", hint)
    with output.show_progress("exporting", "lines") as progress:
        done = memory.export(
            sys.stdout.buffer if to_stdout else arguments.target,
            format=arguments.format,
            namespaces="*" if arguments.all_namespaces else None,
            vectors=arguments.vectors,
            without=arguments.without,
            force=arguments.force,
            progress=progress.report,
        )
    output.print_notes(done.notes)
    if to_stdout:
        sys.stdout.buffer.flush()
    elif is_json(arguments):
        output.print_json(serialize.export_result(done))
    else:
        _print_export(done)
    return 0


def _print_export(done: ExportResult) -> None:
    names = ", ".join(done.namespaces) or "nothing"
    output.print_line(f"{done.path}: {names}")
    output.print_table(("what", "number"), done.counts.items())


VERBS: dict[str, Callable[[Retentive, Any], int]] = {"export": _export}
