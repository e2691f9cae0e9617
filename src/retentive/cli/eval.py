"""How well a collection's questions are answered: told and asked through the library, in stores of its own."""

import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import groupby
from pathlib import Path
from typing import Any

from retentive.api import Retentive
from retentive.cli import output
from retentive.cli.args import given, is_json
from retentive.errors import Invalid
from retentive.evaluation import Question, Said, Trial, trials
from retentive.evaluation.figures import DEPTHS, Figures, Outcome, auc, curve, figures, latency
from retentive.fs.paths import parse_path
from retentive.fs.regular_files import require_regular
from retentive.model import Event, Hit
from retentive.text.normalize import content_hash

WAYS: Mapping[str, Mapping[str, Any]] = {
    "Retentive": {},
    "BM25 only": {"mode": "text", "fusion": "minmax"},
    "vectors only": {"mode": "vector", "fusion": "minmax"},
    "plain RRF": {"fusion": "rrf", "vector_weight": 0.5},
}
"""What is compared, as options of `search`. The others join what the legs find, and do nothing more."""

KNOWN, UNKNOWN = "known", ("unanswerable", "foreign")
THRESHOLDS = (0.2, 0.3, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8)
LOADING = 60.0  # seconds that an index may take to load
FOREIGN = 60  # questions of the next collection that each is asked: it knows nothing of them

Key = tuple[str | None, str]
"""What a hit is known by, without its id: the session of a message, and the hash of the text."""


def evaluate(arguments: Any) -> int:
    asked = _cut(trials(_path(arguments.path), arguments.format), arguments.questions)
    if not asked:
        raise Invalid(f"{arguments.path} has no collection", "See `retentive eval --help`.")
    with tempfile.TemporaryDirectory() as folder:
        store = arguments.keep or str(Path(folder) / "eval.db")
        options = {**given(arguments, ("embedder",)), "daily_log": "off"}
        with Retentive.open(store, **options) as memory:
            tell(memory, asked)
        outcomes = {}
        for way, search in WAYS.items():
            with Retentive.open(store, **options) as memory:
                outcomes[way] = _answers(memory, asked, search)
        with Retentive.open(store, **options) as memory:
            known = _relevance(next(iter(outcomes.values())), _strangers(memory, asked))
    if is_json(arguments):
        numbers = {way: _numbers(each) for way, each in outcomes.items()}
        output.as_json({"ways": numbers, "relevance": {name: _curve(known, name) for name in UNKNOWN if known[name]}})
    else:
        _show(asked, outcomes)
        _show_relevance(known)
    return 0


def _path(given: str) -> Path:
    path = parse_path(given)
    require_regular(path)
    if not path.is_file():
        raise Invalid(f"there is no file {given}", "Give the path of a collection.")
    return path


def _cut(found: Sequence[Trial], most: int | None) -> list[Trial]:
    return [Trial(each.name, each.told, each.said, each.questions[:most]) for each in found]


def tell(memory: Retentive, asked: Sequence[Trial]) -> None:
    """Each collection in a namespace of its own; one that is there from an earlier run is not told again."""
    total, done = sum(len(each.told) + len(each.said) for each in asked), 0
    progress = output.progress(total, "told")
    for trial in asked:
        own = memory.in_namespace(_namespace(trial))
        if trial.told and not own.list(1).memories:
            own.add_many([{"text": each.text, **each.options} for each in trial.told])
        known = {session.id: session.events for session in own.sessions.list(1000)}
        for session, said in groupby(sorted(trial.said, key=lambda each: each.session), lambda each: each.session):
            messages = [*said]
            if known.get(session, len(messages)) != len(messages):
                raise Invalid(f"the kept store has another session {session!r}", "Give --keep a new file.")
            if session not in known:
                own.sessions.append_many(session, map(_message, messages))
        done += len(trial.told) + len(trial.said)
        progress(done)


def _namespace(trial: Trial) -> str:
    return f"eval/{trial.name}"


def _message(said: Said) -> dict[str, Any]:
    return {"role": said.role, "content": said.text, "speaker": said.speaker, "time": said.time}


def _answers(memory: Retentive, asked: Sequence[Trial], options: Mapping[str, Any]) -> list[Outcome]:
    """To every question of every collection, in its namespace."""
    _load(memory, asked, options)
    outcomes = []
    for trial in asked:
        own, known = memory.in_namespace(_namespace(trial)), keys(trial)
        outcomes += [_outcome(own, question, known, options) for question in trial.questions]
    return outcomes


def _load(memory: Retentive, asked: Sequence[Trial], options: Mapping[str, Any]) -> None:
    """The model and the indexes; that of words is loaded in the background, from the second question on.

    All questions are answered by the same, so that a run gives the figures of the one before.
    """
    images = memory._store.images  # noqa: SLF001 - the only way to know; users need not
    for trial in asked:
        for _ in range(2):
            memory.in_namespace(_namespace(trial)).search("what was there before the first question?", **options)
        if images.made:
            images.made.wait(LOADING)


