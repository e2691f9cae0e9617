"""Train the judges of learning, and measure them on data left out.

    python -m benchmarks.train_judges FOLDER [--write] [keep] [instruction] [person] [replace]

FOLDER has the development data: LongMemEval and the pairs and scenarios of patha-memory for training; LoCoMo, REALTALK
and BEAM only to measure: their licences do not let weights ship. The rest is in `benchmarks/data/judges`: sentences,
pairs and lives written for this project, and labels of sentences of the conversations, which are known by a hash of
their text.

A judge is a logistic regression with a ridge penalty, fitted by Newton's method. Validation leaves out whole writers,
whole conversations or whole groups of topics, never single rows. `--write` puts the weights of a fit on all training
data into the package, together with the figures of the folds.
"""

import hashlib
import itertools
import json
import random
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.judgement import Row, has_any, read_rows
from retentive import config
from retentive.app.correct import MAX_NEIGHBOURS
from retentive.embed import open_embedder
from retentive.learn.corrections.pair_features import Nearness, describe_pair, join_vectors, rank_similarities
from retentive.learn.corrections.statement import parse_statement
from retentive.learn.talk.sentence_features import describe_sentence
from retentive.text.sentences import own, spans

Array = NDArray[np.float64]
DATA = Path(__file__).parent / "data" / "judges"
WEIGHTS = Path(__file__).parent.parent / "src" / "retentive" / "learn" / "weights"
FOLDS = 6
BATCH = 64
BORDERLINE = 0.4  # what a sentence counts for that its reader would keep or not
UNCLEAR = 0.5  # what a pair counts for of which it cannot be told
VECTOR_SCALE = 5.0  # brings unit vectors of 384 numbers to the size of the features, so that one penalty fits both
BY_FORM = ("keep", "instruction", "person")  # judges that also decide without vectors
RIDGE = {"keep": 30.0, "instruction": 5.0, "person": 5.0, "replace": 30.0}
UNRELATED = 6  # older statements of other groups that a newer one is shown beside
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
        [describe_sentence(text) for text in texts],
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
        for sentence in spans(own(text)):
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


class Pair(NamedTuple):
    older: str
    newer: str
    label: str
    """`replaces`, `independent` or `unclear`."""
    group: str
    """Left out whole in validation."""
    is_alone: bool = False
    """Whether the older statement is the only one that the newer is compared with, as in a new store."""


def train_replace(folder: Path, embed: Embedding) -> dict[str, Any]:
    """Does the newer of two statements replace the older?"""
    pairs = [*read_pairs()]
    alone = [pair._replace(is_alone=True) for pair in pairs] + [*read_patha_pairs(folder)]
    examples = pair_examples(embed, [*alone, *pairs, *sample_unrelated(embed, pairs), *read_lives(embed)])
    return train("replace", examples, _source_of)


def read_patha_pairs(folder: Path) -> Iterator[Pair]:
    """The pairs and scenarios of patha-memory, each once; a text is left out together with all that it occurs with."""
    for row in read_rows(folder / "contradiction-pairs-dev.jsonl"):
        label = {"supersedes": "replaces"}.get(row["label"], row["label"])
        yield Pair(row["p1"], row["p2"], label, f"patha-pairs {row['p1']}", is_alone=True)
    seen: set[tuple[str, str]] = set()
    for row in read_rows(folder / "supersession-dev.jsonl"):
        texts = [statement["text"] for statement in row["propositions"]]
        for question in row["questions"]:
            if question["type"] != "current_belief":
                continue
            current = [text for text in texts if has_any(text, question["expected_current_contains"])]
            gone = [text for text in texts if has_any(text, question["expected_superseded_contains"])]
            for older, newer in itertools.product(gone, current):
                if older not in current and (older, newer) not in seen:
                    seen.add((older, newer))
                    yield Pair(older, newer, "replaces", f"patha-scenarios {older}", is_alone=True)


