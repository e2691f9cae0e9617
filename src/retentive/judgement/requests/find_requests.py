"""Find requests to the assistant in a message: "remember that ...", "forget my ...", "no, I meant 14 May".

A request starts a sentence, after nothing but fillers and "please", "can you" or "I want you to". It may also follow a
comma or a dash if it is about the user. So "she told me to remember", "if I said remember", "I never forget" and "do
you remember" are no requests. Pasted and quoted text is left out (`quoted_text.py`). Words that can be an idiom
("forget it", "never mind", "remember the good old days") are read as the idiom: a missed request can be repeated.

  a. "Don't forget to ..." may address the user or the assistant. The stored text is true for both: "The user asked not
     to forget to ...".
  b. "Forget everything" is not a request: there are commands for that.
  c. "Remember that." and "forget that" refer to the previous sentence of the message. Without one, a request to forget
     has an empty text: it refers to the previous message, which this module does not see.
  d. A request to forget is doubtful in a message that is long or mostly pasted: ask the user before carrying it out.
"""

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from retentive.judgement.extract.kinds import find_kind
from retentive.judgement.extract.person import (
    USER,
    expand_short_forms,
    speaks_for_group,
    to_third_person,
    to_whole_sentence,
)
from retentive.judgement.extract.pronouns import resolve_pronoun
from retentive.judgement.extract.quoted_text import blank_quoted_blocks, blank_quoted_text, restore_apostrophes
from retentive.judgement.extract.verbs import to_singular_verb
from retentive.judgement.requests import patterns
from retentive.judgement.requests.patterns_de_fr_es import find_foreign_request, move_verb_forward
from retentive.model import Kind
from retentive.text.sentences import Sentence, find_sentences

_QUOTES = re.compile(
    r"\"[^\"\n]*\"|\u201c[^\u201d\n]*\u201d|«[^»\n]*»|`[^`\n]*`|(?<!\w)['\u2018][^'\u2019\n]+['\u2019](?!\w)"
)
MAX_SENTENCE_CHARS = 500  # of a sentence that may be a request; a longer one is pasted text
MAX_MESSAGE_CHARS = 8000  # of a message that are read; a longer one is a document
MAX_SURE_CHARS = 1000  # of a message whose request to forget is carried out without asking back
_QUOTE_MASK = "\u2022"  # replaces each quoted character: no word, no blank, no punctuation

Verb = Literal["keep", "forget", "correct"]


class Request(NamedTuple):
    """A request to keep, to forget or to correct something."""

    verb: Verb
    text: str
    """Keep: the statement, standalone. Forget: words for the memory, "" for the previous message. Correct: the new
    value or sentence, in the user's words."""
    kind: Kind
    span: tuple[int, int]
    """Its start and end in the message."""
    doubtful: bool = False
    """Whether to ask the user before carrying it out."""


class _RequestSentence(NamedTuple):
    """A sentence, or a part of one that is a request of its own."""

    masked: str
    """The text that patterns match: quotations masked, apostrophes straight."""
    text: str
    before: str
    """The previous sentence."""
    name: str
    """The name of the sender."""

    def get_text(self, found: re.Match[str], group: str) -> str:
        return self.text[found.start(group) : found.end(group)].strip()


def find_requests(text: str, name: str = USER) -> tuple[Request, ...]:
    """Find the requests of a message, in order. `name` is the name of its sender."""
    return tuple(_find_requests(text, name)) if patterns.ANY_REQUEST_WORD.search(text) else ()


def _find_requests(text: str, name: str) -> Iterator[Request]:
    clean = blank_quoted_blocks(text)[:MAX_MESSAGE_CHARS]
    masked = _QUOTES.sub(lambda found: _QUOTE_MASK * len(found[0]), clean).replace("’", "'")  # noqa: RUF001
    before = ""
    for whole in find_sentences(masked):
        if len(whole.text) > MAX_SENTENCE_CHARS:
            continue
        for part in _split_requests(whole):
            sentence = _RequestSentence(part.text, clean[part.start : part.end], before, name)
            if found := _read_request(sentence):
                verb, content, kind = found
                yield Request(verb, content, kind, (part.start, part.end), verb == "forget" and _is_doubtful(text))
            before = sentence.text


