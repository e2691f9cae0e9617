"""Parse a statement into the parts that decide what it replaces.

The parser looks at the form only: whom the statement is about, which values it has (`values.py`), and whether it
describes a state, an event or a plan. It also finds what the statement says is over ("no longer X", "switched from X
to Y"). In a few forms of sentences ("X is Y", "lives in", "works at") it finds the attribute that gets a value. The
word lists are in `attributes.toml`.
"""

import re
import tomllib
from importlib.resources import files
from typing import Any

from retentive.frozen_dataclass import dataclass
from retentive.judgement import MAX_STATEMENT_CHARS
from retentive.judgement.corrections.stems import stem, stem_words
from retentive.judgement.corrections.values import NUMBER_MARK, VALUE_MARK, StatedValue, find_values
from retentive.judgement.extract.person import expand_short_forms
from retentive.judgement.extract.verbs import MODALS, is_adverb, is_past
from retentive.text.caches import text_cache
from retentive.text.terms import STOP_WORDS

CACHED_STATEMENTS = 4096  # a new memory is compared with the same few again and again

WORD_LISTS: dict[str, Any] = tomllib.loads(
    (files("retentive.judgement.corrections") / "attributes.toml").read_text("utf-8")
)


def _read_words(name: str) -> frozenset[str]:
    """A word list of `attributes.toml`."""
    return frozenset(WORD_LISTS[name].split())


LIVING_BEINGS, MANY_VALUED = _read_words("living_beings"), frozenset(map(stem, _read_words("many")))
_UNIQUE_WORD = "|".join(_read_words("one_of_a_kind"))
_IGNORED_STEMS = frozenset(map(stem, _read_words("light_verbs") | _read_words("change_words"))) | STOP_WORDS
_ATTRIBUTE_OF_STATE = {state: name for name, states in WORD_LISTS["states"].items() for state in states.split()}

_CONTRACTION_ENDINGS = frozenset("s t d m ll re ve".split())  # what is left of short forms

_PROPER_NAME = r"[A-ZÀ-Þ][\w'&.-]*"
_PROPER_NAMES = (
    rf"(?:the )?{_PROPER_NAME}"
    rf"(?:,? (?:(?:de|of|del|la|am|upon) )*{_PROPER_NAME}| and (?={_PROPER_NAME}(?:[.,;!]|$)){_PROPER_NAME})*"
)
_ADVERBS = r"(?: now| currently| actually| still| just| recently| finally| officially| also)*"
_SUBJECT = r"(?P<who>I|[Ww]e|(?:[Mm]y|[Oo]ur) [\w' -]+?|[A-ZÀ-Þ]\w+)"
_OWNED_THING = r"(?:my|our|the|[A-ZÀ-Þ]\w+'s) (?:new |current |updated )?(?P<what>[\w][\w' -]*?)"
_SENTENCE_END = r"(?: now| currently| these days| instead)?[.!]?$"
_IS_OR_ARE = rf"(?P<verb> is| are){_ADVERBS}"

