"""Dates in a statement: relative ones made absolute, and from when until when it holds."""

import re
from datetime import datetime

from retentive.model import Kind
from retentive.text import dates

_YEARLY = re.compile(r"\b(?:birthday|anniversary|born|every|each|always|never)\b", re.IGNORECASE)
_DAY = r"(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?s?"
_HABIT = re.compile(
    rf"\b{_DAY}\s?(?:-|to|through|thru|and|&|,|\s)\s?{_DAY}\b|\b(?:mon|tues|wednes|thurs|fri|satur|sun|week)days\b"
    rf"|\b(?:the|our|my|a) {_DAY} (?!after|before|of|at|in|and|we|i)[a-z]+",  # "at the Saturday market"
    re.IGNORECASE,
)
_TO_COME = re.compile(r"\b(?:is|are|am|will|starts?|begins?|due)\b", re.IGNORECASE)
_TIMELESS = (Kind.INSTRUCTION, Kind.PATTERN, Kind.PREFERENCE)


def make_dates_absolute(text: str, kind: Kind, said: datetime) -> str:
    """Not of what is done again and again, nor of days that come every year."""
    if kind in _TIMELESS or _YEARLY.search(text) or _HABIT.search(text):
        return text
    return dates.absolute(text, said, past=not _TO_COME.search(text))


def find_bounds(text: str, said: datetime) -> tuple[datetime | None, datetime | None]:
    """From when and until when it holds, as far as it says so; newer words hold from when they are said, or later."""
    begun, ends = dates.ends(text, said) if not _HABIT.search(text) else (None, None)
    return begun if begun and begun > said else None, ends