def keys(trial: Trial) -> dict[str, Key]:
    told = {each.ref: (None, content_hash(each.text)) for each in trial.told}
    return told | {each.ref: (each.session, content_hash(each.text)) for each in trial.said}


def _outcome(memory: Retentive, question: Question, known: Mapping[str, Key], options: Mapping[str, Any]) -> Outcome:
    begun = time.perf_counter()
    found = memory.search(question.text, DEPTHS[-1], **options, **question.options)
    seconds = time.perf_counter() - begun
    return replace(outcome_of(question, found, known), seconds=seconds, embedding=found.timings.get("embed", 0.0))


def outcome_of(question: Question, hits: Sequence[Hit], known: Mapping[str, Key]) -> Outcome:
    places = {_key(hit): place for place, hit in reversed([*enumerate(hits, start=1)])}
    where = tuple(places.get(known[ref]) for ref in question.expected)
    return Outcome(question, where, relevance=max((hit.relevance for hit in hits), default=0.0))


def _key(hit: Hit) -> Key:
    return (hit.item.session if isinstance(hit.item, Event) else None), content_hash(hit.content)


def _numbers(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    categories = {name: asdict(figures(each)) for name, each in _by_category(outcomes)}
    return {**asdict(figures(outcomes)), "latency": asdict(latency(outcomes)), "categories": categories}


def _by_category(outcomes: Sequence[Outcome]) -> Iterator[tuple[str, list[Outcome]]]:
    named = [outcome for outcome in outcomes if outcome.question.category and outcome.question.expected]
    for name in dict.fromkeys(outcome.question.category for outcome in named):
        yield name, [outcome for outcome in named if outcome.question.category == name]


def _show(asked: Sequence[Trial], outcomes: Mapping[str, Sequence[Outcome]]) -> None:
    memories, messages = sum(len(each.told) for each in asked), sum(len(each.said) for each in asked)
    questions = sum(len(each.questions) for each in asked)
    told = f"{output.counted(memories, 'memory', 'memories')}, {output.counted(messages, 'message')}"
    output.say(f"{output.counted(len(asked), 'collection')}: {told}, {output.counted(questions, 'question')}\n")
    heads = ["search", *_heads("R"), *_heads("any"), *_heads("all"), "MRR", "p50 ms", "p95 ms", "x embedding"]
    _table(heads, [_row(way, figures(each)) + _times(each) for way, each in outcomes.items()])
    ours = next(iter(outcomes.values()))
    if rows := [_row(f"{name} ({len(each)})", figures(each)) for name, each in _by_category(ours)]:
        output.say()
        _table(["category", *heads[1:-3]], rows)


def _strangers(memory: Retentive, asked: Sequence[Trial]) -> list[Outcome]:
    """To questions of another collection."""
    if len(asked) == 1:
        return []
    _load(memory, asked, {})
    return [
        outcome_of(replace(question, expected=()), memory.in_namespace(_namespace(trial)).search(question.text), {})
        for trial, other in zip(asked, (*asked[1:], asked[0]), strict=True)
        for question in other.questions[:FOREIGN]
    ]


def _relevance(outcomes: Sequence[Outcome], strangers: Sequence[Outcome]) -> dict[str, list[float]]:
    """The highest relevance that each question found: those that can be answered, those that cannot, strangers'."""
    return {
        KNOWN: [each.relevance for each in outcomes if each.question.expected],
        UNKNOWN[0]: [each.relevance for each in outcomes if not each.question.expected],
        UNKNOWN[1]: [each.relevance for each in strangers],
    }


def _curve(found: Mapping[str, Sequence[float]], unknown: str) -> dict[str, Any]:
    points = curve(found[KNOWN], found[unknown], THRESHOLDS)
    return {"auc": auc(found[KNOWN], found[unknown]), "points": [asdict(point) for point in points]}


def _show_relevance(found: Mapping[str, Sequence[float]]) -> None:
    """How well a threshold tells what can be answered from what cannot."""
    for unknown in UNKNOWN:
        if found[KNOWN] and found[unknown]:
            told = _curve(found, unknown)
            output.say(f"\nrelevance, known against {unknown} ({len(found[unknown])}): AUC {told['auc']:.3f}\n")
            names = ("threshold", "precision", "recall")
            _table(names, [[f"{point[name]:.2f}" for name in names] for point in told["points"]])


def _heads(name: str) -> list[str]:
    return [f"{name}@{depth}" for depth in DEPTHS]


def _row(name: str, found: Figures) -> list[str]:
    return [name, *(f"{value:.3f}" for value in (*found.recall, *found.any, *found.all, found.mrr))]


def _times(outcomes: Sequence[Outcome]) -> list[str]:
    found = latency(outcomes)
    times = [f"{found.p50 * 1000:.1f}", f"{found.p95 * 1000:.1f}"]
    return [*times, f"{found.p50 / found.embedding:.2f}" if found.embedding else ""]


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """For people and for pages alike: a table of Markdown."""
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    rule = ["-" * width for width in widths]
    for row in (heads, rule, *rows):
        output.say("| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |")
