"""Read a statement as far as it matters for what it replaces.

Only the form is read: whom it is about, which values it has (`values.py`), whether it tells of a state, an event or a
plan, what it says is over ("no longer X", "switched from X to Y"), and, for a few forms of sentences, which attribute
it gives a value to ("X is Y", "lives in", "works at"). The tables are in `attributes.toml`.
"""

import re
import tomllib
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any

from retentive.judgement import MAX_STATEMENT_CHARS
from retentive.judgement.corrections.stems import stem, stem_words
from retentive.judgement.corrections.values import BLANK, NUMBER, Value, find_values
from retentive.judgement.extract.person import plain
from retentive.judgement.extract.verbs import MODALS, is_adverb, is_past
from retentive.text.terms import STOP_WORDS

CACHED_STATEMENTS = 4096  # a new memory is compared with the same few again and again

TABLES: dict[str, Any] = tomllib.loads(
    (files("retentive.judgement.corrections") / "attributes.toml").read_text("utf-8")
)


def _words(name: str) -> frozenset[str]:
    return frozenset(TABLES[name].split())


PERSONS, MANY_VALUED = _words("persons"), frozenset(map(stem, _words("many")))
_ONE_OF_A_KIND = "|".join(_words("one_of_a_kind"))
_LIGHT = frozenset(map(stem, _words("light_verbs") | _words("change_words"))) | STOP_WORDS
_STATES = {word: state for state, members in TABLES["states"].items() for word in members.split()}

_MARKS = frozenset("s t d m ll re ve".split())  # what is left of short forms

_NAME = r"[A-ZÀ-Þ][\w'&.-]*"
_NAMES = rf"(?:the )?{_NAME}(?:,? (?:(?:de|of|del|la|am|upon) )*{_NAME}| and (?={_NAME}(?:[.,;!]|$)){_NAME})*"
_OFTEN = r"(?: now| currently| actually| still| just| recently| finally| officially| also)*"
_WHO = r"(?P<who>I|[Ww]e|(?:[Mm]y|[Oo]ur) [\w' -]+?|[A-ZÀ-Þ]\w+)"
_OWNED = r"(?:my|our|the|[A-ZÀ-Þ]\w+'s) (?:new |current |updated )?(?P<what>[\w][\w' -]*?)"
_END = r"(?: now| currently| these days| instead)?[.!]?$"
_IS = rf"(?P<verb> is| are){_OFTEN}"

