"""Which areas of life a statement is about.

Whether "I switched to padel" ends "I play tennis" cannot be told from the words they share, for they share none, nor
from the likeness of their vectors (cosine .12, where "I play guitar" and "I also play piano" have .68). What tells is
that both are sports. `areas.toml` lists the areas in which people change their minds.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

from retentive.learn.statements.statement import Reading, Topic
from retentive.text.terms import STOP_WORDS

_WORD = re.compile(r"[^\W_](?:[\w'+#&-]|\.(?=\w))*")
KNOWN_STEMS = 16_384  # of words; those of ordinary talk are fewer
SHORTEST = 3  # letters that are left of a word
LONGEST = 3  # words in a phrase of the list
_ENDINGS = ("ing", "ed", "s")


def topics(stemmed: Sequence[str]) -> frozenset[Topic]:
    """Of a text that went through `stems`."""
    lexicon, longest = _lexicon(), range(1, LONGEST + 1)
    phrases = (" ".join(stemmed[at : at + size]) for at in range(len(stemmed)) for size in longest)
    found = {phrase: lexicon[phrase] for phrase in phrases if phrase in lexicon}
    named = {topic.area for phrase, each in found.items() if phrase not in _BROAD for topic in each}
    return frozenset(
        topic for phrase, each in found.items() for topic in each if phrase not in _BROAD or topic.area not in named
    )


_BROAD = frozenset({"drink"})
"""Says which topic of an area is meant only where nothing else does: "I quit drinking", but "I drink tea"."""


def stems(text: str) -> list[str]:
    """The words of a text by their stems."""
    return [stem(word) for word in _WORD.findall(text)]


@lru_cache(KNOWN_STEMS)
def stem(word: str) -> str:
    """Enough to bring `running`, `runs` and `run`, or `baking` and `bake`, together."""
    word = word.lower().removesuffix("'s")
    return word if len(word) <= SHORTEST or not word.isalpha() or word in STOP_WORDS else _stem(word)


def _stem(word: str) -> str:
    if word.endswith("ies") and len(word) > SHORTEST + 1:
        return word[:-3] + "y"
    for ending in _ENDINGS:
        cut = word.removesuffix(ending)
        if len(word) > len(cut) >= SHORTEST and cut not in STOP_WORDS and not word.endswith(("ss", "us", "is", "news")):
            word = cut
            break
    if len(word) > SHORTEST and word[-1] == word[-2] and word[-1] not in "lsez":
        word = word[:-1]
    short = word.removesuffix("e") if len(word) > SHORTEST else word
    return word if short in STOP_WORDS else short


@cache
def _lists() -> Mapping[str, Mapping[str, Any]]:
    return tomllib.loads((files("retentive.learn.statements") / "areas.toml").read_text("utf-8"))


@cache
def _lexicon() -> Mapping[str, tuple[Topic, ...]]:
    """The topics of each phrase, by its stems."""
    found: dict[str, tuple[Topic, ...]] = {}
    for area, parts in _lists().items():
        single = bool(parts.get("one"))
        for name, phrases in parts.items():
            for phrase in phrases.split(",") if name != "one" else ():
                key = " ".join(stems(phrase))
                found[key] = (*found.get(key, ()), Topic(area, name, single))
    return found


def words_of(reading: Reading) -> list[str]:
    """Single words by which statements of the same areas are found; not for a statement that changes nothing."""
    wanted = reading.areas if reading.turn or reading.slot else frozenset[str]()
    if reading.slot:
        wanted |= _SLOT_AREAS.get(reading.slot.name.rpartition(".")[2], frozenset())
    return [word for area in sorted(wanted) for word in _area_words()[area]]


_SLOT_AREAS = {"home": {"home"}, "employer": {"work"}, "status": {"love"}, "doctor": {"doctor"}, "salary": {"pay"}}


@cache
def _area_words() -> Mapping[str, list[str]]:
    found: dict[str, dict[str, None]] = {}
    for area, parts in _lists().items():
        phrases = ",".join(value for value in parts.values() if isinstance(value, str))
        found[area] = dict.fromkeys(word for word in _WORD.findall(phrases) if word not in STOP_WORDS)
    return {area: [*words] for area, words in found.items()}