def _read_request(sentence: _RequestSentence) -> "_ParsedRequest | None":
    return _read_keep(sentence) or _read_correction(sentence) or _read_forget(sentence) or _read_foreign(sentence)


def _is_doubtful(text: str) -> bool:
    """Whether a message is long, or mostly not its sender's own words."""
    own, all_ = (len("".join(each.split())) for each in (blank_quoted_text(text), text))
    return len(text) > MAX_SURE_CHARS or own * 2 < all_


def _split_requests(sentence: Sentence) -> Iterator[Sentence]:
    """Split a sentence before a request in the middle of it: ", please remember ..."."""
    text, start = sentence.text, 0
    is_request = patterns.KEEP_REQUEST.match(text) or patterns.FORGET_REQUEST.match(text)
    pattern = patterns.SECOND_REQUEST if is_request and patterns.SECOND_REQUEST.search(text) else patterns.LATER_REQUEST
    for middle in pattern.finditer(text):
        if not patterns.REPORTED_SPEECH.search(text, start, middle.start()):
            yield Sentence(text[start : middle.start()], sentence.start + start)
            start = middle.end()
    yield Sentence(text[start:], sentence.start + start)


_ParsedRequest = tuple[Verb, str, Kind]


def _read_keep(sentence: _RequestSentence) -> _ParsedRequest | None:
    asking = sentence.masked.rstrip().endswith("?")
    if asking and not patterns.POLITE_QUESTION.match(sentence.masked):
        return None
    return _read_remember(sentence, asking=asking) or (None if asking else _read_rule(sentence))


def _read_remember(sentence: _RequestSentence, *, asking: bool) -> _ParsedRequest | None:
    if reminder := patterns.REMIND_ME_REQUEST.match(sentence.masked):
        return (
            "keep",
            to_third_person(f"I want to be reminded {sentence.get_text(reminder, 'what')}", sentence.name),
            Kind.NOTE,
        )
    found = patterns.KEEP_REQUEST.match(sentence.masked)
    if not found or (asking and not (found["link"].strip() or re.match(r"(?:my|our)\b", found["rest"], re.IGNORECASE))):
        return None
    get_text, masked = sentence.get_text(found, "rest").rstrip("?"), found["rest"].rstrip("? ")
    if patterns.POINTER_BACK.match(f"{found['link']}{masked}".strip().lower().removeprefix("of ")):
        return _make_statement(sentence, sentence.before) if patterns.FINITE_VERB.search(sentence.before) else None
    if due := patterns.REMINDER_TO_DO.match(masked):
        return _make_reminder(sentence, get_text[due.start("what") :])
    unmeant = found["verb"].lower() == "note" and patterns.POINTER_START.match(masked)
    if found["link"].strip() == "," and found["verb"].lower() in patterns.ADVICE_VERBS:
        unmeant = not patterns.ABOUT_SENDER.match(masked)
    return None if unmeant or not _is_clause(masked, found["link"]) else _make_statement(sentence, get_text)


def _is_clause(text: str, link: str) -> bool:
    """Whether a text states something: after a colon any text does, else it needs a verb."""
    text = restore_apostrophes(text)
    if len(text.split()) < 2 or patterns.NO_STATEMENT.match(text):  # noqa: PLR2004
        return False
    return ":" in link or bool(patterns.FINITE_VERB.search(text) or patterns.STANDING_RULE.match(text))


def _make_reminder(sentence: _RequestSentence, what: str) -> _ParsedRequest | None:
    if patterns.STANDING_WORDS.search(what):
        return "keep", render_instruction(what, sentence.name), Kind.INSTRUCTION
    if patterns.SECOND_PERSON.search(what):
        return None
    return "keep", to_third_person(f"I asked not to forget to {what}", sentence.name), Kind.NOTE


def _make_statement(sentence: _RequestSentence, text: str) -> _ParsedRequest:
    clause = expand_short_forms(restore_apostrophes(text.strip(" ,;:-–—")))  # noqa: RUF001
    if patterns.STANDING_RULE.match(clause) or patterns.WHENEVER_RULE.match(clause):
        return "keep", render_instruction(clause, sentence.name), Kind.INSTRUCTION
    known = resolve_pronoun(clause, expand_short_forms(sentence.before))
    statement = known or clause
    content = to_whole_sentence(statement) if speaks_for_group(statement) else to_third_person(statement, sentence.name)
    if not known and sentence.before != text:
        content = f"{to_third_person(sentence.before, sentence.name)} {content}".strip()
    return "keep", content, find_kind(statement)


