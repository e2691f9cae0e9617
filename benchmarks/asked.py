"""Questions of a collection, asked below the interface, which has no recipes."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, NamedTuple

from benchmarks.ours import settle
from retentive import Retentive
from retentive.cli.eval import build_keys, build_outcome
from retentive.evaluation import EvaluationQuestion, Trial
from retentive.evaluation.figures import QuestionOutcome
from retentive.model import Query, to_micros
from retentive.search.search import answer
from retentive.search.signals import RECIPE, Recipe
from retentive.store.scope import make_scope

_NOW = to_micros(datetime.now(UTC))


class Variant(NamedTuple):
    name: str
    recipe: Recipe = RECIPE
    options: Mapping[str, Any] = MappingProxyType({})


def parts_of(memory: Retentive, trial: Trial) -> Any:
    return memory.in_namespace(f"eval/{trial.name}")._store  # noqa: SLF001 - recipes are no part of the interface


def query_of(trial: Trial, question: EvaluationQuestion, **options: Any) -> Query:
    seen = make_scope([f"eval/{trial.name}"], **question.options)
    return Query(question.text, replace(seen, now=_NOW), **options)


def outcomes(memory: Retentive, asked: Sequence[Trial], variant: Variant) -> list[QuestionOutcome]:
    """Of the questions that can be answered."""
    return [
        build_outcome(
            question,
            answer(parts_of(memory, trial), query_of(trial, question, **variant.options), variant.recipe),
            build_keys(trial),
        )
        for trial in asked
        for question in trial.questions
        if question.expected
    ]


def loaded(memory: Retentive, asked: Sequence[Trial]) -> None:
    """So that every question finds the same indexes: from the second one on they are loaded in the background."""
    for trial in asked:
        settle(memory.in_namespace(f"eval/{trial.name}"), [("what was there before the first question?", None)] * 2)
