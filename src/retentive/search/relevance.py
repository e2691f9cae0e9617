"""How likely a hit answers the question, on one scale for all questions.

A score orders the hits of one search; the best of a poor lot is best, too. Relevance says whether what was found is
worth showing at all. It is a logistic of evidence that means the same in every search and depends on the question and
the hit alone: how far the cosine is above the model's own threshold, how much of the question's words the hit has (with
those that are related), whether it is of the person and has the names that the question asks about, whether it has the
kind of value that is asked for (a time, a number, a name), whether it asks rather than tells, and whether an assistant
said it. More of the first two never lowers it.

Fitted by `python -m benchmarks.fit_ranking` on what ten hits each of answerable and unanswerable questions were worth,
hits that answer weighing as much together as all others: at 0.5 a hit is as likely from among the one as from among
the other. Where a search did not take part there are coefficients for what is left.
"""

from math import exp, log
from typing import NamedTuple


class Evidence(NamedTuple):
    """The evidence for a hit and against it."""

    cosine: float | None
    """Calibrated, above the threshold; None if vector search was not asked, or the text has no vector."""
    related: float | None
    """The share of the question's words; None if the question has none."""
    other_person: bool = False
    """Whether the question is about somebody, and the hit is not theirs."""
    missing_names: float = 0.0
    """The share of the names in the question that the hit does not have."""
    lacks_value: bool = False
    """Whether it has no value of the kind that is asked for."""
    asks: bool = False
    is_reply: bool = False


class Coefficients(NamedTuple):
    base: float
    cosine: float
    related: float
    other_person: float
    missing_names: float
    lacks_value: float
    asks: float
    is_reply: float


MAX_GAP = 0.8
"""How much less likely than the best a hit may be, in log-odds, where exactly what answers is wanted.

At relevance 0.4, of the blind set `exact` (158 questions; precision, recall, exactly right): .3 .66 .73 .47, .5 .64 .76
.45, .8 .63 .79 .44, none .48 .83 .23. Losing a true fact is worse than showing one too many.
"""

BOTH = Coefficients(-0.63, 3.92, 2.64, -3.18, -0.57, -1.35, -0.38, -1.61)
# Words alone mislead more easily than the fit shows, which saw the best ten of a long talk: about half of the
# question's words are asked for.
TEXT = Coefficients(-1.8, 0.0, 3.7, -2.2, -0.75, -1.0, -0.9, -0.9)
VECTOR = Coefficients(0.1, 7.6, 0.0, -2.6, -0.75, -1.0, -1.1, -1.1)


def relevance(evidence: Evidence) -> float:
    """The probability that a hit answers the question, from 0 to 1."""
    if evidence.cosine is None and evidence.related is None:
        return 0.0
    by = TEXT if evidence.cosine is None else VECTOR if evidence.related is None else BOTH
    total = (
        by.base
        + by.cosine * (evidence.cosine or 0.0)
        + by.related * (evidence.related or 0.0)
        + by.other_person * evidence.other_person
        + by.missing_names * evidence.missing_names
        + by.lacks_value * evidence.lacks_value
        + by.asks * evidence.asks
        + by.is_reply * evidence.is_reply
    )
    return 1 / (1 + exp(-total))


def least_cosine(min_relevance: float, related: float | None) -> float:
    """The least calibrated cosine with which a hit that has this share of related words reaches a relevance."""
    by = VECTOR if related is None else BOTH
    return (to_logit(min_relevance) - by.base - by.related * (related or 0.0)) / by.cosine


def to_logit(relevance: float) -> float:
    bounded = min(max(relevance, 1e-6), 1 - 1e-6)
    return log(bounded / (1 - bounded))
