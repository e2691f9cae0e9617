"""Finds whether a sentence looks back or ahead. This decides which Friday a bare "Friday" is.

The clause around the date is read first, then its sentence. Verbs of commitment are an exception to their own tense:
"we agreed to freeze on December 20" is past, but its date is to come. They only count before the date, and by the word
that joins the date to them: "booked for", "promised by", "decided to". Where a date may belong to the verb or to what
was agreed ("booked the flight on Monday"), the direction is open.
"""

import re
from bisect import bisect_right
from enum import Enum, auto


class Direction(Enum):
    """The direction of a date without a year, by the words around it."""

    BACK = auto()
    AHEAD = auto()
    PROMISED = auto()
    """The date is ahead, because of a commitment. If that day is far, the date may be over."""
    DONE = auto()
    """The date is past. If that day is far, the date may be still to come."""
    OPEN = auto()
    """Both readings are possible."""


# A sentence, or a part of it, so that a text without stops still costs linear time.
_SENTENCE_PIECE = re.compile(r"[^.!?\n]{1,300}")
_CLAUSE_BREAK = re.compile(
    r"[;:,()]|\b(?:and|but|because|so|although|though|while|whereas|that|which|who|when|if|then)\b", re.IGNORECASE
)
_NOT_A_NOUN = "".join(rf"(?<!\b{word} )" for word in "my our your his her their the a".split())
_FUTURE_WORDS = re.compile(
    rf"\b(?:{_NOT_A_NOUN}will|shall|gonna|going to|planning|plans? (?:to|on|for)|hop(?:e|es|ing)|"
    r"wants?|intends?|about to|looking forward|remind|due|deadline|let'?s|"
    r"(?:i|we|they|you|to|please|can|could|must|should) (?:book|schedule|plan)|"
    r"upcoming|coming|tomorrow|(?:am|are|is) \w+ing|"
    r"(?:has|have) (?:an?|my|our|their|the) (?:[\w'-]+ ){1,4}on)\b|(?:'ll|'(?:m|re) \w+ing|won't)\b|"
    r"^\s*(?:book|schedule|plan)\b",
    re.IGNORECASE,
)
_FUTURE_PASSIVE = re.compile(
    r"(?:\b(?:will|shall|to)|'ll)(?: \w+)? (?:be|get|have)(?: \w+ly| been)? \w+", re.IGNORECASE
)
_PAST_WORDS = re.compile(
    r"\b(?:was|were|did|didn't|had|went|been|got|bought|saw|met|came|left|began|became|made|took|gave|found|ran|"
    r"won|lost|told|said|felt|kept|spent|wrote|ate|drove|flew|broke|grew|knew|thought|taught|sold|sent|caught|brought|"
    r"built|chose|drank|drew|fell|fought|forgot|heard|held|led|paid|rode|sang|slept|spoke|stole|stood|swam|threw|woke|"
    r"wore|agreed|freed|guaranteed|ago|yesterday|used to)\b",
    re.IGNORECASE,
)
_UNTIL_WORDS = re.compile(r"\b(?:until|till|through (?:mon|tues|wednes|thurs|fri|satur|sun)day)\b", re.IGNORECASE)
_PAST_FORM = re.compile(r"\b[a-z]{2,20}[^\We]ed\b", re.IGNORECASE)
_PRESENT_FORM = re.compile(r"\b(?:am|is|are)\b|'(?:m|re|s)\b", re.IGNORECASE)
# The present of timetables: "the ferry leaves on the 3rd". After a person, any verb counts.
_TIMETABLE_PRESENT = re.compile(
    r"\b(?:starts|begins|opens|closes|ends|finishes|expires|leaves|departs|arrives|comes|goes|returns|runs|resumes|"
    r"lands|launches|airs|renews|takes place)\b|\b(?:the user|he|she|it) (?!was\b|is\b|has\b|\w+'s\b|\w*ss\b)\w+s\b",
    re.IGNORECASE,
)

