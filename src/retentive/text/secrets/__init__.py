"""Passwords, keys, tokens and card numbers in text: where they are and by which rule, never what they are.

Looking is in two steps, because nearly every text holds no secret and must not pay for those that do:
  a. `hints` runs one compiled pattern over the text. A line that names nothing secret, has no word of twenty
     characters and no long row of digits is done after a few microseconds;
  b. what it points at is looked at by the rules: `issued` (what has a shape of its own, such as a token of GitHub; the
     shapes that are common come from the library detect-secrets), `numbers` (cards), and `named` (what is called a
     secret, in prose or in a configuration: a name, a link, a value that `values` believes).

A rule never looks across a secret that was found or a mark that `redact` left. So the pieces between them are texts of
their own, and they are searched again until nothing is found in them: what `redact` gives back holds no secret.

Every pattern is bounded, or begins only where a word begins, so the time grows with the length of the text and not
with its square. `effort` limits how much looking a text may cost for its length.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import islice
from typing import Any, NamedTuple

from retentive.text.secrets import hints
from retentive.text.secrets.effort import Effort

# Pieces are searched again so many times. Ordinary texts need two; one that needs more was made to be slow, and what is
# left of it is taken as a whole.
ROUNDS = 6

# A text this long is searched for hints once: their places are listed at the first look.
LONG_TEXT = 10_000  # characters

UNCLEAR = "several secrets"


def __getattr__(name: str) -> Any:
    """Give `RULES` to whoever names it. The rules take 25 ms to compile: a text without a hint needs none."""
    if name == "RULES":
        return _list_rules()
    raise AttributeError(name)


@cache
def _list_rules() -> tuple[str, ...]:
    """The names of all rules. They are stable: they stand in texts that were kept."""
    from retentive.text.secrets import issued, named, numbers

    return tuple(dict.fromkeys((*issued.RULES, *numbers.RULES, *named.RULES, UNCLEAR)))


@cache
def _mark() -> re.Pattern[str]:
    """What `redact` leaves."""
    return re.compile(rf"\[redacted: (?:{'|'.join(map(re.escape, _list_rules()))})\]")


class Secret(NamedTuple):
    """Where one is, and by which rule. Its text is not here, so that no message and no log can show it."""

    rule: str
    start: int
    end: int


suspected = hints.any_in
"""Is there anything to look at closely? In microseconds, for texts that come by the thousand."""


def find(text: str) -> tuple[Secret, ...]:
    """All secrets in the order of the text; none overlaps another."""
    if len(text) < LONG_TEXT and not hints.any_in(text):
        return ()
    search = _Search(Effort.for_text(text))
    marks = [match.span() for match in _mark().finditer(text)]
    found = search.find_between(text, marks, ROUNDS) if marks else search.find_all(text, ROUNDS)
    return tuple(sorted(found, key=lambda secret: secret.start))


def redact(text: str, found: Sequence[Secret], *, lines: bool = False) -> str:
    """The text with each secret replaced by the name of its rule; `lines` keeps the number of its lines."""
    kept, last = [], 0
    for secret in found:
        ends = "\n" * text.count("\n", secret.start, secret.end) if lines else ""
        kept += [text[last : secret.start], f"[redacted: {secret.rule}]{ends}"]
        last = secret.end
    return "".join([*kept, text[last:]])


class _Search:
    """The search of one text and of the pieces that it falls into."""

    def __init__(self, effort: Effort) -> None:
        self._effort = effort
        self._known: dict[tuple[str, int], list[Secret]] = {}
        """Secrets of the pieces searched so far, by their text and the rounds that are left."""

    def find_all(self, piece: str, rounds: int) -> list[Secret]:
        if not self._effort.may_search(len(piece)):
            return [Secret(UNCLEAR, 0, len(piece))]
        found = self._limit(_apart(self._find_by_every_rule(piece)), len(piece))
        if found and not rounds:
            return [Secret(UNCLEAR, 0, len(piece))]
        spans = [(secret.start, secret.end) for secret in found]
        return found + self.find_between(piece, spans, rounds - 1) if found else []

    def _limit(self, found: list[Secret], size: int) -> list[Secret]:
        """As many as may be told apart; one that is too many stands for the rest of the piece."""
        left = max(0, self._effort.secrets)
        self._effort.secrets -= len(found)
        if len(found) <= left:
            return found
        return [*found[:left], Secret(UNCLEAR, found[left].start, size)]

    def find_between(self, text: str, spans: Sequence[tuple[int, int]], rounds: int) -> list[Secret]:
        """Secrets in the pieces that the spans leave. A piece that repeats is searched once."""
        found: list[Secret] = []
        for start, end in _between(text, spans):
            key = (text[start:end], rounds)
            if key not in self._known:
                self._known[key] = self.find_all(*key) if hints.any_in(key[0]) else []
            found += [Secret(rule, start + begin, start + stop) for rule, begin, stop in self._known[key]]
        return found

    def _find_by_every_rule(self, piece: str) -> list[Secret]:
        """Still overlapping. The order decides between rules that find the same."""
        from retentive.text.secrets import issued, named, numbers

        places = hints.of(piece)
        if not places.names and not places.digits and not hints.may_hold_token(piece):
            return []
        enough = max(0, self._effort.secrets) + 1  # see `_limit`; these two find in the order of the text
        cards = islice(numbers.find(piece, places.digits), enough)
        named_ones = islice(named.find(piece, places.names, self._effort), enough)
        found = (*(issued.find(piece) if places.long else ()), *cards, *named_ones)
        return [Secret(*each) for each in found]


def _apart(found: list[Secret]) -> list[Secret]:
    """The first of those that overlap; of those that begin together, the longest."""
    chosen: list[Secret] = []
    for secret in sorted(found, key=lambda secret: (secret.start, -secret.end)):
        if not chosen or secret.start >= chosen[-1].end:
            chosen.append(secret)
    return chosen


def _between(text: str, spans: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The pieces that the spans leave."""
    last = 0
    for start, end in (*spans, (len(text), len(text))):
        if start > last:
            yield last, start
        last = end
