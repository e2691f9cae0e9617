"""What was typed, read."""

import json
import sys
from collections.abc import Iterable
from typing import IO, Any

from retentive.errors import Invalid
from retentive.fs.regular_files import read_regular, too_large

FILTERS = ("session", "kind", "tags", "source", "status", "min_importance", "min_confidence", "since", "until")
MOMENTS = ("as_of", "known_at")
MAX_INPUT_BYTES = 200_000_000  # of a text or a document: no memory, message or record may be nearly as long


def given(arguments: Any, names: Iterable[str]) -> dict[str, Any]:
    return {name: getattr(arguments, name) for name in names if hasattr(arguments, name)}


def is_json(arguments: Any) -> bool:
    return getattr(arguments, "json", False)


def text_of(argument: str | None, what: str) -> str:
    """An argument, or standard input."""
    if argument not in (None, "-"):
        return str(argument)
    if sys.stdin is None or sys.stdin.isatty():
        raise Invalid(f"no {what}", "Give it as an argument, or through a pipe.")
    try:
        data = sys.stdin.buffer.read(MAX_INPUT_BYTES + 1)
        if len(data) > MAX_INPUT_BYTES:
            raise too_large("the input", MAX_INPUT_BYTES)
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Invalid(f"the {what} is not UTF-8: {error.reason} at byte {error.start}") from error


def source_of(path: str, what: str) -> str | IO[bytes]:
    """A path, or standard input for `-`."""
    if path != "-":
        return path
    if sys.stdin is None or sys.stdin.isatty():
        raise Invalid(f"no {what}", "Give a file, or pipe them in.")
    return sys.stdin.buffer


def json_of(argument: str | None, option: str) -> Any:
    try:
        return None if argument is None else json.loads(argument)
    except (ValueError, RecursionError) as error:
        raise Invalid(f"{option} is not JSON: {error}", """Write it as '{"key": "value"}'.""") from error


def json_in(path: str) -> Any:
    """What is in a file, or comes through a pipe."""
    if path == "-":
        return json_of(text_of(None, "JSON"), "the input")
    try:
        return json_of(read_regular(path, MAX_INPUT_BYTES).decode("utf-8-sig"), path)
    except UnicodeDecodeError as error:
        raise Invalid(f"{path} is not UTF-8: {error.reason} at byte {error.start}") from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise Invalid(f"cannot read {path}: {reason}", "See whether it is there and may be read.") from error


def agreed(question: str, otherwise: str) -> bool:
    """A person is asked; a script, which cannot be, is refused with what it should have said."""
    if not sys.stdin.isatty():
        raise Invalid(otherwise, "Say so with --yes.")
    sys.stderr.write(f"{question} [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")
