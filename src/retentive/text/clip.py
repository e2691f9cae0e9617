"""Shortens text to a number of characters (`clip`) or of tokens.

The counts of a token counter need not add up, so the longest text that fits a limit is found by trying.
"""

import unicodedata
from collections.abc import Callable

from retentive.text.token_counters import TokenCounter

_JOINER = "\u200d"
ELLIPSIS = "…"


def find_largest(fits: Callable[[int], bool], upto: int) -> int:
    """Find the largest number up to `upto` that fits, by doubling and then halving.

    This assumes that a smaller number fits wherever a larger one does. If not, the result is some number that was
    tried and fits, or 0. Numbers beyond twice the result are rarely tried, so few long texts are counted.
    """
    high = 1
    while high <= upto and fits(high):
        high *= 2
    low, high = high // 2, min(high, upto + 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def clip(text: str, limit: int) -> str:
    """Shorten a text to `limit` characters, including the ellipsis; "" if nothing of the text is left.

    The cut falls after a word if one ends in the second half, else between two whole characters.
    """
    if len(text) <= limit:
        return text
    room = max(limit - len(ELLIPSIS), 0)
    blank = text.rfind(" ", (room + 1) // 2, room + 1)
    end = blank if blank > 0 else _move_before_character(text, room)
    beginning = text[:end].rstrip()
    return f"{beginning}{ELLIPSIS}" if beginning else ""


def clip_to_tokens(text: str, limit: int, count: TokenCounter) -> str:
    """Shorten a text to `limit` tokens."""
    size = find_largest(lambda size: count(clip(text, size)) <= limit, len(text))
    return clip(text, size)


def _move_before_character(text: str, at: int) -> int:
    """Move a cut back to before the character that it would divide."""
    return next((cut for cut in range(at, 0, -1) if not _are_one_character(text[cut - 1], text[cut])), 0)


def _are_one_character(one: str, other: str) -> bool:
    """Whether readers see one character: marks, joiners, surrogate pairs, flags (a run counts as one), skin tones."""
    return (
        unicodedata.category(other).startswith("M")
        or _JOINER in (one, other)
        or ("\ud800" <= one <= "\udbff" and "\udc00" <= other <= "\udfff")
        or "\U0001f1e6" <= min(one, other) <= max(one, other) <= "\U0001f1ff"
        or "\U0001f3fb" <= other <= "\U0001f3ff"
        or "\U000e0020" <= other <= "\U000e007f"
    )
