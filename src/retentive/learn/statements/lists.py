"""The word lists of `words.toml`: what the rules know of English."""

import tomllib
from importlib.resources import files
from typing import Any

LISTS: dict[str, Any] = tomllib.loads((files("retentive.learn.statements") / "words.toml").read_text("utf-8"))


def any_of(name: str) -> str:
    """A regular expression for one of a list."""
    return rf"(?:{'|'.join(LISTS[name])})"


def members(name: str) -> frozenset[str]:
    """The words of a list that is written as a text."""
    return frozenset(LISTS[name].split())