def _read_rule(sentence: _RequestSentence) -> _ParsedRequest | None:
    """Read a standing instruction: "always ...", "from now on ...", "whenever I ..., do ..."."""
    for pattern in (patterns.STANDING_RULE, patterns.RULE_FROM_NOW_ON, patterns.WHENEVER_RULE):
        if found := pattern.match(sentence.masked):
            return "keep", render_instruction(sentence.get_text(found, "rule"), sentence.name), Kind.INSTRUCTION
    if patterns.RULE_FOR_YOU.match(sentence.masked):
        return "keep", render_instruction(sentence.text, sentence.name), Kind.INSTRUCTION
    found = patterns.FROM_NOW_ON.match(sentence.masked)
    if not found or patterns.OTHER_SUBJECT.match(found["rest"]) or len(found["rest"].split()) < 2:  # noqa: PLR2004
        return None
    get_text, when = sentence.get_text(found, "rest"), sentence.get_text(found, "when")
    if re.match(r"(?:i|we|my|our)\b", get_text, re.IGNORECASE):
        _, text, kind = _make_statement(sentence, get_text)
        return "keep", to_whole_sentence(f"{when}, {_lower_first(text, sentence.name)}"), kind
    return "keep", render_instruction(f"{when}, {get_text}", sentence.name), Kind.INSTRUCTION


def render_instruction(text: str, name: str) -> str:
    """Name the speaker in an instruction; it stays an order."""
    user = _lower_first(name, name)
    text = re.sub(r"\bI (\w+)", lambda found: f"{user} {to_singular_verb(found[1])}", expand_short_forms(text))
    for pattern, word in ((r"\b(?:my|mine)\b", f"{user}'s"), (r"\b(?:me|I)\b", user)):
        text = re.sub(pattern, word, text)
    return to_whole_sentence(text)


def _lower_first(text: str, name: str) -> str:
    return text[0].lower() + text[1:] if text and name == USER else text


def _read_correction(sentence: _RequestSentence) -> _ParsedRequest | None:
    if sentence.masked.rstrip().endswith("?"):
        return None
    for pattern in patterns.CORRECTIONS:
        if found := pattern.match(sentence.masked):
            text = patterns.APOLOGY_AFTER.sub("", sentence.get_text(found, "what"))
            return "correct", text.strip(" ,;:.!"), Kind.FACT
    return None


def _read_forget(sentence: _RequestSentence) -> _ParsedRequest | None:
    what = _find_forgettable(sentence)
    return None if what is None else ("forget", what.strip(" ,;:.!"), Kind.FACT)


def _find_forgettable(sentence: _RequestSentence) -> str | None:
    masked = sentence.masked
    if masked.rstrip().endswith("?") and not patterns.POLITE_QUESTION.match(masked):
        return None
    if patterns.NO_LONGER_TRUE.match(masked):
        return ""
    for pattern, group in (
        (patterns.NO_LONGER_TRUE_THAT, "what"),
        (patterns.SAID_BEFORE_IS_WRONG, "what"),
        (patterns.DELETE_REQUEST, "rest"),
        (patterns.REMOVE_FROM_MEMORY, "rest"),
        (patterns.REMOVE_FROM_MEMORY_THAT, "rest"),
    ):
        if found := pattern.match(masked):
            return sentence.get_text(found, group).rstrip("?")
    found = patterns.FORGET_REQUEST.match(masked)
    if not found or patterns.FORGET_IDIOM.search(masked):
        return None
    if patterns.FORGET_LAST.match(found["rest"]):
        return ""
    meant = patterns.FORGETTABLE.match(found["rest"])
    start = found.start("rest")
    return sentence.text[start + meant.start("what") : start + meant.end("what")].rstrip("? ") if meant else None


def _read_foreign(sentence: _RequestSentence) -> _ParsedRequest | None:
    found = find_foreign_request(sentence.masked)
    if not found:
        return None
    text = sentence.text[found.start :]
    if not found.is_keep:
        return "forget", text.strip(" .!"), Kind.FACT
    if found.is_rule:
        return "keep", to_whole_sentence(text), Kind.INSTRUCTION
    return "keep", to_whole_sentence(move_verb_forward(text)), Kind.FACT
