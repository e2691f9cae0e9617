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
with its square.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

from retentive.text.secrets import hints

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


_Known = dict[tuple[str, int], list[Secret]]
"""Secrets of the pieces searched so far, by their text and the rounds that are left."""

suspected = hints.any_in
"""Is there anything to look at closely? In microseconds, for texts that come by the thousand."""


def find(text: str) -> tuple[Secret, ...]:
    """All secrets in the order of the text; none overlaps another."""
    if len(text) < LONG_TEXT and not hints.any_in(text):
        return ()
    known: _Known = {}
    marks = [match.span() for match in _mark().finditer(text)]
    found = _search_between(text, marks, ROUNDS, known) if marks else _search_all(text, ROUNDS, known)
    return tuple(sorted(found, key=lambda secret: secret.start))


def redact(text: str, found: Sequence[Secret], *, lines: bool = False) -> str:
    """The text with each secret replaced by the name of its rule; `lines` keeps the number of its lines."""
    kept, last = [], 0
    for secret in found:
        ends = "\n" * text.count("\n", secret.start, secret.end) if lines else ""
        kept += [text[last : secret.start], f"[redacted: {secret.rule}]{ends}"]
        last = secret.end
    return "".join([*kept, text[last:]])


def _search_all(piece: str, rounds: int, known: _Known) -> list[Secret]:
    found = _apart(_all(piece))
    if found and not rounds:
        return [Secret(UNCLEAR, 0, len(piece))]
    spans = [(secret.start, secret.end) for secret in found]
    return found + _search_between(piece, spans, rounds - 1, known) if found else []


def _search_between(text: str, spans: Sequence[tuple[int, int]], rounds: int, known: _Known) -> list[Secret]:
    """Secrets in the pieces that the spans leave. A piece that repeats is searched once."""
    found: list[Secret] = []
    for start, end in _between(text, spans):
        key = (text[start:end], rounds)
        if key not in known:
            known[key] = _search_all(*key, known) if hints.any_in(key[0]) else []
        found += [Secret(rule, start + begin, start + stop) for rule, begin, stop in known[key]]
    return found


def _all(piece: str) -> list[Secret]:
    """By every rule, still overlapping. The order decides between rules that find the same."""
    from retentive.text.secrets import issued, named, numbers

    places = hints.of(piece)
    if not places.names and not places.digits and not hints.may_hold_token(piece):
        return []
    found = [*(issued.find(piece) if places.long else ()), *numbers.find(piece, places.digits)]
    return [Secret(*each) for each in (*found, *named.find(piece, places.names))]


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
