"""Values that can be told by their form: addresses, paths, versions, dates, times, amounts and numbers."""

import re
from typing import NamedTuple

from retentive.judgement.corrections.stems import stem_words

_MONTHS = (
    "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    "|nov(?:ember)?|dec(?:ember)?"
)
_DAYS = (
    "mon(?:day)?s?|tues?(?:day)?s?|wed(?:nesday)?s?|thu(?:rs)?(?:day)?s?|fri(?:day)?s?|sat(?:urday)?s?|sun(?:day)?s?"
)
_WORDS = (
    "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen"
    "|eighteen|nineteen|(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:-\\w+)?|hundred"
)
_FORMS = {
    "url": r"\b\w+://[^\s,;)]+|\bwww\.[^\s,;)]+|\b(?:[\w-]+\.)+(?:com|org|net|io|dev|app|internal|local|ai|co)\b(?:/\S*)?",
    "email": r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+",
    "path": r"(?<![\w/])(?:~|\.{1,2})?/?(?:[\w.@-]+/)+[\w.@-]*"
    r"|\b[\w-]+\.(?:md|py|js|ts|json|ya?ml|toml|txt|sql|sh|env|cfg|ini)\b",
    "time": r"\b\d{1,2}:\d{2}\s?(?:[ap]\.?m\b\.?)?"
    r"|(?<=\bat )\d{1,2}\.\d{2}\b|\b\d{1,2}(?:\.\d{2})?\s?[ap]\.?m\b|\bnoon\b"
    r"|\bmidnight\b",
    "date": rf"\b\d{{4}}-\d\d-\d\d\b|\b\d{{1,2}}(?:st|nd|rd|th)?(?: of)? (?:{_MONTHS})\b(?:,? \d{{4}})?"
    rf"|\b(?:{_MONTHS}) \d{{1,2}}(?:st|nd|rd|th)?\b(?:,? \d{{4}})?|\bthe \d{{1,2}}(?:st|nd|rd|th)\b"
    rf"|(?<=in )(?:{_MONTHS})\b|\b\d{{1,2}}[/.]\d{{1,2}}(?:[/.]\d{{2,4}})\b",
    "day": rf"\b(?:{_DAYS})\b",
    "version": r"\bv?\d+(?:\.\d+)+[\w-]*\b|\bv\d+\b",
    "money": r"[$€£¥]\s?\d[\d.,]*k?\b|\b\d[\d.,]*k? ?(?:dollars?|euros?|eur|usd|pounds?|gbp|kr|nok|sek|chf|yen)\b",
    "number": rf"\+?\d[\d.,]*(?:[ -]\d{{2,}})*%?|(?<!\bthe )(?<!\bno )(?<!\bthis )(?<!\bthat )\b(?:{_WORDS})\b",
}
_VALUE = re.compile("|".join(f"(?P<{kind}>{form})" for kind, form in _FORMS.items()), re.IGNORECASE)
_SAME_KIND = {"day": "date", "version": "number", "money": "number"}
BLANK, NUMBER = "\u2423", "\u2116"  # stand in the place of a value, and of a number without a unit: no words, no names
_SHORT_DAY = 3
_NOT_A_DAY = frozenset("sat sun mon wed fri".split())


_CORRECTED_SUBJECT = re.compile(
    r"(?:the|my|our|his|her|their) (?P<what>[\w' -]+?) (?:is|are|was|were)\b", re.IGNORECASE
)


class Value(NamedTuple):
    kind: str
    """`url`, `email`, `path`, `time`, `date` or `number`: only values of one kind can take each other's place."""
    text: str
    """In small letters, without what does not matter for whether two are the same."""


def find_values(text: str) -> tuple[tuple[Value, ...], str]:
    """The values of a text, and the text with a blank in the place of each."""
    found: list[Value] = []

    def note(match: re.Match[str]) -> str:
        kind = match.lastgroup or ""
        if kind == "day" and match[0] in _NOT_A_DAY:
            return match[0]  # in small letters a verb or a noun: "sat", "sun"
        found.append(Value(_SAME_KIND.get(kind, kind), _normalize(kind, match[0])))
        return f" {NUMBER if kind == 'number' else BLANK} "

    rest = _VALUE.sub(note, text)
    return tuple(found), rest


def _normalize(kind: str, text: str) -> str:
    low = text.lower().strip(" .,")
    if kind == "day":
        return low[:_SHORT_DAY]
    if kind == "number":
        return low.replace(",", "")
    if kind == "version":
        return low.removeprefix("v")
    return low.removeprefix("the ").rstrip("/")


def correct_value(statement: str, correction: str) -> str | None:
    """The statement with the value that the correction gives, where both have one value of the same kind.

    "The launch is on 4 May." and "14 May" give "The launch is on 14 May."; None if it cannot be told which is meant.
    """
    new = [*_VALUE.finditer(correction)]
    kinds = {_kind_of(found) for found in new}
    if len(new) != 1 or not kinds:
        return _correct_name(statement, correction)
    old = [found for found in _VALUE.finditer(statement) if _kind_of(found) in kinds and _is_alike(found, new[0])]
    if len(old) != 1 or old[0][0] == new[0][0] or not _has_subject(statement, correction):
        return None
    return statement[: old[0].start()] + new[0][0] + statement[old[0].end() :]


def _is_alike(old: re.Match[str], new: re.Match[str]) -> bool:
    """Whether both are written in digits, or both in words: "one for my daughter" is no number that 224 corrects."""
    return any(map(str.isdigit, old[0])) == any(map(str.isdigit, new[0]))


def _has_subject(statement: str, correction: str) -> bool:
    """Whether what a correction names is what the statement is about: "the tank is 180 litres"."""
    named = _CORRECTED_SUBJECT.match(correction)
    return not named or {*stem_words(named["what"])} <= {*stem_words(statement)}


def _kind_of(found: re.Match[str]) -> str:
    return _SAME_KIND.get(found.lastgroup or "", found.lastgroup or "")


_PROPER = re.compile(r"(?<!^)(?<![.!?] )\b[A-ZÀ-Þ][\w'-]*(?: [A-ZÀ-Þ][\w'-]*)*")
MAX_NAME_WORDS = 4


def _correct_name(statement: str, correction: str) -> str | None:
    """The same for a single proper name: "Anna" instead of "Hanna"."""
    bare = correction.strip(" .!,")
    old = [*_PROPER.finditer(statement)]
    is_name = bool(bare) and len(bare.split()) <= MAX_NAME_WORDS and all(word[0].isupper() for word in bare.split())
    if not is_name or len(old) != 1 or old[0][0] == bare:
        return None
    return statement[: old[0].start()] + bare + statement[old[0].end() :]
