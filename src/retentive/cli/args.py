"""Read the arguments of a command, its input and the answers to its questions."""

import json
import sys
from collections.abc import Iterable
from typing import IO, Any

from retentive.errors import Invalid
from retentive.fs.regular_files import read_regular, too_large
from retentive.surface.field import Field
from retentive.surface.memory import FILTERS, PAST
from retentive.surface.options import EVERYWHERE
from retentive.surface.verb import Verb

FILTER_OPTIONS = tuple(field.name for field in FILTERS)
PAST_OPTIONS = tuple(field.name for field in PAST)
MAX_INPUT_BYTES = 200_000_000  # of a text or a document; memories, messages and records must be much shorter


class Arguments:
    """What was typed, by the names of the fields. What was not given has the default of its declaration."""

    def __init__(self, verb: Verb, given: dict[str, Any]) -> None:
        self.run = verb.name
        self.verb = verb
        self.given = given
        self._defaults = {each.name: _find_default(each) for each in (*EVERYWHERE, *verb.fields)}

    def __getattr__(self, name: str) -> Any:
        if name in self.given:
            return self.given[name]
        try:
            return self._defaults[name]
        except KeyError:
            raise AttributeError(name) from None


def _find_default(field: Field) -> Any:
    if field.type == "flag":
        return False
    return [] if field.many and field.default is None else field.default


def pick_options(arguments: Any, names: Iterable[str]) -> dict[str, Any]:
    """Return those of the options that were given, by their names."""
    return {name: arguments.given[name] for name in names if name in arguments.given}


def is_json(arguments: Any) -> bool:
    return bool(arguments.json)


def read_text(argument: str | None, what: str) -> str:
    """Return an argument; read standard input if it is missing or `-`."""
    if argument not in (None, "-"):
        return str(argument)
    if sys.stdin is None or sys.stdin.isatty():
        raise Invalid(f"no {what}", "Give it as an argument or through a pipe.")
    try:
        data = sys.stdin.buffer.read(MAX_INPUT_BYTES + 1)
        if len(data) > MAX_INPUT_BYTES:
            raise too_large("the input", MAX_INPUT_BYTES)
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Invalid(f"the {what} is not UTF-8: {error.reason} at byte {error.start}") from error


def open_source(path: str, what: str) -> str | IO[bytes]:
    """Return a path, or standard input for `-`."""
    if path != "-":
        return path
    if sys.stdin is None or sys.stdin.isatty():
        raise Invalid(f"no {what}", "Give a file, or pipe them in.")
    return sys.stdin.buffer


def parse_json(argument: str | None, option: str) -> Any:
    try:
        return None if argument is None else json.loads(argument)
    except (ValueError, RecursionError) as error:
        raise Invalid(f"{option} is not JSON: {error}", """Write it as '{"key": "value"}'.""") from error


def read_json(path: str) -> Any:
    """Parse the JSON of a file, or of standard input for `-`."""
    if path == "-":
        return parse_json(read_text(None, "JSON"), "the input")
    try:
        return parse_json(read_regular(path, MAX_INPUT_BYTES).decode("utf-8-sig"), path)
    except UnicodeDecodeError as error:
        raise Invalid(f"{path} is not UTF-8: {error.reason} at byte {error.start}") from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise Invalid(f"cannot read {path}: {reason}", "Check that it exists and may be read.") from error


def confirm(question: str, refusal: str) -> bool:
    """Ask the person at the terminal. A script cannot be asked: `Invalid` with the text `refusal`."""
    if not sys.stdin.isatty():
        raise Invalid(refusal, "Confirm it with --yes.")
    sys.stderr.write(f"{question} [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")
