"""What does a statement say, and whom and what is it about?

A statement is read for its subject, the areas of life it touches (`areas.py`), the words that carry it, the attribute
it gives a value to (`slots.py`), and the words that tell of a change: something ended ("quit", "no longer"), something
took another's place ("switched to", "instead of", "promoted to"), or something merely holds now. What is added
("also"), supposed ("if", "might"), past ("used to") or of one day ("yesterday I had") changes nothing.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from retentive.learn.statements import turns
from retentive.learn.statements.areas import stem, stems, topics
from retentive.learn.statements.lists import LISTS, any_of, members
from retentive.learn.statements.slots import slot_of
from retentive.learn.statements.statement import LONGEST, Reading, Turn
from retentive.text.sentences import spans
from retentive.text.terms import STOP_WORDS

CACHED = 4096  # readings kept: a batch of claims is compared with the same few memories again and again
MOST = 12  # sentences of what is no document: each is compared with each of the other text

PEOPLE, _NOBODY = members("people"), members("nobody")
_SAME_PERSON: dict[str, str] = LISTS["same_person"]
_DAYS = frozenset(map(stem, members("days")))
_COUNTED = frozenset(map(stem, members("counted"))) | _DAYS
_PLAIN = STOP_WORDS | frozenset(map(stem, members("plain")))
SHORTEST = 3  # letters of a word that carries something
_USER = re.compile(
    rf"\b(?:the )user(?:(?P<s>'s)\b|\b(?! {any_of('of_users')}\b))", re.IGNORECASE
)  # a user table is not the user's
_CONTRACTED = (
    (re.compile(r"\bcan't\b", re.IGNORECASE), "can not"),
    (re.compile(r"\bwon't\b", re.IGNORECASE), "will not"),
    (re.compile(r"n't\b", re.IGNORECASE), " not"),
    (re.compile(r"\b(i)'m\b", re.IGNORECASE), r"\1 am"),
    (re.compile(r"'re\b", re.IGNORECASE), " are"),
    (re.compile(r"'ve\b", re.IGNORECASE), " have"),
    (re.compile(r"'ll\b", re.IGNORECASE), " will"),
    (re.compile(r"\b(i|we|you|they|he|she)'d (?=been|had|got)", re.IGNORECASE), r"\1 had "),
    (re.compile(r"\b(i|we|you|they|he|she)'d\b", re.IGNORECASE), r"\1 would"),
    (re.compile(r"\b(it|he|she|that|there|here|what|who)'s\b", re.IGNORECASE), r"\1 is"),
)
_LEAD = re.compile(
    rf"^(?:{any_of('lead')}(?:[,:!.\u2014-]+\s*|\s+(?=(?:i|we|my|our|the|it|please)\b)))+", re.IGNORECASE
)
_ONLY_LEAD = re.compile(rf"(?:{any_of('lead')}[,:!.\u2014-]+\s*)+", re.IGNORECASE)
_TO_DO = re.compile(rf"^{any_of('to_do')}\s*[:\]-]", re.IGNORECASE)
_FIRST = re.compile(r"^(?:i|we|me|just call me|call me)\b", re.IGNORECASE)
_OWN = re.compile(r"^(?i:my|our) (?P<first>[\w-]+)(?:'s)?(?:,? (?P<second>[\w-]+))?(?:,? (?P<third>[\w-]+))?")
_ORDER = re.compile(rf"^(?:please |always |never |do not )*(?:{'|'.join(sorted(members('orders')))})\b", re.IGNORECASE)
_ME = re.compile(r"\b(?:i|me|my|mine|we|us|our)\b", re.IGNORECASE)
_WITH_ME = re.compile(r"^[\w ]+ and (?:i|me)\b", re.IGNORECASE)
_REASON = re.compile(r",?\s(?:because|since|after|when|while|as soon as)\b.*$", re.IGNORECASE)
_FROM = re.compile(
    r"\b(?:from|instead of|rather than|replaced) (?P<what>[\w. -]+?)(?: to\b| with\b|[,;]|$)", re.IGNORECASE
)
_MOVED = re.compile(r"\b(?:the|our|my) (?P<what>[\w .-]+?) (?:from [\w .-]+ )?(?:to|into|onto)\b", re.IGNORECASE)
_PURPOSE = re.compile(r"\bfor (?P<what>[\w ]+)$", re.IGNORECASE)
_MINE = re.compile(r"\b(?:my|our) ([\w-]+)(?: ([\w-]+))?")
_NAME = re.compile(r"\b[A-ZÀ-Þ][\w&'-]*(?:\.\w+)?|\b\w+[a-z][A-Z]\w*")
_VALUED = re.compile(rf"^(?P<what>\D+?) {any_of('valued')}\b.*\d", re.IGNORECASE)
_SO = re.compile(r"(?:so|and now|which means)\b", re.IGNORECASE)
_AFTER_THE_END = re.compile(r"^(?:\s*\b(?:out|from|of|with|the|my|our|being|a|an|for)\b)+", re.IGNORECASE)
_BY_THE_WAY = re.compile(
    r"\b(?:and|because|after|since|so|when|in|on|at|for|with|last|this|from|of|"
    r"to (?=(?:take|join|be|become|focus|start|do|make|get|have|work|spend|run|move|go)\b))\b|[,;]",
    re.IGNORECASE,
)
_SENTENCE_START = re.compile(r"(?:^|[.!?]\s+)(\w+)")
_NUMBER = re.compile(r"(?<!\d)\d++(?:[.,:/-]++\d++)*+(?:\s?(?:am|pm|k)\b|%)?", re.IGNORECASE)


def read(text: str) -> Reading:
    """A statement of the user's own, or one about them in the third person. A document says nothing."""
    return _read(text) if len(text) <= LONGEST else _read("")


