"""What speaks against keeping a clause: it is talk rather than a statement, or says less than it seems to.

All are matched in lower case, with the short forms in full.
"""

import re

from retentive.learn.talk import vocabulary as words
from retentive.learn.talk.vocabulary import is_concrete

_TIMES = (
    r"summer|week|weekend|month|year|fall|winter|spring|autumn|season|term|morning|evening|afternoon|quarter|days"
    r"|january|february|march|april|may|june|july|august|september|october|november|december|\w+day"
)
_ADDRESSED = re.compile(r"\b(?:you|your|yours|yourself|ya|y'all|thanks?|congrat\w*|sorry|wow|cheers|hope)\b")
_UNREAL = re.compile(
    r"\b(?:i wish|imagine|what if|would have|could have|should have|would be|would miss"
    r"|if i (?:were|was|had|could|did)|if we (?:were|had)|cannot wait|cannot (?:believe|imagine|thank|say|help)"
    r"|no idea|pretend\w*|kidding|hypothetical\w*)\b|^(?:if|unless|suppose|let me|let us"
    r"|we all (?!\w+ed\b|went\b|had\b|got\b))\b"
)
_PASSING = re.compile(
    r"\b(?:for the (?:last|past) (?:half )?(?:hour|\w+ minutes)|right now|at the moment"
    r"|for a (?:sec|second|minute|moment)|ever since|work well)\b"
)
_ASKING = re.compile(
    r"\?\W*$|^(?:what|how|who|where|why|which|whose|do|does|did|is|are|can|could|would|will|should|have|has|had|any"
    r"|please|help|tell|show|give|check|look|see|fix|write|explain|make|keep|take|try|go|remember|sounds|looks"
    r"|seems)\b"
)
# What is pointed at is not in the words: "this pic", "I made that", "one of them", "something new".
_POINTING = re.compile(
    rf"\b(?:this|these|those) (?!{_TIMES})\w|\b(?:each other|one another|here)\b"
    r"|\b(?:one|ones|another)(?:[,.!]|$| (?:with|for|like|that|of (?:my|our) own|in|at|on|last|next|and|to|from)\b)"
    r"|\b(?:played|had|did|made|built|found|got|won) one\b|\bone more\b"
    r"|\bone of (?:them|these|those|my own|our own)\b|\b(?:to|in|on|from|into|\w+ed|read|saw|bought|took|find|found"
    r"|using|about|of|with|for|at|by|love|like|enjoy|did|made|do|want|need"
    r"|got) that (?!(?:i|we|is|are|was|were|he|she|they|it|my|our|the|a|there)\b)"
    r"|\b(?:on|doing|do|made|make|tackled|try|trying|have|has) something\b"
    r"|\bsince (?:we|i|our) (?:last |both )?(?:spoke|talked|chat\w*|met)\b"
    r"|\b(?:this|that|these|those)(?:[,.;:!]|$| (?:is|was|were|are|has|too|again|and|for|to|kind|sort|way|one"
    r"|thing)\b)|\blike that\b|\boption \w+[.!]?$|\bthe (?:first|second|third|last|other) (?:one|option)\b"
    r"|\bthe (?:pic|photo|picture|view|above|below|following)s?\b"
)
DANGLING = re.compile(
    r"^(?:\S+ ){1,3}(?:it|them|him|her|there|here|one|so)(?:[,.;!]|$| (?:to|for|too|all|up|out|so|and|in|on|at)\b)"
)
JUDGED = re.compile(
    r"\b(?:is|are|was|were|am|been|be|feels?|felt|looks?|looked|seems?|(?:made|makes?) (?:me|us)(?: feel)?|had|have"
    r"|has|means?|meant) (?:(?:a|an|the|my|so|such|really|very|pretty|quite|super|always|just|all|a bit|a little"
    r"|definitely|truly|more|less|too|even|still|also|not|some|lots of|absolutely|and|one of"
    rf"|going to be) )*(?:{words.EVALUATIONS})\b"
)
FELT = re.compile(
    r"\b(?:made|makes?|help(?:s|ed)?|inspire[sd]?|remind(?:s|ed)?|motivate[sd]?|boost(?:s|ed)|brings?|brought|keeps?"
    r"|kept|means?|meant) (?:me|us|my|our|so|a lot|joy)\b|\bincreased\b|\bdamper\b"
)
# Things of the task at hand, and of every day: nobody asks for them later.
TASK = re.compile(
    r"^ (?:(?:a|an|the|some|any|this|following|two|my|few|another|new|funny|other) )*(?:function|pic|picture|photo"
    r"|story|stuff|option|event|day-off|day off|conversation|experience|incident|list|dataframe|table|file|script"
    r"|question|error|bug|problem|string|array|class|code|column|query|test|issue|doubt|idea|request|task|method"
    r"|loop|json|csv|snippet|screenshot|log|trouble|feeling|look|hard time|tough time|rough|chat|talk|good|great"
    r"|nice|fun|time|lot(?! of)|ton(?! of)|bunch(?! of)|chance|point|thought|plan|sec|minute|break|laugh|drink|lunch"
    r"|dinner|breakfast|nap|shower)s?\b"
)
TRIVIAL = re.compile(
    r"^ (?:to )?(?:(?:the|my|a|some) )?(?:bed|home|out|sleep|shower|lunch|dinner|breakfast|break|nap|back|online|off"
    r"|store|shop|it|there|here|on|away|through|along|ahead|for it|by|with it|into it|crazy|well)[.!]?$"
)

_PRONOUNS = frozenset("it its them him he she they her his".split())
_LINKS = frozenset("and but because so when while after before if where that until whether than as".split())
_PERSONS = re.compile(
    rf"\b(?:{words.KIN}|{words.PEOPLE}|{words.PETS}|girl|guy|woman|man|boy|someone|who|named|called)\b"
)
_WORD = re.compile(r"[\w'-]+")


def is_talk(low: str) -> bool:
    """Said to the other one, or of what is not so, or of this very moment."""
    return any(sign.search(low) for sign in (_ADDRESSED, _ASKING, _UNREAL, _PASSING))


def is_unclear(low: str) -> bool:
    """It needs what was said around it to be understood."""
    return bool(_POINTING.search(low) or DANGLING.match(low) or _is_stray(low))


def _is_stray(low: str) -> bool:
    """A pronoun for what the clause does not name: "I love the freedom it brings".

    After "and" and the like it may be what was named before: "I love sushi and eat it every week". And "he" may be a
    person that was named.
    """
    found = _WORD.findall(low)
    if _PRONOUNS.isdisjoint(found):
        return bool(found) and found[-1] in ("there", "that", "this")
    linked = False
    for place, word in enumerate(found):
        linked = linked or (word in _LINKS and is_concrete(" ".join(found[2:place])))
        if word in _PRONOUNS and not (linked and _may_refer(found, place)) and not _is_person(word, found[:place]):
            return True
    return found[-1] in ("there", "that", "this")


def _may_refer(found: list[str], place: int) -> bool:
    """Not "the connections it brings", whose "it" is something else."""
    after = found[place + 1] if place + 1 < len(found) else ""
    return found[place] != "it" or not after.endswith("s") or found[place - 1] in _LINKS


def _is_person(word: str, before: list[str]) -> bool:
    return word not in ("it", "its") and bool(_PERSONS.search(" ".join(before)))
