"""Integrity mode."""

from collections.abc import Callable
from typing import Any

from retentive.api import Retentive
from retentive.cli import output
from retentive.cli.args import is_json


def _start(memory: Retentive, arguments: Any) -> int:
    path = memory.integrity.start(arguments.key, output.progress(None, "sealed"))
    if is_json(arguments):
        output.as_json({"integrity": "on", "key": str(path)})
    else:
        output.say(output.line(f"every row is sealed with the key {path}"))
        output.say(output.line(f"from now on name it in the settings: integrity_key = '{path}'"))
        output.say("keep a copy of it elsewhere: without it the store can be read, but neither written nor verified")
    return 0


def _stop(memory: Retentive, arguments: Any) -> int:
    memory.integrity.stop()
    return _tell(arguments, {"integrity": "off"}, "integrity mode is off; the key file is still there")


def _rotate(memory: Retentive, arguments: Any) -> int:
    kept = memory.integrity.rotate(output.progress(None, "sealed"))
    told = f"every row is sealed with a new key; the old one, for backups that it sealed, is {kept}"
    return _tell(arguments, {"integrity": "on", "old_key": str(kept)}, told)


def _accept(memory: Retentive, arguments: Any) -> int:
    memory.integrity.accept(output.progress(None, "compared"))
    return _tell(arguments, {"integrity": "on"}, "the store as it is now counts as the newest")


def _tell(arguments: Any, as_json: dict[str, str], words: str) -> int:
    if is_json(arguments):
        output.as_json(as_json)
    else:
        output.say(output.line(words))
    return 0


VERBS: dict[str, Callable[[Retentive, Any], int]] = {
    "integrity start": _start,
    "integrity stop": _stop,
    "integrity rotate": _rotate,
    "integrity accept": _accept,
}
