"""How likely a hit answers the question, on one scale for all questions.

A score orders the hits of one search; the best of a poor lot is best, too. Relevance says whether what was found is
worth showing at all. It is a logistic of four things that mean the same in every search: how far the cosine is above
the model's own threshold, the share of the question's words that the hit has, whether it is of the person whom the
question is about, and whether it asks rather than tells. More of any of the first three never lowers it.

Fitted by `python -m benchmarks.recall --fit` on what ten hits each of answerable, unanswerable and foreign questions
were worth, hits that answer weighing as much together as all others: at 0.5 a hit is as likely from among the one as
from among the other. Where a leg did not take part there are coefficients for what is left.
"""

from math import exp, log
from typing import NamedTuple


class Coefficients(NamedTuple):
    base: float
    cosine: float
    cover: float
    person: float
    asks: float


BOTH = Coefficients(-3.4, 6.1, 2.2, 2.9, -1.2)
# Words alone mislead more easily than the fit shows, which saw the best ten of a long talk (base -3.2): about half of
# the question's words are asked for.
TEXT = Coefficients(-4.0, 0.0, 3.7, 2.2, -0.9)
VECTOR = Coefficients(-2.5, 7.6, 0.0, 2.6, -1.1)


class Evidence(NamedTuple):
    """What speaks for a hit. `cosine` is above the model's threshold; None where a leg was not asked."""

    cosine: float | None
    cover: float | None
    person: bool = True
    """False: the question is about someone, and this is not theirs."""
    asks: bool = False


def relevance(evidence: Evidence) -> float:
    """From 0 to 1."""
    cosine, cover, person, asks = evidence
    if cosine is None and cover is None:
        return 0.0
    by = TEXT if cosine is None else VECTOR if cover is None else BOTH
    sum = by.base + by.cosine * (cosine or 0.0) + by.cover * (cover or 0.0) + by.person * person + by.asks * asks
    return 1 / (1 + exp(-sum))


def least_cosine(threshold: float, cover: float | None) -> float:
    """The cosine above the model's threshold from which a hit may pass, if it has this share of the words."""
    bounded = min(max(threshold, 1e-6), 1 - 1e-6)
    by = VECTOR if cover is None else BOTH
    return (log(bounded / (1 - bounded)) - by.base - by.person - by.cover * (cover or 0.0)) / by.cosine
