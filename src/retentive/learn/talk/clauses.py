"""A sentence without what carries no fact, and cut where a new statement begins.

Fillers and calls before it ("Oh, by the way, Anna,") go, and so do judgements after it (", which was great"). It is cut
before a clause with a subject of its own ("I'm Anna and I work at Stripe"), unless what comes before is not a
statement by itself ("When I was a child and we lived in Oslo, ...").
"""

import re

from retentive.learn.talk.person import plain
from retentive.learn.talk.vocabulary import is_concrete

_ALONE = (  # fillers that need no comma
    r"oh|ah|hey|hi|hello|hmm+|well|yeah|yep|yup|actually|btw|by the way|anyways?|wow|haha\w*|lol|and|but|so|plus"
    r"|honestly|you (?:should|must|may) know(?: that)?|i (?:forgot to|should|wanted to|want to|must"
    r"|have to) (?:mention|add|say|admit|confess)(?: that)?|basically|fyi|also|cuz|luckily|unfortunately|sadly"
    r"|thankfully|fortunately|in fact|to be honest|tbh|man|ugh|omg"
)
_MARKED = (  # and those that do
    r"yes|no|nope|nah|ok|okay|sure|right|true|thanks(?: a lot| so much| again)?|thank you(?: so much)?|cool|great"
    r"|awesome|nice|definitely|absolutely|totally|exactly|indeed|as you know|good (?:question|idea|point)"
    r"|(?:exciting|great|good|bad|big|sad|some) news|guess what|speaking of which|speaking of [\w ]{2,20}|as for me"
    r"|as always|i mean|you know|like i said|for the record|just so you know|finally|first of all|for me"
    r"|on (?:a|the) bright side|one thing|to answer the question|for example|of course|same here|me too"
    r"|let me tell you|the thing is|long story short|also|update|fun fact|for context|for background|some background"
    r"|quick note|a bit about me|about me|besides|additionally|moreover|however|though|either way|trust me"
    r"|believe it or not|not gonna lie|funny enough|for sure|my bad|welcome|congrats|agreed|same|alright|all good"
    r"|not really"
)
_MARK = r"\s*(?:[,!.:;…]+|\s[-\u2013\u2014]+)\s*"
_FILLER = re.compile(
    rf"(?:(?:{_MARKED})(?:,? [A-Z]\w+)?{_MARK}|(?:{_ALONE})\b(?:,? [A-Z]\w+(?=\s*[,!]))?(?:{_MARK}|\s+)"
    r"|[A-Z][a-z]+, (?=(?:i|we|my|our|i'm|i've|there|it's)\b))",
    re.IGNORECASE,
)
_TAIL = re.compile(
    r"(?:,? (?:which|and (?:that|this|it)|but (?:that|this|it)|it|that)(?: has|'s| is| was| are| were|'s been"
    r"| has been)\b[^,;]*|,? (?:haha|lol|right|too bad|you know|though|speaking of|as well as you"
    r"|if that makes sense|of course|by the way|btw))\s*[.!]*$",
    re.IGNORECASE,
)
_CUT = re.compile(
    r"(?:,? (?:and|but|so)|;|,? -+| \u2013| \u2014|,(?= (?:it|it's|they're|he's|she's|that's|hope|can't|what|how"
    r"|i cannot|i hope|i am so|i think|i love it)\b))\s+(?!i (?:quit|stopped|left|moved)(?: in| last|[,.]"
    r"|$))(?=(?:(?:now|then|recently|lately) )?(?:i|we|i'm|i've|i'll|i'd|we're|we've|we'll|my|our|it|it's|he|she"
    r"|they|they're|he's|she's|this|that|that's|there|there's|you|you're|hope|can't|cannot|what|how|thanks|let's"
    r"|even|feel|feels)\b)",
    re.IGNORECASE,
)
_BOUND = re.compile(
    r"^(?:(?:my|our) [\w'-]+(?: [A-Z]\w+)?|me)$|^(?:if|when|while|because|since|although|though|unless|before|after"
    r"|as|once|until)\b[^,]*$|\b(?:if|because|whether|so that|not only|between|both|think|believe|said|told|that"
    r"|because of|where|when)$",
    re.IGNORECASE,
)
_JOKES = re.compile(
    r"^\W*(?:(?:just|i'?m|i was|only|haha|lol|ok)\W+)*(?:kidding|joking|jk|j/k|just messing|messing with you"
    r"|not really)\W*(?:haha|lol)?\W*$",
    re.IGNORECASE,
)


