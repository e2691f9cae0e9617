"""Fingerprints of a purged text: phrases and words to look for in rows, and pieces to look for in bytes of files."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from retentive.embed.tokenizer import VOCABULARY
from retentive.text.terms import split_words

MAX_PHRASE_CHARS = 200
MIN_PHRASE_CHARS = 12  # of a phrase that is distinctive by itself
PIECE_CHARS = 24  # short, because a long text lies in several pages, cut anywhere
MAX_OF_EACH = 8  # phrases, pieces and words of one text
_ESCAPED_IN_JSON = re.compile(r'[\x00-\x1f"\\\u2028\u2029]+')
_MIN_LETTERS, _MIN_MIXED = 6, 5  # characters of a distinctive word: of letters alone, with digits


class Fingerprints(NamedTuple):
    phrases: tuple[str, ...]
    """Lines of the text, the longest first."""
    words: tuple[str, ...]
    """Words that are not in the dictionary: names, numbers, keys."""
    pieces: tuple[bytes, ...]
    """Bytes that must not be in a file."""

    def are_in(self, text: str) -> bool:
        """Whether a text has one of the phrases or words."""
        folded = text.casefold()
        return any(each.casefold() in folded for each in (*self.phrases, *self.words))


def make_fingerprints(texts: Iterable[str], about: Iterable[str] = ()) -> Fingerprints:
    """Make the fingerprints of texts. `about` are their contexts and tags, which other texts may share."""
    texts, about = [*dict.fromkeys(texts)], [*dict.fromkeys(about)]
    phrases = [phrase for text in texts for phrase in find_phrases(text)]
    words = [*dict.fromkeys(word for text in (*texts, *about) for word in _find_rare_words(text))]
    pieces = [piece for text in texts for piece in _cut_pieces(text)]
    pieces += [form for word in words for form in (word, word.lower())]
    return Fingerprints(tuple(phrases), tuple(words), tuple(dict.fromkeys(each.encode() for each in pieces)))


def _split_runs(text: str) -> list[str]:
    """The parts of a text that JSON writes as they are, longest first."""
    return sorted((run.strip() for run in _ESCAPED_IN_JSON.split(text)), key=len, reverse=True)


def find_phrases(text: str) -> Sequence[str]:
    """The longest lines of a text, as every copy of it has them."""
    runs = _split_runs(text)
    long = [run[:MAX_PHRASE_CHARS] for run in runs if len(run) >= MIN_PHRASE_CHARS][:MAX_OF_EACH]
    return long or [run for run in runs[:1] if len(run) >= _MIN_LETTERS]


def _cut_pieces(text: str) -> Iterator[str]:
    """The beginning of each phrase, and pieces spread over the longest run."""
    for phrase in find_phrases(text):
        yield phrase[:PIECE_CHARS]
    longest = _split_runs(text)[0]
    step = max(PIECE_CHARS, len(longest) // MAX_OF_EACH)
    for at in range(step, len(longest) - PIECE_CHARS, step):
        yield longest[at : at + PIECE_CHARS]


def _find_rare_words(text: str) -> list[str]:
    words = dict.fromkeys(split_words(text))
    return sorted((word for word in words if is_rare(word)), key=len, reverse=True)[:MAX_OF_EACH]


def is_rare(word: str) -> bool:
    """Whether a word is in no dictionary: a name, a number, a key."""
    min_chars = _MIN_MIXED if any(letter.isdigit() for letter in word) else _MIN_LETTERS
    return len(word) >= min_chars and find_word_rank(word.lower()) is None


def find_word_rank(word: str) -> int | None:
    """The place of a word in the dictionary, which has the most frequent words first; None if it is not there."""
    return _dictionary().get(word)


@cache
def _dictionary() -> Mapping[str, int]:
    """The thirty thousand words that the vocabulary of the embedding model has whole."""
    return {word: rank for rank, word in enumerate(VOCABULARY.read_text("utf-8").split())}
