"""Reads the kind of value that a question asks for, and checks whether a text has one.

"When did she move?" is hardly answered by a text without a time, "how many" by one without a number, "who" by one
without a name ("where" is: "on the river"). That is form, not meaning: a text that has a time may still be about
something else, and a question of another form (or in another language) asks for nothing in particular. So a missing
value lowers the relevance of a hit, and never its place.
"""

import re
from enum import StrEnum

from retentive.text import dates


class AskedValue(StrEnum):
    TIME = "time"
    NUMBER = "number"
    NAME = "name"


_ASKED = {
    AskedValue.TIME: re.compile(
        r"\b(?:when|since when|how long|(?:what|which) (?:date|day|time|year|month|week))\b", re.IGNORECASE
    ),
    AskedValue.NUMBER: re.compile(
        r"\bhow (?:many|much|often|old|far|tall|big|large)\b|\bwhat (?:number|amount|percentage|price)\b", re.IGNORECASE
    ),
    AskedValue.NAME: re.compile(
        r"\b(?:who|whose|whom)\b|\bwhat(?:'s| is| was| are) (?:[\w']+ ){0,6}(?:names?|called)\b"
        r"|\b(?:what|which) (?:city|country|town|place|company|restaurant|school)\b",
        re.IGNORECASE,
    ),
}
_NUMBER = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|twice|once|half|couple|both)\b",
    re.IGNORECASE,
)
_NAME = re.compile(r"(?<=[\w,:;(\"'] )[A-Z][\w&'-]+")  # a capital inside a sentence
_TIME = re.compile(
    r"\b(?:yesterday|today|tomorrow|tonight|ago|last|next|since|recently|week(?:s|end)?|months?|years?|days?|hours?"
    r"|minutes?|morning|evening|birthday|\d{4})\b",
    re.IGNORECASE,
)


def read_asked_value(question: str) -> AskedValue | None:
    """The first kind that the form of the question asks for; None if it asks for none."""
    return next((kind for kind, pattern in _ASKED.items() if pattern.search(question)), None)


def has_value(text: str, kind: AskedValue) -> bool:
    """Whether a text has a value of a kind."""
    match kind:
        case AskedValue.TIME:
            return _TIME.search(text) is not None or dates.may_mention_time(text)
        case AskedValue.NUMBER:
            return _NUMBER.search(text) is not None
        case AskedValue.NAME:
            return _NAME.search(text) is not None


def read_names(question: str) -> frozenset[str]:
    """Words that are capitalised inside the question, in lower case: an answer should have them."""
    return frozenset(match[0].lower().removesuffix("'s") for match in _NAME.finditer(question))