def read_pairs() -> Iterator[Pair]:
    for path in sorted(DATA.glob("pairs-*.jsonl")):
        for row in read_rows(path):
            yield Pair(row["older"], row["newer"], row["label"], f"{path.stem} {row['group']}")


def sample_unrelated(embed: Embedding, pairs: Sequence[Pair]) -> Iterator[Pair]:
    """Each newer statement beside the most similar older ones of other groups: what a real store is full of."""
    for source in sorted({pair.group.split()[0] for pair in pairs}):
        own = [pair for pair in pairs if pair.group.startswith(f"{source} ")]
        similarities = embed([pair.newer for pair in own]) @ embed([pair.older for pair in own]).T
        for pair, row in zip(own, similarities, strict=True):
            others = [own[place].older for place in np.argsort(-row) if own[place].group != pair.group]
            yield from (Pair(older, pair.newer, "independent", f"un{pair.group}") for older in others[:UNRELATED])


def read_lives(embed: Embedding) -> Iterator[Pair]:
    """Each statement of a life beside the earlier ones that a store would compare it with."""
    for path in sorted(DATA.glob("lives-*.jsonl")):
        rows = read_rows(path)
        for life in sorted({row["life"] for row in rows}):
            yield from pair_life([row for row in rows if row["life"] == life], f"lives {life}", embed)


def pair_life(rows: Sequence[Row], group: str, embed: Embedding) -> Iterator[Pair]:
    vectors = embed([row["text"] for row in rows])
    gone: set[int] = set()
    for place, row in enumerate(rows):
        nearest = np.argsort(-(vectors[:place] @ vectors[place]))[:MAX_NEIGHBOURS]
        for older in (rows[at] for at in nearest if rows[at]["n"] not in gone):
            label = "unclear" if older["n"] in row.get("unclear", ()) else "independent"
            label = "replaces" if older["n"] in row["outdates"] else label
            yield Pair(older["text"], row["text"], label, group)
        gone |= {*row["outdates"]}


def pair_examples(embed: Embedding, pairs: Sequence[Pair]) -> Examples:
    values = {"replaces": 1.0, "unclear": UNCLEAR, "independent": 0.0}
    older, newer = embed([pair.older for pair in pairs]), embed([pair.newer for pair in pairs])
    features = [
        describe_pair(parse_statement(pair.older), parse_statement(pair.newer), nearness)
        for pair, nearness in zip(pairs, find_nearness(pairs, (older * newer).sum(axis=1)), strict=True)
    ]
    labels = np.array([values[pair.label] for pair in pairs])
    return Examples(features, join_vectors(older, newer), labels, [_base_group(pair.group) for pair in pairs])


def find_nearness(pairs: Sequence[Pair], similarities: Array) -> list[Nearness]:
    """How near the older statement of each pair is, among those that its newer one is shown beside."""
    beside: dict[tuple[str, str], list[int]] = {}
    for place, pair in enumerate(pairs):
        beside.setdefault((str(place) if pair.is_alone else _base_group(pair.group), pair.newer), []).append(place)
    found: dict[int, Nearness] = {}
    for places in beside.values():
        found |= zip(places, rank_similarities([float(similarities[place]) for place in places]), strict=True)
    return [found[place] for place in range(len(pairs))]


def _base_group(group: str) -> str:
    """Unrelated pairs are left out together with the pairs that they were made from."""
    return group.removeprefix("un")


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
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path("../shared/data")
    embed = Embedding()
    trainers: dict[str, Callable[[], dict[str, Any]]] = {
        "keep": lambda: train_keep(folder, embed),
        "instruction": lambda: train_instruction(embed),
        "person": lambda: train_person(embed),
        "replace": lambda: train_replace(folder, embed),
    }
    wanted = [name for name in sys.argv[2:] if name in trainers] or [*trainers]
    for name in wanted:
        found = trainers[name]()
        for form, figures in found["held_out"].items():
            for source, scores in figures.items():
                print(f"{name}, {form}, {source}: {scores}")
        if "--write" in sys.argv:
            path = WEIGHTS / f"{name}.json"
            path.write_text(json.dumps(found, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
