"""Measures how much of a question a text has, word by word: "food" is partly there if "vegetarian" is.

A vector of a whole text says what it is about, and keyword search asks for the very words. Between them, each telling
word of the question is compared with every word of the text, and the nearest counts:

    share = sum over the question's words of weight x similarity / sum of the weights
    similarity = the nearest cosine of the text's words, 0 at `FLOOR` and 1 at the same word
    weight = how rare the word is in English: log(rank + 30), divided by that of the rarest

The vectors are a table that ships with the package (`word-vectors.npz`, made by `python -m benchmarks.word_vectors`):
the words of the embedding model's vocabulary, embedded one by one. A word that is not in it (a name, another language)
is there if the text has it, or a form of it. So the share depends on nothing but the question and the text, and is
the same on every engine and without any model.

Worth, left out of fitting (R@5 / R@10): LongMemEval +.02 / +.02, BEAM +.01 / +.02, RealMem +.01 / +.01, exact facts
+.01 / +.01; nothing on two-person chats. Cost: some 10 us for a message.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from retentive.text.caches import text_cache
from retentive.text.terms import STOP_WORDS, split_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

WORDS = Path(__file__).with_name("english-words.txt")
"""From common to rare, a line each."""
TABLE = Path(__file__).with_name("word-vectors.npz")
"""Their vectors, and how rare each is."""

FLOOR = 0.3  # the cosine of two words that have little to do with each other
MAX_QUESTION_WORDS = 64
MAX_TEXT_WORDS = 400  # of one chunk, which has some 130
MAX_CACHED_TEXTS = 2000  # a text that was compared is likely to be compared again; some 3 MB of messages
UNKNOWN_WEIGHT = 1.1  # of a word that is not in the table: rarer than all that are
MIN_STEM = 4  # letters that two forms of one word share at the least
MAX_ENDING = 3  # letters that may follow them


class WordTable(NamedTuple):
    """The word vectors and the weights of words, by row."""

    vectors: NDArray[np.float32]
    weights: NDArray[np.float32]


@cache
def load_words() -> dict[str, int]:
    """English words with their rows in the table. Cheap: numpy is not needed for it."""
    return {word: row for row, word in enumerate(WORDS.read_text("ascii").split())}


@cache
def load_table() -> WordTable:
    import numpy as np

    with np.load(TABLE) as stored:
        vectors = stored["vectors"].astype(np.float32)
        rank = stored["rank"].astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    weights = np.log(rank + 30) / np.log(rank[-1] + 30)
    return WordTable(vectors, weights.astype(np.float32))


class TextWords(NamedTuple):
    """The words of a text, and their first letters: looking there first rules out nearly every text."""

    words: set[str]
    stems: set[str]

    def has_form(self, word: str) -> bool:
        """Whether a text has the word, or one that differs by its ending alone, as singular and plural do."""
        if word in self.words:
            return True
        stem = word[:MIN_STEM]
        if len(stem) < MIN_STEM or stem not in self.stems:
            return False
        return any(_is_form(word, other) for other in self.words if other.startswith(stem))


class RelatedWords:
    """The telling words of one question."""

    def __init__(self, question: str) -> None:
        words = [word for word in dict.fromkeys(split_words(question.lower())) if word not in STOP_WORDS]
        rows = load_words() if words else {}
        self._known = [rows[word] for word in words if word in rows][:MAX_QUESTION_WORDS]
        self._unknown = [word for word in words if word not in rows][:MAX_QUESTION_WORDS]

    def __bool__(self) -> bool:
        return bool(self._known or self._unknown)

    def shares(self, texts: Sequence[str]) -> list[float]:
        """The share of each text, from 0 to 1; 0 for a question without telling words."""
        if not self or not texts:
            return [0.0] * len(texts)
        import numpy as np

        table = load_table()
        weights = table.weights[self._known]
        total = self._measure_known(texts, table, weights)
        if self._unknown:
            texts_words = [*map(_read_text_words, texts)]
            for word in self._unknown:
                total += UNKNOWN_WEIGHT * np.array([own.has_form(word) for own in texts_words], np.float64)
        whole = float(weights.sum()) + UNKNOWN_WEIGHT * len(self._unknown)
        return [*map(float, total / whole)]

    def _measure_known(
        self, texts: Sequence[str], table: WordTable, weights: NDArray[np.float32]
    ) -> NDArray[np.float64]:
        """The weighted similarities of the words that have vectors, summed for each text."""
        import numpy as np

        total = np.zeros(len(texts))
        if not self._known:
            return total
        rows = [_find_rows(text) for text in texts]
        filled = [at for at, own in enumerate(rows) if len(own)]
        if not filled:
            return total
        # All texts at once: the words of one after those of the other, and the largest of each run.
        starts = np.cumsum([0, *(len(rows[at]) for at in filled[:-1])])
        flat = np.concatenate([rows[at] for at in filled])
        cosines = table.vectors[self._known] @ table.vectors[flat].T
        nearest = np.maximum.reduceat(cosines, starts, axis=1)
        similar = np.clip((nearest - FLOOR) / (1 - FLOOR), 0, 1)
        total[filled] = weights @ similar
        return total


@text_cache(MAX_CACHED_TEXTS)
def _find_rows(text: str) -> NDArray[np.int32]:
    """The rows of the words of a text that are in the table."""
    import numpy as np

    rows_of = load_words()
    return np.fromiter((rows_of[word] for word in rows_of.keys() & _read_words(text)), np.int32)


def _read_words(text: str) -> set[str]:
    return {*split_words(text.lower())[:MAX_TEXT_WORDS]}


def _read_text_words(text: str) -> TextWords:
    words = _read_words(text)
    return TextWords(words, {word[:MIN_STEM] for word in words})


def _is_form(word: str, other: str) -> bool:
    shorter = min(len(word), len(other))
    return abs(len(word) - len(other)) <= MAX_ENDING and word[: shorter - 1] == other[: shorter - 1]