_LEAD_IN = re.compile(
    r"^(?:(?:actually|correction|update|fyi|btw|by the way|note|also|so|and|ok|okay|well|oh|sorry|no|hey|hi|anyway"
    r"|turns out|it turns out that|as of (?:today|now)|from now on|starting today|these days|nowadays)\b[\s,:;!-]*)+",
    re.IGNORECASE,
)
_THE_USER = re.compile(r"\b[Tt]he user(?P<own>'s)?\b")
_FIRST_PERSON_VERBS = {"is": "I am", "has": "I have", "does": "I do"}
_THIRD_PERSON_AFTER_I = re.compile(r"\bI (is|has|does)\b")
_DOUBT_WORDS = re.compile(
    r"\?|^(?:if|unless|suppose|imagine|maybe|perhaps)\b|\b(?:if (?:i|we|he|she|they)|might|may be|would|could"
    r"|maybe|perhaps|probably|considering|thinking (?:of|about)|wish(?:es)?|hopes?|hoping|wants? to(?! be called)"
    r"|would like|looking (?:at|into|for)|someone said|i heard|supposedly|apparently|pretend)\b",
    re.IGNORECASE,
)
_NOT_CURRENT_WORDS = re.compile(  # plans, and what is over
    r"\b(?:will (?!be\b)|going to|gonna|plans? to|planning|intends? to|about to|(?:is|am|are) (?:moving|joining"
    r"|switching"
    r"|starting|leaving)|next (?:week|month|year|summer|spring|fall|autumn|winter)|tomorrow|used to|tried)\b",
    re.IGNORECASE,
)
_ADDITION_WORDS = re.compile(
    r"\b(?:also|too|as well|another|second|third|additionally|besides|in addition|one more|both|plus|other|each"
    r"|except|only for)\b",
    re.IGNORECASE,
)
_INDEFINITE_NOUN = re.compile(
    r"\b(?:an?|some|several) (?!(?:day|week|month|year|hour|minute|night|piece|person|bit)\b)[\w-]+", re.IGNORECASE
)
_PAST_DATE = re.compile(
    r"\b(?:in|since|during) (?:19|20)\d\d\b|\b(?:ago|yesterday|last (?:\w+day|week|month|year))\b", re.IGNORECASE
)
_NEGATION_WORDS = re.compile(r"\b(?:not|never|no longer|cannot|without|none)\b", re.IGNORECASE)
_NOW_WORDS = re.compile(r"\b(?:now|no longer|any ?more|instead|these days|nowadays|as of|from now on)\b", re.IGNORECASE)
_CLAUSE_END = re.compile(r"[;:,]|\s(?:and|but|so)\s")
_PERFECT_TENSE = re.compile(r"\b(?:has|have) (?:\w+ly |just |also |never |already )*(\w+)")
_PRESENT_TENSE = re.compile(  # "he lives", "Nour takes", "I do", "it is"
    r"\b(?:is|are|am|has|have|do|does|can|must|will)\b|\b(?:he|she|it|who|[A-ZÀ-Þ][\w'-]+) (?:\w+ly |now "
    r"|still )?\w+[^siu]s\b"
)
_VALUE_BEFORE_VERB = re.compile(rf"[{VALUE_MARK}{NUMBER_MARK}].*\b(?:is|are|was|were|has|have|had)\b")
# A number after these words says how much or where. After other words it says which one: "item 3".
_WORDS_BEFORE_AMOUNT = (
    "is are am was at on in to by of for from about around over under port version extension than with has have had"
    " every turned until till and or the up down now currently only just room floor level"
)
_NUMBERED_THING = re.compile(
    rf"\b(?!(?:{'|'.join(_WORDS_BEFORE_AMOUNT.split())})\b)(?:[a-z]{{2,}}|[A-Z])\s+{NUMBER_MARK}"
    rf"|^\w+\s+{NUMBER_MARK}"
)
_SUBJECT_OR_VERB = re.compile(
    r"^(?:I|we)\b|\b(?:is|are|am|was|were|has|have|had|went|rose|\w{2,}(?:s|ed))\b", re.IGNORECASE
)
_DECISION_VERBS = frozenset("decided agreed settled chose opted".split())
_WORD_PATTERN = re.compile(r"[A-Za-zÀ-ÿ][\w'-]*")
_NAMED_SUBJECT = re.compile(
    r"(?:(?:Dr|Mr|Mrs|Ms|Prof|Professor|Herr|Frau)\.? )?"
    r"(?P<name>[A-ZÀ-Þ][\w&-]*(?: [A-ZÀ-Þ][\w&-]*)*)(?P<mark>'s\b|[,:])?(?: (?P<next>[\w']+))?"
)
_WORDS_AFTER_SUBJECT = frozenset("is are was were has have had does do did and now gets goes".split())
_THIRD_PERSON_ENDING = re.compile(r"[^siu]s$")
_CHANGE_VERBS = frozenset(
    "changed moved switched updated upgraded bumped pushed postponed rescheduled shifted raised increased lowered"
    " reduced dropped rose became went renamed migrated relocated joined extended delayed replaced swapped named"
    " called based located hosted used settled stopped quit sold cancelled canceled ditched deprecated married"
    " divorced retired turned uninstalled".split()
)
_PHRASE_END = (
    r"(?=\s+(?:because|since|after|when|as of|last|in \w+$|this|so|and now|but|for good|for health|to \w+)\b|[,;.!(]|$)"
)
# Things and actions end, thoughts do not: "I do not think they make it any more" ends no thinking.
_MENTAL_STEMS = frozenset(map(stem, "think know feel want believe say see guess mean remember care mind".split()))
_SWITCH_VERBS = r"(?:switch|mov|migrat|chang|convert|transition|went)\w*"
_STOP_VERBS = (
    r"(?:stopped|quit|quitting|gave up|given up|got rid of|cancell?ed|sold|ditched|deprecated|uninstalled|sunset)"
)
_ENDING_PATTERNS = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        rf"\bno longer (?P<gone>.+?){_PHRASE_END}",
        r"\bnot (?P<gone>(?:\w[\w'.+#-]*[ ,]+){1,7}?)(?:any ?more|any longer)\b",
        rf"\b{_SWITCH_VERBS}(?: \w+){{0,4}}? from (?P<gone>.+?) (?:over )?to (?P<new>.+?){_PHRASE_END}",
        rf"\breplac(?:ed|ing) (?P<gone>.+?) (?:with|by) (?P<new>.+?){_PHRASE_END}",
        rf"\bswapped (?:out )?(?P<gone>.+?) for (?P<new>.+?){_PHRASE_END}",
        rf"^(?P<gone>.+?) (?:was|were|has been|have been|is|are) replaced (?:with|by) (?P<new>.+?){_PHRASE_END}",
        rf"\binstead of (?P<gone>.+?){_PHRASE_END}",
        rf"\b{_STOP_VERBS} (?P<gone>.+?){_PHRASE_END}",
        r", not (?P<gone>[\w][\w .+#-]{0,40}?)(?: any ?more)?[.!]?$",
    )
)


