"""What gives a purged text away: the pieces of it that are looked for, in rows and in the bytes of files."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from retentive.embed.tokenizer import VOCABULARY
from retentive.text.terms import tokens

LONGEST = 200  # characters of a phrase that is looked for in rows
WINDOW = 24  # characters of a piece that is looked for in files: a long text lies in several pages, cut anywhere
SHORTEST = 12  # characters of a phrase that says something by itself
MANY = 8  # phrases, pieces and words of each text
_BREAKS = re.compile(r'[\x00-\x1f"\\\u2028\u2029]+')  # what JSON writes in another way
_LETTERS, _MIXED = 6, 5  # characters of a word that tells: of letters, with digits


class Traces(NamedTuple):
    phrases: tuple[str, ...]
    """Lines of the text, the longest first."""
    words: tuple[str, ...]
    """Those that are not in the dictionary: names, numbers, keys."""
    pieces: tuple[bytes, ...]
    """What must not be in a file."""

    def are_in(self, text: str) -> bool:
        said = text.casefold()
        return any(each.casefold() in said for each in (*self.phrases, *self.words))


def traces(texts: Iterable[str], about: Iterable[str] = ()) -> Traces:
    """`about` are the contexts and tags of the texts, which others may share."""
    texts, about = [*dict.fromkeys(texts)], [*dict.fromkeys(about)]
    lines = [phrase for text in texts for phrase in phrases(text)]
    words = [*dict.fromkeys(word for text in (*texts, *about) for word in _telling(text))]
    pieces = [piece for text in texts for piece in _pieces(text)]
    spelled = [form for word in words for form in (word, word.lower())]
    return Traces(tuple(lines), tuple(words), tuple(dict.fromkeys(each.encode() for each in (*pieces, *spelled))))


def _runs(text: str) -> list[str]:
    return sorted((run.strip() for run in _BREAKS.split(text)), key=len, reverse=True)


def phrases(text: str) -> Sequence[str]:
    """Its lines, the longest first, as they stand wherever it is repeated."""
    runs = _runs(text)
    long = [run[:LONGEST] for run in runs if len(run) >= SHORTEST][:MANY]
    return long or [run for run in runs[:1] if len(run) >= _LETTERS]


def _pieces(text: str) -> Iterator[str]:
    """Windows spread over the text."""
    for run in phrases(text):
        yield run[:WINDOW]
    for run in _runs(text)[:1]:
        step = max(WINDOW, len(run) // MANY)
        yield from (run[at : at + WINDOW] for at in range(step, len(run) - WINDOW, step))


def _telling(text: str) -> list[str]:
    found = dict.fromkeys(tokens(text))
    return sorted((word for word in found if is_rare(word)), key=len, reverse=True)[:MANY]


def is_rare(word: str) -> bool:
    """Whether a word is in no dictionary: a name, a number, a key."""
    least = _MIXED if any(letter.isdigit() for letter in word) else _LETTERS
    return len(word) >= least and rank_of(word.lower()) is None


def rank_of(word: str) -> int | None:
    """The place of a word in the dictionary, which has the most frequent ones first; None: it is not in there."""
    return _dictionary().get(word)


@cache
def _dictionary() -> Mapping[str, int]:
    """The thirty thousand words that the model knows whole."""
    return {word: rank for rank, word in enumerate(VOCABULARY.read_text("utf-8").split())}
