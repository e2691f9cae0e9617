"""Words without their endings: enough to bring `running`, `runs` and `run` together."""

import re
from collections.abc import Iterable, Mapping, Sequence

from retentive.text.caches import text_cache
from retentive.text.terms import STOP_WORDS

CACHED_STEMS = 16_384  # words of ordinary talk are fewer
CACHED_GROUPS = 64  # one statement is compared with many, one after another
MIN_STEM_CHARS = 3
_WORD_PATTERN = re.compile(r"[^\W_](?:[\w'+#&-]|\.(?=\w))*")
_ENDINGS = ("ing", "ed", "s")


def stem_words(text: str) -> list[str]:
    return [stem(word) for word in _WORD_PATTERN.findall(text)]


@text_cache(CACHED_STEMS)
def stem(word: str) -> str:
    word = word.lower().removesuffix("'s")
    if len(word) <= MIN_STEM_CHARS or not word.isalpha() or word in STOP_WORDS:
        return word
    return _cut_ending(word)


def _cut_ending(word: str) -> str:
    if word.endswith("ies") and len(word) > MIN_STEM_CHARS + 1:
        return word[:-3] + "y"
    for ending in _ENDINGS:
        cut = word.removesuffix(ending)
        is_ending = len(word) > len(cut) >= MIN_STEM_CHARS and cut not in STOP_WORDS
        if is_ending and not word.endswith(("ss", "us", "is", "news")):
            word = cut
            break
    if len(word) > MIN_STEM_CHARS and word[-1] == word[-2] and word[-1] not in "lsez":
        word = word[:-1]
    short = word.removesuffix("e") if len(word) > MIN_STEM_CHARS else word
    return word if short in STOP_WORDS else short


MIN_SHARED_PREFIX = 5  # characters that two stems must begin with to be forms of one word


def are_alike(one: str, other: str, min_prefix: int = MIN_SHARED_PREFIX) -> bool:
    """Whether two stems are forms of one word: an allergy and allergic, smoke and smoking."""
    short = min(len(one), len(other))
    cut = max(min_prefix, short - 2)
    return one == other or (short >= min_prefix and one[:cut] == other[:cut])


def find_shared_stems(first: Iterable[str], second: frozenset[str]) -> set[str]:
    """The first stems that are alike one of the second. Only stems with the same beginning are compared."""
    by_prefix = _group_by_prefix(second)
    return {
        word
        for word in first
        if word in second or any(are_alike(word, other) for other in by_prefix.get(word[:MIN_SHARED_PREFIX], ()))
    }


@text_cache(CACHED_GROUPS)
def _group_by_prefix(words: frozenset[str]) -> Mapping[str, Sequence[str]]:
    groups: dict[str, list[str]] = {}
    for word in words:
        if len(word) >= MIN_SHARED_PREFIX:
            groups.setdefault(word[:MIN_SHARED_PREFIX], []).append(word)
    return groups
