"""A static model: a vector for each word piece, and a text is the mean of its pieces.

There is no network to run, so it is about a hundred times cheaper than a sentence encoder. It does not see the order of
words. The file is `model.safetensors`, as Model2Vec writes it:

    8 bytes   the length of the header
    header    JSON: for each array its type, shape, and place among the bytes that follow
    arrays    `embeddings`, a row a piece
"""

from __future__ import annotations

import json
import struct
from typing import TYPE_CHECKING

from retentive.embed.shutdown import calls
from retentive.embed.tokenizer import load_words, numbers_of, share_unknown, unknown_number
from retentive.errors import ModelUnfit

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from retentive.embed.graph import Reading

_TABLE = "embeddings"
_TYPES = {"F32": "<f4", "F16": "<f2"}
_MAX_HEADER = 1 << 20  # bytes; that of a table with one array has 80


class Static:
    """Loaded, and safe to use from many threads at once."""

    def __init__(self, path: Path, *, vocabulary: Path, reading: Reading) -> None:
        self.path = path
        self._table = read_table(path)
        with calls.one():
            self._words = load_words(vocabulary, reading.max_tokens)
        self.dimension = self._table.shape[1]
        if reading.dimension not in (None, self.dimension):
            raise ModelUnfit(f"{path.name} has {self.dimension} numbers a piece, not {reading.dimension}.")
        if self._words.get_vocab_size() > len(self._table):
            raise ModelUnfit(f"{path.name} has {len(self._table)} rows, fewer than {vocabulary.name} has pieces.")

    def unknown(self, text: str) -> float:
        """The share of a text's word pieces that the model has never seen."""
        with calls.one():
            return share_unknown(self._words, text)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        import numpy as np

        with calls.one():
            unknown = unknown_number(self._words)
            numbers = [numbers_of(self._words, text, marks=False) for text in texts]
        vectors = np.zeros((len(texts), self.dimension), np.float32)
        for vector, row in zip(vectors, numbers, strict=True):
            self._fill(vector, [number for number in row if number != unknown])
        return vectors

    def _fill(self, vector: NDArray[np.float32], numbers: list[int]) -> None:
        import numpy as np

        if numbers:
            vector[:] = self._table[numbers].mean(axis=0, dtype=np.float32)
        length = np.linalg.norm(vector)
        if length:
            vector /= length
        else:  # no piece that is known: all such texts are alike
            vector[0] = 1


def read_table(path: Path) -> NDArray[np.float32]:
    """The array of a file of safetensors that has the vectors."""
    import numpy as np

    with path.open("rb") as file:
        try:
            (length,) = struct.unpack("<Q", file.read(8))
            about = json.loads(file.read(min(length, _MAX_HEADER)))[_TABLE]
            (start, end), (rows, columns) = about["data_offsets"], about["shape"]
            file.seek(8 + length + start)
            table = np.frombuffer(file.read(end - start), _TYPES[about["dtype"]]).reshape(rows, columns)
        except (struct.error, ValueError, KeyError, TypeError) as error:
            raise ModelUnfit(f"{path} has no table of vectors that can be read: {error!r}") from error
    if not np.isfinite(table).all():
        raise ModelUnfit(f"{path} has vectors that are not numbers.")
    return table.astype(np.float32, copy=False)
