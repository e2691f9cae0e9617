"""Dates in a statement: make relative ones absolute, and find the period in which the statement holds."""

import re
from datetime import datetime

from retentive.model import Kind
from retentive.text import dates

_RECURRING_WORDS = re.compile(r"\b(?:birthday|anniversary|born|every|each|always|never)\b", re.IGNORECASE)
_WEEKDAY_NAME = r"(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?s?"
_HABIT_PATTERN = re.compile(
    rf"\b{_WEEKDAY_NAME}\s?(?:-|to|through|thru|and|&|,|\s)\s?{_WEEKDAY_NAME}\b|\b(?:mon|tues|wednes|thurs|fri|satur|sun|week)days\b"
    rf"|\b(?:the|our|my|a) {_WEEKDAY_NAME} (?!after|before|of|at|in|and|we|i)[a-z]+",  # "at the Saturday market"
    re.IGNORECASE,
)
_FUTURE_WORDS = re.compile(r"\b(?:is|are|am|will|starts?|begins?|due)\b", re.IGNORECASE)
_TIMELESS_KINDS = (Kind.INSTRUCTION, Kind.PATTERN, Kind.PREFERENCE)


def make_dates_absolute(text: str, kind: Kind, said: datetime) -> str:
    """Make relative dates absolute, unless the statement is about habits or days that come every year."""
    if kind in _TIMELESS_KINDS or _RECURRING_WORDS.search(text) or _HABIT_PATTERN.search(text):
        return text
    return dates.make_absolute(text, said, past=not _FUTURE_WORDS.search(text))


def find_validity_period(text: str, said: datetime) -> tuple[datetime | None, datetime | None]:
    """The begin and the end of the period in which a statement holds, if it names them; no begin before `said`."""
    if _HABIT_PATTERN.search(text):
        return None, None
    begin, end = dates.find_validity(text, said)
    return begin if begin and begin > said else None, end
