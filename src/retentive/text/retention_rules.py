"""Parses retention rules: how many memories are kept, or how long. `fact: 10000, outcome: 90d, work/* pattern: 1y`.

A rule names a namespace (or all below a prefix, `work/*`; default: all), a kind (default: every kind) and a limit. A
number keeps the newest in each namespace. A span keeps memories that were created, changed or repeated within it.
"""

import re
from typing import NamedTuple

from retentive.model import Kind
from retentive.text.instants import parse_duration

_KEEP_COUNT = re.compile(r"\d{1,12}")
_KINDS = {str(kind) for kind in Kind}


class RetentionRule(NamedTuple):
    namespace: str
    """A name, a prefix that ends in `/*`, or `*`."""
    kind: str | None
    keep: int | None
    """The number of newest memories to keep."""
    seconds: int | None
    """The maximum age."""

    def applies_to(self, namespace: str) -> bool:
        if self.namespace.endswith("/*"):
            return f"{namespace}/".startswith(self.namespace[:-1])
        return self.namespace in ("*", namespace)


def parse_rules(text: str) -> list[RetentionRule]:
    """Parse rules that are separated by commas. Raises `ValueError` if one cannot be read."""
    return [_parse_rule(part.strip()) for part in text.split(",") if part.strip()]


def _parse_rule(text: str) -> RetentionRule:
    target, colon, limit = text.rpartition(":")
    words = target.split()
    if not colon or not words or len(words) > 2:  # noqa: PLR2004 - a namespace and a kind
        raise ValueError(f"cannot read {text!r}; write it as `fact: 10000`, `work/*: 1y` or `work/* outcome: 90d`")
    kind = words.pop() if words[-1] in _KINDS else None
    if len(words) > 1:
        raise ValueError(f"{words[-1]!r} is not a kind of memory; they are {', '.join(Kind)}")
    return RetentionRule(words[0] if words else "*", kind, *_parse_limit(limit.strip()))


def _parse_limit(text: str) -> tuple[int | None, int | None]:
    if _KEEP_COUNT.fullmatch(text):
        return int(text), None
    seconds = parse_duration(text)
    if seconds is None:
        raise ValueError(f"{text!r} is neither a number nor a span such as 12h, 90d, 4w, 1y")
    return None, seconds