_LEAD = re.compile(
    r"^(?:(?:actually|correction|update|fyi|btw|by the way|note|also|so|and|ok|okay|well|oh|sorry|no|hey|hi|anyway"
    r"|turns out|it turns out that|as of (?:today|now)|from now on|starting today|these days|nowadays)\b[\s,:;!-]*)+",
    re.IGNORECASE,
)
_USER = re.compile(r"\b[Tt]he user(?P<own>'s)?\b")
_FIRST_OF = {"is": "I am", "has": "I have", "does": "I do"}
_THIRD_OF_I = re.compile(r"\bI (is|has|does)\b")
_DOUBT = re.compile(
    r"\?|^(?:if|unless|suppose|imagine|maybe|perhaps)\b|\b(?:if (?:i|we|he|she|they)|might|may be|would|could"
    r"|maybe|perhaps|probably|considering|thinking (?:of|about)|wish(?:es)?|hopes?|hoping|wants? to(?! be called)"
    r"|would like"
    r"|looking (?:at|into|for)|someone said|i heard|supposedly|apparently|pretend)\b",
    re.IGNORECASE,
)
_PLAN = re.compile(
    r"\b(?:will (?!be\b)|going to|gonna|plans? to|planning|intends? to|about to|(?:is|am|are) (?:moving|joining"
    r"|switching"
    r"|starting|leaving)|next (?:week|month|year|summer|spring|fall|autumn|winter)|tomorrow|used to|tried)\b",
    re.IGNORECASE,
)
_ADDITION = re.compile(
    r"\b(?:also|too|as well|another|second|third|additionally|besides|in addition|one more|both|plus|other|each"
    r"|except|only for)\b",
    re.IGNORECASE,
)
_INDEFINITE = re.compile(
    r"\b(?:an?|some|several) (?!(?:day|week|month|year|hour|minute|night|piece|person|bit)\b)[\w-]+", re.IGNORECASE
)
_DATED = re.compile(
    r"\b(?:in|since|during) (?:19|20)\d\d\b|\b(?:ago|yesterday|last (?:\w+day|week|month|year))\b", re.IGNORECASE
)
_NEGATED = re.compile(r"\b(?:not|never|no longer|cannot|without|none)\b", re.IGNORECASE)
_CLAUSE_END = re.compile(r"[;:,]|\s(?:and|but|so)\s")
_PERFECT = re.compile(r"\b(?:has|have) (?:\w+ly |just |also |never |already )*(\w+)")
_PRESENT = re.compile(  # "he lives", "Nour takes", "I do", "it is"
    r"\b(?:is|are|am|has|have|do|does|can|must|will)\b|\b(?:he|she|it|who|[A-ZÀ-Þ][\w'-]+) (?:\w+ly |now "
    r"|still )?\w+[^siu]s\b"
)
_VERB_BEHIND_VALUE = re.compile(rf"[{BLANK}{NUMBER}].*\b(?:is|are|was|were|has|have|had)\b")
_MEASURED = (  # words before a number that says how much or where; behind other words it says which one: "item 3"
    "is are am was at on in to by of for from about around over under port version extension than with has have had"
    " every turned until till and or the up down now currently only just room floor level"
)
_IDENTIFIER = re.compile(rf"\b(?!(?:{'|'.join(_MEASURED.split())})\b)(?:[a-z]{{2,}}|[A-Z])\s+{NUMBER}|^\w+\s+{NUMBER}")
_HAS_VERB = re.compile(r"^(?:I|we)\b|\b(?:is|are|am|was|were|has|have|had|went|rose|\w{2,}(?:s|ed))\b", re.IGNORECASE)
_DECIDING = frozenset("decided agreed settled chose opted".split())
_WORD = re.compile(r"[A-Za-zÀ-ÿ][\w'-]*")
_NAMED_SUBJECT = re.compile(
    r"(?:(?:Dr|Mr|Mrs|Ms|Prof|Professor|Herr"
    r"|Frau)\.? )?(?P<name>[A-ZÀ-Þ][\w&-]*(?: [A-ZÀ-Þ][\w&-]*)*)(?P<mark>'s\b|[,:])?"
    r"(?: (?P<next>[\w']+))?"
)
_VERBS = frozenset("is are was were has have had does do did and now gets goes".split())
_THIRD_PERSON = re.compile(r"[^siu]s$")
_CHANGING = frozenset(
    "changed moved switched updated upgraded bumped pushed postponed rescheduled shifted raised increased lowered"
    " reduced dropped rose became went renamed migrated relocated joined extended delayed replaced swapped named"
    " called based located hosted used settled stopped quit sold cancelled canceled ditched deprecated married"
    " divorced retired turned uninstalled".split()
)
_STOP_AT = (
    r"(?=\s+(?:because|since|after|when|as of|last|in \w+$|this|so|and now|but|for good|for health|to \w+)\b|[,;.!(]|$)"
)
# What is over is a thing or a deed: "I do not think they make it any more" ends no thought.
_MENTAL = frozenset(map(stem, "think know feel want believe say see guess mean remember care mind".split()))
_MOVING = r"(?:switch|mov|migrat|chang|convert|transition|went)\w*"
_ENDING = r"(?:stopped|quit|quitting|gave up|given up|got rid of|cancell?ed|sold|ditched|deprecated|uninstalled|sunset)"
_OVER = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        rf"\bno longer (?P<gone>.+?){_STOP_AT}",
        r"\bnot (?P<gone>(?:\w[\w'.+#-]*[ ,]+){1,7}?)(?:any ?more|any longer)\b",
        rf"\b{_MOVING}(?: \w+){{0,4}}? from (?P<gone>.+?) (?:over )?to (?P<new>.+?){_STOP_AT}",
        rf"\breplac(?:ed|ing) (?P<gone>.+?) (?:with|by) (?P<new>.+?){_STOP_AT}",
        rf"\bswapped (?:out )?(?P<gone>.+?) for (?P<new>.+?){_STOP_AT}",
        rf"^(?P<gone>.+?) (?:was|were|has been|have been|is|are) replaced (?:with|by) (?P<new>.+?){_STOP_AT}",
        rf"\binstead of (?P<gone>.+?){_STOP_AT}",
        rf"\b{_ENDING} (?P<gone>.+?){_STOP_AT}",
        r", not (?P<gone>[\w][\w .+#-]{0,40}?)(?: any ?more)?[.!]?$",
    )
)