@dataclass(frozen=True, slots=True)
class Attribute:
    """The attribute that a sentence gives a value to."""

    name: str
    """`home`, or the thing that somebody owns: `dog`, `favorite color`."""
    value: str
    """In the words of the sentence."""
    is_certain: bool = True
    """False if the words have other meanings too: people move to a city, and to another editor."""


@dataclass(frozen=True, slots=True)
class Ending:
    """Something that a statement says is over."""

    stems: frozenset[str]
    """The stems that name it."""
    phrase: str
    """The words that say it is over."""
    replacement: frozenset[str]
    """The stems of what took its place, if the statement names that."""


@dataclass(frozen=True, slots=True)
class Statement:
    text: str
    """The statement in the first person, with short forms in full."""
    subjects: frozenset[str]
    """The names of its subject: `user`, or `sister` and `hanna`. Empty for things."""
    topic: frozenset[str]
    """The stems of its topic: no values, no verbs that say nothing."""
    values: tuple[StatedValue, ...]
    names: frozenset[str]
    """Proper names other than those of the subject."""
    attribute: Attribute | None
    ending: Ending | None
    is_event: bool
    """The statement says what happened: it stays true."""
    is_doubtful: bool
    """The statement is supposed, wished, asked or planned, or says what used to be."""
    is_addition: bool
    is_negated: bool
    has_indefinite: bool
    """The statement introduces one of several things: "I have an appointment on Monday"."""
    says_change: bool
    is_named_by_value: bool
    """A value identifies its subject: "Room 12 is blue", "the notes of 3 May are in Notion"."""


@text_cache(CACHED_STATEMENTS)
def parse_statement(text: str) -> Statement:
    sentence = to_first_person(text)
    words = _WORD_PATTERN.findall(sentence)
    subjects = find_subjects(sentence, words)
    values, marked = find_values(sentence)
    names = frozenset(_find_proper_names(marked)) - subjects
    topic = frozenset(stem_words(marked)) - _IGNORED_STEMS - _CONTRACTION_ENDINGS
    return Statement(
        text=sentence,
        subjects=subjects,
        topic=topic,
        values=values,
        names=names,
        attribute=find_attribute(sentence) if len(sentence) <= MAX_STATEMENT_CHARS else None,
        ending=find_ending(sentence),
        is_event=_is_event(sentence),
        is_doubtful=bool(_DOUBT_WORDS.search(sentence) or _NOT_CURRENT_WORDS.search(sentence)),
        is_addition=bool(_ADDITION_WORDS.search(sentence)),
        is_negated=bool(_NEGATION_WORDS.search(sentence)),
        has_indefinite=bool(_INDEFINITE_NOUN.search(sentence)),
        says_change=_says_change(sentence, words),
        is_named_by_value=_is_named_by_value(marked),
    )


