"""Compare the words of two texts, and choose the words by which similar memories are looked for.

The words should be few, because a database scores every row that has one of them. The rarest words find as many of the
replaced memories as the longest, for a quarter of the rows. Share found among the first 20, of 1,157 replaced memories
in 43 lives (`benchmarks/data`):

    words                                       a life alone   among 112,750 other texts   the same in 44 namespaces
    the eight longest                           .859           .645, 4656 rows             .856
    the four rarest                             .830           .621,  786 rows             .774
    the rarest, eight or 2,000 rows together    .872           .647, 1201 rows             .858
"""

from collections.abc import Collection, Mapping, Sequence

MIN_RESEMBLANCE = 0.6  # share of keywords from which two texts are shown to the caller as resembling
MAX_SEARCHED_WORDS = 8  # a text that shares 0.6 of the keywords shares some of these
MAX_COUNTED_WORDS = 16  # among which the rarest are chosen; choosing among all words found no more
MAX_ROWS = 2000  # that have one of the searched words; scoring one takes SQLite 4 us


def compute_overlap(one: Collection[str], other: Collection[str]) -> float:
    """The shared keywords of two texts, as a share of all their keywords."""
    first, second = set(one), set(other)
    return len(first & second) / len(first | second) if first or second else 0.0


def choose_longest(words: Collection[str], most: int = MAX_SEARCHED_WORDS) -> list[str]:
    """The longest words: they say most about the topic of a text."""
    return sorted(words, key=len, reverse=True)[:most]


def choose_rarest(words: Sequence[str], rows: Mapping[str, float]) -> list[str]:
    """The rarest words that are in at most `MAX_ROWS` rows together, at least one. `rows` lacks unknown words."""
    known = sorted((word for word in words if word in rows), key=rows.__getitem__)
    chosen = known[:1]
    together = sum(rows[word] for word in chosen)
    for word in known[1:MAX_SEARCHED_WORDS]:
        together += rows[word]
        if together > MAX_ROWS:
            break
        chosen.append(word)
    return chosen