@dataclass(frozen=True, slots=True)
class Attribute:
    """What a sentence gives a value to."""

    name: str
    """`home`, or what is owned: `dog`, `favorite color`."""
    value: str
    """As it was said."""
    is_certain: bool = True
    """False where the words have other meanings too: one moves to a city, and to another editor."""


@dataclass(frozen=True, slots=True)
class Over:
    """What a statement says is over."""

    stems: frozenset[str]
    said: str
    """The words that say so."""
    new: frozenset[str]
    """The stems of what took its place, where that is said."""


@dataclass(frozen=True, slots=True)
class Statement:
    text: str
    """In the first person, short forms in full."""
    subjects: frozenset[str]
    """What its subject is called: `user`, or `sister` and `hanna`. Empty for things."""
    topic: frozenset[str]
    """The stems that say what it is about: no values, no verbs that say nothing."""
    values: tuple[Value, ...]
    names: frozenset[str]
    """Proper names, beside those of the subject."""
    attribute: Attribute | None
    over: Over | None
    is_event: bool
    """It happened, and stays true."""
    is_doubtful: bool
    """Supposed, wished, asked or planned."""
    is_addition: bool
    is_negated: bool
    has_indefinite: bool
    """It introduces one of several: "I have an appointment on Monday"."""
    says_change: bool
    is_named_by_value: bool
    """A value says which one is meant: "Room 12 is blue", "the notes of 3 May are in Notion"."""


@lru_cache(CACHED_STATEMENTS)
def parse_statement(text: str) -> Statement:
    said = to_first_person(text)
    words = _WORD.findall(said)
    subjects = find_subjects(said, words)
    values, rest = find_values(said)
    names = frozenset(_proper_names(rest)) - subjects
    topic = frozenset(word for word in stem_words(rest) if word not in _LIGHT and word not in _MARKS)
    return Statement(
        text=said,
        subjects=subjects,
        topic=topic,
        values=values,
        names=names,
        attribute=find_attribute(said) if len(said) <= MAX_STATEMENT_CHARS else None,
        over=find_over(said),
        is_event=_is_event(said),
        is_doubtful=bool(_DOUBT.search(said) or _PLAN.search(said)),
        is_addition=bool(_ADDITION.search(said)),
        is_negated=bool(_NEGATED.search(said)),
        has_indefinite=bool(_INDEFINITE.search(said)),
        says_change=_says_change(said, words),
        is_named_by_value=_is_named_by_value(rest),
    )


def _is_named_by_value(rest: str) -> bool:
    """Whether a value says which one is meant; `rest` has a mark in the place of each value."""
    before = re.split(f"[{BLANK}{NUMBER}]", rest, maxsplit=1)[0]
    return bool(_VERB_BEHIND_VALUE.search(rest) or _IDENTIFIER.search(rest)) or not _HAS_VERB.search(before)


def to_first_person(text: str) -> str:
    """Without what leads up to the statement: "Actually, the user's dog is Max." -> "my dog is Max"."""
    said = plain(text.strip()).rstrip(" .!")
    said = _USER.sub(lambda found: "my" if found["own"] else "I", said)
    said = _THIRD_OF_I.sub(lambda found: _FIRST_OF[found[1]], said)
    lead = _LEAD.match(said)
    return said[lead.end() :] if lead and lead.end() < len(said) else said


def find_subjects(said: str, words: list[str]) -> frozenset[str]:
    """What the subject is called: `user`, or proper names. "Finn's piano lesson" is about Finn."""
    low = words[0].lower() if words else ""
    if low in ("i", "we"):
        return frozenset({"user"})
    if low in ("my", "our") and len(words) > 1:
        return _owned_subject(words)
    found = _NAMED_SUBJECT.match(said)
    if not found or low in STOP_WORDS or is_adverb(low) or find_values(found["name"])[0]:
        return frozenset()
    is_subject = found["mark"] or _is_verb(found["next"] or "")
    return frozenset(found["name"].lower().split()) if is_subject else frozenset()