def _is_named_by_value(marked: str) -> bool:
    """Whether a value identifies the subject of a sentence, in which each value is replaced by a mark.

    Also true if no subject and no verb comes before the first value, or in a sentence without values: "Oslo, not Rome".
    """
    if _VALUE_BEFORE_VERB.search(marked) or _NUMBERED_THING.search(marked):
        return True
    before_value = re.split(f"[{VALUE_MARK}{NUMBER_MARK}]", marked, maxsplit=1)[0]
    return not _SUBJECT_OR_VERB.search(before_value)


def to_first_person(text: str) -> str:
    """Put a statement in the first person: "Actually, the user's dog is Max." -> "my dog is Max"."""
    sentence = replace_user(expand_short_forms(text.strip()).rstrip(" .!"))
    sentence = _THIRD_PERSON_AFTER_I.sub(lambda found: _FIRST_PERSON_VERBS[found[1]], sentence)
    return cut_lead_in(sentence, _LEAD_IN)


def replace_user(sentence: str) -> str:
    """Write "I" for "the user" and "my" for "the user's"."""
    return _THE_USER.sub(lambda found: "my" if found["own"] else "I", sentence)


def cut_lead_in(sentence: str, lead_in: re.Pattern[str]) -> str:
    """Cut words such as "actually" off the start of a sentence, unless nothing else is in it."""
    found = lead_in.match(sentence)
    return sentence[found.end() :] if found and found.end() < len(sentence) else sentence


def find_subjects(sentence: str, words: list[str]) -> frozenset[str]:
    """The names of the subject: `user`, or proper names. "Finn's piano lesson" is about Finn."""
    first_word = words[0].lower() if words else ""
    if first_word in ("i", "we"):
        return frozenset({"user"})
    if first_word in ("my", "our") and len(words) > 1:
        return _find_owned_subject(words)
    found = _NAMED_SUBJECT.match(sentence)
    if not found or first_word in STOP_WORDS or is_adverb(first_word) or find_values(found["name"]).values:
        return frozenset()
    is_subject = found["mark"] or _may_follow_subject(found["next"] or "")
    return frozenset(found["name"].lower().split()) if is_subject else frozenset()


def _may_follow_subject(word: str) -> bool:
    """Whether a word after a name shows that the name is the subject: "Hanna lives", "Heron 2 was", "Ilse and"."""
    word = word.lower()
    if word in _WORDS_AFTER_SUBJECT or word in MODALS or is_past(word) or is_adverb(word):
        return True
    return bool(_THIRD_PERSON_ENDING.search(word))


def _find_owned_subject(words: list[str]) -> frozenset[str]:
    """The person or animal after "my": sister and hanna in "my sister Hanna lives", nobody in "my laptop"."""
    for index, word in enumerate(words[1:4], start=1):
        if word.lower() in LIVING_BEINGS:
            following = words[index + 1] if index + 1 < len(words) else ""
            is_name = following[:1].isupper() and not following.lower().endswith("'s")
            return frozenset({word.lower(), following.lower()} if is_name else {word.lower()})
    return frozenset()


def _find_proper_names(text: str) -> list[str]:
    """Words with a capital letter inside a sentence, in small letters and without "'s"."""
    found = re.finditer(rf"(?<![.!?] )(?<!^){_PROPER_NAME}", text)
    return [match[0].lower().removesuffix("'s") for match in found if match[0] != "I"]


def _is_event(sentence: str) -> bool:
    """Whether a sentence only says what happened: no clause describes a state."""
    clauses = [clause for clause in _CLAUSE_END.split(sentence) if clause.strip()]
    has_past = any(_has_past(clause) for clause in clauses)
    return has_past and not any(_describes_state(clause) for clause in clauses)


