"""A text as tokens: a class, a place in the text, a value. Words that have nothing to do with time are one class."""

import re
from collections.abc import Callable
from datetime import datetime
from typing import Any, NamedTuple

from retentive.text.dates.lexicon import LETTERS, NOT_DATES, NOT_DAYS, WORDS
from retentive.text.dates.spans import Span, day, local, month


class Token(NamedTuple):
    name: str
    start: int
    end: int
    value: Any

    @property
    def letter(self) -> str:
        return LETTERS[self.name]


_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)"
)
_UNIT = r"(?:h|hrs?|hours?|mins?|minutes?|secs?|days?|weeks?|wks?|months?|years?|yrs?)\b"
# First what has digits, the longer forms first. What looks like a number and is none of these is a word.
_TOKEN = re.compile(
    rf"""
    (?P<iso>(?<!\d)(?<!\d-)\d{{4}}-\d{{1,2}}-\d{{1,2}}(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{{1,6}})?)?(?:Z|[+-]\d\d:?\d\d)?)?
        (?![\d:]))
  | (?P<iso_month>(?<![\d/-])\d{{4}}-(?:0[1-9]|1[0-2])(?![\d/-]))
  | (?P<compact>(?<![\w/.$+-])(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])(?![\w/-]|\.\d))
  | (?P<named>(?<![\w/.-])(?:\d{{4}}(?P<s1>[/-]){_MONTH}(?P=s1)\d{{1,2}}|\d{{4}}(?P<s2>[/-])\d{{1,2}}(?P=s2){_MONTH}
        |\d{{1,2}}(?P<s3>[/-]){_MONTH}(?P=s3)(?:\d{{4}}|\d\d))(?![\w/-]))
  | (?P<named_day>(?<![\w/.-])(?:{_MONTH}/\d{{1,2}}|\d{{1,2}}/{_MONTH})(?![\w/-]))
  | (?P<glued>(?<![\w/.-])(?:{_MONTH})(?=\d{{1,2}}\b))
  | (?P<glued_day>(?<=[a-z])(?<!\w[\d_])\d{{1,2}}\b)
  | (?P<week_of>\bw/c\b)
  | (?P<month_year>(?<![\w/.$-])(?:0?[1-9]|1[0-2])/(?:19|20)\d\d(?![\w/-]))
  | (?P<ampm>(?<![\w:.$])\d{{1,2}}(?:[:.]?[0-5]\d)?\ ?(?:[ap]m\b|[ap]\.m\b\.?)|(?<=\bat\ )\d{{1,2}}[ap]\b)
  | (?P<clock>(?<![\w:.])\d{{1,2}}:\d\d(?::\d\d)?(?![\d:]))
  | (?P<dmy>(?<![\w/.-])\d{{1,2}}(?P<sep>[.-])\d{{1,2}}(?P=sep)\d{{4}}(?![\w/]|[.-]\d)
        |(?<![\w/.])\d{{1,2}}/\d{{1,2}}/\d{{4}}(?![\w/]))
  | (?P<ymd>(?<![\w/.-])\d{{4}}/\d{{1,2}}/\d{{1,2}}(?![\w/]))
  | (?P<slash>(?<![\w/.$])\d{{1,2}}/\d{{1,2}}(?:/\d\d)?(?![\w/%]))
  | (?P<phone>\+\d[\d\ -]{{6,20}}|\d{{1,12}}(?:-\d{{1,12}}){{2,9}}
        |\(\d{{3}}\)\ ?\d{{3}}-\d{{4}}|(?<!\d)\d{{3}}-\d{{4}}\b)
  | (?P<ord>\b\d{{1,2}}(?:st|nd|rd|th)\b)
  | (?P<decade>\b(?:1\d|20)?\d0'?s\b|\b(?:19|20)\d0\ s\b)
  | (?P<quarter>\b[qh][1-4]\b)
  | (?P<short>'\d\d\b)
  | (?P<num>(?<![\w.$€£#@/_%])(?<!\d:)(?:\d{{1,9}}(?:\.\d{{1,3}})?(?={_UNIT})
        |\d{{1,9}}(?:\.\d{{1,3}})?(?![\w%/°]|[.:]\d|,(?!\d{{4}}\b)\d)))
  | (?P<holiday>\b(?:christmas\ (?:eve|day)|(?:good|black)\ friday|easter\ (?:sunday|monday)|labou?r\ day
        |new\ year(?:'?s(?:\ (?:eve|day))?)?
        |valentine'?s\ day|independence\ day)\b)
  | (?P<word>[^\W\d_]+(?:'[^\W\d_]+)?(?![\d_]))
  | (?P<junk>\w+)
  | (?P<mark>[^\w\s])
    """,
    re.VERBOSE | re.IGNORECASE,
)
_MARKS = {",": "comma", "-": "dash", "~": "dash", ".": "stop", "(": "open", ")": "close"}
_HOLIDAYS = {
    "christmas day": "christmas",
    "good friday": "good friday",
    "black friday": "black friday",
    "easter sunday": "easter",
    "easter monday": "easter monday",
    "labor day": "labor day",
    "labour day": "labour day",
    "christmas eve": "christmas eve",
    "new year": "new year",
    "new years": "new year",
    "new years day": "new year",
    "new years eve": "new year's eve",
    "valentines day": "valentine's day",
    "independence day": "independence day",
}
_YEARS = range(1000, 2200)
_SHORT = 3  # was, has, his
_NOT_NOUNS = frozenset("does goes always perhaps unless towards besides makes takes comes".split())
_HOURS = range(1, 13)
_DATE = re.compile(r"\d+")
_CENTURY = 100
_PIVOT = 40  # '39 is 2039, '40 is 1940
_FULL_YEAR = 4
_DAY_PARTS = 3


