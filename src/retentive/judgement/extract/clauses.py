"""A sentence without the words that only lead up to it, and with the subject that chat leaves out."""

import re

from retentive.judgement.extract.person import plain
from retentive.judgement.extract.quoted_text import restore_apostrophes
from retentive.judgement.extract.verbs import is_past

_ALONE = (  # fillers that need no comma after them
    r"oh|ah|hey|hi|hello|hmm+|well|yeah|yep|yup|actually|btw|by the way|anyways?|wow|haha\w*|lol|and|but|so|plus"
    r"|honestly|basically|fyi|luckily|unfortunately|sadly|thankfully|fortunately|in fact|to be honest|tbh|man|ugh|omg"
    r"|(?:i|and i|oh i) (?:forgot to|should|wanted to|want to|must|have to) (?:mention|add|say|admit)(?: that)?"
    r"|(?:just )?(?:so you know|letting you know)(?: that)?"
)
_MARKED = (  # fillers that do
    r"yes|no|nope|nah|ok|okay|sure|right|true|thanks(?: a lot| so much| again)?|thank you(?: so much)?|cool|great"
    r"|awesome|nice|definitely|absolutely|exactly|indeed|as you know|guess what|speaking of (?:which|[\w ]{2,20})"
    r"|as always|i mean|you know|like i said|for the record|finally|first of all|for me|also|update|fun fact"
    r"|for context|for background|quick note|about me|besides|however|though|either way|of course|same here|me too"
    r"|correction|note|(?:exciting|great|good|bad|big|sad|some) news|alright|agreed|sorry|morning|good (?:morning"
    r"|evening)"
)
_MARK = r"\s*(?:[,!.:;…]+|\s[-\u2013\u2014]+)\s*"
_FILLER = re.compile(
    rf"(?:(?:{_MARKED})(?:,? [A-Z]\w+)?{_MARK}|(?:{_ALONE})\b(?:,? [A-Z]\w+(?=\s*[,!]))?(?:{_MARK}|\s+)"
    r"|[A-Z][a-z]+, (?=(?:i|we|my|our|i'm|i've|there|it's)\b))",
    re.IGNORECASE,
)
_TRAILING = re.compile(
    r"(?:,? (?:as you know|by the way|btw|fyi|tho|though|lol|haha|thanks|thx|pls|please|for the record|to be honest|tbh"
    r"|of course|you know|obviously))+[\s.!]*$",
    re.IGNORECASE,
)
_JOKES = re.compile(
    r"^\W*(?:(?:just|i'?m|i was|only|haha|lol|ok)\W+)*(?:kidding|joking|jk|j/k|just messing|messing with you"
    r"|not really)\W*(?:haha|lol)?\W*$",
    re.IGNORECASE,
)
_NO_DEED = frozenset("based called named supposed related red used-to added fixed need".split())
_BEEN = re.compile(r"been (?=\w+ing\b)", re.IGNORECASE)
_ADVERB = re.compile(r"(?:just|recently|finally|also|still) ", re.IGNORECASE)


def strip_fillers(sentence: str) -> str:
    """The sentence without fillers at its head and its end; its short forms in full, and its subject there."""
    text = plain(restore_apostrophes(sentence.strip(" \t*_~")))
    while (filler := _FILLER.match(text)) and filler.end() < len(text):
        text = text[filler.end() :]
    return add_subject(_TRAILING.sub("", text))


def add_subject(text: str) -> str:
    """What has no subject is what the speaker did: "Just moved to Porto"."""
    small = text[:1].lower() + text[1:]
    if found := _BEEN.match(text):
        return f"I have been {text[found.end() :]}"
    adverb = _ADVERB.match(text)
    rest = text[adverb.end() :] if adverb else text
    verb = rest.split(maxsplit=1)[0].lower() if rest.split() else ""
    if is_past(verb) and verb not in _NO_DEED and len(text.split()) > 2:  # noqa: PLR2004
        return f"I {small}"
    return text


def is_joke(sentence: str) -> bool:
    """Whether it takes back what was said before: "just kidding"."""
    return bool(_JOKES.match(sentence))