def _has_past(clause: str) -> bool:
    # The first word is no verb, even if it ends in -ed: it is the subject ("Ted"), or describes it ("Used cars").
    words = [word.lower() for word in _WORD_PATTERN.findall(clause)][1:]
    return any(is_past(word) or word in ("was", "were", "did", "been") for word in words)


def _describes_state(clause: str) -> bool:
    """Whether a clause says how things are, or how they became so without a date."""
    words = [word.lower() for word in _WORD_PATTERN.findall(clause)]
    if any(word in _CHANGE_VERBS or word in _DECISION_VERBS for word in words) and not _PAST_DATE.search(clause):
        return True
    if perfect := _PERFECT_TENSE.search(clause):
        verb = perfect[1]
        if (is_past(verb.lower()) or verb == "been") and verb.lower() not in ("had", "got"):
            return False
    return bool(_PRESENT_TENSE.search(clause))


def _says_change(sentence: str, words: list[str]) -> bool:
    return bool(_NOW_WORDS.search(sentence)) or any(word.lower() in _CHANGE_VERBS for word in words)


def find_ending(sentence: str) -> Ending | None:
    """Find the thing that a sentence says is over: "no longer X", "switched from X to Y"."""
    for pattern in _ENDING_PATTERNS:
        found = pattern.search(sentence)
        if found is None:
            continue
        stems = {word for word in stem_words(found["gone"]) if word not in _IGNORED_STEMS or word.isdigit()}
        stems -= _MENTAL_STEMS
        if stems:
            replacement = frozenset(stem_words(found.groupdict().get("new") or ""))
            return Ending(frozenset(stems), found[0].strip(" ,"), replacement - _IGNORED_STEMS)
    return None


_LIVES_IN = re.compile(
    rf"^{_SUBJECT}{_ADVERBS} (?:(?:am|is|are) )?(?:live|lives|living|reside|resides|based)(?: now| currently)?"
    rf" (?:in|at) (?P<value>{_PROPER_NAMES})"
)
_MOVED_TO = re.compile(
    rf"^{_SUBJECT}(?: have| has)?{_ADVERBS} (?:moved|relocated|emigrated)(?: back| over| house| home| out)*"
    rf"(?: from [\w ]+?)? to (?P<value>{_PROPER_NAMES})"
)
_MOVED_HOME_WORDS = re.compile(
    r"\b(?:relocated|emigrated|moved (?:house|home)|apartment|flat|house|city|town|country)\b"
)
_WORKS = rf"^{_SUBJECT}{_ADVERBS} (?:(?:am|is|are) )?(?:work|works|working|employed)(?: now| currently)?"
_WORKS_AT = re.compile(rf"{_WORKS}(?: as (?:an? )?[\w -]+?)? (?:at|for|by) (?P<value>{_PROPER_NAMES})")
_WORKS_AS = re.compile(
    rf"{_WORKS} as (?:an? |the )?"
    r"(?P<value>[\w' -]+?)(?: (?:at|for|in|with|on|from|now|these days)\b.*)?[.!]?$"
)
_JOINED_EMPLOYER = re.compile(
    rf"^{_SUBJECT}(?: have| has)?{_ADVERBS} (?:joined|started (?:working )?(?:at|for)) (?P<value>{_PROPER_NAMES})"
)
_NAME_IS = re.compile(
    rf"^(?:my name is|I am called|I wants? to be called|please call me|call me"
    rf"|I go(?:es)? by)(?: now)? (?P<value>{_PROPER_NAMES})"
)
_OWNED_IS_CALLED = re.compile(
    rf"^(?:my|our) (?P<what>[\w][\w' -]*?)(?:'s name is| is (?:called|named)){_ADVERBS} (?P<value>{_PROPER_NAMES})",
    re.IGNORECASE,
)
_OWNED_IS_NAME = re.compile(rf"^(?i:{_OWNED_THING})(?i:{_IS_OR_ARE}) (?P<value>{_PROPER_NAMES}){_SENTENCE_END}")
_UNIQUE_IS_VALUE = re.compile(
    rf"^(?:my|our|the|[\w'-]+'s) (?P<what>(?:[\w-]+ )?(?:{_UNIQUE_WORD}) [\w' -]+?){_IS_OR_ARE}"
    rf" (?P<value>.+?){_SENTENCE_END}",
    re.IGNORECASE,
)
_VALUE_IS_UNIQUE = re.compile(
    rf"^(?P<value>.+?){_IS_OR_ARE} (?:my|our) (?P<what>(?:new )?(?:{_UNIQUE_WORD}) [\w' -]+?){_SENTENCE_END}",
    re.IGNORECASE,
)
_PROFILE_FIELDS = "|".join(sorted(WORD_LISTS["slots"], key=len, reverse=True))
_PROFILE_FIELD_IS = re.compile(  # the profile has one value of each field, whatever the value looks like
    rf"^(?:my|our) (?:new |current |updated )?(?P<what>{_PROFILE_FIELDS}){_IS_OR_ARE}"
    rf" (?P<value>.+?){_SENTENCE_END}",
    re.IGNORECASE,
)
_USED_AS = re.compile(
    rf"^(?:I|we){_ADVERBS} use(?:s)? (?P<value>.+?) as (?:my|our|the) (?P<what>[\w -]+?){_SENTENCE_END}",
    re.IGNORECASE,
)
_IN_STATE = re.compile(
    rf"^(?:I|we)(?: am| are| got| have been| became)?{_ADVERBS}(?: a)? (?P<value>{'|'.join(_ATTRIBUTE_OF_STATE)})\b",
    re.IGNORECASE,
)
_AGE_IS = re.compile(rf"^I(?: am)?{_ADVERBS}(?: turned)? (?P<value>\d{{1,3}})(?: years old)?{_SENTENCE_END}")


