"""Train the judges of learning, and measure them on data left out.

    python -m benchmarks.train_judges FOLDER [--write] [--without SOURCE] [keep] [instruction] [person] [replace]

FOLDER has the development data: LongMemEval and the pairs and scenarios of patha-memory for training; LoCoMo, REALTALK
and BEAM only to measure: their licences do not let weights ship. The rest is in `benchmarks/data/judges`: sentences,
pairs and lives written for this project, and labels of sentences of the conversations, which are known by a hash of
their text.

A judge is a logistic regression with a ridge penalty, fitted by Newton's method. Validation leaves out whole writers,
whole conversations or whole groups of topics, never single rows. `--write` puts the weights of a fit on all training
data into the package, together with the figures of the folds. `--without patha` leaves that source out of the pairs, so
that `benchmarks.judgement pairs` can be asked with weights that never saw it.
"""

import argparse
import hashlib
import json
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.judgement import Row, read_rows
from benchmarks.replacement_pairs import (
    DATA,
    describe_pairs,
    read_all_pairs,
    read_pairs,
    read_patha_pairs,
    remove_prefix,
)
from retentive import config
from retentive.embed import open_embedder
from retentive.judgement.corrections.pair_features import join_vectors
from retentive.judgement.extract.sentence_features import compute_sentence_features
from retentive.text.sentences import find_sentences, mask_quoted_text

Array = NDArray[np.float64]
WEIGHTS = Path(__file__).parent.parent / "src" / "retentive" / "learn" / "weights"
FOLDS = 6
BATCH = 64
BORDERLINE = 0.4  # what a sentence counts for that its reader would keep or not
PAIR_LABELS = {"replaces": 1.0, "unclear": 0.5, "independent": 0.0}
VECTOR_SCALE = 5.0  # brings unit vectors of 384 numbers to the size of the features, so that one penalty fits both
BY_FORM = ("keep", "instruction", "person")  # judges that also decide without vectors
RIDGE = {"keep": 30.0, "instruction": 5.0, "person": 5.0, "replace": 30.0}
THRESHOLDS = (0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)


@dataclass(frozen=True, slots=True)
class Examples:
    """Rows with their labels; `groups` are left out whole in validation."""

    features: list[Mapping[str, float]]
    vectors: Array | None
    labels: Array
    groups: list[str]

    def matrix(self, *, with_vector: bool) -> tuple[list[str], Array]:
        names = [*self.features[0]]
        found = np.array([[row[name] for name in names] for row in self.features])
        if with_vector and self.vectors is not None:
            found = np.hstack([found, self.vectors * VECTOR_SCALE])
        return names, found


def fit(rows: Array, labels: Array, ridge: float) -> Array:
    """The weights of a logistic regression, the bias last."""
    rows = np.hstack([rows, np.ones((len(rows), 1))])
    penalty = np.eye(rows.shape[1]) * ridge
    penalty[-1, -1] = 1e-6
    found = np.zeros(rows.shape[1])
    for _ in range(30):
        guess = 1 / (1 + np.exp(-rows @ found))
        slope = rows.T @ (guess - labels) + penalty @ found
        curve = (rows.T * (guess * (1 - guess))) @ rows + penalty
        step = np.linalg.solve(curve, slope)
        found -= step
        if np.abs(step).max() < 1e-6:
            break
    return found


def predict(rows: Array, found: Array) -> Array:
    return 1 / (1 + np.exp(-(rows @ found[:-1] + found[-1])))


def area_under_curve(labels: Array, scores: Array) -> float:
    """How often a yes is scored above a no; rows that are neither are left out."""
    yes, no = scores[labels == 1], scores[labels == 0]
    return float((yes[:, None] > no[None, :]).mean() + 0.5 * (yes[:, None] == no[None, :]).mean())


def describe_scores(labels: Array, scores: Array) -> dict[str, Any]:
    """AUC, and at each threshold precision (borderline rows count for it), and recall."""
    found: dict[str, Any] = {"rows": len(labels), "auc": round(area_under_curve(labels, scores), 3)}
    for threshold in THRESHOLDS:
        chosen = scores >= threshold
        precision = (labels[chosen] > 0).mean() if chosen.any() else 1.0
        recall = chosen[labels == 1].mean()
        found[f"at {threshold}"] = f"precision {precision:.2f}, recall {recall:.2f}"
    return found