def tokens(text: str) -> list[Token]:
    found: list[Token] = []
    for match in _TOKEN.finditer(text):
        token = _READ[match.lastgroup or "junk"](match)
        if token is None:
            token = Token("word", match.start(), match.end(), "")
        if token.name == "word" and not token.value and found and found[-1].name == "word" and not found[-1].value:
            continue
        found.append(token)
    return found


def _token(match: re.Match[str], name: str, value: Any) -> Token:
    return Token(name, match.start(), match.end(), value)


def _word(match: re.Match[str]) -> Token:
    said = match[0]
    word = said.lower()
    name, value = WORDS.get(word, ("", word))
    if not name and word[-2:] == "'s":
        name, value = WORDS.get(word[:-2], ("", word))
        if name in {"weekday", "day", "unit", "month", "tonight", "season", "part"}:
            return Token(name, match.start(), match.end() - 2, value)
        name = ""
    if name.startswith("maybe_"):
        value = (value, said[0].isupper())
    return _token(match, name or _unknown(word), value)


def _unknown(word: str) -> str:
    """A noun in the plural makes a number before it a count: "2000 pieces"."""
    if word in NOT_DAYS:
        return "counted"
    return "plural" if word[-1] == "s" and len(word) > _SHORT and word not in _NOT_NOUNS else "word"


def _number(match: re.Match[str]) -> Token:
    if "." in match[0]:
        return _token(match, "num", float(match[0]))
    number = int(match[0])
    return _token(match, "year" if len(match[0]) == _FULL_YEAR and number in _YEARS else "num", number)


def _iso(match: re.Match[str]) -> Token | None:
    parts = [int(part) for part in _DATE.findall(match[0])]
    try:
        moment = local(*parts[:5])
        return _token(match, "span", day(moment) if len(parts) == _DAY_PARTS else _minute(moment))
    except (ValueError, OverflowError):
        return None


def _minute(moment: datetime) -> Span:
    return Span(moment, moment.replace(second=59), "minute")


def _iso_month(match: re.Match[str]) -> Token | None:
    year_, number = (int(part) for part in match[0].split("-"))
    return _token(match, "span", month(year_, number)) if year_ in _YEARS else None


def _month_year(match: re.Match[str]) -> Token:
    number, year_ = (int(part) for part in match[0].split("/"))
    return _token(match, "span", month(year_, number))


def full_year(number: int) -> int:
    """Two digits as a year of this century or the last."""
    if number >= _CENTURY:
        return number
    return number + (1900 if number >= _PIVOT else 2000)


def _month_number(name: str) -> int:
    value = WORDS[name.lower()][1]
    return int(value[0] if isinstance(value, tuple) else value)


