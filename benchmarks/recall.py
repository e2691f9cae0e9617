"""`python -m benchmarks.recall FOLDER`: how well what is asked is found, on every collection of the folder (`sets.py`).

Without an option it prints a table: the search as it is beside its parts alone, reciprocal ranks, and a plain FTS5
index. `--ablation` leaves one part out in each row. `--fit` prints the coefficients of relevance
(`retrieve/relevance.py`), each conversation's figures by those that were fitted on the others; `--fit-blend` the
weights of the blend (`weights.py`). The store and its vectors are kept in the folder `--cache`: the next run begins at
once.
"""

import argparse
import itertools
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import apsw
import numpy as np
from numpy.typing import NDArray

from benchmarks import weights
from benchmarks.asked import Variant, loaded, outcomes, parts_of, query_of
from benchmarks.embedding_cache import with_cached_embeddings
from benchmarks.sets import read_sets
from retentive import Retentive
from retentive.app.found import Found
from retentive.app.search import Asking
from retentive.cli.eval import WAYS, keys, outcome_of, tell
from retentive.measure import Question, Said, Told, Trial
from retentive.measure.figures import DEPTHS, Figures, Outcome, auc, figures, latency
from retentive.model import Event, Fusion, Mode, Why
from retentive.retrieve.blend import RECIPE
from retentive.retrieve.relevance import Evidence
from retentive.text.terms import tokens

FOREIGN = 60  # questions of the next conversation that each is asked

VARIANTS = (
    Variant("all of it"),
    Variant("names stay in the vector, nobody is meant", replace(RECIPE, names=False)),
    Variant("no boost for whom it is about", replace(RECIPE, person=0.0)),
    Variant("no neighbours", replace(RECIPE, previous=0.0, next=0.0)),
    Variant("no session", replace(RECIPE, session=0.0)),
    Variant("brief messages and questions as others", replace(RECIPE, length=0.0, question=0.0)),
    Variant("text leg's best always counts 1", replace(RECIPE, cover=0.0, text_among_memories=1.0)),
    Variant("replies as other messages", replace(RECIPE, reply=0.0)),
    Variant("20 matches of each leg", replace(RECIPE, depth=20)),
    Variant("no vectors", RECIPE, {"mode": Mode.TEXT}),
    Variant("no full text", RECIPE, {"mode": Mode.VECTOR}),
    Variant("min-max of the legs alone, 0.6 / 0.4", RECIPE, {"fusion": Fusion.MINMAX, "vector_weight": 0.6}),
    Variant("reciprocal ranks alone", RECIPE, {"fusion": Fusion.RRF, "vector_weight": 0.5}),
)


def measured(memory: Retentive, asked: Sequence[Trial], variant: Variant) -> Figures:
    return figures(outcomes(memory, asked, variant))


class Answered(NamedTuple):
    outcome: Outcome
    sessions: tuple[str, ...]
    """Of the hits that are messages, in their order."""


def compare_ways(memory: Retentive, name: str, asked: Sequence[Trial]) -> Iterator[str]:
    """A row for each way of searching: the search as it is, its parts, and a plain FTS5 index."""
    for way, options in WAYS.items():
        found = [each for trial in asked for each in ask_all(memory, trial, options)]
        yield describe(name, way, found, asked)
    plain = [each for trial in asked for each in PlainIndex(trial).ask_all()]
    yield describe(name, "plain FTS5", plain, asked)


def ask_all(memory: Retentive, trial: Trial, options: Mapping[str, Any]) -> Iterator[Answered]:
    own, known = memory.in_namespace(f"eval/{trial.name}"), keys(trial)
    for question in trial.questions:
        begun = time.perf_counter()
        hits = own.search(question.text, DEPTHS[-1], **options, **question.options)
        outcome = replace(outcome_of(question, hits, known), seconds=time.perf_counter() - begun)
        yield Answered(outcome, tuple(hit.item.session for hit in hits if isinstance(hit.item, Event)))