def find_attribute(sentence: str) -> Attribute | None:  # noqa: PLR0911 - one return for each form
    """The attribute that a sentence gives a value to, if the sentence has one of the known forms."""
    if found := _NAME_IS.match(sentence):
        return Attribute("name", found["value"])
    if found := _LIVES_IN.match(sentence):
        return Attribute("home", found["value"])
    if found := _MOVED_TO.match(sentence):
        return Attribute("home", found["value"], is_certain=bool(_MOVED_HOME_WORDS.search(sentence)))
    if found := _WORKS_AT.match(sentence):
        return Attribute("employer", found["value"])
    if found := _WORKS_AS.match(sentence):
        return Attribute("job title", found["value"])
    if found := _JOINED_EMPLOYER.match(sentence):
        return Attribute("employer", found["value"], is_certain=False)
    if found := _AGE_IS.match(sentence):
        return Attribute("age", found["value"])
    if found := _IN_STATE.match(sentence):
        return Attribute(_ATTRIBUTE_OF_STATE[found["value"].lower()], found["value"].lower())
    return _find_owned(sentence)


def _find_owned(sentence: str) -> Attribute | None:
    """The attribute of something owned: "my dog is Max", "our default branch is main", "I use Zed as my editor"."""
    for pattern in (_PROFILE_FIELD_IS, _USED_AS):
        if found := pattern.match(sentence):
            return Attribute(_normalise_attribute(found["what"]), found["value"].strip())
    for pattern in (_UNIQUE_IS_VALUE, _VALUE_IS_UNIQUE, _OWNED_IS_CALLED, _OWNED_IS_NAME):
        if found := pattern.match(sentence):
            return _make_attribute(found, is_unique=pattern in (_UNIQUE_IS_VALUE, _VALUE_IS_UNIQUE))
    return None


def _make_attribute(found: re.Match[str], *, is_unique: bool) -> Attribute | None:
    """The attribute of a match. It is uncertain if there may be several, as in "my main concerns are ..."."""
    name = _normalise_attribute(found["what"])
    if not name:
        return None
    is_plural = found.groupdict().get("verb", "").strip().lower() == "are"
    is_one_of_several = not is_unique and stem(name.split()[-1]) in MANY_VALUED
    return Attribute(name, found["value"].strip(), is_certain=not is_plural and not is_one_of_several)


def _normalise_attribute(what: str) -> str:
    name = " ".join(word for word in what.lower().split() if word not in ("new", "current", "updated", "own"))
    return name.replace("favourite", "favorite").replace("colour", "color").strip(" '")