def _compact(match: re.Match[str]) -> Token | None:
    """20190801."""
    said = match[0]
    try:
        return _token(match, "span", day(local(int(said[:4]), int(said[4:6]), int(said[6:]))))
    except ValueError:
        return None


def _named(match: re.Match[str]) -> Token | None:
    """2019/Aug/01, 2019-1-aug, 22/Jan/2019."""
    parts = re.split("[/-]", match[0].lower())
    month_ = next(_month_number(part) for part in parts if part.isalpha())
    first, last = (int(part) for part in parts if not part.isalpha())
    year_, day_ = (first, last) if len(parts[0]) == _FULL_YEAR and parts[0].isdigit() else (full_year(last), first)
    try:
        return _token(match, "span", day(local(year_, month_, day_)))
    except (ValueError, OverflowError):
        return None


def _named_day(match: re.Match[str]) -> Token:
    """Jan/3: as 1/3."""
    parts = match[0].lower().split("/")
    month_ = next(_month_number(part) for part in parts if part.isalpha())
    return _token(match, "slash", (month_, next(int(part) for part in parts if part.isdigit())))


def _three(match: re.Match[str]) -> Token | None:
    """Month first, unless that cannot be; with dots day first."""
    a, b, year_ = (int(part) for part in _DATE.findall(match[0]))
    if "." in match[0]:
        a, b = b, a
    for month_, day_ in ((a, b), (b, a)):
        try:
            return _token(match, "span", day(local(full_year(year_), month_, day_)))
        except (ValueError, OverflowError):
            continue
    return None


def _year_first(match: re.Match[str]) -> Token | None:
    try:
        return _token(match, "span", day(local(*(int(part) for part in match[0].split("/")))))
    except (ValueError, OverflowError):
        return None


def _slash(match: re.Match[str]) -> Token | None:
    if match[0].count("/") > 1:
        return _three(match)
    return None if match[0] in NOT_DATES else _token(match, "slash", tuple(int(n) for n in match[0].split("/")))


def _clock(match: re.Match[str]) -> Token | None:
    numbers = [int(n) for n in _DATE.findall(match[0])]
    hour, minute = numbers[0], numbers[1]
    return _token(match, "maybe_clock", (hour, minute)) if hour < 24 and minute < 60 else None  # noqa: PLR2004


def _ampm(match: re.Match[str]) -> Token | None:
    numbers = [int(n) for n in _DATE.findall(match[0])]
    if numbers[0] not in _HOURS or numbers[-1] > 59:  # noqa: PLR2004
        return None
    late = "p" in match[0].lower()
    return _token(match, "clock", (numbers[0] % 12 + 12 * late, numbers[1] if len(numbers) > 1 else 0))


def _holiday(match: re.Match[str]) -> Token:
    name = match[0].lower().replace("'", "")
    return _token(match, "holiday", _HOLIDAYS[name])


def _ordinal(match: re.Match[str]) -> Token:
    return _token(match, "ord", int(match[0][:-2]))


def _decade(match: re.Match[str]) -> Token:
    number = int(_DATE.findall(match[0])[0])
    return _token(match, "decade", number if number >= _CENTURY else number + (1900 if number > 20 else 2000))  # noqa: PLR2004


_READ: dict[str, Callable[[re.Match[str]], Token | None]] = {
    "iso": _iso,
    "iso_month": _iso_month,
    "compact": _compact,
    "named": _named,
    "named_day": _named_day,
    "glued": lambda match: _token(match, "month", _month_number(match[0])),
    "glued_day": lambda match: _token(match, "num", int(match[0])),
    "week_of": lambda match: _token(match, "week_of", "week"),
    "month_year": _month_year,
    "ampm": _ampm,
    "clock": _clock,
    "dmy": _three,
    "ymd": _year_first,
    "slash": _slash,
    "phone": lambda _: None,
    "ord": _ordinal,
    "decade": _decade,
    "quarter": lambda match: _token(match, "quarter", (match[0][0].lower(), int(match[0][1]))),
    "short": lambda match: _token(match, "short_year", full_year(int(match[0][1:]))),
    "num": _number,
    "holiday": _holiday,
    "word": _word,
    "junk": lambda _: None,
    "mark": lambda match: (
        _token(match, _MARKS[match[0]], match[0]) if match[0] in _MARKS else _token(match, "mark", match[0])
    ),
}
