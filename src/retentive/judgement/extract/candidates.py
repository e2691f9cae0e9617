"""Find the sentences of a conversation that may be worth keeping, as standalone statements.

Only the form decides here: whose words they are (`quoted_text.py`), where a statement begins and ends, what a pronoun
refers to (`pronouns.py`), and which question a short answer belongs to (`short_answers.py`). Questions, suppositions
and jokes are left out. A learned judge then chooses what is worth keeping (`choose.py`).
"""

import re
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from retentive.judgement.extract.clauses import is_joke, strip_fillers
from retentive.judgement.extract.person import USER
from retentive.judgement.extract.pronouns import resolve_pronoun
from retentive.judgement.extract.quoted_text import blank_quoted_text
from retentive.judgement.extract.short_answers import join_answer
from retentive.judgement.requests.find_requests import MAX_MESSAGE_CHARS, Request, find_requests
from retentive.model import Event, Role
from retentive.text.sentences import find_sentences, mask_quoted_text

MAX_SENTENCE_CHARS = 500  # a longer one is pasted text
MIN_WORDS = 3

_SUPPOSITION = re.compile(
    r"^(?:if|unless|suppose|imagine|what if|pretend|let's say|say)\b(?!.*\b(?:always|never|please)\b)|\b(?:i wish"
    r"|just kidding|jk|hypothetically)\b|\b(?:would|could|should) have\b",
    re.IGNORECASE,
)
_QUESTION_START = re.compile(  # without a question mark
    r"^(?:what|what's|whats|how|how's|hows|which|where|where's|wheres|who|who's|whos|why|any (?:idea|tip|suggestion)s?"
    r"|i (?:have|got) (?:an? )?(?:quick )?(?:question|request|favou?r))\b"
    r"|^(?:is|are|am|was|were|do|does|did|should|can|could|would|will|have|has) (?:i|we|you|u|it|there|that|this|these"
    r"|those|the|my|our|your|he|she|they|any|anyone|someone)\b"
    r"|^when (?:is|are|am|was|were|do|does|did|should|can|could|would|will|have|has)\b",
    re.IGNORECASE,
)
_REQUEST_WORDS = (
    r"(?:(?:can|could|would|will) (?:you|we|i|u)|do (?:you|i|we)|what|how|which|where|who|why|when (?:do|should|is)"
    r"|is (?:there|it|that)|are (?:there|those)|any (?:ideas?|tips|suggestions|thoughts|advice|chance)|please|pls|plz"
    r"|(?:help|tell|give|show|build|make|write|suggest|find|recommend|explain|draft|create|generate|plan|list|fix|pick"
    r"|remind|update|convert|calculate|check|let) (?:me|us|an?|the|some|my|our|it|that|this|up|out)|need (?:an?|some)"
    r"|looking for|want (?:an?|some)|got any)\b"
)
_REQUEST_AT_END = re.compile(
    rf"(?:[,;]|\s[-\u2013\u2014]+|\.\.+)\s*(?:(?:and|so|but|then|also)[, ]+)?(?={_REQUEST_WORDS})", re.IGNORECASE
)
_REQUEST_AT_START = re.compile(
    rf"^(?:(?:so|ok|hey|hi)[, ]+)?{_REQUEST_WORDS}[^,;\u2013\u2014]{{3,120}}(?:[,;]|\s[-\u2013\u2014]+)\s*"
    r"(?:(?:because|since|as|cause|bc|but|and)[, ]+)?(?=(?:i|i'm|i've|im|ive|we|we're|we've|my|our)\b"
    r"|(?:the |his |her )?[\w'-]+(?: [\w'-]+){0,2} (?:is|are|has|have|was|were|starts?|needs?|wants?)\b)",
    re.IGNORECASE,
)
_PRONOUN_CLAUSE = re.compile(  # "They rang, the dentist moved my appointment"
    r"^(?:they|he|she|it)\b[^,;]{2,40}[,;] (?:(?:and|so|but) )?(?=(?:i|we|my|our|the|[A-Z][\w'-]+)\b)", re.IGNORECASE
)
_NEW_CLAUSE = re.compile(
    r"(?:,? (?:and|but)|;)\s+(?=(?:now |then |recently )?(?:i|we|i'm|i've|we're|we've|my|our)\b)", re.IGNORECASE
)
_DEPENDENT_CLAUSE = re.compile(
    r"^(?:if|when|while|because|since|although|though|unless|before|after|as|once|until)\b[^,]*$"
    r"|\b(?:if|because|whether|not only|between|both|think|said|told|that|where|when)$|^(?:my|our) [\w'-]+$|^me$",
    re.IGNORECASE,
)
_PRONOUN_START = re.compile(
    r"^(?:it|they|he|she|these|those|it's|that's|this is|that is|that was|this was|they're|he's|she's)\b(?! (?:is|are)"
    r" (?:my|our)\b)",
    re.IGNORECASE,
)
_THANKS_ONLY = re.compile(
    r"^(?:(?:so )?many )?(?:thanks|thank you|thx)\b(?!.*\b(?:i|i'm|my|we|we're|our)\b)", re.IGNORECASE
)
_IMPERSONAL_THEY = re.compile(r"^they\b.*\b(?:me|my|us|our)\b", re.IGNORECASE)  # "they moved me to the night shift"


