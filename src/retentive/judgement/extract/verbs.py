"""Forms of English verbs that the change from "I" to a name needs: the past, and the s of the third person."""

import re

_UNCHANGED_PASTS = frozenset(
    "quit cut put hit set let shut split hurt cost bet read spread beat".split()
)  # past as in the present
IRREGULAR_PASTS = frozenset(
    "ate awoke became began bent bit bled blew bought bound bred broke brought built burnt came caught chose clung"
    " crept dealt did dreamt drew drank drove dug fell felt fed fought found fled flew forgot forgave froze gave got"
    " grew had heard held hid hung kept knew laid learnt led left lent lit lost made meant met outgrew overcame paid"
    " pled ran rang redid rewrote rode rose said sang sank sat saw sent sewed shone shook shot shrank slept slid sold"
    " sought spent spoke spun stole stood stuck struck swam swept swore swung taught thought threw told took tore"
    " understood undid went wept withdrew woke won wore wound wove wrote".split()
)
_NOT_PAST = frozenset("need feed speed breed bleed proceed exceed succeed embed shed wed heed weed seed".split())
MODALS = frozenset("will would can could should may might must shall cannot ought".split())
SHORT_NEGATIONS = {
    "don't": "do not", "doesn't": "does not", "didn't": "did not", "haven't": "have not", "hasn't": "has not",
    "hadn't": "had not", "wasn't": "was not", "weren't": "were not", "aren't": "are not", "ain't": "am not",
    "can't": "cannot", "couldn't": "could not", "won't": "will not", "wouldn't": "would not",
    "shouldn't": "should not", "mustn't": "must not", "isn't": "is not", "needn't": "need not",
}  # fmt: skip
_SINGULAR_FORMS = {"am": "is", "are": "is", "were": "was", "have": "has", "do": "does", "gonna": "is going to"}
_PLURAL_FORMS = {"am": "are", "was": "were", "gonna": "are going to"}
_ADVERBS = frozenset(
    "no longer also always already just still now never ever often sometimes seldom soon then once even only almost"
    " quite rather kinda sorta maybe perhaps both all currently not so too twice instead finally".split()
)
_NO_ADVERBS = frozenset(
    "apply reply rely supply fly multiply imply comply ally bully rally tally italy emily sally molly polly kelly lily"
    " billy willy tilly milly holly beverly kimberly carly".split()
)
_NEEDS_ES = re.compile(r"(?:s|x|z|ch|sh|[^aeiou]o)$|^go$")
_CONSONANT_Y = re.compile(r"[^aeiou]y$")
_HABIT_WORDS = re.compile(
    r"\b(?:every|usually|always|often|daily|weekly|most of the time|a lot|on (?:my|the|mon|tues|wednes|thurs|fri|satur"
    r"|sun|week)|at night|before bed|exclusively|in the (?:morning|evening|afternoon)s?)",
    re.IGNORECASE,
)


def is_adverb(word: str) -> bool:
    low = word.lower()
    return low in _ADVERBS or (low.endswith("ly") and len(low) > 4 and low not in _NO_ADVERBS)  # noqa: PLR2004


def is_past(word: str) -> bool:
    return word in IRREGULAR_PASTS or (word.endswith("ed") and word not in _NOT_PAST)


def needs_no_ending(word: str) -> bool:
    """Whether a verb takes no s: a form that is or may be past, a modal, a singular."""
    return is_past(word) or word in _UNCHANGED_PASTS or word in MODALS or word in ("is", "was", "has", "does", "not")


def to_singular_verb(verb: str, sentence: str = "") -> str:
    """The verb after a name: "live" -> "lives", "am" -> "is", "went" -> "went"."""
    low = verb.lower()
    if low in _SINGULAR_FORMS:
        return _SINGULAR_FORMS[low]
    if low == "read" and _HABIT_WORDS.search(sentence):
        return "reads"
    if needs_no_ending(low) or not low.isalpha():
        return _inflect_hyphenated(verb, sentence) if "-" in verb else verb
    if _CONSONANT_Y.search(low):
        return f"{verb[:-1]}ies"
    return f"{verb}es" if _NEEDS_ES.search(low) else f"{verb}s"


def to_plural_verb(verb: str) -> str:
    return _PLURAL_FORMS.get(verb.lower(), verb)


def _inflect_hyphenated(verb: str, sentence: str) -> str:
    first, _, last = verb.rpartition("-")
    return f"{first}-{to_singular_verb(last, sentence)}" if last.isalpha() else verb
