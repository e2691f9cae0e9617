"""How the weights of the ranking and the coefficients of relevance were found.

    python -m benchmarks.fit_ranking FOLDER --cache CACHE

**Ranking** (`search/signals.py`). For every question that can be answered the search is run as it is. Of each row that
it compares, what counts is noted, and whether it is an answer. Then

    P(row) = exp(weights . features) / sum of that over the rows of the question

is made as large as it can be for the answers, by Newton's method (there is one best). A set counts for 200 questions at
the most, so that the largest does not decide. What
the session adds depends on the other weights, for it is the best of its messages: it is worked out by the weights of
the round before. The scale of such weights is free: they are divided so that a memory that is all the question has 1.

**Relevance** (`search/relevance.py`). A logistic of the evidence for the first ten hits of every question, also of
those that cannot be answered; hits that answer weigh as much together as all others, and every set counts the same.

Only sets whose licences allow it are fitted on (`sets.FITTED`). Each is reported as it comes out with weights that were
fitted on the others; the rest were never fitted on.
"""

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from benchmarks.asked import Variant, outcomes, parts_of, query_of
from benchmarks.recall import open_sets, parse_arguments
from benchmarks.sets import FITTED
from retentive import Retentive
from retentive.cli.eval import HitKey, build_keys, build_outcome
from retentive.evaluation import Trial
from retentive.evaluation.figures import compute_auc, compute_figures
from retentive.model import Memory, Passage, Record, Why
from retentive.search.candidates import Candidate
from retentive.search.order_matches import RankedMatches
from retentive.search.pipeline import SearchMatches, SearchPipeline
from retentive.search.relevance import Coefficients, Evidence
from retentive.search.signals import (
    BARE_LENGTH,
    RECIPE,
    CandidateTraits,
    MatchSignals,
    Recipe,
    measure_length,
    pool_matches,
)
from retentive.text.normalize import hash_content

ROUNDS = 4
MAX_QUESTIONS = 200
JUDGED_HITS = 10
RIDGE = 2e-3  # keeps what hardly matters near zero; with a tenth or ten times of it left-out recall falls
STEPS, SMALLEST = 20, 1e-3  # of Newton's method; a step that makes it worse is halved

WEIGHTS = (
    "memory_vector", "message_vector", "text", "text_with_assistant", "related_words", "previous",
    "previous_with_assistant", "next", "person", "role", "reply", "session", "length", "question", "bare_question",
)  # fmt: skip
LOWERS = ("reply", "question", "bare_question")
SESSION = WEIGHTS.index("session")
OF_THE_MESSAGE = ("session", "length", "question", "bare_question")
"""What does not count towards the best of a session."""

Rows = NDArray[np.float64]
Fitted = TypeVar("Fitted")


class Compared(NamedTuple):
    """The rows that a question was compared with: their features, their sessions, and which of them answer."""

    features: Rows
    sessions: NDArray[np.int64]
    """-1 for what is no message."""
    right: Rows


class Judged(NamedTuple):
    """The first hits of a question: the evidence for each, and which of them answer."""

    evidence: Rows
    right: Rows
    is_answerable: bool


class Noting(SearchPipeline):
    """Keeps what was compared, and the evidence for each hit."""

    def _score_by_all_signals(self, matches: SearchMatches) -> RankedMatches:
        ranking = super()._score_by_all_signals(matches)
        self.compared = ranking, self.evidence.best_word_share(matches.keyword, self.loader)
        self.noted: list[Evidence] = []
        return ranking

    def _read_evidence(self, candidate: Candidate, why: Why, chunk: int) -> Evidence:
        evidence = super()._read_evidence(candidate, why, chunk)
        self.noted.append(evidence)
        return evidence

    def note_compared(self, answers: set[HitKey]) -> Compared:
        ranking, cover = self.compared
        matches = ranking.keyword_matches, ranking.vector_matches
        candidates = pool_matches(*matches, ranking.weight, RECIPE.pool, RECIPE, self.retrievers.cosines, self._replies)
        read = [(each, found) for each in candidates if (found := self.loader.get(each.match.chunk))]
        related = self.evidence.measure_related_words({each.match.chunk: found for each, found in read})
        traits = [found.read_traits(self.question.person, related[each.match.chunk]) for each, found in read]
        with_assistant = any(trait.is_reply for trait in traits)
        rows = [
            list_features(each, trait, cover**RECIPE.cover, with_assistant=with_assistant)
            for (each, _), trait in zip(read, traits, strict=True)
        ]
        sessions: dict[object, int] = {None: -1}
        numbers = [sessions.setdefault(each.session, len(sessions)) for each, _ in read]
        right = [_key_of(found) in answers for _, found in read]
        return Compared(np.array(rows, float).reshape(-1, len(WEIGHTS)), np.array(numbers, int), np.array(right, float))


