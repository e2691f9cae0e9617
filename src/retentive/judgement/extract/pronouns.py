"""Resolve "she", "it" and "they" if the previous sentence leaves one possibility.

"My brother is a doctor. He just published a paper." -> "The user's brother just published a paper." A pronoun is
resolved only to something that belongs to the speaker: "my ..." at the start, or the object of "I have" or "I adopted".
If there are two possible people or none, it is not resolved.
"""

import re

_PEOPLE_BY_ROLE = (
    r"boss|manager|colleagues?|coworkers?|team|teammates?|coach|mentor|friends?|best friend|neighbou?rs?|roommates?"
    r"|flatmates?|landlord|landlady|doctor|dentist|therapist|cardiologist|lawyer|teacher|professor|trainer|assistant"
    r"|accountant|psychiatrist|nanny|babysitter|client|supervisor|advisor|ex"
)
_PETS = r"dogs?|cats?|pup|puppy|puppies|kittens?|pets?|parrot|rabbit|bunny|hamster|guinea pigs?|turtles?|horse|snake"
_PRONOUN = re.compile(r"^(she|he|it|they)(?:'(s|re|ve|ll|d))?\b\s*", re.IGNORECASE)
_FULL_VERBS = {"s": "is", "re": "are", "ve": "have", "ll": "will", "d": "would"}
_FEMALE = (
    r"wife|girlfriend|fiancée|mother|mom|mum|daughter|sister|grandma|grandmother|granny|aunt|niece|landlady"
    r"|mother-in-law"
)
_MALE = r"husband|boyfriend|fiancé|father|dad|son|brother|grandpa|grandfather|uncle|nephew|father-in-law"
_EITHER_GENDER = (
    rf"spouse|partner|baby|toddler|child|kid|cousin|{_PEOPLE_BY_ROLE}|dog|cat|puppy|kitten|pet|parrot|rabbit|horse"
)
_PERSON = re.compile(rf"^(?:(?P<she>{_FEMALE})|(?P<he>{_MALE})|(?P<any>{_EITHER_GENDER}))$", re.IGNORECASE)
_OWN_SUBJECT = re.compile(
    r"^(?:my|our) (?P<np>(?:[\w'-]+ ){0,3}?[\w'-]+)(?P<name>(?:,? [A-Z]\w+,?)?) (?:is|are|was|were|has|have|had"
    r"|just|loves?|works?|lives?|\w+ed|\w+s)\b",
    re.IGNORECASE,
)
_OWN_OBJECT = re.compile(
    r"^(?:i|we) (?:also |just |recently |now |still )*(?:have|got|adopted|bought|own|rescued|started|opened|joined"
    r"|am (?:writing|building|working on|reading|designing|developing|making))(?: (?:also|just|got|adopted"
    r"|bought))* (?:a|an|two|three|\d|my|our) (?P<np>(?:[\w'-]+ ){0,3}?[\w'-]+?)(?: (?:named"
    r"|called) (?P<name>[A-Z]\w+))?(?:[,.!]|$| (?:in|at|from|with|last|who|that|for|about|and|on|two|three|a"
    r"|together|this)\b)",
    re.IGNORECASE,
)
_PLURAL_NOUN = re.compile(
    r"(?:kids|children|parents|sons|daughters|twins|brothers|sisters|siblings|dogs|cats|pets|friends|\w{2,}[^sui]s)$",
    re.IGNORECASE,
)


def resolve_pronoun(clause: str, before: str) -> str | None:
    """Replace the leading pronoun of a clause, still in the first person ("my brother ..."); None if it is unclear.

    A clause without a leading pronoun is returned as it is.
    """
    found = _PRONOUN.match(clause)
    if not found:
        return clause
    referent = _find_referent(found[1].lower(), before)
    if referent is None:
        return None
    verb = f"{_FULL_VERBS[found[2].lower()]} " if found[2] else ""
    if verb == "is " and clause[found.end() :].startswith(("been ", "got ")):
        verb = "has "
    return f"{referent} {verb}{clause[found.end() :]}"


def _find_referent(pronoun: str, before: str) -> str | None:
    found = _OWN_SUBJECT.match(before) or _OWN_OBJECT.match(before)
    if not found:
        return None
    noun, name = found["np"].removesuffix("'s name"), (found["name"] or "").strip(" ,")
    if re.search(r"\band\b", noun) or noun.lower() in ("favorite", "favourite", "own", "new"):
        return None
    person = _PERSON.match(noun.split()[-1])
    many = bool(_PLURAL_NOUN.search(noun)) and not person
    fits = {
        "she": bool(person and not person["he"]),
        "he": bool(person and not person["she"]),
        "they": many,
        "it": not many and (person is None or bool(re.search(rf"\b(?:{_PETS})$", noun))),
    }[pronoun]
    return f"my {noun}{f' {name}' if name else ''}" if fits else None