_ELIDED = (
    (
        re.compile(
            r"(?=(?:just |recently |finally |also |still )?(?:got|started|bought|adopted|moved|joined|finished"
            r"|signed up|took|went|visited|attended|met|saw|ran|made|painted|tried|began|quit|switched|graduated"
            r"|found|built|wrote|passed|won|lost|volunteered)\b(?! (?:a bit|some time|a while|a lot|me|us|it)\b))",
            re.IGNORECASE,
        ),
        "I ",
    ),
    (re.compile(r"been (?=\w+ing\b)", re.IGNORECASE), "I have been "),
    (re.compile(r"(?:gonna|going to) ", re.IGNORECASE), "I am going to "),
    (
        re.compile(
            r"(?=(?:still |currently |also |now )?(?:planning|working on|training for|thinking of|trying to"
            r"|looking for)\b(?!.*\b(?:is|was|can|gave|sounds|helps?|helped|has)\b))",
            re.IGNORECASE,
        ),
        "I am ",
    ),
)


_PUT_OTHERWISE = (
    (re.compile(r"^(?:\w+, )?it turn(?:s|ed) out (?:that )?(?!to\b)", re.IGNORECASE), "turns out "),
    (
        re.compile(r"^(?:Please )?[Cc]all me (?=[A-Z]\w+[.!]?$)"),
        "I want to be called ",
    ),  # what stands better alone in other words
    (re.compile(r"^(?:\w+, )?(?:that|this|it) (?:fixed|solved) it\s*[:;,-]+\s+(?=\w)", re.IGNORECASE), "the fix was: "),
    (
        re.compile(
            r"^(?:(?:ok|okay|so|alright)[, ]+)?let's (?=(?:go with|use|stick (?:with|to)|switch to)\b)", re.IGNORECASE
        ),
        "we decided to ",
    ),
)


def bare(sentence: str) -> str:
    """Without fillers at the head; its short forms in full, and its subject there."""
    text = plain(sentence.strip(" \t*_~"))
    for pattern, form in _PUT_OTHERWISE:
        text = pattern.sub(form, text, count=1)
    while (filler := _FILLER.match(text)) and filler.end() < len(text):
        text = text[filler.end() :]
    return _with_subject(text)


def _with_subject(text: str) -> str:
    """What has no subject is what the speaker did: "Just moved to Porto"."""
    for pattern, subject in _ELIDED:
        if found := pattern.match(text):
            rest = text[found.end() :]
            return f"{subject}{rest[0].lower()}{rest[1:]}" if rest else text
    return text


def clauses(text: str) -> list[str]:
    """The statements of a bare sentence."""
    found: list[str] = []
    start = 0
    for cut in _CUT.finditer(text):
        part = text[start : cut.start()]
        if not _BOUND.search(part) and len(part.split()) > 1:
            found.append(part)
            start = cut.end()
    return [_untailed(part) for part in (*found, text[start:])]


def is_joke(sentence: str) -> bool:
    """It takes back what was said before: "just kidding"."""
    return bool(_JOKES.match(sentence))


_FEELING = re.compile(r"(?:so|super|all|really|very|guess|makes|excited|hope|pretty|such)\b", re.IGNORECASE)


def _untailed(clause: str) -> str:
    short = _TAIL.sub("", clause)
    head, dash, after = short.rpartition(" - ")
    if dash and (_FEELING.match(after) or not is_concrete(after.lower())):
        short = head
    return short if len(short.split()) > 2 else clause  # noqa: PLR2004
