"""How do a model's cosines lie? Estimated from questions and statements of everyday talk that do not answer them.

What is sought are the figures of 300 questions and 1,000 turns of LoCoMo, which no program can carry along. The sample
here is less related than talk of one circle of people is. Its figures, and what they are turned into:

                              LoCoMo                 sample                estimate
                         threshold  spread       mean     spread      threshold  spread
    all-MiniLM-L6-v2        .350     .114        .079      .092          .350     .106
    bge-small-en-v1.5       .570     .072        .385      .066          .580     .076
    arctic-embed-s          .619     .047        .497      .042          .621     .048
    potion-base-8M          .364     .106        .066      .082          .308     .094

The threshold is the cosine that as many unrelated pairs reach (5 %) as reach .35 with MiniLM.

A sample of a store's own texts would not do. Its pairs are of one person's themes, so their cosines are larger (MiniLM:
mean .25 for one conversation of LoCoMo); and a model that embeds questions with a prefix keeps them further away from
texts than texts are from each other (arctic-embed-s: .5 and .8).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_DEVIATIONS = 2.95  # of the sample, from its mean to the threshold
_WIDER = 1.15  # the spread of talk, in spreads of the sample
_HIGHEST = 0.95
_NARROWEST = 0.01  # of a spread: a model that gives all texts one vector would have none

QUESTIONS = (
    "When did Caroline go to the support group?",
    "What is my dog called?",
    "Which database do we use in production?",
    "Where did Tom travel in the summer?",
    "How does Melanie relax after work?",
    "What did the doctor say about my knee?",
    "Who is the new head of marketing?",
    "What kind of music does Ana listen to?",
    "When is the rent due?",
    "Why did the last release fail?",
    "What did we give Grandma for her birthday?",
    "Which language is James learning?",
)
STATEMENTS = (
    "Ben: The kitchen tap has been dripping since Monday, I should call someone.",
    "Lisa: We planted tomatoes and basil on the balcony this weekend!",
    "The user prefers window seats on trains.",
    "Marco: I finally finished the book about the polar expedition, it was gripping.",
    "Invoices are sent on the first working day of the month.",
    "Nadia: My sister just bought a small house near the lake.",
    "Paul: The match was cancelled because of the rain.",
    "The car needs new brake pads before the winter.",
    "Yuki: I'm thinking about signing up for a pottery class.",
    "Remember to water the plants every second day.",
    "Omar: The interview went well, they want to see me again next week.",
    "Eva: I baked bread for the first time, it came out a bit dense.",
    "The office moves to the third floor in October.",
    "Sam: Thanks, that means a lot to me!",
    "Jon: We saw two deer on the trail, so beautiful.",
    "The wifi password is on the back of the router.",
)


class Scale(NamedTuple):
    min_similarity: float
    """The cosine above which a text is worth calling related to a question."""
    spread: float
    """The standard deviation of the cosines of questions and unrelated texts."""


def estimate_scale(questions: NDArray[np.float32], statements: NDArray[np.float32]) -> Scale:
    """The scale of a model, from its unit vectors of `QUESTIONS` and of `STATEMENTS`."""
    cosines = questions @ statements.T
    spread = max(float(cosines.std()), _NARROWEST)
    threshold = min(_HIGHEST, float(cosines.mean()) + _DEVIATIONS * spread)
    return Scale(round(threshold, 3), round(_WIDER * spread, 3))
