"""Plain words that ask to keep or to forget something: "remember that ...", "from now on ...", "forget my ...".

Only what the speaker says in earnest to the one who listens counts, so a request must stand at the head of a sentence,
after nothing but fillers and "please", "can you" or "I want you to"; or after a comma if "please" is with it. Thereby
"she told me to remember", "if I said remember", "I never forget", "don't remember this" and "do you remember" are none.
What is in quotes, code or block quotes is not the speaker's. Where words can be an idiom as well ("forget it", "never
mind", "remember the good old days"), they are taken as one: a request that was missed can be repeated.

  a. "Don't forget to ..." and "remember to ..." may be meant for either of the two. What is kept is true of both: "The
     user asked not to forget to ...".
  b. "Forget everything" is not done on a word; there are verbs for that.
  c. "Remember that." and "forget that" mean what was said before: the sentence before it in the same message, or else
     the message before, of which this module knows nothing; then a wish to forget has an empty text.
"""

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from retentive.learn.talk import phrases
from retentive.learn.talk.foreign import foreign, in_order
from retentive.learn.talk.person import USER, plain, third, whole
from retentive.learn.talk.quoted_text import blank_blocks
from retentive.learn.talk.references import resolved
from retentive.learn.talk.verbs import singular
from retentive.learn.talk.worth import judge
from retentive.model import Kind
from retentive.text.sentences import Sentence, spans

_QUOTES = re.compile(
    r"\"[^\"\n]*\"|\u201c[^\u201d\n]*\u201d|«[^»\n]*»|`[^`\n]*`|(?<!\w)['\u2018][^'\u2019\n]+['\u2019](?!\w)"
)
LONGEST = 500  # characters of a sentence that may ask something; past that it is pasted text
MOST_TEXT = 8000  # characters of a message that are read: more is a document, not talk
_HIDDEN = "\u2022"  # stands for each character that is quoted: no word, no blank, no mark


class Wish(NamedTuple):
    """What a message asks to be kept or forgotten."""

    verb: Literal["keep", "forget"]
    text: str
    """To keep: the statement, standalone. To forget: the words for what is meant, "" for what was said before."""
    kind: Kind
    span: tuple[int, int]
    """Where in the message it stands."""


class _Said(NamedTuple):
    """A sentence, or a part of one that is a request of its own."""

    masked: str
    """What is matched: quotes hidden, apostrophes straight."""
    text: str
    before: str
    name: str

    def rest(self, found: re.Match[str], group: str) -> str:
        return self.text[found.start(group) : found.end(group)].strip()


def wishes(text: str, name: str = USER) -> tuple[Wish, ...]:
    """What a message asks to be kept or forgotten, in its order. `name` is what its sender is called."""
    return tuple(_wishes(text, name)) if phrases.LIKELY.search(text) else ()


def _wishes(text: str, name: str) -> Iterator[Wish]:
    clean = blank_blocks(text[:MOST_TEXT])
    masked = _QUOTES.sub(lambda found: _HIDDEN * len(found[0]), clean).replace("’", "'")  # noqa: RUF001
    before = ""
    for sentence in spans(masked):
        if len(sentence.text) > LONGEST:
            continue
        for part in _parts(sentence):
            said = _Said(part.text, clean[part.start : part.end], before, name)
            found = _kept(said) or _forgotten(said) or _abroad(said)
            if found:
                verb, content, kind = found
                yield Wish(verb, content, kind, (part.start, part.end))
            before = said.text


def _parts(sentence: Sentence) -> Iterator[Sentence]:
    """The sentence; or, where one asks in the middle of it (", please remember"), what comes before and after."""
    start = 0
    for middle in phrases.MIDDLE.finditer(sentence.text):
        if not phrases.SPOKEN.search(sentence.text, start, middle.start()):
            yield Sentence(sentence.text[start : middle.start()], sentence.start + start)
            start = middle.end()
    yield Sentence(sentence.text[start:], sentence.start + start)


_Meant = tuple[Literal["keep", "forget"], str, Kind]


def _kept(said: _Said) -> _Meant | None:
    asking = said.masked.rstrip().endswith("?")
    if asking and not phrases.POLITE.match(said.masked):
        return None
    return _remembered(said, asking=asking) or (None if asking else _rule(said))


def _remembered(said: _Said, *, asking: bool) -> _Meant | None:
    if reminder := phrases.REMIND_ME.match(said.masked):
        return "keep", third(f"I want to be reminded {said.rest(reminder, 'what')}", said.name), Kind.NOTE
    found = phrases.KEEP.match(said.masked)
    if not found or (asking and not (found["link"].strip() or re.match(r"(?:my|our)\b", found["rest"], re.IGNORECASE))):
        return None
    rest, masked = said.rest(found, "rest").rstrip("?"), found["rest"].rstrip("? ")
    if phrases.BACK.match(f"{found['link']}{masked}".strip().lower().removeprefix("of ")):
        return _statement(said, said.before) if phrases.FINITE.search(said.before) else None
    if due := phrases.REMINDER.match(masked):
        return _reminder(said, rest[due.start("what") :])
    unmeant = found["verb"].lower() == "note" and phrases.POINTING.match(masked)
    if found["link"].strip() == "," and found["verb"].lower() in phrases.PREACHED:
        unmeant = not phrases.OF_ONESELF.match(masked)
    return None if unmeant or not _is_clause(masked, found["link"]) else _statement(said, rest)


