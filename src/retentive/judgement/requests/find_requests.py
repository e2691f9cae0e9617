"""Find requests to the assistant in a message: "remember that ...", "forget my ...", "no, I meant 14 May".

A request stands at the head of a sentence, after nothing but fillers and "please", "can you" or "I want you to"; or
after a comma or a dash where it speaks of the user. Thereby "she told me to remember", "if I said remember", "I never
forget" and "do you remember" are none. Pasted and quoted text is left out (`quoted_text.py`). Words that can be an
idiom ("forget it", "never mind", "remember the good old days") are taken as one: a missed request can be repeated.

  a. "Don't forget to ..." may be meant for either of the two. The kept text is true of both: "The user asked not to
     forget to ...".
  b. "Forget everything" is not a request: there are commands for that.
  c. "Remember that." and "forget that" refer to the sentence before in the same message. If there is none, a request
     to forget has an empty text: the message before is meant, which this module does not know.
  d. A request to forget in a long message, or in one that is mostly pasted, is doubtful: ask before it is done.
"""

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from retentive.judgement.extract.kinds import find_kind
from retentive.judgement.extract.person import USER, is_of_group, plain, third, whole
from retentive.judgement.extract.pronouns import resolved
from retentive.judgement.extract.quoted_text import blank_blocks, own_words, restore_apostrophes
from retentive.judgement.extract.verbs import singular
from retentive.judgement.requests import patterns
from retentive.judgement.requests.patterns_de_fr_es import find_foreign_request, move_verb_forward
from retentive.model import Kind
from retentive.text.sentences import Sentence, spans

_QUOTES = re.compile(
    r"\"[^\"\n]*\"|\u201c[^\u201d\n]*\u201d|«[^»\n]*»|`[^`\n]*`|(?<!\w)['\u2018][^'\u2019\n]+['\u2019](?!\w)"
)
MAX_SENTENCE_CHARS = 500  # of a sentence that may ask something; a longer one is pasted text
MAX_MESSAGE_CHARS = 8000  # of a message that are read: more is a document, not talk
MAX_SURE_CHARS = 1000  # of a message in which a request to forget is carried out without asking back
_HIDDEN = "\u2022"  # stands for each character that is quoted: no word, no blank, no mark


Verb = Literal["keep", "forget", "correct"]


class Request(NamedTuple):
    """A request to keep, to forget or to correct something."""

    verb: Verb
    text: str
    """Keep: the statement, standalone. Forget: words for what is meant, "" for the message before. Correct: the new
    value or sentence, in the user's words."""
    kind: Kind
    span: tuple[int, int]
    """Position in the message."""
    doubtful: bool = False
    """Ask the user before it is carried out."""


class _Said(NamedTuple):
    """A sentence, or a part of one that is a request of its own."""

    masked: str
    """What is matched: quotes hidden, apostrophes straight."""
    text: str
    before: str
    name: str

    def rest(self, found: re.Match[str], group: str) -> str:
        return self.text[found.start(group) : found.end(group)].strip()


def find_requests(text: str, name: str = USER) -> tuple[Request, ...]:
    """Find the requests of a message, in order. `name` is what its sender is called."""
    return tuple(_find_requests(text, name)) if patterns.LIKELY.search(text) else ()


def _find_requests(text: str, name: str) -> Iterator[Request]:
    clean = blank_blocks(text)[:MAX_MESSAGE_CHARS]
    masked = _QUOTES.sub(lambda found: _HIDDEN * len(found[0]), clean).replace("’", "'")  # noqa: RUF001
    before = ""
    for sentence in spans(masked):
        if len(sentence.text) > MAX_SENTENCE_CHARS:
            continue
        for part in _split_requests(sentence):
            said = _Said(part.text, clean[part.start : part.end], before, name)
            found = _read_keep(said) or _read_correction(said) or _read_forget(said) or _read_foreign(said)
            if found:
                verb, content, kind = found
                yield Request(verb, content, kind, (part.start, part.end), verb == "forget" and _is_doubtful(text))
            before = said.text


def _is_doubtful(text: str) -> bool:
    """Tell whether a message is long, or mostly not its sender's own."""
    own, all_ = (len("".join(each.split())) for each in (own_words(text), text))
    return len(text) > MAX_SURE_CHARS or own * 2 < all_


def _split_requests(sentence: Sentence) -> Iterator[Sentence]:
    """Split a sentence before a request in the middle of it: ", please remember ..."."""
    text, start = sentence.text, 0
    is_request = patterns.KEEP.match(text) or patterns.FORGET.match(text)
    pattern = patterns.AND_ALSO if is_request and patterns.AND_ALSO.search(text) else patterns.MIDDLE
    for middle in pattern.finditer(text):
        if not patterns.SPOKEN.search(text, start, middle.start()):
            yield Sentence(text[start : middle.start()], sentence.start + start)
            start = middle.end()
    yield Sentence(text[start:], sentence.start + start)


_Found = tuple[Verb, str, Kind]


def _read_keep(said: _Said) -> _Found | None:
    asking = said.masked.rstrip().endswith("?")
    if asking and not patterns.POLITE.match(said.masked):
        return None
    return _read_remember(said, asking=asking) or (None if asking else _read_rule(said))