_BOOKING = r"booked|scheduled|arranged|planned|signed up|registered|reserved|enroll?ed|commit(?:s|ted)"
_COMMITMENT = re.compile(
    rf"(?<!\bthe )(?<!\ba )\b(?:(?P<booking>{_BOOKING})|(?P<settling>agree[sd]?|decide[sd]?|settled)|"
    r"promise[sd]?|pledge[sd]?|vow(?:s|ed)?|commit|chooses?|chose|chosen|picks?|picked|sets?|fixed|resolved|ordered|"
    r"opted|volunteered|offered|"
    r"(?P<moving>(?:moved?|push(?:ed)?|postponed?|rescheduled?|extend(?:ed)?|slip(?:ped)?|shift(?:ed)?|changed?"
    r"|delay(?:ed)?)(?: back| forward| (?:it|me|us|them|(?:my|our|the|his|her|their) [\w'-]+(?: [\w'-]+){0,2}))?"
    r"(?= to\b| from\b)))\b",
    re.IGNORECASE,
)
# Something that was only intended, or asked of others: it is unclear whether and when it happened.
_INTENDED = re.compile(
    r"\b(?:(?:was|were) (?:going|supposed|meant|about|due|hoping|planning|to)|"
    rf"had (?:\w+ly )?(?:intended|hoped|wanted|meant|agreed|promised|decided|{_BOOKING})|"
    r"(?<!\bis )(?<!\bare )(?:wanted|hoped|expected|intended|meant|needed|wished)(?: \w+){0,3} to|"
    r"(?:asked|told|invited|urged)(?: \w+){1,3} to)\b",
    re.IGNORECASE,
)
_PRESENT_AT_END = re.compile(r"(?:\b(?:am|is|are)|'(?:m|re))(?: \w+ly| already| now)?\s*$", re.IGNORECASE)
_INFINITIVE = re.compile(
    r"^(?:\W+\w+){0,6}?\W+to\s+(?!(?:the|an?|it|this|that|these|those|his|her|my|our|their|some|all|terms)\b)"
    r"(?:(?:be|get|have)\s+)?[a-z]+\b"
)
_JOINING_WORD = re.compile(r"(?<!\bprior )\b(?:for|by|until|till|to|from|between|through)\s*$", re.IGNORECASE)
_BY_AT_END = re.compile(r"\bby\s*$", re.IGNORECASE)
_DID_WORD = re.compile(r"\bdid(?:n't)?\b", re.IGNORECASE)
_THE_DAY_ITSELF = re.compile(r"^\s*$|\b(?:date|day|deadline) (?:of|to|as|is|was)?\s*$", re.IGNORECASE)
_SETTLED_ON = re.compile(r"^\s+(?:up)?on\s*$", re.IGNORECASE)
_FOR_AN_EVENT = re.compile(r"\bfor(?: [\w'-]+){1,5} (?:on|in|at)\s*$", re.IGNORECASE)
_SINCE_AT_END = re.compile(r"\bsince\s*$", re.IGNORECASE)
# The words of a date before its month: "on the twenty-first of", "by the end of", "from 3 to 7".
_DATE_HEAD = re.compile(
    r"(?:\b(?:the|of|early|mid|late|beginning|start|middle|end|\d{1,2}(?:st|nd|rd|th)?|[a-z]*day|"
    r"(?:[a-z]+-)?(?:first|second|third|[a-z]+th))\b[\s,-]*)+$",
    re.IGNORECASE,
)
_DATE_TAIL = re.compile(r"(?:\w+\.?|(?:\w+ )?the \w+|\w+ \d{1,2}(?:st|nd|rd|th)?|\w+ \d{1,2}?,? \d{4}) to [a-z]")


def looks_back(sentence: str) -> bool | None:
    """Whether a sentence is about the past; None if that is unclear."""
    direction = _find_direction(sentence)
    return None if direction is None or direction is Direction.OPEN else direction is Direction.BACK


def _find_direction(words: str) -> Direction | None:
    ahead = _FUTURE_WORDS.search(words) is not None
    rest = _FUTURE_PASSIVE.sub(" ", words) if ahead else words
    past_form = _PAST_FORM.search(rest) is not None and not _PRESENT_FORM.search(rest)
    back = past_form or _PAST_WORDS.search(rest) is not None
    if ahead and back:
        return Direction.OPEN
    if not ahead and not back:
        return Direction.AHEAD if _UNTIL_WORDS.search(words) or _TIMETABLE_PRESENT.search(words) else None
    return Direction.BACK if back else Direction.AHEAD


