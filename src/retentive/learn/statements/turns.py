"""The words that tell of a change, and those that tell that there is none (`words.toml`)."""

import re

from retentive.learn.statements.lists import LISTS, any_of


def _words(name: str) -> re.Pattern[str]:
    return re.compile(rf"\b{any_of(name)}\b", re.IGNORECASE)


REPLACED, RETRACTED, ENDED, NOW, AGAIN = map(_words, ("replaced", "retracted", "ended", "now", "again"))
ADDS, ONE_DAY, HEARSAY, SEEN = map(_words, ("adds", "one_day", "hearsay", "seen"))
NEGATED, ONLY, MOSTLY, AT_TIMES = map(_words, ("negated", "only", "mostly", "at_times"))
APART = re.compile(rf"^\s*{any_of('apart_first')}\b|\b{any_of('apart')}\b|\?\s*$", re.IGNORECASE)
NEW = re.compile(
    rf"\b{any_of('turned_to')}\s+(?P<what>.+?)"
    r"(?:\s+(?:instead|after|because|last|since|in \d|from|for all|now)\b|[,;]|$)",
    re.IGNORECASE,
)
_LIKES, _DISLIKES = _words("likes"), _words("dislikes")
_EXCLUDED = [
    (re.compile(rf"\b(?:{who})\b", re.IGNORECASE), frozenset(what.split())) for who, what in LISTS["excludes"].items()
]
_TITLES = "".join(rf"(?<!\b{title}\.)" for title in ("Dr", "Mr", "Ms", "Mrs", "St"))
_CLAUSE = re.compile(rf"\s*(?:[;:\u2014]|,(?! (?:Inc|LLC|Jr))|\.(?=\s){_TITLES}|\bbut\b|\band then\b)\s*")


def clauses(said: str) -> list[str]:
    return [clause for clause in _CLAUSE.split(said) if clause.strip()]


def feeling(said: str) -> int:
    """1 if something is liked, -1 if disliked."""
    if _DISLIKES.search(said):
        return -1
    return 1 if _LIKES.search(said) else 0


def excluded(said: str) -> frozenset[str]:
    """The words of what one does not have who says this: `meat`, of a vegetarian."""
    if MOSTLY.search(said):
        return frozenset()
    return frozenset[str]().union(*(what for who, what in _EXCLUDED if who.search(said)))
