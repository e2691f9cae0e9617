"""What in the messages bears out a claim of a language model?

Only the form is compared: which of the claim's content words the user said in the messages that it cites. Not counted
are words in questions and suppositions, in what the user pasted or quoted, in what they say of somebody whom the claim
does not name, and dates, which the model reckons. What the assistant said counts where the user answers it: "So you
live in Porto?" - "Yes."
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from enum import Enum
from functools import lru_cache
from typing import NamedTuple

from retentive.judgement.corrections.statement import Statement, parse_statement
from retentive.judgement.corrections.stems import are_alike, stem
from retentive.judgement.extract.candidates import cut_clauses, cut_request, is_question, is_supposed
from retentive.judgement.extract.quoted_text import own_words
from retentive.judgement.extract.short_answers import MOST_WORDS, is_no, is_yes
from retentive.model import Event, Role
from retentive.text.sentences import own, spans
from retentive.text.terms import STOP_WORDS, words

HALF = 0.5  # of the content words of a claim that must be in the messages, or it is a guess
MOST = 0.6  # of the words of something known that a claim that replaces it has: half of "lives in Lisbon" is the city
NEARLY = 0.8  # of the content words of a claim that are in one sentence of the assistant's: it is a copy of that
CACHED_TEXTS = 512

_USER = re.compile(  # how a claim calls the user
    r"\b(?:the user|(?:der|die) (?:be)?nutzer(?:in)?|l['’]utilisat(?:eur|rice)|(?:el|la) usuari[oa]|l['’]utente"  # noqa: RUF001
    r"|用户|ユーザー)(?:'s)?",
    re.IGNORECASE,
)
_NUMBERS = {
    word: str(number)
    for number, word in enumerate("zero one two three four five six seven eight nine ten eleven twelve".split())
}
_MONTH = (
    r"(?:january|february|march|april|may|june|july|august|september|october|november|december"
    r"|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\.?"
)
_DATE = re.compile(
    rf"\b\d{{4}}-\d\d(?:-\d\d)?\b|\b\d{{1,2}}(?:st|nd|rd|th)? (?:of )?{_MONTH}(?: \d{{4}})?\b"
    rf"|\b{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?(?:,? \d{{4}})?\b|\b(?:in |since |until )?{_MONTH} \d{{4}}\b"
    rf"|\b(?:in|since|until|by|from) (?:{_MONTH}|(?:19|20)\d\d)\b"
    r"|\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b",
    re.IGNORECASE,
)
_NEGATION = re.compile(
    r"\b(?:not|never|no|none|cannot|without|nicht|kein\w*|ne|pas|jamais|nunca)\b|n't\b", re.IGNORECASE
)
_ANSWER_LEAD = re.compile(r"^(?:no|nope|nah)[,.!;]+\s*", re.IGNORECASE)
_NAME = re.compile(r"(?<=\s)[A-ZÀ-Þ][\w'&-]*|\b[^\W\d]*\d[\w.,]*\b")
_FIRST_PERSON = re.compile(r"\b(?:i|we|me|us|i'm|i've|we're|we've)\b", re.IGNORECASE)
_OFFER = re.compile(
    r"\b(?:(?:shall|should|can|could|may) (?:i|we)|(?:do you|would you) (?:want|like)|want me)\b", re.IGNORECASE
)
_ASKS_WHAT = re.compile(r"\b(?:what|what's|which|where|where's|who|who's|when|when's|how)\b", re.IGNORECASE)
_FIRST_PART = re.compile(r"\S+(?: \S+)?(?:[,.!;]|$)")  # of one or two words: "I am in Graz" is no yes
_LAST_QUESTION = re.compile(r"([^.!?\n]*\?)[^?]*$")


class Finding(Enum):
    """How far a claim is borne out, and why not further."""

    BELIEVED = ""
    GUESS = "less than half of it is in the messages that it cites"
    INVENTED = "nothing in the messages that it cites says so"
    OPPOSITE = "the messages that it cites say the opposite"
    ASSISTANT = "it is what the assistant said, not the user"


class Clause(NamedTuple):
    """A statement of the user's, or what they agreed to."""

    stems: frozenset[str]
    is_negated: bool
    statement: Statement | None = None
    """As it is read; None for what they agreed to."""

    def is_about(self, claim: Statement, stems: Collection[str]) -> bool:
        """Whether it can speak for a claim: not if that is about the user, and this about somebody it does not name."""
        said = self.statement
        if said is None or claim.subjects != _THE_USER or not said.subjects or "user" in said.subjects:
            return True
        return bool(_FIRST_PERSON.search(said.text)) or any(stem(name) in stems for name in said.subjects)


_THE_USER = frozenset({"user"})


