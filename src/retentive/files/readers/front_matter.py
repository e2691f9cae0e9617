"""Parse front matter: the metadata before the text of a note, as YAML between `---` or TOML between `+++`.

Malformed front matter is read as text, so that the note is found nevertheless. Its size, the depth of its brackets and
the number of its values after aliases are resolved are limited.
"""

import math
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, time
from itertools import accumulate
from typing import Any, NamedTuple

from retentive.text.normalize import replace_unstorable

MAX_FRONT_MATTER_CHARS = 32_000  # PyYAML reads some 100,000 a second
MAX_DEPTH = 50  # brackets inside brackets: PyYAML looks at all open ones for each token
MAX_VALUES = 10_000

_CLOSING = {"---": ("---", "..."), "+++": ("+++",)}
_DEPTH_STEPS = {"[": 1, "{": 1, "]": -1, "}": -1}


class FrontMatter(NamedTuple):
    metadata: Mapping[str, Any]
    length: int
    """Lines, with both fences; 0 if there is none."""
    is_open: bool = False
    """A fence began and did not end. It may end when more is appended."""


def parse_front_matter(lines: Sequence[str]) -> FrontMatter:
    fence = lines[0].rstrip()
    if fence not in _CLOSING:
        return FrontMatter({}, 0)
    size = 0
    for number, line in enumerate(lines[1:], 1):
        if line.rstrip() in _CLOSING[fence]:
            metadata = _parse_metadata(fence, "\n".join(lines[1:number]))
            return FrontMatter({}, 0) if metadata is None else FrontMatter(metadata, number + 1)
        size += len(line) + 1
        if size > MAX_FRONT_MATTER_CHARS:
            return FrontMatter({}, 0)
    return FrontMatter({}, 0, is_open=True)


def find_title(metadata: Mapping[str, Any]) -> str | None:
    """Return the value of `title`, if it is one."""
    given = metadata.get("title")
    text = "" if given is None or isinstance(given, dict | list) else str(given)
    return " ".join(text.split()) or None


def _parse_metadata(fence: str, text: str) -> Mapping[str, Any] | None:
    """Return the metadata; None if it is malformed, too deep or too large."""
    if max(accumulate(_DEPTH_STEPS.get(each, 0) for each in text), default=0) > MAX_DEPTH:
        return None
    try:
        found = _parse_yaml(text) if fence == "---" else tomllib.loads(text)
        plain = _to_plain({} if found is None else found, iter(range(MAX_VALUES)))
    except (ValueError, OverflowError, RecursionError):
        return None
    return plain if isinstance(plain, dict) else None


def _parse_yaml(text: str) -> Any:
    """Parse YAML. Raises `ValueError` also for text that is not YAML, and for keys and tags that are not plain."""
    import yaml

    try:
        return yaml.load(text, yaml.SafeLoader)
    except (yaml.YAMLError, TypeError, AttributeError, LookupError) as error:  # its constructors trust their input
        raise ValueError(str(error)) from error


def _to_plain(value: Any, room: Iterator[int]) -> Any:
    """Return the value with types that JSON and every store have. `ValueError` if there are too many values."""
    if next(room, None) is None:
        raise ValueError("too many values")
    match value:
        case dict():
            return {str(_to_plain_scalar(key)): _to_plain(each, room) for key, each in value.items()}
        case list() | tuple() | set():
            return [_to_plain(each, room) for each in value]
    return _to_plain_scalar(value)


def _to_plain_scalar(value: Any) -> Any:
    match value:
        case int() if value.bit_length() < 64:  # noqa: PLR2004 - what databases hold
            return value
        case float() if math.isfinite(value):
            return value
        case date() | time():
            return value.isoformat()
    return None if value is None else replace_unstorable(str(value))