def validate(examples: Examples, ridge: float, *, with_vector: bool) -> Array:
    """Each row's score by a fit on the groups of the other folds."""
    groups = sorted({*examples.groups})
    random.Random(0).shuffle(groups)
    fold_of = {group: place % FOLDS for place, group in enumerate(groups)}
    folds = np.array([fold_of[group] for group in examples.groups])
    _, rows = examples.matrix(with_vector=with_vector)
    scores = np.zeros(len(rows))
    for fold in range(FOLDS):
        inside = folds != fold
        found = fit(rows[inside], examples.labels[inside], ridge)
        scores[~inside] = predict(rows[~inside], found)
    return scores


class Embedding:
    """Vectors of texts."""

    def __init__(self) -> None:
        settings = config.load()
        self._embedder = open_embedder(
            "minilm",
            cache=Path(settings.cache).expanduser(),
            model_path=None,
            threads=None,
            download=False,
            wait=settings.model_wait,
        )
        self._known: dict[str, Array] = {}

    def __call__(self, texts: Sequence[str]) -> Array:
        assert self._embedder is not None  # noqa: S101 - minilm always opens one
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        for at in range(0, len(new), BATCH):
            batch = new[at : at + BATCH]
            self._known |= zip(batch, np.asarray(self._embedder.embed(batch), dtype=np.float64), strict=True)
        return np.array([self._known[text] for text in texts])


def sentence_examples(embed: Embedding, texts: list[str], labels: list[float], groups: list[str]) -> Examples:
    return Examples(
        [compute_sentence_features(text) for text in texts],
        embed(texts),
        np.array(labels),
        groups,
    )


def read_sentences(folder: Path, labels: Path) -> Iterator[tuple[str, float, str]]:
    """Labelled sentences of conversations: text, label, conversation. Those whose text is not found are left out."""
    label_of = {row["message"]: row for row in read_rows(labels)}
    values = {"keep": 1.0, "borderline": BORDERLINE, "no": 0.0}
    for name, group, text in read_messages(folder):
        row = label_of.get(name)
        if row is None:
            continue
        known = {digest: values[label] for label in values for digest in row[label]}
        for sentence in find_sentences(mask_quoted_text(text)):
            digest = hashlib.sha256(sentence.text.strip().replace("\n", " ").encode()).hexdigest()[:10]
            if digest in known:
                yield sentence.text, known[digest], group


def read_messages(folder: Path) -> Iterator[tuple[str, str, str]]:
    """The name, the group and the text of each message of the conversations."""
    for _, message in _walk(folder / "longmemeval-dev.jsonl.gz"):
        yield message["id"], "longmemeval " + message["id"].split("#")[0].rsplit("_", 1)[0], message["text"]
    for source in ("realtalk", "beam"):
        path = next(folder.glob(f"{source}*-dev.jsonl.gz"))
        for conversation, message in _walk(path):
            yield f"{source}/{conversation}|{message['id']}", source, message["text"]
    for row in json.loads((folder / "locomo-dev.json").read_text("utf-8")):
        talk = row["conversation"]
        for turns in (talk[key] for key in talk if isinstance(talk[key], list)):
            for turn in turns:
                yield f"locomo/{row['sample_id']}|{turn['dia_id']}", "locomo", turn["text"]


def _walk(path: Path) -> Iterator[tuple[str, Row]]:
    """Each message of a file of conversations, with the id of its conversation."""
    for row in read_rows(path):
        for session in row["sessions"]:
            for message in session["messages"]:
                yield row["id"], message


def read_written_sentences() -> Iterator[tuple[Row, str]]:
    """The sentences written for this project, each with the group that is left out whole: its writer."""
    for path in sorted([*DATA.glob("developer-*.jsonl"), *DATA.glob("everyday-*.jsonl")]):
        for row in read_rows(path):
            yield row, f"{path.stem} {row['writer']}"


def read_plain_statements(folder: Path) -> Iterator[tuple[str, str]]:
    """Short statements worth keeping, each once: the older ones of pairs that a newer one replaces."""
    pairs = [pair for pair in (*read_pairs(), *read_patha_pairs(folder)) if pair.label == "replaces"]
    groups = {pair.older: f"plain {pair.group}" for pair in pairs if not pair.older.startswith("The user")}
    yield from groups.items()


def train_keep(folder: Path, embed: Embedding) -> dict[str, Any]:
    """Is a sentence worth keeping?"""
    rows = [(row["text"], float(row["keep"]), writer) for row, writer in read_written_sentences()]
    rows += [(text, 1.0, group) for text, group in read_plain_statements(folder)]
    rows += read_sentences(folder, DATA / "longmemeval-keep.jsonl")
    examples = sentence_examples(embed, *(list(column) for column in zip(*rows, strict=True)))  # type: ignore[arg-type]
    kept_aside = [*read_sentences(folder, DATA / "conversations-keep.jsonl")]
    others = sentence_examples(embed, *(list(column) for column in zip(*kept_aside, strict=True)))  # type: ignore[arg-type]
    return train("keep", examples, _source_of, others)


