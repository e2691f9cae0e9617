"""Decides which logged questions give away a text that is purged.

A logged question is an entry of a log, not a memory: in doubt it is deleted. It is deleted if it shares with the text
  a. a name (a capitalised word), a number of three digits or more, an emoji, or an uncommon word, however short;
  b. in a script without spaces, a word: two characters of Han, katakana or Hangul, three of hiragana, four of others;
  c. all of its own words, or two that are at least half of them.
Words of nearly every question (stop words, endings, "我的") do not count, so that the rest of the log stays. In a long
text only names, numbers, emoji and words in no dictionary count: its other words are in most questions.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from retentive.memories.fingerprints import find_word_rank
from retentive.text.sentences import find_sentences
from retentive.text.terms import STOP_WORDS, find_spaced_words, find_unspaced_runs

LONG_TEXT_WORDS = 100  # different ones
COMMON_WORD_RANKS = 8_000  # the dictionary has the most frequent words first
MIN_NUMBER_CHARS = 3
MIN_STEM_CHARS = 4  # that two forms of a word must share; endings have up to two

# Words that are capitalised only because memories begin with them.
_FIRST_WORDS = frozenset("user users please always never remember use prefers likes today yesterday tomorrow".split())

_HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_KATAKANA = "\u30a0-\u30ff\u31f0-\u31ff\uff66-\uff9f"
_HANGUL = "\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff"
_TWO_CHAR_SCRIPTS = re.compile(f"[{_HAN}{_KATAKANA}{_HANGUL}]+")
_THREE_CHAR_SCRIPTS = re.compile("[\u3040-\u309f]+")  # hiragana
_FOUR_CHAR_SCRIPTS = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]+")
# Characters and endings that mean nothing by themselves.
_FUNCTION_CHARS = frozenset(
    "我你您他她它们們的得地是在有和与與不没沒了吗嗎呢吧啊什么麼怎哪谁誰这這那个個一也就都很会會能要想去来來说說到为為以及或多少几幾何"
    "私僕俺君今日人"
)
_FUNCTION_RUNS = frozenset(
    "무엇 어디 누구 언제 어떤 나의 내가 저의 저는 우리 이름 입니 니다 니까 까요 어요 이에 에요 하는 있는"
    " ですか でした ました ますか います いまし ている ていま してい ありま りませ ません せんか くださ ださい"
    " なんで どこで だれが これは それは".split()
)

_DIGIT_SEPARATOR = re.compile(r"(?<=\d)[ ./-](?=\d)")
_FIRST_EMOJI = 0x2190


class TextWords(NamedTuple):
    """The words of a purged text that questions are compared with."""

    revealing: frozenset[str]
    """Each gives the text away by itself."""
    content: frozenset[str]
    """All words that mean something."""


def extract_words(text: str) -> TextWords:
    content = frozenset(_find_content_words(text))
    revealing = {*_find_numbers(text), *_find_emoji(text), *_find_unspaced_words(text), *_find_names(text)}
    if len(content) > LONG_TEXT_WORDS:
        unknown = [word for word in content if find_word_rank(word) is None]
        return TextWords(frozenset(_list_forms((*revealing, *unknown))), frozenset())
    uncommon = [word for word in content if _is_uncommon(word)]
    return TextWords(frozenset(_list_forms((*revealing, *uncommon))), frozenset(_list_forms(content)))


def reveals_any(question: str, texts: Iterable[TextWords]) -> bool:
    """Whether a question gives one of the texts away."""
    content = [*dict.fromkeys(_find_content_words(question))]
    revealing = {*_find_numbers(question), *_find_emoji(question), *_find_unspaced_words(question)}
    forms = frozenset((*revealing, *_list_forms(content)))
    return any(not forms.isdisjoint(text.revealing) or _shares_most_words(content, text) for text in texts)


def _shares_most_words(content: list[str], text: TextWords) -> bool:
    shared = sum(not text.content.isdisjoint(_list_forms([word])) for word in content)
    is_half = shared > 1 and 2 * shared >= len(content)
    return is_half or (shared > 0 and shared == len(content))


def _find_content_words(text: str) -> Iterator[str]:
    for word in find_spaced_words(_remove_emoji(text)):
        folded = _fold(word)
        if len(folded) > 1 and folded not in STOP_WORDS:
            yield folded


def _find_names(text: str) -> Iterator[str]:
    """Capitalised words, but for those that often begin a memory."""
    for sentence in find_sentences(text):
        for position, word in enumerate(find_spaced_words(_remove_emoji(sentence.text))):
            folded = _fold(word)
            is_name = word[:1].isupper() and len(folded) > 1 and folded not in STOP_WORDS
            if is_name and (position > 0 or folded not in _FIRST_WORDS):
                yield folded


def _find_numbers(text: str) -> Iterator[str]:
    """Words with digits, and numbers whose groups are joined."""
    normalised = unicodedata.normalize("NFKC", text)
    for form in (normalised, _DIGIT_SEPARATOR.sub("", normalised)):
        for word in find_spaced_words(form):
            digits = sum(map(str.isdigit, word))
            is_code = len(word) >= MIN_NUMBER_CHARS and digits and not word.isdigit()
            if digits >= MIN_NUMBER_CHARS or is_code:
                yield word.casefold()


def _find_emoji(text: str) -> Iterator[str]:
    return (char for char in text if _is_emoji(char))


def _is_emoji(char: str) -> bool:
    return ord(char) >= _FIRST_EMOJI and unicodedata.category(char) == "So"


def _remove_emoji(text: str) -> str:
    return "".join(" " if _is_emoji(char) else char for char in text)


def _find_unspaced_words(text: str) -> Iterator[str]:
    """The shortest runs of characters that can be a word, in scripts without spaces."""
    sizes = ((_TWO_CHAR_SCRIPTS, 2), (_THREE_CHAR_SCRIPTS, 3), (_FOUR_CHAR_SCRIPTS, 4))
    for run in find_unspaced_runs(unicodedata.normalize("NFC", text)):
        for script, size in sizes:
            for stretch in script.findall(run):
                words = [stretch[start : start + size] for start in range(len(stretch) - size + 1)]
                if len(stretch) < size and script is _TWO_CHAR_SCRIPTS:
                    words.append(stretch)
                yield from (word for word in words if _has_meaning(word))


def _has_meaning(run: str) -> bool:
    return run not in _FUNCTION_RUNS and _FUNCTION_CHARS.isdisjoint(run)


def _is_uncommon(word: str) -> bool:
    rank = find_word_rank(word)
    return rank is None or rank >= COMMON_WORD_RANKS


def _list_forms(words: Iterable[str]) -> Iterator[str]:
    """Each word with and without an ending: "Rosa" and "Rosas" share a form."""
    for word in words:
        yield word
        if word.isalpha():
            yield from (word[:-cut] for cut in (1, 2) if len(word) - cut >= MIN_STEM_CHARS)


def _fold(word: str) -> str:
    """A word without case and accents."""
    parts = unicodedata.normalize("NFKD", word.casefold())
    return "".join(char for char in parts if not unicodedata.combining(char))
