"""Which questions of the access log give away a text that is purged.

A logged question is an entry of a log, not a memory: in doubt it goes. One goes if it has, of the text,
  a. a name (a word with a capital), a number of three digits or more, an emoji, or an uncommon word, however short;
  b. in a script without blanks, a word: two signs of Han, katakana or Hangul, three of hiragana, four of the others;
  c. only words that the text has, too, or two that are at least half of its own.
What nearly every question has (stop words, endings, "我的") does not count, so that the rest of the log stays. Of a
long text only names, numbers, emoji and words that are in no dictionary count: the others are in most questions.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from retentive.memories.fingerprints import rank_of
from retentive.text.sentences import spans
from retentive.text.terms import STOP_WORDS, find_unspaced, find_words

LONG_TEXT = 100  # different words
COMMON_WORDS = 8_000  # of the dictionary, which has the most frequent words first
MIN_DIGITS = 3
MIN_STEM = 4  # letters that two forms of a word must share; endings have up to two

# Words that memories begin with, in capitals for that alone.
_FIRST_WORDS = frozenset("user users please always never remember use prefers likes today yesterday tomorrow".split())

_HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_KATAKANA = "\u30a0-\u30ff\u31f0-\u31ff\uff66-\uff9f"
_HANGUL = "\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff"
_PAIRED = re.compile(f"[{_HAN}{_KATAKANA}{_HANGUL}]+")
_TRIPLED = re.compile("[\u3040-\u309f]+")  # hiragana
_OTHERS = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]+")
# Signs and endings that say nothing by themselves.
_FUNCTION_SIGNS = frozenset(
    "我你您他她它们們的得地是在有和与與不没沒了吗嗎呢吧啊什么麼怎哪谁誰这這那个個一也就都很会會能要想去来來说說到为為以及或多少几幾何"
    "私僕俺君今日人"
)
_FUNCTION_RUNS = frozenset(
    "무엇 어디 누구 언제 어떤 나의 내가 저의 저는 우리 이름 입니 니다 니까 까요 어요 이에 에요 하는 있는"
    " ですか でした ました ますか います いまし ている ていま してい ありま りませ ません せんか くださ ださい"
    " なんで どこで だれが これは それは".split()
)

_APART = re.compile(r"(?<=\d)[ ./-](?=\d)")  # between the groups of a number
_FIRST_EMOJI = 0x2190


class Words(NamedTuple):
    """What there is to compare of a text or a question."""

    telling: frozenset[str]
    """Each gives the text away by itself."""
    content: frozenset[str]
    """All words that are worth looking for."""


def read_text(text: str) -> Words:
    """The words of a text that is purged."""
    content = frozenset(_content(text))
    telling = {*_numbers(text), *_emoji(text), *_unspaced(text), *_names(text)}
    if len(content) > LONG_TEXT:
        rare = (word for word in content if rank_of(word) is None)
        return Words(frozenset(_forms((*telling, *rare))), frozenset())
    uncommon = (word for word in content if _is_uncommon(word))
    return Words(frozenset(_forms((*telling, *uncommon))), frozenset(_forms(content)))


def tells_of(question: str, texts: Iterable[Words]) -> bool:
    """Whether a question gives one of the texts away."""
    content = [*dict.fromkeys(_content(question))]
    signs = {*_numbers(question), *_emoji(question), *_unspaced(question)}
    forms = frozenset((*signs, *_forms(content)))
    return any(not forms.isdisjoint(text.telling) or _says_the_same(content, text) for text in texts)


def _says_the_same(content: list[str], text: Words) -> bool:
    shared = sum(not text.content.isdisjoint(_forms([word])) for word in content)
    return bool(shared) and (shared == len(content) or (shared > 1 and 2 * shared >= len(content)))


def _content(text: str) -> Iterator[str]:
    for word in find_words(_without_emoji(text)):
        folded = _fold(word)
        if len(folded) > 1 and folded not in STOP_WORDS:
            yield folded


def _names(text: str) -> Iterator[str]:
    for sentence in spans(text):
        for place, word in enumerate(find_words(_without_emoji(sentence.text))):
            folded = _fold(word)
            is_name = word[:1].isupper() and len(folded) > 1 and folded not in STOP_WORDS
            if is_name and (place > 0 or folded not in _FIRST_WORDS):
                yield folded


def _numbers(text: str) -> Iterator[str]:
    """Words with digits, and numbers without what parts their groups."""
    plain = unicodedata.normalize("NFKC", text)
    for each in (plain, _APART.sub("", plain)):
        for word in find_words(each):
            if sum(map(str.isdigit, word)) >= MIN_DIGITS or (len(word) >= MIN_DIGITS and _is_mixed(word)):
                yield word.casefold()


def _is_mixed(word: str) -> bool:
    return any(map(str.isdigit, word)) and not word.isdigit()


def _emoji(text: str) -> Iterator[str]:
    return (sign for sign in text if _is_emoji(sign))


def _is_emoji(sign: str) -> bool:
    return ord(sign) >= _FIRST_EMOJI and unicodedata.category(sign) == "So"


def _without_emoji(text: str) -> str:
    return "".join(" " if _is_emoji(sign) else sign for sign in text)


def _unspaced(text: str) -> Iterator[str]:
    """The shortest rows of signs that can be a word, in each stretch of a script without blanks."""
    for run in find_unspaced(unicodedata.normalize("NFC", text)):
        for pattern, size in ((_PAIRED, 2), (_TRIPLED, 3), (_OTHERS, 4)):
            for stretch in pattern.findall(run):
                rows = [stretch[at : at + size] for at in range(len(stretch) - size + 1)]
                alone = [stretch] if len(stretch) < size and pattern is _PAIRED else []
                yield from (row for row in (*rows, *alone) if _says_something(row))


def _says_something(row: str) -> bool:
    return row not in _FUNCTION_RUNS and _FUNCTION_SIGNS.isdisjoint(row)


def _is_uncommon(word: str) -> bool:
    rank = rank_of(word)
    return rank is None or rank >= COMMON_WORDS


def _forms(words: Iterable[str]) -> Iterator[str]:
    """Each word, and what it is without an ending: of "Rosa" and "Rosas" one is among those of the other."""
    for word in words:
        yield word
        yield from (word[:-cut] for cut in (1, 2) if word.isalpha() and len(word) - cut >= MIN_STEM)


def _fold(word: str) -> str:
    """Without case and accents."""
    parts = unicodedata.normalize("NFKD", word.casefold())
    return "".join(sign for sign in parts if not unicodedata.combining(sign))