class PlainIndex:
    """What most people would build: the texts in FTS5, all words of the question joined by OR."""

    def __init__(self, trial: Trial) -> None:
        self._trial = trial
        self._rows = [*trial.told, *trial.said]
        self._file = apsw.Connection(":memory:")
        self._file.execute("CREATE VIRTUAL TABLE rows USING fts5(text, tokenize='porter unicode61')")
        self._file.executemany("INSERT INTO rows VALUES (?)", ((row.text,) for row in self._rows))

    def ask_all(self) -> Iterator[Answered]:
        for question in self._trial.questions:
            begun = time.perf_counter()
            found = self._find(question)
            places = {row.ref: place for place, row in enumerate(found, start=1)}
            where = tuple(places.get(ref) for ref in question.expected)
            outcome = Outcome(question, where, seconds=time.perf_counter() - begun)
            yield Answered(outcome, tuple(row.session for row in found if isinstance(row, Said)))

    def _find(self, question: Question) -> list[Told | Said]:
        words = " OR ".join(f'"{word}"' for word in dict.fromkeys(tokens(question.text.lower())))
        query = "SELECT rowid FROM rows WHERE rows MATCH ? ORDER BY rank"
        rows = (self._rows[number - 1] for (number,) in self._file.execute(query, (words or '""',)))
        until = question.options.get("until")
        seen = (row for row in rows if until is None or not isinstance(row, Told) or row.options["valid_from"] < until)
        return [*itertools.islice(seen, DEPTHS[-1])]


def describe(name: str, way: str, found: Sequence[Answered], asked: Sequence[Trial]) -> str:
    outcomes = [each.outcome for each in found]
    numbers, times = figures(outcomes), latency(outcomes)
    known = [each.relevance for each in outcomes if each.question.expected]
    unknown = [each.relevance for each in outcomes if not each.question.expected]
    apart = auc(known, unknown) if any(known) else None
    cells = [f"{numbers.recall[1]:.3f}", f"{numbers.recall[2]:.3f}", f"{numbers.any[1]:.3f}", f"{numbers.mrr:.3f}"]
    cells += [_share_of_sessions(found, asked), f"{apart:.3f}" if apart else "", f"{times.p50 * 1000:.1f}"]
    return f"| {name} | {way} | {' | '.join(cells)} |"


def _share_of_sessions(found: Sequence[Answered], asked: Sequence[Trial]) -> str:
    """Questions of whose sessions one is among the first five that the hits are of."""
    session_of = {(each.ref): each.session for trial in asked for each in trial.said}
    right = []
    for outcome, sessions in found:
        wanted = {session_of[ref] for ref in outcome.question.expected if ref in session_of}
        if wanted:
            right.append(not wanted.isdisjoint([*dict.fromkeys(sessions)][: DEPTHS[1]]))
    return f"{fmean(right):.3f}" if right else ""


HEADS = "| set | search | R@5 | R@10 | any@5 | MRR | session any@5 | AUC | p50 ms |"


def ablation(memory: Retentive, sets: Mapping[str, Sequence[Trial]]) -> Iterator[str]:
    """R@5 / R@10 of every set, with one part left out in each row."""
    yield f"| left out | {' | '.join(sets)} |"
    yield "|---|" + "---|" * len(sets)
    for variant in VARIANTS:
        found = [measured(memory, asked, variant) for asked in sets.values()]
        yield (
            f"| {variant.name} | " + " | ".join(f"{each.recall[1]:.3f} / {each.recall[2]:.3f}" for each in found) + " |"
        )


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
    parser.add_argument("--cache", type=Path, metavar="FOLDER", help="keep stores and vectors there")
    parser.add_argument("--sets", metavar="NAMES", help="with commas between; else all")
    parser.add_argument("--ablation", action="store_true", help="leave one part out in each row")
    parser.add_argument("--fit", action="store_true", help="fit the coefficients of relevance")
    parser.add_argument("--fit-blend", action="store_true", help="fit the weights of the blend")
    given = parser.parse_args()
    sets = read_sets(given.folder)
    if given.sets:
        sets = {name: sets[name] for name in given.sets.split(",")}
    with tempfile.TemporaryDirectory() as folder:
        cache = given.cache or Path(folder)
        cache.mkdir(parents=True, exist_ok=True)
        allowed = dict.fromkeys(("secrets_in_memories", "secrets_in_messages"), "allow")
        with Retentive.open(cache / "recall.db", **allowed) as store:
            memory = with_cached_embeddings(store, cache / "embeddings.db")
            for asked in sets.values():
                tell(memory, asked)
                loaded(memory, asked)
            for line in _lines(memory, sets, given):
                print(line, flush=True)


def _lines(memory: Retentive, sets: Mapping[str, Sequence[Trial]], given: argparse.Namespace) -> Iterator[str]:
    every = [trial for asked in sets.values() for trial in asked]
    if given.fit_blend:
        yield from weights.fits(memory, every)
    elif given.fit:
        yield from fits(judged(memory, every))
    elif given.ablation:
        yield from ablation(memory, sets)
    else:
        yield HEADS
        yield "|---|---|" + "---|" * 7
        for name, asked in sets.items():
            yield from compare_ways(memory, name, asked)


if __name__ == "__main__":
    main()
