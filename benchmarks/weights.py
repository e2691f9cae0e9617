"""How the weights of the blend (`retrieve/blend.py`) were found: `python -m benchmarks.recall FOLDER --fit-blend`.

A message's score is a sum of seven things, each times a weight. For every question that can be answered, the search is
run as it is, and of each message that it compares these seven are noted, and whether it is an answer. Then

    P(message) = exp(weights . things) / sum of that over the messages of the question

is made as large as it can be for the answers, by Newton's method (there is one best). What the session adds depends on
the other weights, for it is the best of its messages: it is worked out by the weights of the round before, four times.

The scale of such weights is free, and only their proportions tell: they are written as those of a `Recipe`, where the
two legs together count 1. Each conversation is then asked with weights that were fitted on the others. What is no
weight (the depth, the pool, the powers of the cover) was chosen by trying, and stays.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.asked import Variant, outcomes, parts_of, query_of
from retentive import Retentive
from retentive.app.search import Asking, Joined
from retentive.cli.eval import keys, tell
from retentive.measure import Trial, trials
from retentive.measure.figures import Outcome, figures
from retentive.model import Match, Query
from retentive.retrieve.blend import RECIPE, length_of, pool
from retentive.storage.conversations import Said
from retentive.text.normal import content_hash

FACTS = Path(__file__).parent / "data" / "facts.jsonl"
ROUNDS = 4
RIDGE = 1e-3  # keeps what hardly matters near zero
STEPS, SMALLEST = 15, 1e-3  # of Newton's method; a step that makes it worse is halved

Rows = NDArray[np.float64]


class Weights(NamedTuple):
    """Those that are fitted: of the default recipe, and the setting `vector_weight`."""

    vector: float = Query.__dataclass_fields__["vector_weight"].default
    previous: float = RECIPE.previous
    next: float = RECIPE.next
    person: float = RECIPE.person
    session: float = RECIPE.session
    length: float = RECIPE.length
    question: float = RECIPE.question

    def variant(self, name: str) -> Variant:
        _, *others = self._fields
        recipe = replace(RECIPE, **{field: getattr(self, field) for field in others})
        return Variant(name, recipe, {"vector_weight": self.vector})


SHIPPED = Weights()
TEXT, VECTOR, PREVIOUS, NEXT, PERSON, LENGTH, ASKS, SESSION = range(8)


class Compared(NamedTuple):
    """The messages that a question found: of each the things that count, but for the session, and which answer it."""

    rows: Rows
    sessions: NDArray[np.int64]
    right: Rows


class Noting(Asking):
    """Keeps what was blended."""

    def _blended(self, text: Sequence[Match], vector: Sequence[Match]) -> Joined:
        joined = super()._blended(text, vector)
        self.blended = joined, self._cover(text)
        return joined


def compared(memory: Retentive, trial: Trial) -> Iterator[Compared]:
    """Of each question that has an answer among what is compared; the others teach nothing about weights."""
    known = keys(trial)
    for question in trial.questions:
        asking = Noting(parts_of(memory, trial), query_of(trial, question))
        asking.answer()
        right = {known[ref] for ref in question.expected}
        found = _compared(asking, right)
        if found.right.any():
            yield found


def _compared(asking: Noting, answers: set[tuple[str | None, str]]) -> Compared:
    joined, cover = asking.blended
    before, after = (
        {each.match.chunk: each.around for each in pool(joined.text, joined.vector, joined.weight, None, recipe)}
        for recipe in (replace(RECIPE, previous=1.0, next=0.0), replace(RECIPE, previous=0.0, next=1.0))
    )
    rows, sessions, right = [], [], []
    for match, text, cosine, _, session in pool(joined.text, joined.vector, joined.weight, RECIPE.pool):
        found = asking.reader.get(match.chunk)
        if found and isinstance(found.of, Said):
            trait = found.trait(asking.asked.person)
            beside = trait.person, length_of(trait.words), -float(trait.asks)
            rows.append((cover**RECIPE.cover * text, cosine, before[match.chunk], after[match.chunk], *beside))
            sessions.append(session)
            right.append((found.of.session, content_hash(found.of.content)) in answers)
    numbers = {session: number for number, session in enumerate(dict.fromkeys(sessions))}
    return Compared(np.array(rows, float), np.array([numbers[each] for each in sessions]), np.array(right, float))


def fitted(given: Sequence[Compared]) -> Weights:
    weights = SHIPPED
    for _ in range(ROUNDS):
        weights = _as_recipe(_softmax([(_with_session(each, weights), each.right) for each in given]))
    return weights


def _with_session(given: Compared, by: Weights) -> Rows:
    """With the best that a message of its session says for itself."""
    around = by.vector * by.previous, by.vector * by.next
    own = given.rows[:, : PERSON + 1] @ np.array([1 - by.vector, by.vector, *around, by.person])
    best = np.full(given.sessions.max() + 1, -np.inf)
    np.maximum.at(best, given.sessions, own)
    return np.column_stack((given.rows, best[given.sessions]))


def _softmax(given: Sequence[tuple[Rows, Rows]]) -> Rows:
    """The weights by which the answers of the questions are most likely."""
    found = np.zeros(SESSION + 1)
    unlikely, slope, curve = _slope(given, found)
    for _ in range(STEPS):
        step, share = np.linalg.solve(curve, slope), 1.0
        while (tried := _slope(given, found - share * step))[0] > unlikely and share > SMALLEST:
            share /= 2
        found = found - share * step
        unlikely, slope, curve = tried
    return found


def _slope(given: Sequence[tuple[Rows, Rows]], by: Rows) -> tuple[float, Rows, Rows]:
    """How unlikely the answers are, with its first and second derivative."""
    unlikely, slope, curve = RIDGE * float(by @ by) / 2, RIDGE * by, RIDGE * np.eye(len(by))
    for rows, right in given:
        sums, wanted = rows @ by, right / right.sum()
        likely = np.exp(sums - sums.max())
        total = likely.sum()
        likely /= total
        unlikely += float(np.log(total) + sums.max() - wanted @ sums)
        slope = slope + rows.T @ (likely - wanted)
        mean = likely @ rows
        curve += (rows * likely[:, None]).T @ rows - np.outer(mean, mean)
    return unlikely, slope, curve


def _as_recipe(found: Rows) -> Weights:
    legs = found[TEXT] + found[VECTOR]
    whole = legs + found[SESSION]
    return Weights(
        vector=float(found[VECTOR] / legs),
        previous=float(found[PREVIOUS] / found[VECTOR]),
        next=float(found[NEXT] / found[VECTOR]),
        person=float(found[PERSON] / legs),
        session=float(found[SESSION] / whole),
        length=float(found[LENGTH] / whole),
        question=float(found[ASKS] / whole),
    )


def fits(memory: Retentive, talk: Sequence[Trial]) -> Iterator[str]:
    seen = [[*compared(memory, trial)] for trial in talk]
    whole = fitted([each for those in seen for each in those])
    parts = [fitted([each for those in (*seen[:at], *seen[at + 1 :]) for each in those]) for at in range(len(talk))]
    yield "| weight | shipped | fitted | with one conversation left out |"
    yield "|---|---|---|---|"
    for name, shipped, found, *others in zip(Weights._fields, SHIPPED, whole, *parts, strict=True):
        yield f"| {name} | {shipped:g} | {found:.3f} | {min(others):.3f} to {max(others):.3f} |"
    yield ""
    yield "| weights | conversations R@5 | R@10 | MRR | facts R@5 | R@10 | MRR |"
    yield "|---|---|---|---|---|---|---|"
    facts = trials(FACTS, "jsonl")
    tell(memory, facts)
    for name, each in {"shipped": [SHIPPED] * len(talk), "fitted on the others": parts}.items():
        asked = [outcomes(memory, [trial], by.variant(name)) for trial, by in zip(talk, each, strict=True)]
        told = outcomes(memory, facts, (SHIPPED if name == "shipped" else whole).variant(name))
        yield f"| {name} | {_row([one for those in asked for one in those])} | {_row(told)} |"


def _row(found: Sequence[Outcome]) -> str:
    numbers = figures(found)
    return f"{numbers.recall[1]:.3f} | {numbers.recall[2]:.3f} | {numbers.mrr:.3f}"
