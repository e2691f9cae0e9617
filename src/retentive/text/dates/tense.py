"""Does a sentence look back or ahead? It decides which Friday a bare "Friday" is."""

import re
from bisect import bisect_right

# A sentence, or so much of one that a text without any stops still costs linear time.
_PIECE = re.compile(r"[^.!?\n]{1,300}")
_AHEAD = re.compile(
    r"\b(?:will|shall|gonna|going to|plan(?:s|ning)?|hop(?:e|es|ing)|wants?|intend|about to|looking forward|remind|"
    r"schedule|book|due|deadline|let'?s|"
    r"upcoming|coming|tomorrow|(?:am|are|is) \w+ing|"
    r"(?:has|have) (?:an?|my|our|their|the) (?:[\w'-]+ ){1,4}on)\b|(?:'ll|'(?:m|re) \w+ing|won't)\b",
    re.IGNORECASE,
)
_BACK = re.compile(
    r"\b(?:was|were|did|didn't|had|went|been|got|bought|saw|met|came|left|began|became|made|took|gave|found|ran|"
    r"won|lost|told|said|felt|kept|spent|wrote|ate|drove|flew|broke|grew|knew|thought|taught|sold|sent|caught|brought|"
    r"built|chose|drank|drew|fell|fought|forgot|heard|held|led|paid|rode|sang|slept|spoke|stole|stood|swam|threw|woke|"
    r"wore|ago|yesterday|used to)\b",
    re.IGNORECASE,
)
_UNTIL = re.compile(r"\b(?:until|till|through (?:mon|tues|wednes|thurs|fri|satur|sun)day)\b", re.IGNORECASE)
_ED = re.compile(r"\b[a-z]{2,20}[^\We]ed\b", re.IGNORECASE)
_PRESENT = re.compile(r"\b(?:am|is|are)\b|'(?:m|re|s)\b", re.IGNORECASE)


def looks_back(sentence: str) -> bool | None:
    """None if it does not show."""
    ahead = _AHEAD.search(sentence) is not None
    back = _BACK.search(sentence) is not None or (_ED.search(sentence) is not None and not _PRESENT.search(sentence))
    if ahead == back:
        return False if not back and _UNTIL.search(sentence) else None
    return back


class Tense:
    """The direction of each sentence of a text, worked out when it is first asked for."""

    def __init__(self, text: str, *, past: bool) -> None:
        self._text = text
        self._default = past
        self._starts: list[int] | None = None
        self._known: dict[int, bool | None] = {}

    def past(self, at: int) -> bool:
        shown = self.shown(at)
        return self._default if shown is None else shown

    def shown(self, at: int) -> bool | None:
        if self._starts is None:
            self._starts = [match.start() for match in _PIECE.finditer(self._text)]
        piece = max(bisect_right(self._starts, at) - 1, 0)
        if piece not in self._known:
            self._known[piece] = self._judge(piece)
        return self._known[piece]

    def _judge(self, piece: int) -> bool | None:
        match = _PIECE.match(self._text, self._starts[piece]) if self._starts else None
        return looks_back(match[0]) if match else None
