"""What both builds are given: short facts in invented words, and vectors in clusters. The same on every machine."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

DIMENSION = 384
SEED = 384

WORDS = 20_000
CENTRES = 500

# Zipf-Mandelbrot: the frequency of the word of rank r goes with 1 / (r + 30). Content words alone have such a flat
# head: the most frequent is in about one text of twenty, the rarer half in one of some thousands.
FLATTENING = 30

# A vector shares 0.8 of its direction with its centre and a question as much with the vector it is made from: about
# what sentences on one subject, and a question and its answer, have with all-MiniLM-L6-v2.
SPREAD = 0.75

SHORTEST, LONGEST = 8, 25  # words of a text
ASKED = 5  # words of a question

OPENINGS = (
    "{0} prefers {1} {2} over {3}",
    "{0} said that the {1} {2} is {3}",
    "{0} decided to move the {1} from {2} to {3}",
    "{0} works on {1} {2} with {3}",
    "the {1} of {0} runs {2} and {3}",
    "remind {0} about the {1} {2} {3}",
    "{0} was told never to {1} the {2} {3}",
    "after the {1} meeting {0} wrote {2} {3}",
)
LINKS = ("because of", "and", "in the", "with", "for", "after the", "when", "but not", "near", "instead of the")


class Question(NamedTuple):
    text: str
    vector: Floats


@dataclass(frozen=True, slots=True)
class Corpus:
    texts: list[str]
    vectors: Floats
    questions: list[Question]
    extra_texts: list[str]
    """Not in the stores at first: for the single adds."""
    extra_vectors: Floats


def make(size: int, *, questions: int, extra: int) -> Corpus:
    generator = np.random.default_rng(SEED)
    known = vocabulary(generator)
    texts = [*islice(_distinct(_texts(generator, known)), size + extra)]
    vectors = _clustered(generator, size + extra)
    asked = _questions(generator, texts[:size], vectors, frozenset(known), questions)
    return Corpus(texts[:size], vectors[:size], asked, texts[size:], vectors[size:])


def vocabulary(generator: np.random.Generator) -> list[str]:
    syllables = [
        first + vowel + last for first in "bdfgklmnprstvz" for vowel in "aeiou" for last in ("", "n", "r", "k")
    ]
    words: dict[str, None] = {}
    while len(words) < WORDS:
        count = int(generator.integers(2, 5))
        words["".join(generator.choice(syllables, count))] = None
    return [*words]


def _texts(generator: np.random.Generator, known: list[str]) -> Iterator[str]:
    words = zipfian(generator, known)
    while True:
        openings = generator.integers(len(OPENINGS), size=1000)
        lengths = generator.integers(SHORTEST, LONGEST + 1, size=1000)
        for opening, length in zip(openings.tolist(), lengths.tolist(), strict=True):
            yield text(OPENINGS[opening], words, length)


def zipfian(generator: np.random.Generator, known: list[str]) -> Iterator[str]:
    weights = 1 / (np.arange(len(known)) + 1 + FLATTENING)
    weights /= weights.sum()
    while True:
        yield from (known[rank] for rank in generator.choice(len(known), 10_000, p=weights).tolist())


def text(opening: str, words: Iterator[str], length: int) -> str:
    name, *rest = islice(words, 4)
    said = opening.format(name.capitalize(), *rest).split()
    while len(said) < length:
        said += [*LINKS[len(said) % len(LINKS)].split(), *islice(words, 2)]
    return " ".join(said[:length])


def _distinct(texts: Iterator[str]) -> Iterator[str]:
    seen: set[str] = set()
    for text in texts:
        if text not in seen:
            seen.add(text)
            yield text


def _clustered(generator: np.random.Generator, count: int) -> Floats:
    centres = unit(generator.standard_normal((CENTRES, DIMENSION), np.float32))
    return near(generator, centres[generator.integers(CENTRES, size=count)])


def near(generator: np.random.Generator, vectors: Floats) -> Floats:
    noise = unit(generator.standard_normal(vectors.shape, np.float32))
    return unit(vectors + np.float32(SPREAD) * noise)


def unit(vectors: Floats) -> Floats:
    lengths: Floats = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / lengths


def _questions(
    generator: np.random.Generator, texts: list[str], vectors: Floats, known: frozenset[str], count: int
) -> list[Question]:
    """Each about one memory: words of its text that carry meaning, and a vector near its own."""
    about = generator.choice(len(texts), count, replace=False)
    asked = near(generator, vectors[about])
    return [
        Question(words_of(generator, texts[place], known), vector)
        for place, vector in zip(about.tolist(), asked, strict=True)
    ]


def words_of(generator: np.random.Generator, said: str, known: frozenset[str]) -> str:
    words = [*dict.fromkeys(word for word in said.lower().split() if word in known)]
    return " ".join(generator.permutation(words)[:ASKED].tolist())
