"""The words of time, each with its class in the grammar and a value.

Some are everyday words, too ("may", "march", "sat", "fall"): their classes begin with `maybe_`. They count only beside
words that make them a time, which the first rules of `grammar.py` decide.
"""

from typing import Any, Final

MONTHS: Final = "january february march april may june july august september october november december".split()
WEEKDAYS: Final = "monday tuesday wednesday thursday friday saturday sunday".split()
UNITS: Final = "second minute hour day week fortnight month quarter year decade century weekend".split()

_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
).split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_ORDINALS = (
    "first - third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth "
    "sixteenth seventeenth eighteenth nineteenth twentieth"
).split()

# class: words, or word=value
_CLASSES = {
    "the": "the",
    "a": "a an",
    "of": "of",
    "in": "in",
    "during": "during over throughout",
    "within": "within",
    "on": "on",
    "at": "at around about approximately circa",
    "for": "for",
    "from": "from",
    "between": "between",
    "and": "and",
    "or": "or",
    "to": "to",
    "through": "through thru",
    "until": "until till til",
    "since": "since",
    "before": "before",
    "by": "by",
    "after": "after",
    "ago": "ago",
    "later": "later=1 earlier=-1",
    "every": "every each",
    "any": "any",
    "other": "other",
    "per": "per",
    "modal": "will would can could should must might shall",
    "these": "these",
    "onward": "onward onwards",
    "times": "once twice times",
    "starting": "starting commencing effective",
    "beginning": "beginning=early",
    "edge": "start=early middle=mid end=end rest=rest remainder=rest remaining=rest",
    "stage": "early=early mid=mid late=late",
    "few": "few=3 several=4 couple=2 some=3 dozen=12",
    "half": "half",
    "hundred": "hundred=100 thousand=1000",
    "prior": "prior",
    "no": "no not",
    "than": "than",
    "as": "as",
    "more": "more=1 less=-1",
    "back": "back",
    "previous": "previous",
    "rel": "last=-1 this=0 current=0 next=1 following=1",
    "span": "",
    "past": "past=-1 coming=1 upcoming=1",
    "same": "that same",
    "ampm": "am=am pm=pm",
    "oclock": "o'clock oclock",
    "noon": "noon=12 midday=12 midnight=0",
    "part": "morning=morning afternoon=afternoon evening=evening night=night lunchtime=lunch",
    "parts": "mornings=morning afternoons=afternoon evenings=evening nights=night",
    "day": "today=0 yesterday=-1 tomorrow=1 tmrw=1 2day=0",
    "tonight": "tonight tonite",
    "now": "now",
    "right": "right just",
    "adverb": (
        "hourly=1h daily=1d nightly=1d everyday=1d weekly=7d biweekly=14d fortnightly=14d monthly=30d bimonthly=60d "
        "quarterly=91d yearly=365d annually=365d"
    ),
    "vague_word": (
        "recently=recent lately=recent nowadays=present currently=present soon=soon someday=later eventually=later "
        "formerly=before"
    ),
    "school": "school academic",
    "business": "business working work",
    "semester": "semester",
    "season": "summer=summer winter=winter autumn=autumn",
    "seasons": "summers=summer winters=winter autumns=autumn",
    "maybe_season": "spring=spring fall=autumn",
    "week_of": "",
    "holiday": "christmas=christmas xmas=christmas easter=easter halloween=halloween thanksgiving=thanksgiving",
}


def _read_classes() -> dict[str, tuple[str, Any]]:
    words: dict[str, tuple[str, Any]] = {}
    for name, entries in _CLASSES.items():
        for entry in entries.split():
            word, _, value = entry.partition("=")
            words[word] = (name, int(value) if value.lstrip("-").isdigit() else value or word)
    return words


def _make_numbers() -> dict[str, tuple[str, Any]]:
    words: dict[str, tuple[str, Any]] = {word: ("num", n) for n, word in enumerate(_SMALL)}
    words |= {word: ("tens", 10 * n) for n, word in enumerate(_TENS, 2)}
    words |= {word: ("nth", n) for n, word in enumerate(_ORDINALS, 1)}
    words |= {f"{word[:-1]}ies": ("nineties", 1900 + 10 * n) for n, word in enumerate(_TENS, 2)}
    words["thirtieth"] = ("nth", 30)
    words["second"] = ("second", 2)
    return words


def _make_calendar() -> dict[str, tuple[str, Any]]:
    words: dict[str, tuple[str, Any]] = {}
    for n, month in enumerate(MONTHS, 1):
        words[month] = words[month[:3]] = ("month", n)
    words["sept"] = ("month", 9)
    words |= {
        word: ("maybe_month", n)
        for word, n in (("may", 5), ("march", 3), ("mar", 3), ("april", 4), ("june", 6), ("jan", 1), ("dec", 12))
    }
    for n, day in enumerate(WEEKDAYS):
        words[day] = words[day[:3]] = ("weekday", n)
        words[day + "s"] = ("weekdays", n)
    words |= {"tues": ("weekday", 1), "thur": ("weekday", 3), "thurs": ("weekday", 3), "weds": ("weekday", 2)}
    return words | {word: ("maybe_weekday", n) for word, n in (("mon", 0), ("wed", 2), ("sat", 5), ("sun", 6))}


def _make_units() -> dict[str, tuple[str, Any]]:
    words: dict[str, tuple[str, Any]] = {unit: ("unit", unit) for unit in UNITS}
    words |= {unit + "s": ("units", unit) for unit in UNITS} | {"centuries": ("units", "century")}
    short = "sec=second secs=second min=minute mins=minute hr=hour hrs=hour h=hour wk=week wks=week yr=year yrs=year"
    words |= {word: ("units", unit) for word, _, unit in (entry.partition("=") for entry in short.split())}
    del words["second"]
    return words


WORDS: Final = _read_classes() | _make_units() | _make_numbers() | _make_calendar()

# A text may have a time only if it has one of these words or a digit. Words of the ambiguous classes need them beside.
_AMBIGUOUS_CLASSES = set(
    "the a of in within on at for from between and or to through until since before by after other per times starting "
    "edge few half hundred rel past same right school business every any later num tens these during "
    "modal beginning onward nth second prior previous back no than as more".split()
)
TRIGGERS: Final = (
    frozenset(word for word, (name, _) in WORDS.items() if name not in _AMBIGUOUS_CLASSES)
    | frozenset("0123456789")
    | {"nineteen", "twenty", "thousand"}
)

# The classes as single letters, so that rules are regular expressions over a string of them.
NAMES: Final = (
    sorted({name for name, _ in WORDS.values()} | set(_CLASSES))
    + (
        "word plural counted mark comma dash stop open close year short_year ord clock maybe_clock quarter "
        "decade slash length hours set vague"
    ).split()
)
LETTERS: Final = {name: chr(0x4E00 + n) for n, name in enumerate(NAMES)}

# The words after an ordinal that is not a day: "on the 5th floor".
NOT_DAYS: Final = frozenset(
    "floor grade street avenue st ave century time one place amendment edition anniversary birthday row attempt season "
    "episode chapter generation gear try round person level version period inning".split()
)
# "24/7", and the numbers of recipes and scores.
NOT_DATES: Final = frozenset("24/7 1/2 1/3 2/3 1/4 3/4 1/8 50/50 9/11".split())
