"""Decide by its form which kind a statement has, and whether it concerns somebody's safety."""

import re

from retentive.model import Kind

MIN_PERSONAL = 0.8  # the judge's score from which a statement is surely about the person

_PREFERENCE_WORDS = re.compile(
    r"\b(?:prefer\w*|favou?rite|(?:i|we|user)(?: \w+){0,2} (?:likes?|loves?|enjoys?|hates?|dislikes?|adores?)"
    r"|(?:cannot|can't) stand|would rather|big fan of)\b",
    re.IGNORECASE,
)
_DECISION_WORDS = re.compile(
    r"\b(?:decided|agreed (?:to|on|that)|settled on|opted (?:for|to)|going with|chose|the (?:decision|plan) is)\b",
    re.IGNORECASE,
)
_HABIT_WORDS = re.compile(
    r"\b(?:every (?:\w+ )?(?:day|week|morning|evening|night|month|year|\w+day)|usually|most days"
    r"|on (?:mon|tues|wednes|thurs|fri|satur|sun|week)days)\b",
    re.IGNORECASE,
)
_SAFETY_WORDS = re.compile(
    r"\b(?:allerg\w*|anaphyla\w*|diabet\w*|epilep\w*|asthma\w*|c(?:o)?eliac|insulin|pregnan\w*|pacemaker|h(?:a)?emophil\w*"
    r"|blood thinners?|immunosuppress\w*)\b",
    re.IGNORECASE,
)


def find_kind(text: str, personal: float = 0.0) -> Kind:
    """The kind of a statement. `personal` is the probability that it is about the person, if that was judged."""
    if _DECISION_WORDS.search(text):
        return Kind.DECISION
    if _PREFERENCE_WORDS.search(text):
        return Kind.PREFERENCE
    if _HABIT_WORDS.search(text):
        return Kind.PATTERN
    return Kind.PERSONAL if personal >= MIN_PERSONAL else Kind.FACT


def is_vital(text: str) -> bool:
    """Whether a statement concerns somebody's safety, whatever the question: an allergy, a chronic disease."""
    return bool(_SAFETY_WORDS.search(text))
