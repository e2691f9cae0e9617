"""Do two texts say nearly the same?

By which words to look for what a new memory may resemble or replace: by few, because a database scores every row that
has one of them. The rarest words find as many of the memories that are replaced as the longest, for a quarter of the
rows. Share found among the first 20, of 1,157 replaced memories in 43 lives (`benchmarks/data`):

    words                                       a life alone   among 112,750 other texts   the same in 44 namespaces
    the eight longest                           .859           .645, 4656 rows             .856
    the four rarest                             .830           .621,  786 rows             .774
    the rarest, eight or 2,000 rows together    .872           .647, 1201 rows             .858
"""

from collections.abc import Collection, Mapping, Sequence

NEAR = 0.6  # share of keywords from which two texts are shown to the caller as resembling
TELLING_WORDS = 8  # the words looked for: a text that shares 0.6 of the keywords shares some of these
MAX_COUNTED_WORDS = 16  # of which the rarest are looked for; to choose among all the words found no more
MAX_ROWS = 2000  # that have one of the words looked for; scoring one takes SQLite 4 us


def overlap(one: Collection[str], other: Collection[str]) -> float:
    """The keywords both have, as a share of all they have."""
    first, second = set(one), set(other)
    return len(first & second) / len(first | second) if first or second else 0.0


def telling(words: Collection[str], most: int = TELLING_WORDS) -> list[str]:
    """The words that say most of what a text is about: the long ones."""
    return sorted(words, key=len, reverse=True)[:most]


def choose_rarest(words: Sequence[str], rows: Mapping[str, float]) -> list[str]:
    """The rarest words, as many as are in few enough rows together, and one at the least. `rows` lacks unknown ones."""
    known = sorted((word for word in words if word in rows), key=rows.__getitem__)
    chosen = known[:1]
    together = sum(rows[word] for word in chosen)
    for word in known[1:TELLING_WORDS]:
        together += rows[word]
        if together > MAX_ROWS:
            break
        chosen.append(word)
    return chosen
