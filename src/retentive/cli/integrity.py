"""Start and stop integrity mode, and rotate its key."""

from collections.abc import Callable
from typing import Any

from retentive.api import Retentive
from retentive.cli import output
from retentive.cli.args import is_json


def _start(memory: Retentive, arguments: Any) -> int:
    with output.show_progress("sealing", "rows") as progress:
        path = memory.integrity.start(arguments.key, progress.report)
    if is_json(arguments):
        output.print_json({"integrity": "on", "key": str(path)})
    else:
        output.print_line(f"every row is sealed with the key {path}")
        output.print_line(f"add it to the settings: integrity_key = '{path}'")
        output.print_raw(
            "keep a copy of it elsewhere: without it the store can be read, but neither written nor verified"
        )
    return 0


def _stop(memory: Retentive, arguments: Any) -> int:
    memory.integrity.stop()
    return _print_state(arguments, {"integrity": "off"}, "integrity mode is off; the key file is still there")


def _rotate(memory: Retentive, arguments: Any) -> int:
    with output.show_progress("sealing", "rows") as progress:
        kept = memory.integrity.rotate(progress.report)
    message = f"every row is sealed with a new key; the old one, for older backups, is {kept}"
    return _print_state(arguments, {"integrity": "on", "old_key": str(kept)}, message)


def _accept(memory: Retentive, arguments: Any) -> int:
    with output.show_progress("comparing", "rows") as progress:
        memory.integrity.accept(progress.report)
    return _print_state(arguments, {"integrity": "on"}, "the present state of the store is accepted as the newest")


def _print_state(arguments: Any, as_json: dict[str, str], message: str) -> int:
    if is_json(arguments):
        output.print_json(as_json)
    else:
        output.print_line(message)
    return 0


VERBS: dict[str, Callable[[Retentive, Any], int]] = {
    "integrity start": _start,
    "integrity stop": _stop,
    "integrity rotate": _rotate,
    "integrity accept": _accept,
}