def find_direction(sentence: str, at: int) -> Direction | None:
    """Find the direction of the date at a position of a sentence; None if it is unclear."""
    before = _DATE_HEAD.sub("", sentence[:at])
    if _SINCE_AT_END.search(before):
        return Direction.BACK
    breaks = [match.end() for match in _CLAUSE_BREAK.finditer(sentence, 0, len(before))]
    start = breaks[-1] if breaks else 0
    after = _CLAUSE_BREAK.search(sentence, at)
    end = after.start() if after else len(sentence)
    clause = sentence[start:end]
    direction = _find_direction(clause)
    commitment = _find_last_commitment(before)
    if commitment and (direction is None or commitment.start() >= start):
        found = _judge_commitment(sentence, before, commitment, at)
        if found:
            return found
    if _INTENDED.search(before, start):
        return Direction.OPEN
    direction = direction or _find_direction_around(sentence, start, end)
    if direction is None and _BY_AT_END.search(before):
        return Direction.AHEAD
    if direction is Direction.BACK and (_FOR_AN_EVENT.search(before) or _COMMITMENT.search(clause, at - start)):
        return Direction.DONE
    return direction


def _find_direction_around(sentence: str, start: int, end: int) -> Direction | None:
    """Find the direction from the clauses before, the one after ("In March, we moved"), or the whole sentence."""
    after = _CLAUSE_BREAK.search(sentence, min(end + 1, len(sentence)))
    following = sentence[start : after.start()] if after else sentence[start:]
    return _find_direction(sentence[:end]) or _find_direction(following) or _find_direction(sentence)


def _find_last_commitment(before: str) -> re.Match[str] | None:
    found = [*_COMMITMENT.finditer(before)]
    return found[-1] if found and not _DID_WORD.search(before) else None


def _judge_commitment(sentence: str, before: str, commitment: re.Match[str], at: int) -> Direction | None:
    """Find the direction that a commitment before the date gives it; None if it gives none."""
    between = before[commitment.end() :]
    found: Direction | None = None
    if _INTENDED.search(before, max(commitment.start() - 20, 0)):
        found = Direction.OPEN
    elif commitment["moving"]:
        found = Direction.PROMISED if _JOINING_WORD.search(between) else None
    elif infinitive := _INFINITIVE.match(between):
        is_reported = _find_direction(between[infinitive.end() :]) is Direction.BACK
        found = Direction.OPEN if is_reported else Direction.PROMISED
    elif _JOINING_WORD.search(between) or _THE_DAY_ITSELF.search(between) or "that" in between.split():
        found = Direction.PROMISED
    elif _DATE_TAIL.match(sentence, at):
        found = Direction.BACK
    elif commitment["booking"] or (commitment["settling"] and _SETTLED_ON.match(between)):
        found = Direction.PROMISED if _PRESENT_AT_END.search(before[: commitment.start()]) else Direction.OPEN
    return found


class Tense:
    """The direction of each date of a text, computed on first use.

    `past` is the reading where nothing shows; `open_past` the one where both are possible.
    """

    def __init__(self, text: str, *, past: bool, open_past: bool | None = None) -> None:
        self._text = text
        self.default = past
        self._open = past if open_past is None else open_past
        self._forced = open_past
        self._starts: list[int] | None = None
        self._known: dict[int, Direction | None] = {}

    def is_past(self, at: int) -> bool:
        match self.find_direction(at):
            case Direction.BACK:
                return True
            case Direction.AHEAD:
                return False
            case Direction.PROMISED:
                return bool(self._forced)
            case Direction.DONE:
                return self._forced is not False
            case Direction.OPEN:
                return self._open
        return self.default

    def looks_back(self, at: int) -> bool:
        return self.find_direction(at) is Direction.BACK

    def list_directions(self, start: int, end: int) -> set[Direction | None]:
        """Return the directions of all dates between two positions that were computed."""
        return {found for at, found in self._known.items() if start <= at < end}

    def find_direction(self, at: int) -> Direction | None:
        if at not in self._known:
            self._known[at] = self._compute_direction(at)
        return self._known[at]

    def _compute_direction(self, at: int) -> Direction | None:
        if self._starts is None:
            self._starts = [match.start() for match in _SENTENCE_PIECE.finditer(self._text)]
        if not self._starts:
            return None
        start = self._starts[max(bisect_right(self._starts, at) - 1, 0)]
        piece = _SENTENCE_PIECE.match(self._text, start)
        return find_direction(piece[0], at - start) if piece else None
