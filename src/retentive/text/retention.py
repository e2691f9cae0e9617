"""How long memories are kept, as people write it: `fact: 10000, outcome: 90d, work/* pattern: 1y`.

A rule says of whom (a namespace, or all below a prefix `work/*`; if not said, of all), of which kind (if not said, of
every kind), and how much: a number keeps the newest so many in each namespace, a span those that were made, changed or
said again within it.
"""

import re
from typing import NamedTuple

from retentive.model import Kind
from retentive.text.instants import seconds_of

_COUNT = re.compile(r"\d{1,12}")
_KINDS = {str(kind) for kind in Kind}


class Rule(NamedTuple):
    namespace: str
    """A name, a prefix that ends in `/*`, or `*`."""
    kind: str | None
    keep: int | None
    """So many of the newest."""
    seconds: int | None
    """Those no older than this."""

    def holds_for(self, namespace: str) -> bool:
        if self.namespace.endswith("/*"):
            return f"{namespace}/".startswith(self.namespace[:-1])
        return self.namespace in ("*", namespace)


def rules(text: str) -> list[Rule]:
    """ValueError: it cannot be read."""
    return [_rule(part.strip()) for part in text.split(",") if part.strip()]


def _rule(text: str) -> Rule:
    who, colon, much = text.rpartition(":")
    words = who.split()
    if not colon or not words or len(words) > 2:  # noqa: PLR2004 - whose and which
        raise ValueError(f"cannot read {text!r}; write it as `fact: 10000`, `work/*: 1y` or `work/* outcome: 90d`")
    kind = words.pop() if words[-1] in _KINDS else None
    if len(words) > 1:
        raise ValueError(f"{words[-1]!r} is not a kind of memory; they are {', '.join(Kind)}")
    return Rule(words[0] if words else "*", kind, *_much(much.strip()))


def _much(text: str) -> tuple[int | None, int | None]:
    if _COUNT.fullmatch(text):
        return int(text), None
    seconds = seconds_of(text)
    if seconds is None:
        raise ValueError(f"{text!r} is neither a number nor a span such as 12h, 90d, 4w, 1y")
    return None, seconds
