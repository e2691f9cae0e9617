"""The corpus spread over namespaces of very different sizes, as the users of one store have them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from benchmarks import corpus
from benchmarks.corpus import SEED, Floats

NAMESPACES = 50
SHARE = 0.8  # each has four fifths of the one before it: the largest has a fifth of all, the first sixteen 97 in 100
SMALLEST = 20


class Asked(NamedTuple):
    namespace: str
    text: str
    vector: Floats


@dataclass(frozen=True, slots=True)
class Part:
    """What one namespace is given."""

    namespace: str
    texts: Sequence[str]
    vectors: Floats


@dataclass(frozen=True, slots=True)
class Spread:
    parts: Sequence[Part]
    alike: Sequence[Asked]
    """As many of each namespace: all users ask equally often."""
    by_size: Sequence[Asked]
    """Each about any memory of all: those who keep more ask more."""
    extra: Sequence[Asked]
    """Not in the stores at first: for adds, by size as well."""

    @property
    def size(self) -> int:
        return sum(len(part.texts) for part in self.parts)


def make(total: int, *, each: int, by_size: int, extra: int) -> Spread:
    sizes = [max(SMALLEST, round(total * (1 - SHARE) * SHARE**rank)) for rank in range(NAMESPACES)]
    given = corpus.make(sum(sizes), questions=1, extra=extra)
    parts = [*_cut(given, sizes)]
    generator = np.random.default_rng(SEED + 1)
    known = frozenset(corpus.vocabulary(np.random.default_rng(SEED)))  # the corpus begins with the same
    weights = np.array(sizes) / sum(sizes)
    owners = (parts[place].namespace for place in generator.choice(NAMESPACES, extra, p=weights))
    return Spread(
        parts,
        [_question(generator, known, part) for _ in range(each) for part in parts],
        [_question(generator, known, parts[place]) for place in generator.choice(NAMESPACES, by_size, p=weights)],
        [*map(Asked, owners, given.extra_texts, given.extra_vectors)],
    )


def _cut(given: corpus.Corpus, sizes: Sequence[int]) -> Iterator[Part]:
    start = 0
    for rank, size in enumerate(sizes):
        yield Part(f"n{rank:02}", given.texts[start : start + size], given.vectors[start : start + size])
        start += size


def _question(generator: np.random.Generator, known: frozenset[str], part: Part) -> Asked:
    about = int(generator.integers(len(part.texts)))
    vector = corpus.near(generator, part.vectors[about : about + 1])[0]
    return Asked(part.namespace, corpus.words_of(generator, part.texts[about], known), vector)
