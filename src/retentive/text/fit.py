"""What fits a budget, for counters of which nothing is known: it is found by trying."""

import unicodedata
from collections.abc import Callable

from retentive.text.token_counters import Counter

_JOINER = "\u200d"
ELLIPSIS = "…"


def most(fits: Callable[[int], bool], upto: int) -> int:
    """The largest number up to `upto` that fits, found by doubling and then halving.

    That is if whatever fits does so with less in it, too; if not, it is some number that was tried and fits, or 0.
    Little is tried that is more than twice as large as the answer, and a long text is counted a few times only.
    """
    high = 1
    while high <= upto and fits(high):
        high *= 2
    low, high = high // 2, min(high, upto + 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def clip(text: str, size: int) -> str:
    """At most `size` characters, an ellipsis included; "" if that leaves nothing of the text.

    The cut falls behind a word if there is one in the second half, else behind a character with all that belongs to it.
    """
    if len(text) <= size:
        return text
    at = max(size - len(ELLIPSIS), 0)
    blank = text.rfind(" ", (at + 1) // 2, at + 1)
    kept = text[: blank if blank > 0 else _whole(text, at)].rstrip()
    return f"{kept}{ELLIPSIS}" if kept else ""


def cut(text: str, limit: int, count: Counter) -> str:
    """As much of the text as fits `limit` tokens."""
    return clip(text, most(lambda size: count(clip(text, size)) <= limit, len(text)))


def _whole(text: str, at: int) -> int:
    """Back to before the character that a cut here would divide."""
    return next((place for place in range(at, 0, -1) if not _joined(text[place - 1], text[place])), 0)


def _joined(one: str, other: str) -> bool:
    """Marks and what is glued on; half pairs; flags, whose run is taken as one; skin tones."""
    return (
        unicodedata.category(other).startswith("M")
        or _JOINER in (one, other)
        or ("\ud800" <= one <= "\udbff" and "\udc00" <= other <= "\udfff")
        or "\U0001f1e6" <= min(one, other) <= max(one, other) <= "\U0001f1ff"
        or "\U0001f3fb" <= other <= "\U0001f3ff"
        or "\U000e0020" <= other <= "\U000e007f"
    )
