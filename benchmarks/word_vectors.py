"""`python -m benchmarks.word_vectors`: make the table of word vectors that `search/related_words.py` reads.

Each word of the model's own vocabulary (BERT's, 30,522 pieces, of which some 21,700 are whole words of letters) is
embedded alone by all-MiniLM-L6-v2. The mean of all is taken off, the rest is projected on its first 64 principal
components, scaled to length one and rounded to eight bits: 1.4 MB. The place of a word in that vocabulary, which goes
from common to rare, gives how much the word tells.
"""

import argparse
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from retentive import Retentive
from retentive.embed.tokenizer import VOCABULARY
from retentive.search.related_words import TABLE, WORDS

COMPONENTS = 64  # with 384 the same recall on every collection; with 32 LongMemEval loses two points
FIRST_WORD = 1996  # the number of "the", the first whole word of the vocabulary
BATCH = 256


def read_words(path: Path = VOCABULARY) -> dict[str, int]:
    """Whole words of letters, in the order of the vocabulary."""
    lines = path.read_text("utf-8").split("\n")
    return {
        word: number
        for number, word in enumerate(lines)
        if number >= FIRST_WORD and len(word) > 1 and word.isascii() and word.isalpha()
    }


def project(vectors: NDArray[np.float32], components: int) -> NDArray[np.int8]:
    centred = vectors - vectors.mean(axis=0)
    _, _, directions = np.linalg.svd(centred, full_matrices=False)
    short = centred @ directions[:components].T
    short /= np.linalg.norm(short, axis=1, keepdims=True)
    return np.round(short * 127).astype(np.int8)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.word_vectors", description=__doc__.splitlines()[0])
    parser.add_argument("--components", type=int, default=COMPONENTS)
    parser.add_argument("--out", type=Path, default=TABLE)
    given = parser.parse_args()
    words = read_words()
    texts = [*words]
    with Retentive.open(":memory:") as store:
        embedder = store._store.embedder  # noqa: SLF001 - the interface embeds no single words
        assert embedder is not None  # noqa: S101 - the default store has one
        vectors = np.concatenate([embedder.embed(texts[at : at + BATCH]) for at in range(0, len(texts), BATCH)])
    rank = np.array([*words.values()], np.uint16) - FIRST_WORD
    table = project(vectors.astype(np.float32), given.components)
    WORDS.write_text("\n".join(texts) + "\n", "ascii")
    np.savez_compressed(given.out, vectors=table, rank=rank)
    print(f"{len(texts)} words, {given.out.stat().st_size:,} bytes: {given.out}")


if __name__ == "__main__":
    main()
