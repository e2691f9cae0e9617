"""`python -m benchmarks.recall FOLDER`: how well what is asked is found, on every collection of the folder (`sets.py`).

Without an option it prints a table: the search as it is beside its parts alone, reciprocal ranks, and a plain FTS5
index. `--ablation` leaves one part out in each row, `--exact` counts how often exactly the right facts are found.
`fit_ranking.py` fits the weights. The store and its vectors are kept in the folder `--cache`: the next run begins at
once.
"""

import argparse
import itertools
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import apsw

from benchmarks.asked import Variant, loaded, outcomes
from benchmarks.embedding_cache import with_cached_embeddings
from benchmarks.sets import read_sets
from retentive import Retentive
from retentive.cli.eval import SEARCH_VARIANTS, HitKey, build_keys, build_outcome, store_trials
from retentive.evaluation import CollectionMemory, CollectionMessage, EvaluationQuestion, Trial
from retentive.evaluation.figures import (
    RECALL_DEPTHS,
    Figures,
    QuestionOutcome,
    compute_auc,
    compute_figures,
    compute_latency,
)
from retentive.model import Event, Fusion, Mode
from retentive.search.signals import RECIPE
from retentive.text.normalize import hash_content
from retentive.text.terms import split_words

VARIANTS = (
    Variant("nothing"),
    Variant("names: they stay in the vector, nobody is meant", replace(RECIPE, names=False)),
    Variant("person", replace(RECIPE, person=0.0)),
    Variant("role", replace(RECIPE, role=0.0)),
    Variant("neighbours", replace(RECIPE, previous=0.0, previous_with_assistant=0.0, next=0.0)),
    Variant("session", replace(RECIPE, session=0.0)),
    Variant("length", replace(RECIPE, length=0.0)),
    Variant("question", replace(RECIPE, question=0.0, bare_question=0.0)),
    Variant("cover", replace(RECIPE, cover=0.0)),
    Variant("related words", replace(RECIPE, related_words=0.0)),
    Variant("reply", replace(RECIPE, reply=0.0)),
    Variant("assistants: their talk as that of people",
            replace(RECIPE, text_with_assistant=0.0, previous_with_assistant=0.0)),
    Variant("text in the sum", replace(RECIPE, text=0.0, text_with_assistant=0.0)),
    Variant("depth: 20 matches of each search", replace(RECIPE, depth=20)),
    Variant("vector search", RECIPE, {"mode": Mode.TEXT}),
    Variant("keyword search", RECIPE, {"mode": Mode.VECTOR}),
    Variant("all but the two searches: min-max, 0.6 / 0.4", RECIPE, {"fusion": Fusion.MINMAX, "vector_weight": 0.6}),
    Variant("all but the two searches: reciprocal ranks", RECIPE, {"fusion": Fusion.RRF, "vector_weight": 0.5}),
)  # fmt: skip


def measured(memory: Retentive, asked: Sequence[Trial], variant: Variant) -> Figures:
    return compute_figures(outcomes(memory, asked, variant))


class Answered(NamedTuple):
    outcome: QuestionOutcome
    sessions: tuple[str, ...]
    """Of the hits that are messages, in their order."""


def compare_ways(memory: Retentive, name: str, asked: Sequence[Trial]) -> Iterator[str]:
    """A row for each way of searching: the search as it is, its parts, and a plain FTS5 index."""
    for way, options in SEARCH_VARIANTS.items():
        found = [each for trial in asked for each in ask_all(memory, trial, options)]
        yield describe(name, way, found, asked)
    plain = [each for trial in asked for each in PlainIndex(trial).ask_all()]
    yield describe(name, "plain FTS5", plain, asked)


def ask_all(memory: Retentive, trial: Trial, options: Mapping[str, Any]) -> Iterator[Answered]:
    own, known = memory.in_namespace(f"eval/{trial.name}"), build_keys(trial)
    for question in trial.questions:
        begun = time.perf_counter()
        hits = own.search(question.text, RECALL_DEPTHS[-1], **options, **question.options)
        outcome = replace(build_outcome(question, hits, known), seconds=time.perf_counter() - begun)
        yield Answered(outcome, tuple(hit.item.session for hit in hits if isinstance(hit.item, Event)))


class PlainIndex:
    """What most people would build: the texts in FTS5, all words of the question joined by OR."""

    def __init__(self, trial: Trial) -> None:
        self._trial = trial
        self._rows = [*trial.memories, *trial.messages]
        self._file = apsw.Connection(":memory:")
        self._file.execute("CREATE VIRTUAL TABLE rows USING fts5(text, tokenize='porter unicode61')")
        self._file.executemany("INSERT INTO rows VALUES (?)", ((row.text,) for row in self._rows))

    def ask_all(self) -> Iterator[Answered]:
        for question in self._trial.questions:
            begun = time.perf_counter()
            found = self._find(question)
            places = {row.ref: place for place, row in enumerate(found, start=1)}
            where = tuple(places.get(ref) for ref in question.expected)
            outcome = QuestionOutcome(question, where, seconds=time.perf_counter() - begun)
            yield Answered(outcome, tuple(row.session for row in found if isinstance(row, CollectionMessage)))

    def _find(self, question: EvaluationQuestion) -> list[CollectionMemory | CollectionMessage]:
        words = " OR ".join(f'"{word}"' for word in dict.fromkeys(split_words(question.text.lower())))
        query = "SELECT rowid FROM rows WHERE rows MATCH ? ORDER BY rank"
        rows = (self._rows[number - 1] for (number,) in self._file.execute(query, (words or '""',)))
        until = question.options.get("until")
        seen = (
            row
            for row in rows
            if until is None or not isinstance(row, CollectionMemory) or row.options["valid_from"] < until
        )
        return [*itertools.islice(seen, RECALL_DEPTHS[-1])]


