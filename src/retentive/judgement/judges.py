"""Small learned judges: logistic models over features of the form and, if there is one, over the vector.

Weights are data files (`weights/*.json`), made by `python -m benchmarks.train_judges`. Each file also records the
training data and the figures on held-out data. Judges of sentences have two sets of weights: one for vectors of
all-MiniLM-L6-v2, and one for the features alone, used with any other embedder or none. The judge of pairs needs
vectors.
"""

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from math import exp
from typing import TYPE_CHECKING, Any

from retentive.frozen_dataclass import dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MAX_LOGIT = 30.0  # beyond it the probability is 0 or 1, and exp may overflow


@dataclass(frozen=True, slots=True)
class Judge:
    """A logistic model."""

    features: Mapping[str, float]
    bias: float
    vector: "NDArray[np.float32] | None" = None

    def score(self, features: Mapping[str, float], vector: Any = None) -> float:
        """The probability of a yes, from 0 to 1. `vector` is needed where the judge has weights for one."""
        total = self.bias + sum(self.features[name] * value for name, value in features.items() if value)
        if self.vector is not None:
            total += float(self.vector @ vector)
        return 1 / (1 + exp(-max(-MAX_LOGIT, min(MAX_LOGIT, total))))


def score(name: str, features: Mapping[str, float], vector: Any = None) -> float:
    """The probability of a yes from the judge `keep`, `instruction`, `person` or `replace`."""
    return load_judge(name, with_vector=vector is not None).score(features, vector)


@cache
def load_judge(name: str, *, with_vector: bool) -> Judge:
    path = files("retentive.judgement.weights") / f"{name}.json"
    weights = json.loads(path.read_text("utf-8"))["with_vector" if with_vector else "by_form"]
    return Judge(weights["features"], weights["bias"], _as_array(weights["vector"]) if with_vector else None)


def _as_array(weights: list[float]) -> "NDArray[np.float32]":
    import numpy as np

    return np.array(weights, dtype=np.float32)