def statements(text: str) -> tuple[str, ...]:
    """The sentences of a text, each with what leads up to it: "Correction! The rent is 900."."""
    return _statements(text) if len(text) <= LONGEST else ("",)


@lru_cache(CACHED)
def _statements(text: str) -> tuple[str, ...]:
    found: list[str] = []
    lead = ""
    for sentence in spans(text):
        said = f"{lead}{sentence.text}"
        lead = f"{said} " if _ONLY_LEAD.fullmatch(said) else ""
        found += [] if lead else [said]
    if len(found) > MOST:
        return ("",)
    return tuple(found) or (text,)


@lru_cache(CACHED)
def _read(text: str) -> Reading:
    said = plain(text)
    about = subject(said)
    clauses = [clause for clause in turns.clauses(said) if not turns.APART.search(clause)]
    holds = ", ".join(clauses) or said
    stemmed = stems(holds)
    turn = _turn(holds)
    changed = _turned(clauses, turn) or holds
    new, left = turns.NEW.search(holds), _FROM.search(holds)
    return Reading(
        subject=about,
        people=frozenset(_person(who) for found in _MINE.findall(said.lower()) for who in found if who in PEOPLE),
        mine=bool(_ME.search(said)),
        turn=turn,
        adds=bool(turns.ADDS.search(holds)),
        apart=not clauses or bool(_TO_DO.match(said)) or bool(turns.ONE_DAY.search(holds) and turn < Turn.ENDED),
        hearsay=bool(turns.HEARSAY.search(holds)) and not turns.SEEN.search(holds),
        seen=bool(turns.SEEN.search(holds)),
        again=bool(turns.AGAIN.search(holds)),
        negated=bool(turns.NEGATED.search(holds)),
        exclusive=bool(turns.ONLY.search(holds)) and not turns.AT_TIMES.search(holds),
        feeling=turns.feeling(holds),
        order=tuple(stemmed),
        words=_telling(_REASON.sub("", holds) or holds),
        names=_names(holds),
        numbers=frozenset(_NUMBER.findall(holds.lower())) | (frozenset(stemmed) & _COUNTED),
        days=frozenset(stemmed) & _DAYS,
        counted=_counted(holds),
        turned=_telling(changed) | _names(changed),
        gone=_gone(changed) if turn is Turn.ENDED else frozenset(),
        new=frozenset(word for word in stems(new["what"]) if word not in _PLAIN) if new else frozenset(),
        instead=_telling(left["what"]) if turn is Turn.REPLACED and left else frozenset(),
        moved=_telling(moved["what"]) if (moved := _MOVED.search(holds)) else frozenset(),
        purpose=_telling(purpose["what"]) if (purpose := _PURPOSE.search(holds)) else frozenset(),
        topics=topics(stemmed),
        excluded=turns.excluded(holds),
        slot=slot_of(", ".join(clause for clause in clauses if not turns.NEGATED.search(clause)), about)
        if len(statements(text)) == 1
        else None,
    )


