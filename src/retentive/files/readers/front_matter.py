"""Front matter: what a note says of itself before its text, as YAML between `---` or TOML between `+++`.

What cannot be read is text like any other: a note with a slip in its front matter is found nevertheless. Bounds keep
it harmless: its size, the depth of its brackets, and how many values it has once aliases are followed.
"""

import math
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, time
from itertools import accumulate
from typing import Any, NamedTuple

from retentive.files.readers.decode import clean

LARGEST = 32_000  # characters: PyYAML reads some 100,000 a second
DEEPEST = 50  # brackets inside brackets: PyYAML looks at all open ones for each token
MOST_VALUES = 10_000

_CLOSING = {"---": ("---", "..."), "+++": ("+++",)}
_STEPS = {"[": 1, "{": 1, "]": -1, "}": -1}


class Front(NamedTuple):
    metadata: Mapping[str, Any]
    length: int
    """In lines, with both fences; 0 if there is none."""
    open: bool = False
    """A fence began and did not end; it may, if more is appended."""


def front(lines: Sequence[str]) -> Front:
    fence = lines[0].rstrip()
    if fence not in _CLOSING:
        return Front({}, 0)
    size = 0
    for number, line in enumerate(lines[1:], 1):
        if line.rstrip() in _CLOSING[fence]:
            metadata = _read(fence, "\n".join(lines[1:number]))
            return Front({}, 0) if metadata is None else Front(metadata, number + 1)
        size += len(line) + 1
        if size > LARGEST:
            return Front({}, 0)
    return Front({}, 0, open=True)


def title(metadata: Mapping[str, Any]) -> str | None:
    """As front matter has it, under the name that everybody uses."""
    given = metadata.get("title")
    text = "" if given is None or isinstance(given, dict | list) else str(given)
    return " ".join(text.split()) or None


def _read(fence: str, text: str) -> Mapping[str, Any] | None:
    """None if it is not a table of values."""
    if max(accumulate(_STEPS.get(each, 0) for each in text), default=0) > DEEPEST:
        return None
    try:
        found = _yaml(text) if fence == "---" else tomllib.loads(text)
        plain = _plain({} if found is None else found, iter(range(MOST_VALUES)))
    except (ValueError, OverflowError, RecursionError):
        return None
    return plain if isinstance(plain, dict) else None


def _yaml(text: str) -> Any:
    """A ValueError, too, for what is not YAML and for keys and tags that are not plain."""
    import yaml

    try:
        return yaml.load(text, yaml.SafeLoader)
    except (yaml.YAMLError, TypeError, AttributeError, LookupError) as error:  # its constructors trust their input
        raise ValueError(str(error)) from error


def _plain(value: Any, room: Iterator[int]) -> Any:
    """Fit for JSON and for every store. A ValueError if there is no room for so many values."""
    if next(room, None) is None:
        raise ValueError("too many values")
    match value:
        case dict():
            return {str(_scalar(key)): _plain(each, room) for key, each in value.items()}
        case list() | tuple() | set():
            return [_plain(each, room) for each in value]
    return _scalar(value)


def _scalar(value: Any) -> Any:
    match value:
        case int() if value.bit_length() < 64:  # noqa: PLR2004 - what databases hold
            return value
        case float() if math.isfinite(value):
            return value
        case date() | time():
            return value.isoformat()
    return None if value is None else clean(str(value))
