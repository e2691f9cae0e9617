"""Clean a sentence of a chat: strip fillers, and add the subject that chat leaves out."""

import re

from retentive.judgement.extract.person import expand_short_forms
from retentive.judgement.extract.quoted_text import restore_apostrophes
from retentive.judgement.extract.verbs import is_past

_FILLERS_WITHOUT_COMMA = (  # fillers that need no comma after them
    r"oh|ah|hey|hi|hello|hmm+|well|yeah|yep|yup|actually|btw|by the way|anyways?|wow|haha\w*|lol|and|but|so|plus"
    r"|honestly|basically|fyi|luckily|unfortunately|sadly|thankfully|fortunately|in fact|to be honest|tbh|man|ugh|omg"
    r"|(?:i|and i|oh i) (?:forgot to|should|wanted to|want to|must|have to) (?:mention|add|say|admit)(?: that)?"
    r"|(?:just )?(?:so you know|letting you know)(?: that)?"
)
_FILLERS_WITH_COMMA = (  # fillers that do
    r"yes|no|nope|nah|ok|okay|sure|right|true|thanks(?: a lot| so much| again)?|thank you(?: so much)?|cool|great"
    r"|awesome|nice|definitely|absolutely|exactly|indeed|as you know|guess what|speaking of (?:which|[\w ]{2,20})"
    r"|as always|i mean|you know|like i said|for the record|finally|first of all|for me|also|update|fun fact"
    r"|for context|for background|quick note|about me|besides|however|though|either way|of course|same here|me too"
    r"|correction|note|(?:exciting|great|good|bad|big|sad|some) news|alright|agreed|sorry|morning|good (?:morning"
    r"|evening)"
)
_SEPARATOR = r"\s*(?:[,!.:;…]+|\s[-\u2013\u2014]+)\s*"
_FILLER = re.compile(
    rf"(?:(?:{_FILLERS_WITH_COMMA})(?:,? [A-Z]\w+)?{_SEPARATOR}"
    rf"|(?:{_FILLERS_WITHOUT_COMMA})\b(?:,? [A-Z]\w+(?=\s*[,!]))?(?:{_SEPARATOR}|\s+)"
    r"|[A-Z][a-z]+, (?=(?:i|we|my|our|i'm|i've|there|it's)\b))",
    re.IGNORECASE,
)
_TRAILING_FILLER = re.compile(
    r"(?:,? (?:as you know|by the way|btw|fyi|tho|though|lol|haha|thanks|thx|pls|please|for the record|to be honest|tbh"
    r"|of course|you know|obviously))+[\s.!]*$",
    re.IGNORECASE,
)
_JOKE = re.compile(
    r"^\W*(?:(?:just|i'?m|i was|only|haha|lol|ok)\W+)*(?:kidding|joking|jk|j/k|just messing|messing with you"
    r"|not really)\W*(?:haha|lol)?\W*$",
    re.IGNORECASE,
)
_ADJECTIVES_LIKE_PASTS = frozenset("based called named supposed related red used-to added fixed need".split())
_BEEN_DOING = re.compile(r"been (?=\w+ing\b)", re.IGNORECASE)
_LEADING_ADVERB = re.compile(r"(?:just|recently|finally|also|still) ", re.IGNORECASE)


def strip_fillers(sentence: str) -> str:
    """Strip fillers from the start and the end of a sentence, expand short forms and add a missing subject."""
    text = expand_short_forms(restore_apostrophes(sentence.strip(" \t*_~")))
    while (filler := _FILLER.match(text)) and filler.end() < len(text):
        text = text[filler.end() :]
    return add_subject(_TRAILING_FILLER.sub("", text))


def add_subject(text: str) -> str:
    """Add "I" to a text without a subject, which says what the speaker did: "Just moved to Porto"."""
    if found := _BEEN_DOING.match(text):
        return f"I have been {text[found.end() :]}"
    adverb = _LEADING_ADVERB.match(text)
    rest = text[adverb.end() :] if adverb else text
    verb = rest.split(maxsplit=1)[0].lower() if rest.split() else ""
    if is_past(verb) and verb not in _ADJECTIVES_LIKE_PASTS and len(text.split()) > 2:  # noqa: PLR2004
        return f"I {text[:1].lower()}{text[1:]}"
    return text


def is_joke(sentence: str) -> bool:
    """Whether a sentence takes back the one before: "just kidding"."""
    return bool(_JOKE.match(sentence))
