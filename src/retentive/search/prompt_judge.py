"""Judges whether a memory belongs in front of a model that is about to answer a prompt.

Relevance says whether a text answers a question. Most prompts to an assistant are no questions, and most memories that
share a name with a prompt say something else about it. So the best candidates of a search are compared with each other
and with the store, and a logistic of seven features gives the probability that a memory helps:

a. Gap: how much less relevant it is than the best candidate, in log-odds.
b. Cosine, calibrated. Contrast: how far the cosine stands out among the candidates.
c. Rarest: the rarity of the rarest word that it shares with the prompt: 1 for a word of one text, 0 for a word of all.
   A name that half of the store has says little, a word that two texts have says much.
d. Known: the share of the prompt's words that any text of the store has. A general question knows few.
e. Outdated: whether a newer memory replaced it or may have.
f. Importance.

They mean the same in every store. Fitted by `python -m benchmarks.fit_prompt_judge` on the prompts of three made-up
people; `benchmarks/README.md` has the figures of those left out.
"""

from collections.abc import Sequence
from math import exp, log
from statistics import fmean, pstdev
from typing import NamedTuple

from retentive.model import Hit
from retentive.search.relevance import to_logit

CANDIDATES = 12  # hits that are compared. With 20 as many prompts are helped, and more of what is given is noise
MIN_HELP = 0.35
"""The probability from which a memory is given.

Precision and share of prompts helped, each life with the weights of the other two: .25 .54 .89, .3 .61 .88,
.35 .65 .86, .4 .68 .81, .45 .70 .78.
"""
NEAR_IN_MEANING = 0.45
"""The cosine of a memory that is given although it shares no word with the prompt: "dog" for "pet".

On the prompts fitted on: from .35 one of 11 such memories helps, from .4 one of 2, from .45 the only one.
"""
MIN_RELEVANCE = 0.5  # of such a memory
UNRELATED_COSINE = 0.15  # of the last candidates in a store of a few hundred memories. Stands in for missing ones
MIN_SPREAD = 0.02  # of cosines; so that no contrast is made of nothing
MIN_TEXTS = 200  # in a smaller store a word is about as rare as in one of this size
USUAL_IMPORTANCE = 5


class Features(NamedTuple):
    gap: float
    cosine: float
    contrast: float
    rarest: float
    known: float
    outdated: float
    importance: float


BASE = -6.15
WEIGHTS = Features(gap=0.62, cosine=3.05, contrast=0.81, rarest=3.83, known=1.75, outdated=-1.51, importance=1.17)


class WordRarity(NamedTuple):
    """How many texts have each word of a prompt, as the full-text index sees it, of how many texts."""

    terms: Sequence[str]
    counts: dict[str, float]
    texts: int

    def measure_rarest(self, text_terms: Sequence[str]) -> float:
        """The rarity of the rarest word that a text shares with the prompt."""
        shared = {*self.terms}.intersection(text_terms)
        texts = max(self.texts, MIN_TEXTS) + 1
        return max(
            (max(0.0, log(texts / (self.counts.get(term, 0.0) + 0.5)) / log(texts)) for term in shared), default=0
        )

    @property
    def known_share(self) -> float:
        """The share of the prompt's words that any text has."""
        return sum(term in self.counts for term in self.terms) / max(1, len(self.terms))


def read_features(
    hits: Sequence[Hit], cosines: Sequence[float], rarest: Sequence[float], known: float
) -> list[Features]:
    """Compute the features of the candidates of one prompt, the best first."""
    if not hits:
        return []
    filled = [*cosines, *[UNRELATED_COSINE] * (CANDIDATES - len(hits))]
    mean, spread = fmean(filled), pstdev(filled) + MIN_SPREAD
    best = max(to_logit(hit.relevance) for hit in hits)
    return [
        Features(
            gap=to_logit(hit.relevance) - best,
            cosine=cosine,
            contrast=(cosine - mean) / spread,
            rarest=rarity,
            known=known,
            outdated=float(hit.outdated is not None),
            importance=(hit.memory.importance - USUAL_IMPORTANCE) / USUAL_IMPORTANCE,
        )
        for hit, cosine, rarity in zip(hits, cosines, rarest, strict=True)
    ]


def judge(features: Features) -> float:
    """The probability that a memory helps to answer the prompt."""
    total = BASE + sum(weight * value for weight, value in zip(WEIGHTS, features, strict=True))
    return 1 / (1 + exp(-total))


def is_near_in_meaning(features: Features, relevance: float) -> bool:
    """Whether a memory says the same in other words: it shares none with the prompt, and likely answers it."""
    is_other_words = not features.rarest and not features.outdated
    return is_other_words and features.cosine >= NEAR_IN_MEANING and relevance >= MIN_RELEVANCE


def choose_helpful(hits: Sequence[Hit], features: Sequence[Features], limit: int) -> list[Hit]:
    """Choose the hits that are likely to help, the likeliest first."""
    likely = sorted(((judge(each), -place) for place, each in enumerate(features)), reverse=True)
    chosen = [
        hits[-place]
        for probability, place in likely
        if probability >= MIN_HELP or is_near_in_meaning(features[-place], hits[-place].relevance)
    ]
    return chosen[:limit]