def plain(text: str) -> str:
    """In the first person, without contractions and what leads up to the statement."""
    said = text.strip().rstrip(".").replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    said = _USER.sub(lambda found: "my" if found["s"] else "I", said)
    for pattern, full in _CONTRACTED:
        said = pattern.sub(full, said)
    # A leading word of correction is a sign of change: kept as such.
    lead = _LEAD.match(said)
    if lead and lead.end() < len(said):
        rest = said[lead.end() :]
        if turns.RETRACTED.search(lead.group()):
            return f"{rest} (correcting)"
        return f"{rest} (now)" if turns.NOW.search(lead.group()) else rest
    return said


def subject(said: str) -> str:
    if own := _OWN.match(said):
        first, second, third = (word or "" for word in own.groups())
        for who, name in ((first, second), (second, third)):
            if who.lower() in PEOPLE:
                return name.lower() if _NAME.fullmatch(name) else _person(who.lower())
        return "user"
    if _FIRST.match(said) or _ORDER.match(said) or _WITH_ME.match(said):
        return "user"
    first = said.split(maxsplit=1)[0].strip(",'") if said else ""
    if first.lower() in PEOPLE:
        return _person(first.lower())
    common = first.lower() in _NOBODY or first.lower() in STOP_WORDS or stem(first) in _COUNTED
    if _NAME.fullmatch(first) and not common and not topics([stem(first)]):
        return first.lower().removesuffix("'s")
    return "world"


def _telling(said: str) -> frozenset[str]:
    return frozenset(word for word in stems(said) if word not in _PLAIN and (len(word) >= SHORTEST or word.isdigit()))


def _person(who: str) -> str:
    return f"user.{_SAME_PERSON.get(who, who)}"


def _turned(clauses: Sequence[str], turn: Turn) -> str:
    """Of several clauses those that tell of the change."""
    pattern = {Turn.REPLACED: turns.REPLACED, Turn.ENDED: turns.ENDED, Turn.NOW: turns.NOW}.get(turn)
    return ", ".join(clause for clause in clauses if pattern is None or pattern.search(clause) or _SO.match(clause))


def _gone(said: str) -> frozenset[str]:
    """What is over: the words after those that say so, or before them in "my cat died"."""
    found = turns.ENDED.search(said)
    if found is None:
        return frozenset()
    rest = _BY_THE_WAY.split(_AFTER_THE_END.sub("", said[found.end() :]), maxsplit=1)[0]
    what = _telling(f"{found.group()} {rest}")
    return what if what or rest.strip() else _telling(said[: found.start()])


def _turn(said: str) -> Turn:
    if turns.REPLACED.search(said):
        return Turn.REPLACED
    if turns.ENDED.search(said):
        return Turn.ENDED
    return Turn.NOW if turns.NOW.search(said) else Turn.NONE


def _counted(said: str) -> str:
    found = _VALUED.match(said)
    return " ".join(stems(found["what"])) if found else ""


def _names(said: str) -> frozenset[str]:
    starts = {found.start(1) for found in _SENTENCE_START.finditer(said)}
    found = (name for name in _NAME.finditer(said) if name.start() not in starts or not _common(name.group()))
    return frozenset(stem(name.group()) for name in found) - {"i"}


def _common(word: str) -> bool:
    """At the head of a sentence every word has a capital."""
    lower = word.lower()
    return lower in STOP_WORDS or stem(lower) in _PLAIN or lower in PEOPLE or len(word) < SHORTEST
