"""Compares the vectors of a model file with those of the original float MiniLM.

`minilm-known.json` holds a dozen texts of many kinds and their vectors from the published float32 weights,
computed in double precision, stored as float16.
"""

from __future__ import annotations

import base64
import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from retentive.embed.local_embedder import Encoder

_FILE = Path(__file__).with_name("minilm-known.json")


class KnownVectors(NamedTuple):
    texts: tuple[str, ...]
    vectors: NDArray[np.float32]


@cache
def load_known_vectors() -> KnownVectors:
    known = json.loads(_FILE.read_text(encoding="utf-8"))
    return KnownVectors(tuple(known["texts"]), decode_vectors(known["vectors"]).reshape(len(known["texts"]), -1))


def encode_vectors(vectors: NDArray[np.float32]) -> str:
    """Encode vectors as float16 in base64."""
    return base64.b64encode(vectors.astype("<f2").tobytes()).decode()


def decode_vectors(encoded: str) -> NDArray[np.float32]:
    """Decode float16 numbers in base64 into one flat array."""
    import numpy as np

    return np.frombuffer(base64.b64decode(encoded), np.dtype("<f2")).astype(np.float32)


def measure_lowest_cosine(encoder: Encoder, count: int | None = None) -> float:
    """Return the lowest cosine to a known vector, over all known texts or the first `count` of them."""
    texts, vectors = load_known_vectors()
    computed = encoder.embed(texts[:count])
    return float((computed * vectors[:count]).sum(axis=1).min())