def _read_remember(said: _Said, *, asking: bool) -> _Found | None:
    if reminder := patterns.REMIND_ME.match(said.masked):
        return "keep", third(f"I want to be reminded {said.rest(reminder, 'what')}", said.name), Kind.NOTE
    found = patterns.KEEP.match(said.masked)
    if not found or (asking and not (found["link"].strip() or re.match(r"(?:my|our)\b", found["rest"], re.IGNORECASE))):
        return None
    rest, masked = said.rest(found, "rest").rstrip("?"), found["rest"].rstrip("? ")
    if patterns.BACK.match(f"{found['link']}{masked}".strip().lower().removeprefix("of ")):
        return _statement(said, said.before) if patterns.FINITE.search(said.before) else None
    if due := patterns.REMINDER.match(masked):
        return _reminder(said, rest[due.start("what") :])
    unmeant = found["verb"].lower() == "note" and patterns.POINTING.match(masked)
    if found["link"].strip() == "," and found["verb"].lower() in patterns.PREACHED:
        unmeant = not patterns.OF_ONESELF.match(masked)
    return None if unmeant or not _is_clause(masked, found["link"]) else _statement(said, rest)


def _is_clause(text: str, link: str) -> bool:
    """Something is stated: after a colon anything is, else there must be a verb."""
    text = restore_apostrophes(text)
    stated = ":" in link or patterns.FINITE.search(text) or patterns.RULE.match(text)
    return bool(stated) and len(text.split()) > 1 and not patterns.NO_CLAUSE.match(text)


def _reminder(said: _Said, what: str) -> _Found | None:
    if patterns.STANDING.search(what):
        return "keep", render_instruction(what, said.name), Kind.INSTRUCTION
    if patterns.OF_YOU.search(what):
        return None
    return "keep", third(f"I asked not to forget to {what}", said.name), Kind.NOTE


def _statement(said: _Said, text: str) -> _Found:
    clause = plain(restore_apostrophes(text.strip(" ,;:-–—")))  # noqa: RUF001
    if patterns.RULE.match(clause) or patterns.WHENEVER.match(clause):
        return "keep", render_instruction(clause, said.name), Kind.INSTRUCTION
    known = resolved(clause, plain(said.before))
    statement = known or clause
    content = whole(statement) if is_of_group(statement) else third(statement, said.name)
    if not known and said.before != text:
        content = f"{third(said.before, said.name)} {content}".strip()
    return "keep", content, find_kind(statement)


def _read_rule(said: _Said) -> _Found | None:
    """A standing instruction: "always ...", "from now on ...", "whenever I ..., do ..."."""
    for pattern in (patterns.RULE, patterns.HENCEFORTH, patterns.WHENEVER):
        if found := pattern.match(said.masked):
            return "keep", render_instruction(said.rest(found, "rule"), said.name), Kind.INSTRUCTION
    if patterns.YOU_RULE.match(said.masked):
        return "keep", render_instruction(said.text, said.name), Kind.INSTRUCTION
    found = patterns.FROM_NOW.match(said.masked)
    if not found or patterns.OTHERS.match(found["rest"]) or len(found["rest"].split()) < 2:  # noqa: PLR2004
        return None
    rest, when = said.rest(found, "rest"), said.rest(found, "when")
    if re.match(r"(?:i|we|my|our)\b", rest, re.IGNORECASE):
        _, text, kind = _statement(said, rest)
        return "keep", whole(f"{when}, {_small(text, said.name)}"), kind
    return "keep", render_instruction(f"{when}, {rest}", said.name), Kind.INSTRUCTION


def render_instruction(text: str, name: str) -> str:
    """An order stays one; only the speaker is named in it."""
    user = _small(name, name)
    text = re.sub(r"\bI (\w+)", lambda found: f"{user} {singular(found[1])}", plain(text))
    for pattern, word in ((r"\b(?:my|mine)\b", f"{user}'s"), (r"\b(?:me|I)\b", user)):
        text = re.sub(pattern, word, text)
    return whole(text)


def _small(text: str, name: str) -> str:
    return text[0].lower() + text[1:] if text and name == USER else text


def _read_correction(said: _Said) -> _Found | None:
    if said.masked.rstrip().endswith("?"):
        return None
    for pattern in patterns.CORRECTIONS:
        if found := pattern.match(said.masked):
            text = patterns.APOLOGY_AFTER.sub("", said.rest(found, "what"))
            return "correct", text.strip(" ,;:.!"), Kind.FACT
    return None


def _read_forget(said: _Said) -> _Found | None:
    what = _find_forgettable(said)
    return None if what is None else ("forget", what.strip(" ,;:.!"), Kind.FACT)


def _find_forgettable(said: _Said) -> str | None:
    masked = said.masked
    if masked.rstrip().endswith("?") and not patterns.POLITE.match(masked):
        return None
    if patterns.NO_LONGER.match(masked):
        return ""
    for pattern, group in (
        (patterns.NO_LONGER_THAT, "what"),
        (patterns.SAID_BEFORE, "what"),
        (patterns.DELETE, "rest"),
        (patterns.FROM_MEMORY, "rest"),
        (patterns.FROM_MEMORY_THAT, "rest"),
    ):
        if found := pattern.match(masked):
            return said.rest(found, group).rstrip("?")
    found = patterns.FORGET.match(masked)
    if not found or patterns.IDIOM.search(masked):
        return None
    if patterns.FORGET_LAST.match(found["rest"]):
        return ""
    meant = patterns.FORGETTABLE.match(found["rest"])
    start = found.start("rest")
    return said.text[start + meant.start("what") : start + meant.end("what")].rstrip("? ") if meant else None


def _read_foreign(said: _Said) -> _Found | None:
    found = find_foreign_request(said.masked)
    if not found:
        return None
    text = (
        move_verb_forward(said.text[found.start :]) if found.is_keep and not found.is_rule else said.text[found.start :]
    )
    return (
        ("keep", whole(text), Kind.INSTRUCTION if found.is_rule else Kind.FACT)
        if found.is_keep
        else ("forget", text.strip(" .!"), Kind.FACT)
    )
