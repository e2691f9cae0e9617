"""Measure how well the questions of a collection are answered, through the library and in a temporary store."""

import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import groupby
from pathlib import Path
from typing import Any

from retentive.api import Retentive
from retentive.cli import output
from retentive.cli.args import is_json, pick_options
from retentive.errors import Invalid
from retentive.evaluation import CollectionMessage, EvaluationQuestion, Trial, read_trials
from retentive.evaluation.figures import (
    RECALL_DEPTHS,
    Figures,
    QuestionOutcome,
    compute_auc,
    compute_curve,
    compute_figures,
    compute_latency,
)
from retentive.fs.paths import parse_path
from retentive.fs.regular_files import require_regular
from retentive.model import Event, Hit
from retentive.text.normalize import hash_content

SEARCH_VARIANTS: Mapping[str, Mapping[str, Any]] = {
    "Retentive": {},
    "BM25 only": {"mode": "text", "fusion": "minmax"},
    "vectors only": {"mode": "vector", "fusion": "minmax"},
    "plain RRF": {"fusion": "rrf", "vector_weight": 0.5},
}
"""The searches that are compared, as options of `search`. The others only merge the hits of the two retrievers."""

ANSWERABLE, UNANSWERABLE_KINDS = "known", ("unanswerable", "foreign")
THRESHOLDS = (0.2, 0.3, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8)
INDEX_LOAD_SECONDS = 60.0  # that an index may take to load
MAX_FOREIGN_QUESTIONS = 60  # of the next collection, which are asked of each: it has no answers to them

HitKey = tuple[str | None, str]
"""Identifies a hit without its id: the session of a message, and the hash of the text."""


def evaluate(arguments: Any) -> int:
    trials = _limit_questions(
        read_trials(_parse_collection_path(arguments.path), arguments.format), arguments.questions
    )
    if not trials:
        raise Invalid(f"{arguments.path} has no collection", "See `retentive eval --help`.")
    with tempfile.TemporaryDirectory() as folder:
        store = arguments.keep or str(Path(folder) / "eval.db")
        options = {**pick_options(arguments, ("embedder",)), "daily_log": "off"}
        with Retentive.open(store, **options) as memory:
            store_trials(memory, trials)
        outcomes = {}
        for way, search in SEARCH_VARIANTS.items():
            with Retentive.open(store, **options) as memory:
                outcomes[way] = _answer_all(memory, trials, search)
        with Retentive.open(store, **options) as memory:
            known = _collect_relevance(next(iter(outcomes.values())), _ask_foreign_questions(memory, trials))
    if is_json(arguments):
        numbers = {way: _serialize_figures(each) for way, each in outcomes.items()}
        output.print_json(
            {
                "ways": numbers,
                "relevance": {name: _build_curve(known, name) for name in UNANSWERABLE_KINDS if known[name]},
            }
        )
    else:
        _print_figures(trials, outcomes)
        _print_relevance(known)
    return 0


def _parse_collection_path(text: str) -> Path:
    path = parse_path(text)
    require_regular(path)
    if not path.is_file():
        raise Invalid(f"there is no file {text}", "Give the path of a collection.")
    return path


def _limit_questions(trials: Sequence[Trial], limit: int | None) -> list[Trial]:
    return [Trial(each.name, each.memories, each.messages, each.questions[:limit]) for each in trials]


def store_trials(memory: Retentive, trials: Sequence[Trial]) -> None:
    """Store each collection in its own namespace. One that is there from an earlier run is not stored again."""
    total, done = sum(len(each.memories) + len(each.messages) for each in trials), 0
    with output.show_progress("storing", "texts", total) as progress:
        for trial in trials:
            progress.show_name(trial.name)
            _store_trial(memory.in_namespace(_namespace(trial)), trial)
            done += len(trial.memories) + len(trial.messages)
            progress.report(done)


def _store_trial(own: Retentive, trial: Trial) -> None:
    if trial.memories and not own.list(1):
        own.add_many([{"text": each.text, **each.options} for each in trial.memories])
    known = {session.id: session.events for session in own.sessions.list(1000)}
    for session, group in groupby(sorted(trial.messages, key=lambda each: each.session), lambda each: each.session):
        messages = [*group]
        if known.get(session, len(messages)) != len(messages):
            raise Invalid(f"the store of --keep has another session {session!r}", "Give --keep a new file.")
        if session not in known:
            own.sessions.append_many(session, map(_build_message, messages))


def _namespace(trial: Trial) -> str:
    return f"eval/{trial.name}"


def _build_message(message: CollectionMessage) -> dict[str, Any]:
    return {"role": message.role, "content": message.text, "speaker": message.speaker, "time": message.time}


def _answer_all(memory: Retentive, trials: Sequence[Trial], options: Mapping[str, Any]) -> list[QuestionOutcome]:
    """Ask every question of every collection in its namespace."""
    _load_indexes(memory, trials, options)
    outcomes = []
    for trial in trials:
        own, known = memory.in_namespace(_namespace(trial)), build_keys(trial)
        outcomes += [_answer(own, question, known, options) for question in trial.questions]
    return outcomes


def _load_indexes(memory: Retentive, trials: Sequence[Trial], options: Mapping[str, Any]) -> None:
    """Load the model and the indexes before the first question, so that each run gives the same figures.

    The keyword index is loaded in the background, from the second question on.
    """
    images = memory._store.images  # noqa: SLF001 - there is no public way, because users do not need one
    for trial in trials:
        for _ in range(2):
            memory.in_namespace(_namespace(trial)).search("what was there before the first question?", **options)
        if images.made:
            images.made.wait(INDEX_LOAD_SECONDS)


