"""What was typed, read."""

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from retentive.errors import Invalid

FILTERS = ("session", "kind", "tags", "source", "status", "min_importance", "min_confidence", "since", "until")
MOMENTS = ("as_of", "known_at")


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
        return sys.stdin.buffer.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Invalid(f"the {what} is not UTF-8: {error.reason} at byte {error.start}") from error


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
        return json_of(Path(path).read_text("utf-8-sig"), path)
    except UnicodeDecodeError as error:
        raise Invalid(f"{path} is not UTF-8: {error.reason} at byte {error.start}") from error
    except (OSError, ValueError) as error:
        raise Invalid(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from error


def agreed(question: str, otherwise: str) -> bool:
    """A person is asked; a script, which cannot be, is refused with what it should have said."""
    if not sys.stdin.isatty():
        raise Invalid(otherwise, "Say so with --yes.")
    sys.stderr.write(f"{question} [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")
