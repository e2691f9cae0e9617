"""Measure how far the messages support a claim of a language model.

Only the form is compared: which of the claim's content words the user said in the messages that it cites. Words do not
count in questions and suppositions, in pasted or quoted text, and in clauses about somebody whom the claim does not
name. Dates do not count either: the model computes them. The assistant's words count if the user confirms them: "So you
live in Porto?" - "Yes."
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from enum import Enum
from typing import NamedTuple

from retentive.judgement.corrections.statement import Statement, parse_statement
from retentive.judgement.corrections.stems import are_alike, stem
from retentive.judgement.extract.candidates import cut_clauses, cut_request, is_question, is_supposed
from retentive.judgement.extract.quoted_text import blank_quoted_text
from retentive.judgement.extract.short_answers import MAX_ANSWER_WORDS, is_no, is_yes
from retentive.model import Event, Role
from retentive.text.caches import text_cache
from retentive.text.sentences import find_sentences, mask_quoted_text
from retentive.text.terms import STOP_WORDS, find_query_words

MIN_SUPPORT_SHARE = 0.5  # of the content words of a claim that must be in the messages; with less, it is a guess
MIN_REPLACED_SHARE = 0.6  # of a memory's words that the replacing claim has: half of "lives in Lisbon" is the city
MIN_COPIED_SHARE = 0.8  # of the content words of a claim in one sentence of the assistant's: it is copied from there
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


class SupportLevel(Enum):
    """How far the messages support a claim, and why not further."""

    BELIEVED = ""
    GUESS = "less than half of it is in the messages that it cites"
    INVENTED = "nothing in the messages that it cites says so"
    OPPOSITE = "the messages that it cites say the opposite"
    ASSISTANT = "it is what the assistant said, not the user"


class Clause(NamedTuple):
    """A statement of the user's, or one that they agreed to."""

    stems: frozenset[str]
    is_negated: bool
    statement: Statement | None = None
    """The parsed statement; None for one that they agreed to."""

    def is_about(self, claim: Statement, stems: Collection[str]) -> bool:
        """Whether the clause can support a claim: a claim about the user needs no clause about somebody else."""
        own = self.statement
        if own is None or claim.subjects != _THE_USER or not own.subjects or "user" in own.subjects:
            return True
        return bool(_FIRST_PERSON.search(own.text)) or any(stem(name) in stems for name in own.subjects)


_THE_USER = frozenset({"user"})


class Support:
    """The user's statements in a batch of messages, against which claims are checked."""

    def __init__(self, batch: Sequence[Event], known: Iterable[str] = ()) -> None:
        """`known` are texts whose names and figures a claim may also use."""
        self._clauses = {event.sequence: [*_find_clauses(event, before)] for before, event in _pair(batch)}
        self._assistant = [*_find_sentences(batch)]
        self._names = frozenset().union(
            *(clause.stems for some in self._clauses.values() for clause in some),
            *(find_stems(event.speaker) for event in batch if event.speaker),
            *map(find_stems, known),
        )
        self._speakers = {event.sequence: find_stems(event.speaker or "") for event in batch}

    def judge(self, content: str, cited: Collection[int]) -> SupportLevel:
        """How far the messages with these numbers support a claim."""
        bare = _DATE.sub(" ", _USER.sub(" ", content))
        stems, statement = find_stems(bare), parse_statement(content)
        clauses = [clause for clause in self._find_cited(cited) if clause.is_about(statement, stems)]
        share = find_share(stems, self._find_said(clauses, cited))
        if share < MIN_SUPPORT_SHARE and any(find_share(stems, each) >= MIN_COPIED_SHARE for each in self._assistant):
            return SupportLevel.ASSISTANT
        if not share:
            return SupportLevel.INVENTED
        if _is_opposite(stems, bare, clauses):
            return SupportLevel.OPPOSITE
        if share < MIN_SUPPORT_SHARE or not self._has_names(bare) or _is_only_supposed(statement, clauses):
            return SupportLevel.GUESS
        return SupportLevel.BELIEVED

    def names_most(self, known: str, content: str, cited: Collection[int]) -> bool:
        """Whether most words of a known memory are in a claim, or in the messages that it cites."""
        said = self._find_said(self._find_cited(cited), cited) | find_stems(content)
        return find_share(find_stems(_USER.sub(" ", known)), said) >= MIN_REPLACED_SHARE

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
    """Whether half of the words of a claim, and all of its names and figures, are in a known memory."""
    bare = _DATE.sub(" ", _USER.sub(" ", content))
    names, stems = find_stems(" ".join(_NAME.findall(bare))), find_stems(known)
    return find_share(find_stems(bare), stems) >= MIN_SUPPORT_SHARE and (not names or find_share(names, stems) == 1)


