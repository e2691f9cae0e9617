"""Is a statement about the person who says it, or about the project they work on?"""

from typing import Any

from retentive.judgement import judges
from retentive.judgement.extract.sentence_features import describe_sentence


def score_personal(text: str, vector: Any = None) -> float:
    """The probability that a statement in the first person is about the person. `vector` is that of the text."""
    return judges.score("person", describe_sentence(text), vector)
