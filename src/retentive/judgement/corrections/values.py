"""Find values that are recognised by their form: addresses, paths, versions, dates, times, amounts and numbers."""

import re
from typing import NamedTuple

from retentive.judgement.corrections.stems import stem_words

_MONTH_NAMES = (
    "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    "|nov(?:ember)?|dec(?:ember)?"
)
_DAY_NAMES = (
    "mon(?:day)?s?|tues?(?:day)?s?|wed(?:nesday)?s?|thu(?:rs)?(?:day)?s?|fri(?:day)?s?|sat(?:urday)?s?|sun(?:day)?s?"
)
_NUMBER_WORDS = (
    "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen"
    "|eighteen|nineteen|(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:-\\w+)?|hundred"
)
_VALUE_PATTERNS = {
    "url": r"\b\w+://[^\s,;)]+|\bwww\.[^\s,;)]+|\b(?:[\w-]+\.)+(?:com|org|net|io|dev|app|internal|local|ai|co)\b(?:/\S*)?",
    "email": r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+",
    "path": r"(?<![\w/])(?:~|\.{1,2})?/?(?:[\w.@-]+/)+[\w.@-]*"
    r"|\b[\w-]+\.(?:md|py|js|ts|json|ya?ml|toml|txt|sql|sh|env|cfg|ini)\b",
    "time": r"\b\d{1,2}:\d{2}\s?(?:[ap]\.?m\b\.?)?"
    r"|(?<=\bat )\d{1,2}\.\d{2}\b|\b\d{1,2}(?:\.\d{2})?\s?[ap]\.?m\b|\bnoon\b"
    r"|\bmidnight\b",
    "date": rf"\b\d{{4}}-\d\d-\d\d\b|\b\d{{1,2}}(?:st|nd|rd|th)?(?: of)? (?:{_MONTH_NAMES})\b(?:,? \d{{4}})?"
    rf"|\b(?:{_MONTH_NAMES}) \d{{1,2}}(?:st|nd|rd|th)?\b(?:,? \d{{4}})?|\bthe \d{{1,2}}(?:st|nd|rd|th)\b"
    rf"|(?<=in )(?:{_MONTH_NAMES})\b|\b\d{{1,2}}[/.]\d{{1,2}}(?:[/.]\d{{2,4}})\b",
    "day": rf"\b(?:{_DAY_NAMES})\b",
    "version": r"\bv?\d+(?:\.\d+)+[\w-]*\b|\bv\d+\b",
    "money": r"[$€£¥]\s?\d[\d.,]*k?\b|\b\d[\d.,]*k? ?(?:dollars?|euros?|eur|usd|pounds?|gbp|kr|nok|sek|chf|yen)\b",
    "number": rf"\+?\d[\d.,]*(?:[ -]\d{{2,}})*%?|(?<!\bthe )(?<!\bno )(?<!\bthis )(?<!\bthat )\b(?:{_NUMBER_WORDS})\b",
}
_ANY_VALUE = re.compile("|".join(f"(?P<{kind}>{form})" for kind, form in _VALUE_PATTERNS.items()), re.IGNORECASE)
_COMPARED_AS = {"day": "date", "version": "number", "money": "number"}
VALUE_MARK, NUMBER_MARK = "\u2423", "\u2116"  # put for a value, and for a number without a unit: no words, no names
_DAY_CHARS = 3
_WORDS_LIKE_DAYS = frozenset("sat sun mon wed fri".split())


_CORRECTED_SUBJECT = re.compile(
    r"(?:the|my|our|his|her|their) (?P<what>[\w' -]+?) (?:is|are|was|were)\b", re.IGNORECASE
)


class StatedValue(NamedTuple):
    kind: str
    """`url`, `email`, `path`, `time`, `date` or `number`: only values of one kind can replace each other."""
    text: str
    """Normalised: two values are the same if their texts are equal."""


class FoundValues(NamedTuple):
    values: tuple[StatedValue, ...]
    marked_text: str
    """The text with a mark in the place of each value."""


def find_values(text: str) -> FoundValues:
    found: list[StatedValue] = []

    def blank_value(match: re.Match[str]) -> str:
        kind = match.lastgroup or ""
        if kind == "day" and match[0] in _WORDS_LIKE_DAYS:
            return match[0]  # a verb or a noun in small letters: "sat", "sun"
        found.append(StatedValue(_COMPARED_AS.get(kind, kind), _normalise_value(kind, match[0])))
        return f" {NUMBER_MARK if kind == 'number' else VALUE_MARK} "

    marked_text = _ANY_VALUE.sub(blank_value, text)
    return FoundValues(tuple(found), marked_text)


def _normalise_value(kind: str, text: str) -> str:
    low = text.lower().strip(" .,")
    if kind == "day":
        return low[:_DAY_CHARS]
    if kind == "number":
        return low.replace(",", "")
    if kind == "version":
        return low.removeprefix("v")
    return low.removeprefix("the ").rstrip("/")


def correct_value(statement: str, correction: str) -> str | None:
    """Put the value of a correction into the statement, if both have one value of the same kind.

    "The launch is on 4 May." and "14 May" give "The launch is on 14 May."; None if the value to replace is not clear.
    """
    new = [*_ANY_VALUE.finditer(correction)]
    kinds = {_kind_of(found) for found in new}
    if len(new) != 1 or not kinds:
        return _correct_name(statement, correction)
    old = [found for found in _ANY_VALUE.finditer(statement) if _kind_of(found) in kinds and _is_alike(found, new[0])]
    if len(old) != 1 or old[0][0] == new[0][0] or not _has_subject(statement, correction):
        return None
    return statement[: old[0].start()] + new[0][0] + statement[old[0].end() :]


def _is_alike(old: re.Match[str], new: re.Match[str]) -> bool:
    """Whether both are in digits or both in words: 224 does not correct "one for my daughter"."""
    return any(map(str.isdigit, old[0])) == any(map(str.isdigit, new[0]))


def _has_subject(statement: str, correction: str) -> bool:
    """Whether the statement is about the subject that a correction names, as in "the tank is 180 litres"."""
    subject = _CORRECTED_SUBJECT.match(correction)
    return not subject or {*stem_words(subject["what"])} <= {*stem_words(statement)}


def _kind_of(found: re.Match[str]) -> str:
    return _COMPARED_AS.get(found.lastgroup or "", found.lastgroup or "")


_PROPER_NAME = re.compile(r"(?<!^)(?<![.!?] )\b[A-ZÀ-Þ][\w'-]*(?: [A-ZÀ-Þ][\w'-]*)*")
MAX_NAME_WORDS = 4


def _correct_name(statement: str, correction: str) -> str | None:
    """Replace the only proper name of a statement: "Anna" instead of "Hanna"."""
    bare = correction.strip(" .!,")
    old = [*_PROPER_NAME.finditer(statement)]
    is_name = bool(bare) and len(bare.split()) <= MAX_NAME_WORDS and all(word[0].isupper() for word in bare.split())
    if not is_name or len(old) != 1 or old[0][0] == bare:
        return None
    return statement[: old[0].start()] + bare + statement[old[0].end() :]