class Support:
    """What the user says in some messages, to hold claims against."""

    def __init__(self, batch: Sequence[Event], known: Iterable[str] = ()) -> None:
        """`known` are texts whose names and figures a claim may have, too."""
        self._clauses = {event.sequence: [*_find_clauses(event, before)] for before, event in _pair(batch)}
        self._assistant = [*_find_sentences(batch)]
        self._names = frozenset().union(
            *(clause.stems for some in self._clauses.values() for clause in some),
            *(find_stems(event.speaker) for event in batch if event.speaker),
            *map(find_stems, known),
        )
        self._speakers = {event.sequence: find_stems(event.speaker or "") for event in batch}

    def judge(self, content: str, cited: Collection[int]) -> Finding:
        """How far the messages of these numbers bear out a claim."""
        bare = _DATE.sub(" ", _USER.sub(" ", content))
        stems, statement = find_stems(bare), parse_statement(content)
        clauses = [clause for clause in self._find_cited(cited) if clause.is_about(statement, stems)]
        share = find_share(stems, self._find_said(clauses, cited))
        if share < HALF and any(find_share(stems, each) >= NEARLY for each in self._assistant):
            return Finding.ASSISTANT
        if not share:
            return Finding.INVENTED
        if _is_opposite(stems, bare, clauses):
            return Finding.OPPOSITE
        if share < HALF or not self._has_names(bare) or _is_only_supposed(statement, clauses):
            return Finding.GUESS
        return Finding.BELIEVED

    def names_most(self, known: str, content: str, cited: Collection[int]) -> bool:
        """Whether more than half of the words of something known are in a claim, or in the messages that it cites."""
        said = self._find_said(self._find_cited(cited), cited) | find_stems(content)
        return find_share(find_stems(_USER.sub(" ", known)), said) >= MOST

    def _find_cited(self, cited: Iterable[int]) -> list[Clause]:
        return [clause for number in cited for clause in self._clauses.get(number, ())]

    def _find_said(self, clauses: Iterable[Clause], cited: Iterable[int]) -> frozenset[str]:
        speakers = (self._speakers.get(number, frozenset()) for number in cited)
        return frozenset().union(*(clause.stems for clause in clauses), *speakers)

    def _has_names(self, text: str) -> bool:
        """Whether every name and figure in a claim was said, or is known."""
        names = [name for name in _NAME.findall(text) if name.lower() not in STOP_WORDS]
        return find_share(find_stems(" ".join(names)), self._names) == 1 if names else True


def says_same(content: str, known: str) -> bool:
    """Whether a claim has half of its words, and all of its names and figures, from something known."""
    bare = _DATE.sub(" ", _USER.sub(" ", content))
    names, stems = find_stems(" ".join(_NAME.findall(bare))), find_stems(known)
    return find_share(find_stems(bare), stems) >= HALF and (not names or find_share(names, stems) == 1)


@lru_cache(CACHED_TEXTS)
def find_stems(text: str) -> frozenset[str]:
    """The content words of a text without their endings; small numbers as figures."""
    found = (word for word in words(text, len(text)) if word not in STOP_WORDS)
    return frozenset(_NUMBERS.get(word) or stem(word) for word in found)


def find_share(stems: Collection[str], said: Collection[str]) -> float:
    """The share of words that are among others, in any form."""
    if not stems:
        return 0.0
    return sum(each in said or any(are_alike(each, other) for other in said) for each in stems) / len(stems)


def _pair(batch: Sequence[Event]) -> Iterator[tuple[Event | None, Event]]:
    """Each message of the user with the assistant's directly before it."""
    before: Event | None = None
    for event in batch:
        if event.role is Role.USER:
            yield before, event
        before = event if event.role is Role.ASSISTANT else None


def _find_sentences(batch: Sequence[Event]) -> Iterator[frozenset[str]]:
    for event in batch:
        if event.role is Role.ASSISTANT:
            yield from (find_stems(sentence.text) for sentence in spans(own(event.content)))


def _find_clauses(event: Event, before: Event | None) -> Iterator[Clause]:
    text = own_words(event.content)
    for sentence in spans(text):
        for clause in cut_clauses(_cut_question(sentence.text)):
            if not is_question(clause) and not is_supposed(clause):
                yield Clause(find_stems(clause), _is_negated(clause), parse_statement(clause))
    if before:
        yield from _find_agreed(own(before.content), text.strip())


def _cut_question(sentence: str) -> str:
    """Without the last part of a sentence that ends as a question: "I moved to Porto, any tips?"."""
    if not sentence.endswith("?") or is_question(sentence.rstrip("?")):
        return sentence
    stated = cut_request(sentence)
    return stated if stated != sentence else sentence.rpartition(",")[0]


def _find_agreed(heard: str, reply: str) -> Iterator[Clause]:
    """What the assistant asked or said, where the reply makes it the user's."""
    question = _LAST_QUESTION.search(heard)
    sentences = [sentence.text for sentence in spans(heard)]
    asked = question[1] if question else (sentences or [""])[-1]
    if _OFFER.search(asked):
        return
    short = _FIRST_PART.match(reply)
    if short and (is_yes(reply) or is_no(reply)):
        yield Clause(find_stems(asked), _is_negated(asked) != is_no(reply))
    elif question and _ASKS_WHAT.search(asked) and "?" not in reply and 0 < len(reply.split()) <= MOST_WORDS:
        yield Clause(find_stems(asked) | find_stems(reply), is_negated=False)


def _is_negated(text: str) -> bool:
    return bool(_NEGATION.search(_ANSWER_LEAD.sub("", text)))


def _is_opposite(stems: Collection[str], text: str, clauses: Sequence[Clause]) -> bool:
    """Whether all of the words were said, but only with or without a "not" that the claim has not or has."""
    whole = [clause for clause in clauses if find_share(stems, clause.stems) == 1]
    return bool(whole) and all(clause.is_negated != _is_negated(text) for clause in whole)


def _is_only_supposed(claim: Statement, clauses: Sequence[Clause]) -> bool:
    """Whether a claim says how things are, and all that speaks for it says how they were, may be or will be."""
    if claim.attribute is None or claim.is_doubtful:
        return False
    value = find_stems(claim.attribute.value)
    read = [clause.statement for clause in clauses if find_share(value, clause.stems)]
    return bool(read) and all(each and each.is_doubtful and not _has_attribute(each, claim) for each in read)


def _has_attribute(said: Statement, claim: Statement) -> bool:
    own, other = said.attribute, claim.attribute
    return own is not None and other is not None and own.name == other.name