def build_keys(trial: Trial) -> dict[str, HitKey]:
    memories = {each.ref: (None, hash_content(each.text)) for each in trial.memories}
    return memories | {each.ref: (each.session, hash_content(each.text)) for each in trial.messages}


def _answer(
    memory: Retentive, question: EvaluationQuestion, known: Mapping[str, HitKey], options: Mapping[str, Any]
) -> QuestionOutcome:
    begun = time.perf_counter()
    found = memory.search(question.text, RECALL_DEPTHS[-1], **options, **question.options)
    seconds = time.perf_counter() - begun
    return replace(build_outcome(question, found, known), seconds=seconds, embedding=found.timings.get("embed", 0.0))


def build_outcome(question: EvaluationQuestion, hits: Sequence[Hit], known: Mapping[str, HitKey]) -> QuestionOutcome:
    places = {_key(hit): place for place, hit in reversed([*enumerate(hits, start=1)])}
    where = tuple(places.get(known[ref]) for ref in question.expected)
    return QuestionOutcome(question, where, relevance=max((hit.relevance for hit in hits), default=0.0))


def _key(hit: Hit) -> HitKey:
    return (hit.item.session if isinstance(hit.item, Event) else None), hash_content(hit.content)


def _serialize_figures(outcomes: Sequence[QuestionOutcome]) -> dict[str, Any]:
    categories = {name: asdict(compute_figures(each)) for name, each in _group_by_category(outcomes)}
    return {**asdict(compute_figures(outcomes)), "latency": asdict(compute_latency(outcomes)), "categories": categories}


def _group_by_category(outcomes: Sequence[QuestionOutcome]) -> Iterator[tuple[str, list[QuestionOutcome]]]:
    named = [outcome for outcome in outcomes if outcome.question.category and outcome.question.expected]
    for name in dict.fromkeys(outcome.question.category for outcome in named):
        yield name, [outcome for outcome in named if outcome.question.category == name]


def _print_figures(trials: Sequence[Trial], outcomes: Mapping[str, Sequence[QuestionOutcome]]) -> None:
    memories, messages = sum(len(each.memories) for each in trials), sum(len(each.messages) for each in trials)
    questions = sum(len(each.questions) for each in trials)
    stored = f"{output.format_count(memories, 'memory', 'memories')}, {output.format_count(messages, 'message')}"
    output.print_raw(
        f"{output.format_count(len(trials), 'collection')}: {stored}, {output.format_count(questions, 'question')}\n"
    )
    heads = [
        "search",
        *_build_heads("R"),
        *_build_heads("any"),
        *_build_heads("all"),
        "MRR",
        "p50 ms",
        "p95 ms",
        "x embedding",
    ]
    _print_markdown_table(
        heads, [_build_row(way, compute_figures(each)) + _format_latency(each) for way, each in outcomes.items()]
    )
    ours = next(iter(outcomes.values()))
    if rows := [_build_row(f"{name} ({len(each)})", compute_figures(each)) for name, each in _group_by_category(ours)]:
        output.print_raw()
        _print_markdown_table(["category", *heads[1:-3]], rows)


def _ask_foreign_questions(memory: Retentive, trials: Sequence[Trial]) -> list[QuestionOutcome]:
    """Ask each collection questions of another one, which it cannot answer."""
    if len(trials) == 1:
        return []
    _load_indexes(memory, trials, {})
    return [
        build_outcome(replace(question, expected=()), memory.in_namespace(_namespace(trial)).search(question.text), {})
        for trial, other in zip(trials, (*trials[1:], trials[0]), strict=True)
        for question in other.questions[:MAX_FOREIGN_QUESTIONS]
    ]


def _collect_relevance(
    outcomes: Sequence[QuestionOutcome], strangers: Sequence[QuestionOutcome]
) -> dict[str, list[float]]:
    """Return the highest relevance of each question: of answerable, unanswerable and foreign ones."""
    return {
        ANSWERABLE: [each.relevance for each in outcomes if each.question.expected],
        UNANSWERABLE_KINDS[0]: [each.relevance for each in outcomes if not each.question.expected],
        UNANSWERABLE_KINDS[1]: [each.relevance for each in strangers],
    }


def _build_curve(found: Mapping[str, Sequence[float]], unknown: str) -> dict[str, Any]:
    points = compute_curve(found[ANSWERABLE], found[unknown], THRESHOLDS)
    return {"auc": compute_auc(found[ANSWERABLE], found[unknown]), "points": [asdict(point) for point in points]}


def _print_relevance(found: Mapping[str, Sequence[float]]) -> None:
    """Print how well a relevance threshold separates answerable questions from the others."""
    for unknown in UNANSWERABLE_KINDS:
        if found[ANSWERABLE] and found[unknown]:
            curve = _build_curve(found, unknown)
            output.print_raw(f"\nrelevance, known against {unknown} ({len(found[unknown])}): AUC {curve['auc']:.3f}\n")
            names = ("threshold", "precision", "recall")
            _print_markdown_table(names, [[f"{point[name]:.2f}" for name in names] for point in curve["points"]])


def _build_heads(name: str) -> list[str]:
    return [f"{name}@{depth}" for depth in RECALL_DEPTHS]


def _build_row(name: str, found: Figures) -> list[str]:
    return [name, *(f"{value:.3f}" for value in (*found.recall, *found.any, *found.all, found.mrr))]


def _format_latency(outcomes: Sequence[QuestionOutcome]) -> list[str]:
    found = compute_latency(outcomes)
    times = [f"{found.p50 * 1000:.1f}", f"{found.p95 * 1000:.1f}"]
    return [*times, f"{found.p50 / found.embedding:.2f}" if found.embedding else ""]


def _print_markdown_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a Markdown table."""
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    rule = ["-" * width for width in widths]
    for row in (heads, rule, *rows):
        output.print_raw("| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |")