def describe(name: str, way: str, found: Sequence[Answered], asked: Sequence[Trial]) -> str:
    outcomes = [each.outcome for each in found]
    numbers, times = compute_figures(outcomes), compute_latency(outcomes)
    known = [each.relevance for each in outcomes if each.question.expected]
    unknown = [each.relevance for each in outcomes if not each.question.expected]
    apart = compute_auc(known, unknown) if any(known) else None
    cells = [f"{numbers.recall[1]:.3f}", f"{numbers.recall[2]:.3f}", f"{numbers.any[1]:.3f}", f"{numbers.mrr:.3f}"]
    cells += [_share_of_sessions(found, asked), f"{apart:.3f}" if apart else "", f"{times.p50 * 1000:.1f}"]
    return f"| {name} | {way} | {' | '.join(cells)} |"


def _share_of_sessions(found: Sequence[Answered], asked: Sequence[Trial]) -> str:
    """Questions of whose sessions one is among the first five that the hits are of."""
    session_of = {(each.ref): each.session for trial in asked for each in trial.messages}
    right = []
    for outcome, sessions in found:
        wanted = {session_of[ref] for ref in outcome.question.expected if ref in session_of}
        if wanted:
            right.append(not wanted.isdisjoint([*dict.fromkeys(sessions)][: RECALL_DEPTHS[1]]))
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


def parse_arguments(parser: argparse.ArgumentParser) -> argparse.Namespace:
    """The arguments of every benchmark over the sets."""
    parser.add_argument("folder", type=Path)
    parser.add_argument("--cache", type=Path, metavar="FOLDER", help="keep stores and vectors there")
    parser.add_argument("--sets", metavar="NAMES", help="with commas between; else all")
    return parser.parse_args()


@contextmanager
def open_sets(given: argparse.Namespace) -> Iterator[tuple[Retentive, dict[str, list[Trial]]]]:
    """A store that was told all sets, each conversation in a namespace of its own, and the sets."""
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
                store_trials(memory, asked)
                loaded(memory, asked)
            yield memory, sets


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.recall", description=__doc__.splitlines()[0])
    parser.add_argument("--ablation", action="store_true", help="leave one part out in each row")
    parser.add_argument("--exact", action="store_true", help="how often exactly the right facts are found")
    given = parse_arguments(parser)
    with open_sets(given) as (memory, sets):
        for line in _lines(memory, sets, given):
            print(line, flush=True)


def _lines(memory: Retentive, sets: Mapping[str, Sequence[Trial]], given: argparse.Namespace) -> Iterator[str]:
    if given.exact:
        yield from measure_exactness(memory, sets)
    elif given.ablation:
        yield from ablation(memory, sets)
    else:
        yield HEADS
        yield "|---|---|" + "---|" * 7
        for name, asked in sets.items():
            yield from compare_ways(memory, name, asked)


def measure_exactness(memory: Retentive, sets: Mapping[str, Sequence[Trial]]) -> Iterator[str]:
    """What a search without a limit gives: is it exactly what answers, and nothing else?"""
    yield "| set | questions | exactly right | precision | recall | nothing where there is nothing |"
    yield "|---|---|---|---|---|---|"
    for name, asked in sets.items():
        if any(trial.messages for trial in asked):
            continue  # which of many messages say the same is not marked
        found = [each for trial in asked for each in _find_exactly(memory, trial)]
        known = [each for each in found if each.wanted]
        unknown = [each for each in found if not each.wanted]
        exact = sum(each.found == each.wanted for each in found)
        shares = [len(each.found & each.wanted) / len(each.found) for each in found if each.found]
        recall = fmean(len(each.found & each.wanted) / len(each.wanted) for each in known)
        empty = f"{sum(not each.found for each in unknown)} of {len(unknown)}" if unknown else ""
        yield f"| {name} | {len(found)} | {exact} | {fmean(shares):.3f} | {recall:.3f} | {empty} |"


class Exactly(NamedTuple):
    found: frozenset[HitKey]
    wanted: frozenset[HitKey]


def _find_exactly(memory: Retentive, trial: Trial) -> Iterator[Exactly]:
    own, known = memory.in_namespace(f"eval/{trial.name}"), build_keys(trial)
    for question in trial.questions:
        hits = own.search(question.text, None, **question.options)
        found = frozenset((None, hash_content(hit.content)) for hit in hits)
        yield Exactly(found, frozenset(known[ref] for ref in question.expected))


if __name__ == "__main__":
    main()