def _is_verb(word: str) -> bool:
    """Whether a word behind a name may be its verb: "Hanna lives", "Heron 2 was", "Ilse and"."""
    low = word.lower()
    return low in _VERBS or low in MODALS or is_past(low) or is_adverb(low) or bool(_THIRD_PERSON.search(low))


def _owned_subject(words: list[str]) -> frozenset[str]:
    """Of "my sister Hanna lives": sister and hanna; of "my sister's dog" and "my laptop": nobody."""
    for place, word in enumerate(words[1:4], start=1):
        if word.lower() in PERSONS:
            named = words[place + 1] if place + 1 < len(words) else ""
            is_name = named[:1].isupper() and not named.lower().endswith("'s")
            return frozenset({word.lower(), named.lower()} if is_name else {word.lower()})
    return frozenset()


def _proper_names(text: str) -> list[str]:
    found = re.finditer(rf"(?<![.!?] )(?<!^){_NAME}", text)
    return [match[0].lower().removesuffix("'s") for match in found if match[0] != "I"]


def _is_event(said: str) -> bool:
    """Whether it tells only of what happened: no clause of it is about how things are."""
    clauses = [clause for clause in _CLAUSE_END.split(said) if clause.strip()]
    has_past = any(_has_past(clause) for clause in clauses)
    return has_past and not any(_is_present(clause) for clause in clauses)


def _has_past(clause: str) -> bool:
    words = [word.lower() for word in _WORD.findall(clause)][1:]
    return any(is_past(word) or word in ("was", "were", "did", "been") for word in words)


def _is_present(clause: str) -> bool:
    """Whether a clause is about how things are, or says how they became so."""
    words = [word.lower() for word in _WORD.findall(clause)]
    if any(word in _CHANGING or word in _DECIDING for word in words) and not _DATED.search(clause):
        return True
    perfect = _PERFECT.search(clause)
    if perfect and (is_past(perfect[1].lower()) or perfect[1] == "been") and perfect[1].lower() not in ("had", "got"):
        return False
    return bool(_PRESENT.search(clause))


def _says_change(said: str, words: list[str]) -> bool:
    now = re.search(
        r"\b(?:now|no longer|any ?more|instead|these days|nowadays|as of|from now on)\b", said, re.IGNORECASE
    )
    return bool(now) or any(word.lower() in _CHANGING for word in words)


def find_over(said: str) -> Over | None:
    for form in _OVER:
        if found := form.search(said):
            stems = frozenset(word for word in stem_words(found["gone"]) if word not in _LIGHT or word.isdigit())
            stems -= _MENTAL
            new = found.groupdict().get("new") or ""
            if stems:
                return Over(stems, found[0].strip(" ,"), frozenset(stem_words(new)) - _LIGHT)
    return None