def list_features(each: MatchSignals, trait: CandidateTraits, cover: float, *, with_assistant: bool) -> list[float]:
    """In the order of `WEIGHTS`; the session is added later."""
    is_message = each.session is not None
    of_talk = is_message and with_assistant
    text = each.text * cover
    is_bare = trait.asks and trait.words is not None and trait.words < BARE_LENGTH
    return [
        each.cosine * (not is_message), each.cosine * is_message, text, text * of_talk, trait.related, each.previous,
        each.previous * of_talk, each.next, trait.person, trait.role, -float(trait.is_reply), 0.0,
        measure_length(trait.words), -float(trait.asks), -float(is_bare),
    ]  # fmt: skip


def _key_of(found: Candidate) -> HitKey:
    item = found.item
    session = None if isinstance(item, Memory | Passage | Record) else item.session
    return session, hash_content("" if isinstance(item, Record) else item.content)


def ask_all(memory: Retentive, trials: Sequence[Trial]) -> tuple[list[Compared], list[Judged]]:
    compared, judged = [], []
    for trial in trials:
        known = build_keys(trial)
        for question in trial.questions:
            asking = Noting(parts_of(memory, trial), query_of(trial, question, limit=RECIPE.pool // 2))
            hits = asking.run().hits[:JUDGED_HITS]
            if not hits:
                continue
            rows = asking.note_compared({known[ref] for ref in question.expected})
            if rows.right.any():
                compared.append(rows)
            places = build_outcome(question, hits, known).ranks
            right = [place in places for place in range(1, len(hits) + 1)]
            evidence = [_list_evidence(each) for each in asking.noted[: len(hits)]]
            judged.append(Judged(np.array(evidence, float), np.array(right, float), bool(question.expected)))
    return compared, judged


def _list_evidence(given: Evidence) -> list[float]:
    _, *others = given._replace(cosine=given.cosine or 0.0, related=given.related or 0.0)
    return [1.0, given.cosine or 0.0, *map(float, others)]


def fit_ranking(sets: Sequence[Sequence[Compared]]) -> Recipe:
    """The recipe by which the answers are most likely. A set counts for `MAX_QUESTIONS` at the most."""
    given = [(each, min(1.0, MAX_QUESTIONS / len(those))) for those in sets for each in those]
    weights = np.array([_weight_of(RECIPE, name) for name in WEIGHTS])
    for _ in range(ROUNDS):
        weights = _scale(_maximize([(_with_session(each, weights), each.right, part) for each, part in given]))
    found: dict[str, Any] = {name: round(float(value), 3) for name, value in zip(WEIGHTS, weights, strict=True)}
    return replace(RECIPE, **found)


def _weight_of(recipe: Recipe, name: str) -> float:
    return float(getattr(recipe, name))


def _scale(weights: Rows) -> Rows:
    """So that a memory that is all the question has 1."""
    whole = sum(weights[WEIGHTS.index(name)] for name in ("memory_vector", "text", "related_words"))
    return np.asarray(weights / whole)


def _with_session(given: Compared, weights: Rows) -> Rows:
    """The features, with the best that a message of the same session says for itself."""
    own_weights = np.where([name in OF_THE_MESSAGE for name in WEIGHTS], 0.0, weights)
    own = given.features @ own_weights
    best = np.full(given.sessions.max() + 2, -np.inf)
    np.maximum.at(best, given.sessions, own)
    features = given.features.copy()
    features[:, SESSION] = np.where(given.sessions >= 0, best[given.sessions], 0.0)
    return features


Weighted = Sequence[tuple[Rows, Rows, float]]


def _maximize(given: Weighted) -> Rows:
    found = np.zeros(len(WEIGHTS))
    loss, slope, curve = _measure_loss(given, found)
    for _ in range(STEPS):
        step, share = np.linalg.solve(curve, slope), 1.0
        while (tried := _measure_loss(given, found - share * step))[0] > loss and share > SMALLEST:
            share /= 2
        found = found - share * step
        loss, slope, curve = tried
    return found


def _measure_loss(given: Weighted, weights: Rows) -> tuple[float, Rows, Rows]:
    """How unlikely the answers are, with its first and second derivative."""
    total = sum(part for _, _, part in given)
    loss, slope, curve = RIDGE * float(weights @ weights) / 2, RIDGE * weights, RIDGE * np.eye(len(weights))
    for rows, right, part in given:
        sums, wanted = rows @ weights, right / right.sum()
        likely = np.exp(sums - sums.max())
        whole = likely.sum()
        likely /= whole
        share = part / total
        loss += share * float(np.log(whole) + sums.max() - wanted @ sums)
        slope = slope + share * (rows.T @ (likely - wanted))
        mean = likely @ rows
        curve += share * ((rows * likely[:, None]).T @ rows - np.outer(mean, mean))
    return loss, slope, curve


def fit_relevance(sets: Sequence[Sequence[Judged]]) -> Coefficients:
    """By Newton's method; what answers weighs as much together as what does not."""
    rows = np.concatenate([each.evidence for those in sets for each in those])
    right = np.concatenate([each.right for those in sets for each in those])
    weight = np.concatenate([np.full(len(each.right), 1 / len(those)) for those in sets for each in those])
    answers, others = weight[right > 0].sum(), weight[right == 0].sum()
    weight = np.where(right > 0, weight / answers, weight / others) / 2
    found = np.zeros(rows.shape[1])
    for _ in range(30):
        sure = 1 / (1 + np.exp(-rows @ found))
        slope = rows.T @ (weight * (sure - right)) + 1e-4 * found
        curve = (rows * (weight * sure * (1 - sure))[:, None]).T @ rows + 1e-4 * np.eye(len(found))
        found -= np.linalg.solve(curve, slope)
    return Coefficients(*(round(float(value), 2) for value in found))


def measure_auc(given: Sequence[Judged], by: Coefficients) -> float | None:
    """How well the best hit's relevance tells questions with an answer from those without."""
    best: dict[bool, list[float]] = {True: [], False: []}
    for each in given:
        best[each.is_answerable].append(float((each.evidence @ np.array(by)).max()))
    return compute_auc(best[True], best[False]) if best[True] and best[False] else None


def report(memory: Retentive, sets: Mapping[str, Sequence[Trial]]) -> Iterator[str]:
    noted = {name: ask_all(memory, trials) for name, trials in sets.items()}
    fitted_on = [name for name in FITTED if name in sets]
    ranking = _fit_folds(fitted_on, lambda names: fit_ranking([noted[name][0] for name in names]))
    judging = _fit_folds(fitted_on, lambda names: fit_relevance([noted[name][1] for name in names]))
    yield "| weight | shipped | fitted | with one set left out |"
    yield "|---|---|---|---|"
    for name in WEIGHTS:
        folds = [_weight_of(fold, name) for left, fold in ranking.items() if left]
        shipped, fitted = _weight_of(RECIPE, name), _weight_of(ranking[""], name)
        yield f"| {name} | {shipped:g} | {fitted:g} | {min(folds):g} to {max(folds):g} |"
    yield ""
    yield f"relevance: {judging['']}"
    yield ""
    yield "| set | | shipped R@5 / R@10 | fitted without it R@5 / R@10 | AUC |"
    yield "|---|---|---|---|---|"
    for name, trials in sets.items():
        fold = name if name in fitted_on else ""
        cells = [
            f"{found.recall[1]:.3f} / {found.recall[2]:.3f}"
            for recipe in (RECIPE, ranking[fold])
            for found in [compute_figures(outcomes(memory, trials, Variant("", recipe)))]
        ]
        apart = measure_auc(noted[name][1], judging[fold])
        how = "left out" if fold else "never fitted on"
        yield f"| {name} | {how} | {' | '.join(cells)} | {f'{apart:.3f}' if apart else ''} |"


def _fit_folds(names: Sequence[str], fit: Callable[[Sequence[str]], Fitted]) -> dict[str, Fitted]:
    """By the set that was left out; under the empty name, with all."""
    return {left: fit([name for name in names if name != left]) for left in ("", *names)}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fit_ranking", description=__doc__.splitlines()[0])
    with open_sets(parse_arguments(parser)) as (memory, sets):
        for line in report(memory, sets):
            print(line, flush=True)


assert {*WEIGHTS} < {each.name for each in fields(Recipe)}, "a weight that the recipe does not have"  # noqa: S101

if __name__ == "__main__":
    main()
