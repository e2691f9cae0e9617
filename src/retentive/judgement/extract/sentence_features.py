"""Turn the form of a sentence into numbers: the features that judges of sentences see beside its vector."""

import re
from collections.abc import Mapping
from typing import Any

from retentive.judgement import judges

MAX_COUNTED_WORDS = 40  # more words say no more about the form

_WORD_PATTERN = re.compile(r"[\w']+")
_NAME_PATTERN = re.compile(r"(?<!^)(?<![.!?] )\b[A-Z][a-z]+")
_FIRST_PERSON = r"(?:i|we|my|our|i'm|i've|i'd|we're|we've|im|ive)"
_FEATURE_PATTERNS = {
    name: re.compile(form, re.IGNORECASE)
    for name, form in {
        "question_mark": r"\?",
        "exclamation": r"!",
        "starts_first_person": rf"^\W*{_FIRST_PERSON}\b",
        "first_person": rf"\b(?:{_FIRST_PERSON}|me|us)\b",
        "possessive": r"\b(?:my|our)\b",
        "we": r"\b(?:we|our|we're|we've|us)\b",
        "digit": r"\d",
        "second_person": r"\b(?:you|your)\b",
        "starts_question": r"^\W*(?:can|could|would|will|do|does|did|what|how|which|who|where|why|is|are|any|should)\b",
        "pointing": r"\b(?:this|that|it|these|those|they|them)\b",
        "starts_pointing": r"^\W*(?:it|this|that|they|he|she|these|those|it's|that's)\b",
        "future": r"\b(?:i'?ll|will|going to|gonna|let me|let's)\b",
        "hedge": r"\b(?:maybe|might|think|guess|probably|hope|wish|if)\b",
        "rule": r"\b(?:always|never|every|usually|from now on|whenever|only|instead|not)\b",
        "courtesy": r"\b(?:please|pls|thanks|thank|sorry|great|wow|haha|lol|cool|nice)\b",
        "here_and_now": r"\b(?:line|this|now|again|for now|right now|just|rn|today)\b",
        "when": r"\b(?:last|ago|yesterday|recently|since|years?|months?|weeks?|january|february|march|april|may|june"
        r"|july|august|september|october|november|december|(?:mon|tues|wednes|thurs|fri|satur|sun)days?)\b",
        "past": r"\w+ed\b|\b(?:got|bought|went|had|was|were|did|made|took|started|began)\b",
        "negative_order": r"^\W*(?:no|don't|dont|do not|never|stop|avoid)\b",
        "code": r"[`/_]|\b\w+\.\w{2,4}\b",
    }.items()
}


def compute_sentence_features(text: str) -> Mapping[str, float]:
    """Each feature by its name, from 0 to about 2."""
    words = min(len(_WORD_PATTERN.findall(text)), MAX_COUNTED_WORDS)
    found = {name: float(bool(form.search(text))) for name, form in _FEATURE_PATTERNS.items()}
    found["words"] = words / 20
    found["very_short"] = float(words < 4)  # noqa: PLR2004
    found["names"] = min(len(_NAME_PATTERN.findall(text)), 6) / 3
    return found


def score_personal(text: str, vector: Any = None) -> float:
    """The probability that a statement in the first person is about the person. `vector` is that of the text."""
    return judges.score("person", compute_sentence_features(text), vector)
