"""Judge meaning: which statements are worth keeping, and which replace others. Pure functions on texts and vectors."""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from retentive.model import Claim, Event, Kind

if TYPE_CHECKING:
    from retentive.judgement.corrections.compare import Verdict
    from retentive.judgement.corrections.statement import Statement
    from retentive.judgement.extract.candidates import CandidateSentence
    from retentive.judgement.requests.find_requests import Request


MAX_STATEMENT_CHARS = 300  # a longer text states several things, and none of them surely
MAX_COMPARED_MEMORIES = 24  # with one new statement; among more, too many look alike by chance
TRAINED_SPACE = "all-MiniLM-L6-v2"
"""The model whose vectors the judges were trained on. The name of its space begins with it."""


class Correction(NamedTuple):
    """A message that corrects an earlier one: "no, I meant 14 May"."""

    sequence: int
    value: str


class Judgement:
    """The functions of this package, each imported on first use.

    Compiling all their patterns takes 100 ms, and an add needs few of them.
    """

    @cached_property
    def parse(self) -> "Callable[[str], Statement]":
        from retentive.judgement.corrections.statement import parse_statement

        return parse_statement

    @cached_property
    def compare(self) -> "Callable[[Statement, Statement], Verdict | None]":
        """Why the newer of two statements surely replaces the older."""
        from retentive.judgement.corrections.compare import compare

        return compare

    @cached_property
    def score_replacements(self) -> "Callable[[Sequence[Statement], Statement, Sequence[Any], Any], list[float]]":
        """How likely a newer statement replaces each of several older ones."""
        from retentive.judgement.corrections.judge import score_replacements

        return score_replacements

    @cached_property
    def is_restatement(self) -> "Callable[[Statement, Statement], bool]":
        """Whether the newer of two statements says no more than the older."""
        from retentive.judgement.corrections.compare import is_restatement

        return is_restatement

    @cached_property
    def find_slot(self) -> "Callable[[Statement], str | None]":
        from retentive.judgement.corrections.slots import find_slot

        return find_slot

    @cached_property
    def find_slot_value(self) -> "Callable[[Statement], str]":
        from retentive.judgement.corrections.slots import find_slot_value

        return find_slot_value

    @cached_property
    def find_question_words(self) -> Callable[[str], str | None]:
        """The words in which people ask for the value of a slot."""
        from retentive.judgement.corrections.slots import find_question_words

        return find_question_words

    @cached_property
    def correct_value(self) -> Callable[[str, str], str | None]:
        """An earlier statement with the value that a correction gives."""
        from retentive.judgement.corrections.values import correct_value

        return correct_value

    @cached_property
    def is_vital(self) -> Callable[[str], bool]:
        """Whether a statement concerns somebody's safety, whatever the question."""
        from retentive.judgement.extract.kinds import is_vital

        return is_vital

    @cached_property
    def find_validity(self) -> Callable[[str, datetime], tuple[datetime | None, datetime | None]]:
        """The period in which a statement of that moment holds, if its words say so."""
        from retentive.text.dates import find_validity

        return find_validity

    @cached_property
    def find_requests(self) -> "Callable[[str], tuple[Request, ...]]":
        """The requests of a message to keep, forget or correct something."""
        from retentive.judgement.requests.find_requests import find_requests

        return find_requests

    @cached_property
    def make_dates_absolute(self) -> Callable[[str, Kind, datetime], str]:
        from retentive.judgement.extract.absolute_dates import make_dates_absolute

        return make_dates_absolute

    @cached_property
    def find_candidates(self) -> "Callable[[Sequence[Event]], list[CandidateSentence]]":
        """The sentences of a conversation that may become claims."""
        from retentive.judgement.extract.candidates import find_candidates

        return find_candidates

    @cached_property
    def choose_claims(
        self,
    ) -> "Callable[[Sequence[CandidateSentence], Sequence[Any] | None, Iterable[Correction]], list[Claim]]":
        """The claims among candidates, by the judges, their vectors and the corrections of later messages."""
        from retentive.judgement.extract.choose import choose_claims

        return choose_claims

    @cached_property
    def score_personal(self) -> Callable[[str, Any], float]:
        """How likely a statement in the first person is about the person rather than the project."""
        from retentive.judgement.extract.sentence_features import score_personal

        return score_personal
