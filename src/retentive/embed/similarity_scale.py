"""Estimates the scale of a model's cosines: the threshold of related texts, and the spread of unrelated ones.

Models differ: the cosines of unrelated texts scatter around .07 by .11 with MiniLM, around .5 and more closely with
others. Ranking and relevance need both figures. For a model that nobody measured, they are estimated from the questions
and texts below, each question with each text. A few pairs are related, as in a store.

The store's own texts are no sample for this. They share the themes of one person, so their cosines are larger (MiniLM:
mean .25 instead of .08 for one conversation of LoCoMo). And a model that embeds questions with a prefix keeps them
further away from texts than texts are from each other (snowflake-arctic-embed-s: .5 and .8).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# MiniLM's measured threshold, .35, is this many deviations above the mean of the pairs below. With bge-small and
# arctic-s as many lead to the 99th percentile of the questions and turns of LoCoMo (.58 and .63), as with MiniLM.
_DEVIATIONS_TO_RELATED = 3.2

# The deviation in the searches that the ranking was fitted on (MiniLM: .11), by that of the pairs below (.087).
_SEARCHES_TO_PAIRS = 1.25

_MAX_SIMILARITY = 0.95  # if a model gives all texts nearly one vector, equal texts are still found
_MIN_SPREAD = 0.01  # ranking divides by it, and a model may give all texts one vector

SAMPLE_QUESTIONS = (
    "What does Maria do for a living?",
    "Where did the family spend the summer holidays?",
    "Which wine goes well with grilled fish?",
    "When is Daniel's appointment at the dentist?",
    "How do I renew my passport?",
    "What is the name of the dog?",
    "Who wrote the report on the merger?",
    "Why was the release postponed?",
    "Which instrument does Ana play?",
    "How old is their youngest son?",
    "What did the doctor say about the knee?",
    "Where is the spare key of the garage?",
    "What kind of music does he listen to while working?",
    "Which database does the billing service use?",
    "When did they move to the new flat?",
    "What was the last book that she read?",
    "How much is the rent?",
    "What does Tom eat for breakfast?",
    "Who is coming to the wedding?",
    "What time does the pharmacy close on Sundays?",
    "Which exam is Lucy studying for?",
    "How did the interview go?",
    "What colour is the front door?",
    "What went wrong with the printer?",
)

SAMPLE_TEXTS = (
    "The ferry to the island leaves at a quarter past nine.",
    "My grandmother taught me to knit when I was seven, and I still make socks every winter.",
    "Backups of the database are copied to another city every night.",
    "I broke my left wrist skating in February, so I could not play the violin for weeks.",
    "The committee rejected the budget by three votes.",
    "Tomatoes need more light than our balcony gets. We are trying peppers this year.",
    "The lease of the office ends in October.",
    "Two engineers left the company last month, and nobody has been hired since.",
    "He never drinks coffee after four in the afternoon.",
    "The train was cancelled because of the snow! I had to sleep at the station.",
    "They painted the nursery pale yellow.",
    "The function returns an empty list if nothing matches.",
    "My brother plays chess in a club on Thursdays.",
    "She is allergic to peanuts and to cats.",
    "Our flight to Lisbon has a stop in Zurich.",
    "That sounds wonderful, congratulations! When do you start?",
    "The recipe asks for two eggs, a cup of flour and a pinch of salt.",
    "A swarm of bees settled in the chimney of my parents' house.",
    "Prefers short answers with an example, and no introduction.",
    "Her new bicycle was stolen outside the library yesterday.",
    "We decided to move the meeting to Wednesday, because Paul is away.",
    "The vaccine has to be kept below five degrees.",
    "I have been feeling tired lately, maybe I should go to bed earlier.",
    "The choir rehearses in the church hall, and the concert is in June.",
    "The laptop needs a new battery; it lasts for an hour at most.",
    "The carpenter charges by the hour, without materials.",
    "The students protested against higher fees.",
    "He sold the old boat to a neighbour. Rust had eaten through the hull.",
    "Thanks, I will try that and tell you how it went.",
    "Port 8080 is taken by the proxy, so the tests use 8090.",
    "The river behind the house freezes over in most winters.",
    "Caroline wants to adopt a child and has talked to three agencies.",
    "The goalkeeper saved a penalty in the last minute, it was unbelievable.",
    "Invoices are sent on the first of the month, in euros.",
    "I started to learn Portuguese with an app, but the pronunciation is hard.",
    "The museum bought a letter by a forgotten poet.",
)


class SimilarityScale(NamedTuple):
    min_similarity: float
    """The cosine above which a text counts as related to a question."""
    spread: float
    """The standard deviation of the cosines of questions and texts that are not related."""


def estimate_scale(questions: NDArray[np.float32], texts: NDArray[np.float32]) -> SimilarityScale:
    """Estimate the scale of a model from its unit vectors of `SAMPLE_QUESTIONS` and of `SAMPLE_TEXTS`."""
    cosines = questions @ texts.T
    mean, deviation = float(cosines.mean()), float(cosines.std())
    similarity = min(_MAX_SIMILARITY, mean + _DEVIATIONS_TO_RELATED * deviation)
    return SimilarityScale(round(similarity, 3), max(_MIN_SPREAD, round(_SEARCHES_TO_PAIRS * deviation, 3)))
