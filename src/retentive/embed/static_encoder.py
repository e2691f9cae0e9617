"""A static model: a vector for each word piece, and a text is the mean of its pieces.

There is no network to run, so it is about a hundred times cheaper than a sentence encoder. It ignores the order of
words. The file is `model.safetensors`, as Model2Vec writes it:

    8 bytes   the length of the header
    header    JSON: for each array its type, shape, and offsets in the bytes that follow
    arrays    `embeddings`, one row for each piece
"""

from __future__ import annotations

import json
import struct
from typing import TYPE_CHECKING

from retentive.embed.native_calls import native_calls
from retentive.embed.tokenizer import encode_text, find_unknown_id, load_tokenizer, measure_unknown_share
from retentive.errors import ModelUnfit

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from retentive.embed.onnx_encoder import EncoderOptions

_ARRAY_NAME = "embeddings"
_DTYPES = {"F32": "<f4", "F16": "<f2"}
_MAX_HEADER_BYTES = 1 << 20  # the header of a table with one array has 80


class StaticEncoder:
    """A loaded table of vectors. Safe to use from many threads at once."""

    def __init__(self, path: Path, *, vocabulary: Path, options: EncoderOptions) -> None:
        self.path = path
        self._table = read_table(path)
        with native_calls.track():
            self._tokenizer = load_tokenizer(vocabulary, options.max_tokens)
        self.dimension = self._table.shape[1]
        if options.dimension not in (None, self.dimension):
            raise ModelUnfit(f"{path.name} has {self.dimension} numbers a piece, not {options.dimension}.")
        if self._tokenizer.get_vocab_size() > len(self._table):
            raise ModelUnfit(f"{path.name} has {len(self._table)} rows, fewer than {vocabulary.name} has pieces.")

    def measure_unknown_share(self, text: str) -> float:
        """Return the share of a text's word pieces that the model has never seen."""
        with native_calls.track():
            return measure_unknown_share(self._tokenizer, text)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        import numpy as np

        with native_calls.track():
            unknown_id = find_unknown_id(self._tokenizer)
            rows = [encode_text(self._tokenizer, text, has_marks=False) for text in texts]
        vectors = np.zeros((len(texts), self.dimension), np.float32)
        for vector, row in zip(vectors, rows, strict=True):
            self._fill_vector(vector, [id for id in row if id != unknown_id])
        return vectors

    def _fill_vector(self, vector: NDArray[np.float32], ids: list[int]) -> None:
        import numpy as np

        if ids:
            vector[:] = self._table[ids].mean(axis=0, dtype=np.float32)
        length = np.linalg.norm(vector)
        if length:
            vector /= length
        else:  # no known piece: all such texts have one vector
            vector[0] = 1


def read_table(path: Path) -> NDArray[np.float32]:
    """Read the array of vectors from a safetensors file."""
    import numpy as np

    with path.open("rb") as file:
        try:
            (length,) = struct.unpack("<Q", file.read(8))
            header = json.loads(file.read(min(length, _MAX_HEADER_BYTES)))[_ARRAY_NAME]
            (start, end), (rows, columns) = header["data_offsets"], header["shape"]
            file.seek(8 + length + start)
            table = np.frombuffer(file.read(end - start), _DTYPES[header["dtype"]]).reshape(rows, columns)
        except (struct.error, ValueError, KeyError, TypeError) as error:
            raise ModelUnfit(f"{path} has no table of vectors that can be read: {error!r}") from error
    if not np.isfinite(table).all():
        raise ModelUnfit(f"{path} has vectors that are not numbers.")
    return table.astype(np.float32, copy=False)
