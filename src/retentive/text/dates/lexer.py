"""Splits a text into tokens with a class, a position and a value. Words that are not about time share one class."""

import re
from collections.abc import Callable
from datetime import datetime
from typing import Any, NamedTuple

from retentive.text.dates.lexicon import NOT_DATES, NOT_DAYS, WORDS
from retentive.text.dates.spans import Period, make_day, make_local, make_month


class TimeToken(NamedTuple):
    name: str
    start: int
    end: int
    value: Any


_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)"
)
# Of what follows the first letter. That letter is looked at alone: a set takes a tenth of the time of a choice.
_HOLIDAY_BEGINNING = "hristmas|ood|lack|aster|abou?r|ew|alentine|ndependence"
_UNIT = r"(?:h|hrs?|hours?|mins?|minutes?|secs?|days?|weeks?|wks?|months?|years?|yrs?)\b"
# Most words are plain: no form below begins with them. They are looked for first, with the spaces behind them, or each
# word and each space would be compared with every form: that took two thirds of the time.
# Forms with digits come first, the longer before the shorter. Any other form with digits is a word.
_TOKEN = re.compile(
    rf"""
    (?P<plain>(?![bceglniv](?:{_HOLIDAY_BEGINNING}))[^\W\d_]++(?:'[^\W\d_]++)?+)(?![\w/])\s*
  | (?P<iso>(?<!\d)(?<!\d-)\d{{4}}-\d{{1,2}}-\d{{1,2}}(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{{1,6}})?)?(?:Z|[+-]\d\d:?\d\d)?)?
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
_MARK_CLASSES = {",": "comma", "-": "dash", "~": "dash", ".": "stop", "(": "open", ")": "close"}
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
_OTHER_CASES = str.maketrans({"\u017f": "s", "\u0131": "i", "\u0130": "i"})
_YEAR_RANGE = range(1000, 2200)
_MAX_SHORT_WORD_CHARS = 3  # was, has, his
_NOT_PLURALS = frozenset("does goes always perhaps unless towards besides makes takes comes".split())
_CLOCK_HOURS = range(1, 13)
_DIGITS = re.compile(r"\d+")
_MIN_FULL_YEAR = 100
_CENTURY_PIVOT = 40  # '39 is 2039, '40 is 1940
_YEAR_DIGITS = 4
_DATE_PARTS = 3


def tokenize(text: str) -> list[TimeToken]:
    tokens: list[TimeToken] = []
    for match in _TOKEN.finditer(text):
        token = _READERS[match.lastgroup or "junk"](match)
        if token is None:
            token = TimeToken("word", match.start(), match.end(), "")
        is_repeated = bool(tokens) and _is_unreadable(token) and _is_unreadable(tokens[-1])
        if not is_repeated:
            tokens.append(token)
    return tokens


def _is_unreadable(token: TimeToken) -> bool:
    """Whether a token stands for numbers or signs that cannot be a time."""
    return token.name == "word" and not token.value


def _make_token(match: re.Match[str], name: str, value: Any) -> TimeToken:
    return TimeToken(name, match.start(), match.end(), value)


def _read_word(match: re.Match[str]) -> TimeToken:
    group = match.lastgroup or "word"
    start, end = match.span(group)
    word = match[group].lower()
    name, value = WORDS.get(word, ("", word))
    if not name and word[-2:] == "'s":
        name, value = WORDS.get(word[:-2], ("", word))
        if name in {"weekday", "day", "unit", "month", "tonight", "season", "part"}:
            return TimeToken(name, start, end - 2, value)
        name = ""
    if name.startswith("maybe_"):
        value = (value, match[0][0].isupper())
    return TimeToken(name or _classify_unknown(word), start, end, value)


def _classify_unknown(word: str) -> str:
    """Find the class of an unknown word. A plural makes the number before it a count: "2000 pieces"."""
    if word in NOT_DAYS:
        return "counted"
    return "plural" if word[-1] == "s" and len(word) > _MAX_SHORT_WORD_CHARS and word not in _NOT_PLURALS else "word"


def _read_number(match: re.Match[str]) -> TimeToken:
    if "." in match[0]:
        return _make_token(match, "num", float(match[0]))
    number = int(match[0])
    return _make_token(match, "year" if len(match[0]) == _YEAR_DIGITS and number in _YEAR_RANGE else "num", number)


def _read_iso_date(match: re.Match[str]) -> TimeToken | None:
    parts = [int(part) for part in _DIGITS.findall(match[0])]
    try:
        moment = make_local(*parts[:5])
        return _make_token(match, "span", make_day(moment) if len(parts) == _DATE_PARTS else _make_minute(moment))
    except (ValueError, OverflowError):
        return None


def _make_minute(moment: datetime) -> Period:
    return Period(moment, moment.replace(second=59), "minute")


def _read_iso_month(match: re.Match[str]) -> TimeToken | None:
    year_, number = (int(part) for part in match[0].split("-"))
    return _make_token(match, "span", make_month(year_, number)) if year_ in _YEAR_RANGE else None


def _read_month_year(match: re.Match[str]) -> TimeToken:
    number, year_ = (int(part) for part in match[0].split("/"))
    return _make_token(match, "span", make_month(year_, number))


def expand_year(number: int) -> int:
    """Expand two digits to a year of this century or the last."""
    if number >= _MIN_FULL_YEAR:
        return number
    return number + (1900 if number >= _CENTURY_PIVOT else 2000)


def _lower(text: str) -> str:
    """The letters that a pattern matched whatever their case. It takes a long or a dotless letter for the plain one."""
    return text.translate(_OTHER_CASES).lower()


def _parse_month_name(name: str) -> int:
    value = WORDS[_lower(name)][1]
    return int(value[0] if isinstance(value, tuple) else value)


def _read_compact_date(match: re.Match[str]) -> TimeToken | None:
    """Read 20190801."""
    digits = match[0]
    try:
        return _make_token(match, "span", make_day(make_local(int(digits[:4]), int(digits[4:6]), int(digits[6:]))))
    except ValueError:
        return None


def _read_named_date(match: re.Match[str]) -> TimeToken | None:
    """Read 2019/Aug/01, 2019-1-aug, 22/Jan/2019."""
    parts = re.split("[/-]", match[0])
    month_ = next(_parse_month_name(part) for part in parts if part.isalpha())
    first, last = (int(part) for part in parts if not part.isalpha())
    year_, day_ = (first, last) if len(parts[0]) == _YEAR_DIGITS and parts[0].isdigit() else (expand_year(last), first)
    try:
        return _make_token(match, "span", make_day(make_local(year_, month_, day_)))
    except (ValueError, OverflowError):
        return None


def _read_named_day(match: re.Match[str]) -> TimeToken:
    """Read Jan/3, as 1/3."""
    parts = match[0].split("/")
    month_ = next(_parse_month_name(part) for part in parts if part.isalpha())
    return _make_token(match, "slash", (month_, next(int(part) for part in parts if part.isdigit())))


def _read_three_numbers(match: re.Match[str]) -> TimeToken | None:
    """Read 5/12/2023 with the month first if that is a date; 5.12.2023 with the day first."""
    a, b, year_ = (int(part) for part in _DIGITS.findall(match[0]))
    if "." in match[0]:
        a, b = b, a
    for month_, day_ in ((a, b), (b, a)):
        try:
            return _make_token(match, "span", make_day(make_local(expand_year(year_), month_, day_)))
        except (ValueError, OverflowError):
            continue
    return None


def _read_year_first(match: re.Match[str]) -> TimeToken | None:
    try:
        return _make_token(match, "span", make_day(make_local(*(int(part) for part in match[0].split("/")))))
    except (ValueError, OverflowError):
        return None


def _read_slash_date(match: re.Match[str]) -> TimeToken | None:
    if match[0].count("/") > 1:
        return _read_three_numbers(match)
    return None if match[0] in NOT_DATES else _make_token(match, "slash", tuple(int(n) for n in match[0].split("/")))


def _read_clock(match: re.Match[str]) -> TimeToken | None:
    numbers = [int(n) for n in _DIGITS.findall(match[0])]
    hour, minute = numbers[0], numbers[1]
    return _make_token(match, "maybe_clock", (hour, minute)) if hour < 24 and minute < 60 else None  # noqa: PLR2004


def _read_ampm(match: re.Match[str]) -> TimeToken | None:
    numbers = [int(n) for n in _DIGITS.findall(match[0])]
    if numbers[0] not in _CLOCK_HOURS or numbers[-1] > 59:  # noqa: PLR2004
        return None
    late = "p" in match[0].lower()
    return _make_token(match, "clock", (numbers[0] % 12 + 12 * late, numbers[1] if len(numbers) > 1 else 0))


def _read_holiday(match: re.Match[str]) -> TimeToken:
    name = _lower(match[0]).replace("'", "")
    return _make_token(match, "holiday", _HOLIDAYS[name])


def _read_ordinal(match: re.Match[str]) -> TimeToken:
    return _make_token(match, "ord", int(match[0][:-2]))


def _read_decade(match: re.Match[str]) -> TimeToken:
    number = int(_DIGITS.findall(match[0])[0])
    if number < _MIN_FULL_YEAR:
        number += 1900 if number > 20 else 2000  # noqa: PLR2004
    return _make_token(match, "decade", number)


_READERS: dict[str, Callable[[re.Match[str]], TimeToken | None]] = {
    "iso": _read_iso_date,
    "iso_month": _read_iso_month,
    "compact": _read_compact_date,
    "named": _read_named_date,
    "named_day": _read_named_day,
    "glued": lambda match: _make_token(match, "month", _parse_month_name(match[0])),
    "glued_day": lambda match: _make_token(match, "num", int(match[0])),
    "week_of": lambda match: _make_token(match, "week_of", "week"),
    "month_year": _read_month_year,
    "ampm": _read_ampm,
    "clock": _read_clock,
    "dmy": _read_three_numbers,
    "ymd": _read_year_first,
    "slash": _read_slash_date,
    "phone": lambda _: None,
    "ord": _read_ordinal,
    "decade": _read_decade,
    "quarter": lambda match: _make_token(match, "quarter", (match[0][0].lower(), int(match[0][1]))),
    "short": lambda match: _make_token(match, "short_year", expand_year(int(match[0][1:]))),
    "num": _read_number,
    "holiday": _read_holiday,
    "plain": _read_word,
    "word": _read_word,
    "junk": lambda _: None,
    "mark": lambda match: _make_token(match, _MARK_CLASSES.get(match[0], "mark"), match[0]),
}