_HOME = re.compile(
    rf"^{_WHO}{_OFTEN} (?:(?:am|is|are) )?(?:live|lives|living|reside|resides|based)(?: now| currently)? (?:in|at)"
    rf" (?P<value>{_NAMES})"
)
_MOVED = re.compile(
    rf"^{_WHO}(?: have| has)?{_OFTEN} (?:moved|relocated|emigrated)(?: back| over| house| home| out)*(?: from [\w ]+?)?"
    rf" to (?P<value>{_NAMES})"
)
_SURELY_HOME = re.compile(r"\b(?:relocated|emigrated|moved (?:house|home)|apartment|flat|house|city|town|country)\b")
_EMPLOYER = re.compile(
    rf"^{_WHO}{_OFTEN} (?:(?:am|is|are) )?(?:work|works|working|employed)(?: now| currently)?(?: as (?:an? )?[\w -]+?)?"
    rf" (?:at|for|by) (?P<value>{_NAMES})"
)
_JOB = re.compile(
    rf"^{_WHO}{_OFTEN} (?:(?:am|is|are) )?(?:work|works|working|employed)(?: now| currently)? as (?:an? |the )?"
    r"(?P<value>[\w' -]+?)(?: (?:at|for|in|with|on|from|now|these days)\b.*)?[.!]?$"
)
_JOINED = re.compile(rf"^{_WHO}(?: have| has)?{_OFTEN} (?:joined|started (?:working )?(?:at|for)) (?P<value>{_NAMES})")
_MY_NAME = re.compile(
    rf"^(?:my name is|I am called|I wants? to be called|please call me|call me"
    rf"|I go(?:es)? by)(?: now)? (?P<value>{_NAMES})"
)
_CALLED = re.compile(
    rf"^(?:my|our) (?P<what>[\w][\w' -]*?)(?:'s name is| is (?:called|named)){_OFTEN} (?P<value>{_NAMES})",
    re.IGNORECASE,
)
_IS_NAME = re.compile(rf"^(?i:{_OWNED})(?i:{_IS}) (?P<value>{_NAMES}){_END}")
_SPECIAL = re.compile(
    rf"^(?:my|our|the|[\w'-]+'s) (?P<what>(?:[\w-]+ )?(?:{_ONE_OF_A_KIND}) [\w' -]+?){_IS} (?P<value>.+?){_END}",
    re.IGNORECASE,
)
_IS_SPECIAL = re.compile(
    rf"^(?P<value>.+?){_IS} (?:my|our) (?P<what>(?:new )?(?:{_ONE_OF_A_KIND}) [\w' -]+?){_END}", re.IGNORECASE
)
_FIELD = re.compile(  # what the profile has one of, whatever its value looks like
    rf"^(?:my|our) (?:new |current |updated )?(?P<what>{'|'.join(sorted(TABLES['slots'], key=len, reverse=True))}){_IS}"
    rf" (?P<value>.+?){_END}",
    re.IGNORECASE,
)
_USED_AS = re.compile(
    rf"^(?:I|we){_OFTEN} use(?:s)? (?P<value>.+?) as (?:my|our|the) (?P<what>[\w -]+?){_END}", re.IGNORECASE
)
_STATE = re.compile(
    rf"^(?:I|we)(?: am| are| got| have been| became)?{_OFTEN}(?: a)? (?P<value>{'|'.join(_STATES)})\b", re.IGNORECASE
)
_AGE = re.compile(rf"^I(?: am)?{_OFTEN}(?: turned)? (?P<value>\d{{1,3}})(?: years old)?{_END}")
_PREFER = re.compile(
    rf"^(?:I|we){_OFTEN} prefers?(?: to use| using)? (?P<value>.+?)(?: (?:over|to|rather than"
    rf"|instead of) (?P<other>.+?))?{_END}",
    re.IGNORECASE,
)


def find_attribute(said: str) -> Attribute | None:  # noqa: PLR0911 - one return for each form
    """The attribute that a sentence gives a value to, in one of the forms that are known."""
    if found := _MY_NAME.match(said):
        return Attribute("name", found["value"])
    if found := _HOME.match(said):
        return Attribute("home", found["value"])
    if found := _MOVED.match(said):
        return Attribute("home", found["value"], is_certain=bool(_SURELY_HOME.search(said)))
    if found := _EMPLOYER.match(said):
        return Attribute("employer", found["value"])
    if found := _JOB.match(said):
        return Attribute("job title", found["value"])
    if found := _JOINED.match(said):
        return Attribute("employer", found["value"], is_certain=False)
    if found := _AGE.match(said):
        return Attribute("age", found["value"])
    if found := _STATE.match(said):
        return Attribute(_STATES[found["value"].lower()], found["value"].lower())
    return _find_owned(said)


def _find_owned(said: str) -> Attribute | None:
    """What is owned: "my dog is Max", "our default branch is main", "I use Zed as my editor"."""
    for form in (_FIELD, _USED_AS):
        if found := form.match(said):
            return Attribute(_normalize(found["what"]), found["value"].strip())
    for form in (_SPECIAL, _IS_SPECIAL, _CALLED, _IS_NAME):
        if found := form.match(said):
            return _name_attribute(found, is_special=form in (_SPECIAL, _IS_SPECIAL))
    return None


def _name_attribute(found: re.Match[str], *, is_special: bool) -> Attribute | None:
    """What is said to be called so. There may be more of what stands in the plural: "my main concerns are ..."."""
    name = _normalize(found["what"])
    if not name:
        return None
    is_plural = found.groupdict().get("verb", "").strip().lower() == "are"
    is_one_of_several = not is_special and stem(name.split()[-1]) in MANY_VALUED
    return Attribute(name, found["value"].strip(), is_certain=not is_plural and not is_one_of_several)


def _normalize(what: str) -> str:
    name = " ".join(word for word in what.lower().split() if word not in ("new", "current", "updated", "own"))
    return name.replace("favourite", "favorite").replace("colour", "color").strip(" '")
