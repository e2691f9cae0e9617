"""An embedder without a model: words and their trigrams, hashed into 384 signed buckets.

It finds texts that share words or spellings, not those that share a meaning. It is for tests, for machines that cannot
run a model, and for texts in scripts that the model does not know.

    feature   a word ("w:cats") or three letters of it with its borders ("t:<ca", "t:cat", "t:ats", "t:ts>")
    weight    1 + ln(count); a trigram counts a third of a word, for a word has about as many as it has letters
    bucket    blake2b of the feature: one bit is the sign, the others choose the position
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from hashlib import blake2b
from math import log
from typing import TYPE_CHECKING

from retentive.embed.catalogue import HASHING
from retentive.text.caches import text_cache

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

_DIMENSION = HASHING.space.dimension
_QUERY_CACHE_SIZE = 512
_TRIGRAM_WEIGHT = 1 / 3
_WORD = re.compile(r"\w+")


class HashingEmbedder:
    space = HASHING.space

    def __init__(self) -> None:
        self._query = text_cache(_QUERY_CACHE_SIZE)(self._embed_query)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        import numpy as np

        vectors = np.zeros((len(texts), _DIMENSION), np.float32)
        for row, text in zip(vectors, texts, strict=True):
            _fill_row(row, text)
        lengths: NDArray[np.float32] = np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors / lengths

    def embed_query(self, text: str) -> NDArray[np.float32]:
        return self._query(text)

    def describe(self) -> Mapping[str, str]:
        return {"space": self.space.name, "model": "none needed", "loaded": "yes"}

    def close(self) -> None:
        self._query.cache_clear()

    def _embed_query(self, text: str) -> NDArray[np.float32]:
        vector: NDArray[np.float32] = self.embed([text])[0]
        vector.setflags(write=False)
        return vector


def _fill_row(row: NDArray[np.float32], text: str) -> None:
    for feature, count in Counter(_split_features(text)).items():
        bucket, sign = _hash_feature(feature)
        row[bucket] += sign * (1 + log(count)) * (_TRIGRAM_WEIGHT if feature[0] == "t" else 1)
    if not row.any():  # no words, or features that cancel out: all such texts have one vector
        row[0] = 1


def _split_features(text: str) -> Iterator[str]:
    for word in _WORD.findall(unicodedata.normalize("NFKC", text).casefold()):
        yield f"w:{word}"
        bordered = f"<{word}>"
        yield from (f"t:{bordered[start : start + 3]}" for start in range(len(bordered) - 2))


@text_cache(1 << 15)
def _hash_feature(feature: str) -> tuple[int, int]:
    number = int.from_bytes(blake2b(feature.encode("utf-8", "replace"), digest_size=8).digest(), "little")
    return (number >> 1) % _DIMENSION, 1 if number & 1 else -1