class CandidateSentence(NamedTuple):
    """A sentence that may be worth keeping."""

    said: str
    """Its text in the first person, without fillers and requests around it: the judge reads this."""
    speaker: str
    event: Event
    context: tuple[int, ...] = ()
    """The number of the message whose question it answers."""


def find_candidates(events: Sequence[Event], people: Collection[str] = ()) -> list[CandidateSentence]:
    """Find the candidates of all people in a conversation, in order.

    If several people talk, each gets a name. `people` are those known from earlier parts of the conversation.
    """
    names = {event.speaker for event in events if event.role is Role.USER and event.speaker} | {*people}
    readers: dict[str, _SpeakerReader] = {}
    previous: Event | None = None
    for event in events:
        if event.role is Role.USER:
            name = event.speaker if event.speaker and len(names) > 1 else USER
            readers.setdefault(name, _SpeakerReader(name)).read(event, previous)
        if event.role in (Role.USER, Role.ASSISTANT) and event.content.strip():
            previous = event
    found = [each for reader in readers.values() for candidates in reader.sentences for each in candidates]
    return sorted(found, key=lambda each: each.event.sequence)


class _SpeakerReader:
    """Reads the messages of one person, in order: a pronoun or "just kidding" refers to their own earlier sentence."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.sentences: list[list[CandidateSentence]] = []
        """The candidates of each sentence."""
        self.before = ""

    def read(self, event: Event, previous: Event | None) -> None:
        text = blank_quoted_text(event.content[:MAX_MESSAGE_CHARS])
        requests = find_requests(text, self.name) if self.name == USER else ()
        if previous and (answer := self._join_answer(text, event, previous)):
            self.sentences.append([answer])
            if len(text.split()) <= MIN_WORDS:
                return
        for sentence in find_sentences(text):
            inside = [each for each in requests if each.span[0] < sentence.end and sentence.start < each.span[1]]
            if inside:
                for request in inside:
                    self._drop_forgotten(request)
            elif is_joke(sentence.text):
                self.sentences = self.sentences[:-1]
            elif len(sentence.text) <= MAX_SENTENCE_CHARS:
                self.sentences.append([*self._read_sentence(sentence.text, event)])

    def _drop_forgotten(self, request: Request) -> None:
        """Drop the candidates that a request asks to forget."""
        if request.verb != "forget" or request.doubtful:
            return
        if not request.text:
            self.sentences = self.sentences[:-1]
            return
        words = _content_words(request.text)
        self.sentences = [
            [each for each in candidates if not words <= _content_words(each.said)] for candidates in self.sentences
        ]

    def _join_answer(self, text: str, event: Event, question: Event) -> CandidateSentence | None:
        """Join a short answer with its question, which is the message before."""
        if question.speaker == self.name:
            return None
        said = join_answer(mask_quoted_text(question.content), text)
        return CandidateSentence(said, self.name, event, (question.sequence,)) if said else None

    def _read_sentence(self, sentence: str, event: Event) -> Iterator[CandidateSentence]:
        for clause in cut_clauses(strip_fillers(cut_request(sentence))):
            text = clause if _IMPERSONAL_THEY.match(clause) else resolve_pronoun(clause, self.before)
            self.before = text or ""
            if text and is_statement(text):
                yield CandidateSentence(text, self.name, event)


def cut_request(sentence: str) -> str:
    """Cut the request off a sentence that also states something: "my son has celiac, can you suggest a cake?"."""
    for lead in (_REQUEST_AT_START, _PRONOUN_CLAUSE):
        if found := lead.match(sentence):
            sentence = sentence[found.end() :]
    tail = _REQUEST_AT_END.search(sentence)
    if tail and len(sentence[: tail.start()].split()) >= MIN_WORDS:
        return sentence[: tail.start()]
    return sentence


def cut_clauses(text: str) -> list[str]:
    """Cut a text where a new statement with its own subject begins: "I'm Anna and I work at Stripe"."""
    found: list[str] = []
    start = 0
    for cut in _NEW_CLAUSE.finditer(text):
        part = text[start : cut.start()]
        rest = text[cut.end() :]
        if not _DEPENDENT_CLAUSE.search(part) and len(part.split()) >= MIN_WORDS and len(rest.split()) >= MIN_WORDS:
            found.append(part)
            start = cut.end()
    return [*found, text[start:]]


def is_statement(text: str) -> bool:
    """Whether a text is a clear statement: no question, no thanks, no supposition, no unresolved pronoun."""
    is_too_short = len(text.split()) < MIN_WORDS and not re.search(r"[\d/_]", text)
    if is_too_short or is_question(text) or _THANKS_ONLY.match(text):
        return False
    is_clear = _IMPERSONAL_THEY.match(text) or not _PRONOUN_START.match(text)
    return bool(is_clear) and not is_supposed(text)


def is_question(text: str) -> bool:
    return "?" in text[-3:] or bool(_QUESTION_START.match(text))


def is_supposed(text: str) -> bool:
    """Whether a text is about something that is not so: "If I moved", "I wish"."""
    return bool(_SUPPOSITION.search(text))


def _content_words(text: str) -> set[str]:
    """The content words of a text, roughly without their endings."""
    from retentive.text.terms import STOP_WORDS

    found = re.findall(r"\w+", text.lower())
    return {word.removesuffix("s") for word in found if word not in STOP_WORDS} or {""}
