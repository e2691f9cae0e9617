"""Do a graph's vectors agree with those of the original float model?

`minilm-known.json` holds a dozen texts of many kinds and their vectors from the published float32 weights,
computed in double precision, kept as float16.
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

    from retentive.embed.local import Encoder

_FILE = Path(__file__).with_name("minilm-known.json")


class Known(NamedTuple):
    texts: tuple[str, ...]
    vectors: NDArray[np.float32]


@cache
def known() -> Known:
    import numpy as np

    kept = json.loads(_FILE.read_text(encoding="utf-8"))
    vectors = np.frombuffer(base64.b64decode(kept["vectors"]), np.dtype("<f2")).astype(np.float32)
    return Known(tuple(kept["texts"]), vectors.reshape(len(kept["texts"]), -1))


def agreement(graph: Encoder, count: int | None = None) -> float:
    """The lowest cosine over the known texts, or over the first few of them."""
    texts, vectors = known()
    found = graph.embed(texts[:count])
    return float((found * vectors[:count]).sum(axis=1).min())
