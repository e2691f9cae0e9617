"""Do two texts say nearly the same?"""

from collections.abc import Collection

NEAR = 0.6  # share of keywords from which two texts are shown to the caller as resembling
TELLING_WORDS = 8  # the words looked for: a text that shares 0.6 of the keywords shares some of these


def overlap(one: Collection[str], other: Collection[str]) -> float:
    """The keywords both have, as a share of all they have."""
    first, second = set(one), set(other)
    return len(first & second) / len(first | second) if first or second else 0.0


def telling(words: Collection[str]) -> list[str]:
    """The words that say most of what a text is about: the long ones."""
    return sorted(words, key=len, reverse=True)[:TELLING_WORDS]
