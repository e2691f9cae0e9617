"""What is worth keeping? Pure functions on texts."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from retentive.learn.statement import Reading


class Rules(NamedTuple):
    """What can be told from words alone."""

    read: Callable[[str], Reading]
    superseded: Callable[[str, Sequence[str]], list[int]]
    """The places of the statements that a newer one puts an end to."""
    about: Callable[[Reading], list[str]]
    """Words by which statements of the same areas of life are found."""


def open_rules() -> Rules:
    """Loaded when first needed: compiling the word lists takes some 40 ms."""
    from retentive.learn.areas import words_of
    from retentive.learn.reading import read
    from retentive.learn.resolve import superseded

    return Rules(read, superseded, words_of)
