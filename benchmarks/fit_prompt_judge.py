"""Fit the weights of `search/prompt_judge.py` on lives 1 to 3 of `data/injection`.

Usage: python -m benchmarks.fit_prompt_judge

Prints the figures of each life with weights that were fitted on the other two, for some probabilities from which a
memory is given; then the weights fitted on all three. Lives 4 to 6 are held out: nothing is chosen by them.
"""

import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.injection import Prompt, fill_store, print_figures, read_lines
from retentive import Retentive
from retentive.hooks.recall import MAX_PROMPT_MEMORIES, extract_question
from retentive.search.prompt_judge import Features
from retentive.search.prompt_memories import find_candidates
from retentive.search.search import make_query
from retentive.store.scope import make_scope
from retentive.testing import parts_of

LIVES = (1, 2, 3)
PENALTY = 3.0  # of large weights; features are scaled to a deviation of 1
STEPS = 40
THRESHOLDS = (0.25, 0.3, 0.35, 0.37, 0.4, 0.45)

Vector = NDArray[np.float64]


class Example(NamedTuple):
    """A prompt, its candidates and their features, a row each."""

    prompt: Prompt
    labels: Sequence[str]
    features: Vector


class Fitted(NamedTuple):
    base: float
    weights: Vector

    def judge(self, features: Vector) -> Vector:
        return 1 / (1 + np.exp(-(self.base + features @ self.weights)))


def read_examples(life: int) -> list[Example]:
    lines = read_lines(life)
    with tempfile.TemporaryDirectory() as folder:
        db = Path(folder) / "memory.db"
        labels = fill_store(db, lines)
        with Retentive.open(db) as memory:
            store = parts_of(memory)
            examples = []
            for line in (line for line in lines if "prompt" in line):
                prompt = Prompt(line["prompt"], frozenset(line["helps"]), frozenset(line["maybe"]), ())
                question = extract_question(prompt.text)
                if not question:
                    examples.append(Example(prompt, [], np.empty((0, len(Features._fields)))))
                    continue
                scope = make_scope([memory.namespace], include="memories", ignored=False, now=None)
                found = find_candidates(store, make_query(store, question, scope))
                ids = [labels[hit.id] for hit in found.results]
                examples.append(Example(prompt, ids, np.array(found.features)))
    return examples


def fit(examples: Iterable[Example]) -> Fitted:
    """Fit a logistic by Newton's method. What may help counts as neither."""
    rows, helps = [], []
    for example in examples:
        for label, features in zip(example.labels, example.features, strict=True):
            if label not in example.prompt.maybe:
                rows.append(features)
                helps.append(label in example.prompt.helps)
    table, wanted = np.array(rows), np.array(helps, dtype=float)
    mean, spread = table.mean(0), table.std(0) + 1e-9
    scaled = np.c_[np.ones(len(table)), (table - mean) / spread]
    weights = np.zeros(scaled.shape[1])
    penalty = PENALTY * np.eye(len(weights))
    penalty[0, 0] = 0.0
    for _ in range(STEPS):
        likely = 1 / (1 + np.exp(-scaled @ weights))
        slope = scaled.T @ (likely - wanted) + penalty @ weights
        curvature = (scaled.T * (likely * (1 - likely))) @ scaled + penalty
        weights -= np.linalg.solve(curvature, slope)
    own = weights[1:] / spread
    return Fitted(float(weights[0] - own @ mean), own)


def choose(example: Example, fitted: Fitted, least: float) -> Prompt:
    likely = fitted.judge(example.features) if len(example.labels) else np.empty(0)
    best = [place for place in np.argsort(-likely, kind="stable")[:MAX_PROMPT_MEMORIES] if likely[place] >= least]
    return example.prompt._replace(given=[example.labels[place] for place in best])


def main() -> None:
    examples = {life: read_examples(life) for life in LIVES}
    others = {life: fit(each for other in LIVES if other != life for each in examples[other]) for life in LIVES}
    for least in THRESHOLDS:
        everything = []
        for life in LIVES:
            prompts = [choose(each, others[life], least) for each in examples[life]]
            print_figures(f"{least} life {life}", prompts)
            everything += prompts
        print_figures(f"{least} all", everything)
    fitted = fit(each for life in LIVES for each in examples[life])
    print(f"BASE = {fitted.base:.2f}")
    weights = (f"{name}={weight:.2f}" for name, weight in zip(Features._fields, fitted.weights, strict=True))
    print(f"WEIGHTS = Features({', '.join(weights)})")


if __name__ == "__main__":
    main()