@text_cache(CACHED_TEXTS)
def find_stems(text: str) -> frozenset[str]:
    """The content words of a text without their endings; small numbers as figures."""
    found = (word for word in find_query_words(text, len(text)) if word not in STOP_WORDS)
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
            yield from (find_stems(sentence.text) for sentence in find_sentences(mask_quoted_text(event.content)))


def _find_clauses(event: Event, before: Event | None) -> Iterator[Clause]:
    text = blank_quoted_text(event.content)
    for sentence in find_sentences(text):
        for clause in cut_clauses(_cut_question(sentence.text)):
            if not is_question(clause) and not is_supposed(clause):
                yield Clause(find_stems(clause), _is_negated(clause), parse_statement(clause))
    if before:
        yield from _find_agreed(mask_quoted_text(before.content), text.strip())


def _cut_question(sentence: str) -> str:
    """Cut the question off the end of a sentence: "I moved to Porto, any tips?"."""
    if not sentence.endswith("?") or is_question(sentence.rstrip("?")):
        return sentence
    stated = cut_request(sentence)
    return stated if stated != sentence else sentence.rpartition(",")[0]


def _find_agreed(heard: str, reply: str) -> Iterator[Clause]:
    """The assistant's question or statement, if the user's reply confirms it."""
    question = _LAST_QUESTION.search(heard)
    sentences = [sentence.text for sentence in find_sentences(heard)]
    asked = question[1] if question else (sentences or [""])[-1]
    if _OFFER.search(asked):
        return
    short = _FIRST_PART.match(reply)
    if short and (is_yes(reply) or is_no(reply)):
        yield Clause(find_stems(asked), _is_negated(asked) != is_no(reply))
    elif question and _ASKS_WHAT.search(asked) and "?" not in reply and 0 < len(reply.split()) <= MAX_ANSWER_WORDS:
        yield Clause(find_stems(asked) | find_stems(reply), is_negated=False)


def _is_negated(text: str) -> bool:
    return bool(_NEGATION.search(_ANSWER_LEAD.sub("", text)))


def _is_opposite(stems: Collection[str], text: str, clauses: Sequence[Clause]) -> bool:
    """Whether a claim differs from every clause with all of its words by a "not"."""
    whole = [clause for clause in clauses if find_share(stems, clause.stems) == 1]
    return bool(whole) and all(clause.is_negated != _is_negated(text) for clause in whole)


def _is_only_supposed(claim: Statement, clauses: Sequence[Clause]) -> bool:
    """Whether a claim states a fact, but its clauses only say how things were, may be or will be."""
    if claim.attribute is None or claim.is_doubtful:
        return False
    value = find_stems(claim.attribute.value)
    read = [clause.statement for clause in clauses if find_share(value, clause.stems)]
    return bool(read) and all(each and each.is_doubtful and not _has_attribute(each, claim) for each in read)


def _has_attribute(said: Statement, claim: Statement) -> bool:
    own, other = said.attribute, claim.attribute
    return own is not None and other is not None and own.name == other.name
