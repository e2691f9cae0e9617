"""`python -m benchmarks.recall FOLDER`: what each part of a search is worth, on conversations and on short facts.

FOLDER has `*locomo*.json` (conversations; what is asked is found in their messages) and `*supersession*.jsonl` (short
statements, all told to one store; what is asked is found in the statements of its scenario). Each row leaves one part
out. `--fit` prints the coefficients of relevance (`retrieve/relevance.py`), each conversation's figures by those that
were fitted on the others; `--fit-blend` the weights of the blend (`weights.py`).
"""

import argparse
import json
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks import weights
from benchmarks.asked import Variant, loaded, outcomes, parts_of, query_of
from retentive import Retentive
from retentive.app.found import Found
from retentive.app.search import Asking
from retentive.cli.eval import keys, outcome_of, tell
from retentive.measure import Question, Told, Trial, trials
from retentive.measure.figures import Figures, auc, figures
from retentive.model import Fusion, Mode, Why
from retentive.retrieve.blend import RECIPE
from retentive.retrieve.relevance import Evidence

FOREIGN = 60  # questions of the next conversation that each is asked

VARIANTS = (
    Variant("all of it"),
    Variant("names stay in the vector, nobody is meant", replace(RECIPE, names=False)),
    Variant("no boost for whom it is about", replace(RECIPE, person=0.0)),
    Variant("no neighbours", replace(RECIPE, previous=0.0, next=0.0)),
    Variant("no session", replace(RECIPE, session=0.0)),
    Variant("brief messages and questions as others", replace(RECIPE, length=0.0, question=0.0)),
    Variant("text leg's best always counts 1", replace(RECIPE, cover=0.0, told=0.0)),
    Variant("20 matches of each leg", replace(RECIPE, depth=20)),
    Variant("no vectors", RECIPE, {"mode": Mode.TEXT}),
    Variant("no full text", RECIPE, {"mode": Mode.VECTOR}),
    Variant("min-max of the legs alone, 0.6 / 0.4", RECIPE, {"fusion": Fusion.MINMAX, "vector_weight": 0.6}),
    Variant("reciprocal ranks alone", RECIPE, {"fusion": Fusion.RRF, "vector_weight": 0.5}),
)


def facts(path: Path) -> Trial:
    """Every statement in one store; what is asked is answered by those of its scenario."""
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
    told = dict.fromkeys(each["text"] for row in rows for each in row["propositions"])
    questions = [
        Question(each["q"], tuple(dict.fromkeys(told["text"] for told in row["propositions"])))
        for row in rows
        for each in row["questions"]
    ]
    return Trial("facts", [Told(text, text) for text in told], [], questions)


def measured(memory: Retentive, asked: Sequence[Trial], variant: Variant) -> Figures:
    return figures(outcomes(memory, asked, variant))


def ablation(memory: Retentive, talk: Sequence[Trial], told: Sequence[Trial]) -> Iterator[str]:
    yield "| left out | conversations R@5 | R@10 | facts R@5 | R@10 |"
    yield "|---|---|---|---|---|"
    for variant in VARIANTS:
        found = [measured(memory, asked, variant) if asked else figures([]) for asked in (talk, told)]
        yield f"| {variant.name} | " + " | ".join(f"{each.recall[at]:.3f}" for each in found for at in (1, 2)) + " |"


class Watched(Asking):
    """Notes what spoke for each hit."""

    def _evidence(self, found: Found, why: Why, chunk: int) -> Evidence:
        evidence = super()._evidence(found, why, chunk)
        self.seen = [*getattr(self, "seen", []), evidence]
        return evidence


class Judged(NamedTuple):
    """The hits of a question: what spoke for each, and whether it was an answer."""

    conversation: int
    kind: str
    rows: NDArray[np.float64]
    right: NDArray[np.float64]


def judged(memory: Retentive, asked: Sequence[Trial]) -> list[Judged]:
    found = []
    for number, trial in enumerate(asked):
        known = keys(trial)
        foreign = asked[(number + 1) % len(asked)].questions[:FOREIGN]
        mine = [("known" if each.expected else "unanswerable", each) for each in trial.questions]
        for kind, question in (*mine, *(("foreign", replace(each, expected=())) for each in foreign)):
            asking = Watched(parts_of(memory, trial), query_of(trial, question))
            hits = asking.answer().hits
            if not hits:
                continue
            places = outcome_of(question, hits, known).places
            right = [place in places for place in range(1, len(hits) + 1)]
            rows = [(e.cosine or 0.0, e.cover or 0.0, e.person, e.asks, 1.0) for e in asking.seen[: len(hits)]]
            found.append(Judged(number, kind, np.array(rows, float), np.array(right, float)))
    return found


def fitted(given: Sequence[Judged], columns: Sequence[int]) -> NDArray[np.float64]:
    """By Newton's method; what answers weighs as much together as what does not."""
    rows = np.concatenate([each.rows[:, columns] for each in given])
    right = np.concatenate([each.right for each in given])
    weight = np.where(right > 0, 0.5 / right.mean(), 0.5 / (1 - right.mean()))
    found = np.zeros(len(columns))
    for _ in range(30):
        sure = 1 / (1 + np.exp(-rows @ found))
        slope = rows.T @ (weight * (sure - right)) + 1e-3 * found
        curve = (rows * (weight * sure * (1 - sure))[:, None]).T @ rows + 1e-3 * np.eye(len(columns))
        found -= np.linalg.solve(curve, slope)
    return found


def fits(given: Sequence[Judged]) -> Iterator[str]:
    conversations = sorted({each.conversation for each in given})
    for name, columns in {
        "BOTH": (0, 1, 2, 3, 4),
        "TEXT": (1, 2, 3, 4),
        "VECTOR": (0, 2, 3, 4),
        "cosine alone": (0, 4),
    }.items():
        best: dict[str, list[float]] = {}
        for left_out in conversations:
            by = fitted([each for each in given if each.conversation != left_out], columns)
            for each in given:
                if each.conversation == left_out:
                    best.setdefault(each.kind, []).append(float((1 / (1 + np.exp(-each.rows[:, columns] @ by))).max()))
        names = ("cosine", "cover", "person", "asks", "base")
        whole = dict(zip((names[at] for at in columns), np.round(fitted(given, columns), 2).tolist(), strict=True))
        apart = {kind: auc(best["known"], best[kind]) for kind in best if kind != "known"}
        yield f"{name}: {whole}; AUC {', '.join(f'{kind} {value:.3f}' for kind, value in apart.items() if value)}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.recall", description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--keep", metavar="FILE", help="keep the store there, and use it again next time")
    parser.add_argument("--fit", action="store_true", help="fit the coefficients of relevance")
    parser.add_argument("--fit-blend", action="store_true", help="fit the weights of the blend")
    arguments = parser.parse_args()
    talk = [trial for path in sorted(arguments.folder.glob("*locomo*.json")) for trial in trials(path, "locomo")]
    told = [facts(path) for path in sorted(arguments.folder.glob("*supersession*.jsonl"))]
    with tempfile.TemporaryDirectory() as folder, Retentive.open(arguments.keep or f"{folder}/recall.db") as memory:
        tell(memory, [*talk, *told])
        loaded(memory, [*talk, *told])
        if arguments.fit_blend:
            lines = weights.fits(memory, talk)
        elif arguments.fit:
            lines = fits(judged(memory, [*talk, *told]))
        else:
            lines = ablation(memory, talk, told)
        for line in lines:
            print(line, flush=True)


if __name__ == "__main__":
    main()