def _source_of(group: str) -> str:
    return group.split(maxsplit=1)[0]


def train_instruction(embed: Embedding) -> dict[str, Any]:
    """Does a sentence tell the assistant what to do?"""
    rows = [(row, writer) for row, writer in read_written_sentences() if "about" in row]
    return _train_about("instruction", rows, embed)


def train_person(embed: Embedding) -> dict[str, Any]:
    """Is a statement about the person rather than the project?"""
    rows = [
        (row, writer)
        for row, writer in read_written_sentences()
        if writer.startswith("developer") and row["keep"] and row["about"] in ("person", "project")
    ]
    return _train_about("person", rows, embed)


def _train_about(name: str, rows: Sequence[tuple[Row, str]], embed: Embedding) -> dict[str, Any]:
    labels = [float(row["about"] == name) for row, _ in rows]
    examples = sentence_examples(embed, [row["text"] for row, _ in rows], labels, [writer for _, writer in rows])
    return train(name, examples, _source_of)


def train_replace(folder: Path, embed: Embedding, without: str) -> dict[str, Any]:
    """Does the newer of two statements replace the older? Sources whose names begin with `without` are left out."""
    pairs = [pair for pair in read_all_pairs(folder, embed) if not pair.group.startswith(without)]
    vectors = [embed([pair.older for pair in pairs]), embed([pair.newer for pair in pairs])]
    labels = np.array([PAIR_LABELS[pair.label] for pair in pairs])
    groups = [remove_prefix(pair.group) for pair in pairs]
    examples = Examples(describe_pairs(pairs, *vectors), join_vectors(*vectors), labels, groups)
    return train("replace", examples, _source_of)


def train(
    name: str, examples: Examples, source_of: Callable[[str], str], others: Examples | None = None
) -> dict[str, Any]:
    """Figures of the folds and of sets left out, and the weights of a fit on all."""
    found: dict[str, Any] = {"rows": len(examples.labels), "held_out": {}}
    sources = np.array([source_of(group) for group in examples.groups])
    for form in ("with_vector", "by_form") if name in BY_FORM else ("with_vector",):
        with_vector = form == "with_vector"
        scores = validate(examples, RIDGE[name], with_vector=with_vector)
        figures = {}
        for source in sorted({*sources}):
            chosen = sources == source
            if (examples.labels[chosen] == 1).any() and (examples.labels[chosen] == 0).any():
                figures[f"{source}, other folds"] = describe_scores(examples.labels[chosen], scores[chosen])
        names, rows = examples.matrix(with_vector=with_vector)
        weights = fit(rows, examples.labels, RIDGE[name])
        if others is not None:
            _, other_rows = others.matrix(with_vector=with_vector)
            other_scores = predict(other_rows, weights)
            for source in sorted({*others.groups}):
                chosen = np.array([group == source for group in others.groups])
                figures[f"{source}, never trained on"] = describe_scores(others.labels[chosen], other_scores[chosen])
        found["held_out"][form] = figures
        found[form] = _as_weights(names, weights, has_vector=with_vector and examples.vectors is not None)
    return found


def _as_weights(names: list[str], weights: Array, *, has_vector: bool) -> dict[str, Any]:
    found: dict[str, Any] = {
        "features": {name: round(float(weight), 4) for name, weight in zip(names, weights, strict=False)},
        "bias": round(float(weights[-1]), 4),
    }
    if has_vector:
        found["vector"] = [round(float(weight) * VECTOR_SCALE, 3) for weight in weights[len(names) : -1]]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.train_judges", description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("judges", nargs="*", metavar="JUDGE", help="keep, instruction, person or replace; all of them")
    parser.add_argument("--write", action="store_true", help="put the weights into the package")
    parser.add_argument("--without", default="-", metavar="SOURCE", help="leave out pairs of this source: patha")
    given = parser.parse_args()
    embed = Embedding()
    trainers: dict[str, Callable[[], dict[str, Any]]] = {
        "keep": lambda: train_keep(given.folder, embed),
        "instruction": lambda: train_instruction(embed),
        "person": lambda: train_person(embed),
        "replace": lambda: train_replace(given.folder, embed, given.without),
    }
    for name in given.judges or trainers:
        found = trainers[name]()
        for form, figures in found["held_out"].items():
            for source, scores in figures.items():
                print(f"{name}, {form}, {source}: {scores}", flush=True)
        if given.write:
            path = WEIGHTS / f"{name}.json"
            path.write_text(json.dumps(found, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