def _is_clause(text: str, link: str) -> bool:
    """Something is stated: after a colon anything is, else there must be a verb."""
    stated = ":" in link or phrases.FINITE.search(text) or phrases.RULE.match(text)
    return bool(stated) and len(text.split()) > 1 and not phrases.NO_CLAUSE.match(text)


def _reminder(said: _Said, what: str) -> _Meant | None:
    if phrases.STANDING.search(what):
        return "keep", _instruction(what, said.name), Kind.INSTRUCTION
    if phrases.OF_YOU.search(what):
        return None
    return "keep", third(f"I asked not to forget to {what}", said.name), Kind.NOTE


def _statement(said: _Said, text: str) -> _Meant:
    clause = plain(text.strip(" ,;:-–—"))  # noqa: RUF001
    if phrases.RULE.match(clause) or phrases.WHENEVER.match(clause):
        return "keep", _instruction(clause, said.name), Kind.INSTRUCTION
    known = resolved(clause, plain(said.before))
    told = third(known or clause, said.name)
    if not known and said.before != text:
        told = f"{third(said.before, said.name)} {told}".strip()
    worth = judge(re.sub(r"[\s.!]+$", "", known or clause))
    return "keep", told, worth.kind if worth else Kind.FACT


def _rule(said: _Said) -> _Meant | None:
    """A standing instruction: "always ...", "from now on ...", "whenever I ..., do ..."."""
    for pattern in (phrases.RULE, phrases.HENCEFORTH, phrases.WHENEVER):
        if found := pattern.match(said.masked):
            return "keep", _instruction(said.rest(found, "rule"), said.name), Kind.INSTRUCTION
    if phrases.YOU_RULE.match(said.masked):
        return "keep", _instruction(said.text, said.name), Kind.INSTRUCTION
    found = phrases.FROM_NOW.match(said.masked)
    if not found or phrases.OTHERS.match(found["rest"]) or len(found["rest"].split()) < 2:  # noqa: PLR2004
        return None
    rest, when = said.rest(found, "rest"), said.rest(found, "when")
    if re.match(r"(?:i|we|my|our)\b", rest, re.IGNORECASE):
        _, text, kind = _statement(said, rest)
        return "keep", whole(f"{when}, {_small(text, said.name)}"), kind
    return "keep", _instruction(f"{when}, {rest}", said.name), Kind.INSTRUCTION


def _instruction(text: str, name: str) -> str:
    """An order stays one; only the speaker is named in it."""
    user = _small(name, name)
    text = re.sub(r"\bI (\w+)", lambda found: f"{user} {singular(found[1])}", plain(text))
    for pattern, word in ((r"\b(?:my|mine)\b", f"{user}'s"), (r"\b(?:me|I)\b", user)):
        text = re.sub(pattern, word, text)
    return whole(text)


def _small(text: str, name: str) -> str:
    return text[0].lower() + text[1:] if text and name == USER else text


def _forgotten(said: _Said) -> _Meant | None:
    what = _to_forget(said)
    return None if what is None else ("forget", what.strip(" ,;:.!"), Kind.FACT)


def _to_forget(said: _Said) -> str | None:
    masked = said.masked
    if masked.rstrip().endswith("?") and not phrases.POLITE.match(masked):
        return None
    if phrases.NO_LONGER.match(masked):
        return ""
    for pattern, group in (
        (phrases.NO_LONGER_THAT, "what"),
        (phrases.SAID_BEFORE, "what"),
        (phrases.DELETE, "rest"),
        (phrases.FROM_MEMORY, "rest"),
    ):
        if found := pattern.match(masked):
            return said.rest(found, group).rstrip("?")
    found = phrases.FORGET.match(masked)
    if not found or phrases.IDIOM.search(masked):
        return None
    if phrases.FORGET_LAST.match(found["rest"]):
        return ""
    meant = phrases.FORGETTABLE.match(found["rest"])
    start = found.start("rest")
    return said.text[start + meant.start("what") : start + meant.end("what")].rstrip("? ") if meant else None


def _abroad(said: _Said) -> _Meant | None:
    found = foreign(said.masked)
    if not found:
        return None
    text = in_order(said.text[found.start :]) if found.keep and not found.rule else said.text[found.start :]
    return (
        ("keep", whole(text), Kind.INSTRUCTION if found.rule else Kind.FACT)
        if found.keep
        else ("forget", text.strip(" .!"), Kind.FACT)
    )
