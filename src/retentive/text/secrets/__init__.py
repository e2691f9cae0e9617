"""Finds passwords, keys, tokens and card numbers in text: their positions and rules, never their text.

The search has two steps, because nearly every text holds no secret and must not pay for those that do:
  a. `hints` runs one compiled pattern over the text. A line that names nothing secret, has no word of twenty
     characters and no long row of digits is done after a few microseconds;
  b. the rules check the places it finds: `issued` (secrets with a shape of their own, such as a token of GitHub; common
     shapes come from the library detect-secrets), `numbers` (cards), and `named` (values that are called a secret, in
     prose or in a configuration: a name, a link, and a value that `values` accepts).

A rule never looks across a secret that was found, or a mark that `redact_secrets` left. The pieces between them are
searched again as texts of their own, until nothing is found in them. So the result of `redact_secrets` holds no secret.

Every pattern is bounded, or begins only where a word begins, so the time grows with the length of the text and not
with its square. `effort` limits the cost of a search by the length of the text.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import islice
from typing import Any, NamedTuple

from retentive.text.secrets import hints
from retentive.text.secrets.effort import Effort

# The searches of a piece. Ordinary texts need two. A text that needs more was made to be slow; its rest counts as one
# secret.
MAX_ROUNDS = 6

# A longer text is searched for hints only once: the first search lists their positions.
LONG_TEXT_CHARS = 10_000

SEVERAL_SECRETS = "several secrets"


def __getattr__(name: str) -> Any:
    """Make `RULES` on first use. The rules take 25 ms to compile, and a text without a hint needs none."""
    if name == "RULES":
        return _list_rules()
    raise AttributeError(name)


@cache
def _list_rules() -> tuple[str, ...]:
    """List the names of all rules. They are stable, because stored texts contain them."""
    from retentive.text.secrets import issued, named, numbers

    return tuple(dict.fromkeys((*issued.RULES, *numbers.RULES, *named.RULES, SEVERAL_SECRETS)))


@cache
def _compile_mark() -> re.Pattern[str]:
    """Compile the pattern of the marks that `redact_secrets` leaves."""
    return re.compile(rf"\[redacted: (?:{'|'.join(map(re.escape, _list_rules()))})\]")


class Secret(NamedTuple):
    """The position of a secret, and its rule. Its text is left out, so that no message and no log can show it."""

    rule: str
    start: int
    end: int


may_hold_secret = hints.has_hint
"""Whether a text needs the full search. This takes microseconds, for texts that come by the thousand."""


def find_secrets(text: str) -> tuple[Secret, ...]:
    """Find all secrets, in the order of the text and without overlaps."""
    if len(text) < LONG_TEXT_CHARS and not hints.has_hint(text):
        return ()
    search = _Search(Effort.for_text(text))
    marks = [match.span() for match in _compile_mark().finditer(text)]
    found = search.find_between(text, marks, MAX_ROUNDS) if marks else search.find_all(text, MAX_ROUNDS)
    return tuple(sorted(found, key=lambda secret: secret.start))


def redact_secrets(text: str, found: Sequence[Secret], *, lines: bool = False) -> str:
    """Replace each secret by the name of its rule; `lines` keeps the number of lines."""
    pieces, last = [], 0
    for secret in found:
        ends = "\n" * text.count("\n", secret.start, secret.end) if lines else ""
        pieces += [text[last : secret.start], f"[redacted: {secret.rule}]{ends}"]
        last = secret.end
    return "".join([*pieces, text[last:]])


class _Search:
    """The search of one text and of the pieces between its secrets."""

    def __init__(self, effort: Effort) -> None:
        self._effort = effort
        self._known: dict[tuple[str, int], list[Secret]] = {}
        """The secrets of the pieces searched so far, by their text and the rounds that are left."""

    def find_all(self, piece: str, rounds: int) -> list[Secret]:
        if not self._effort.may_search(len(piece)):
            return [Secret(SEVERAL_SECRETS, 0, len(piece))]
        found = self._limit(_drop_overlaps(self._find_by_every_rule(piece)), len(piece))
        if found and not rounds:
            return [Secret(SEVERAL_SECRETS, 0, len(piece))]
        spans = [(secret.start, secret.end) for secret in found]
        return found + self.find_between(piece, spans, rounds - 1) if found else []

    def _limit(self, found: list[Secret], size: int) -> list[Secret]:
        """Limit the number of secrets. Beyond the limit, the rest of the piece counts as one."""
        left = max(0, self._effort.secrets)
        self._effort.secrets -= len(found)
        if len(found) <= left:
            return found
        return [*found[:left], Secret(SEVERAL_SECRETS, found[left].start, size)]

    def find_between(self, text: str, spans: Sequence[tuple[int, int]], rounds: int) -> list[Secret]:
        """Find the secrets between the spans. Equal pieces are searched once."""
        found: list[Secret] = []
        for start, end in _find_gaps(text, spans):
            key = (text[start:end], rounds)
            if key not in self._known:
                self._known[key] = self.find_all(*key) if hints.has_hint(key[0]) else []
            found += [Secret(rule, start + begin, start + stop) for rule, begin, stop in self._known[key]]
        return found

    def _find_by_every_rule(self, piece: str) -> list[Secret]:
        """Find secrets that may overlap. If rules find the same one, the first rule wins."""
        from retentive.text.secrets import issued, named, numbers

        places = hints.find_hints(piece)
        if not places.names and not places.digits and not hints.may_hold_token(piece):
            return []
        enough = max(0, self._effort.secrets) + 1  # see `_limit`; these two find in the order of the text
        cards = islice(numbers.find_cards(piece, places.digits), enough)
        named_ones = islice(named.find_named(piece, places.names, self._effort), enough)
        found = (*(issued.find_issued(piece) if places.long else ()), *cards, *named_ones)
        return [Secret(*each) for each in found]


def _drop_overlaps(found: list[Secret]) -> list[Secret]:
    """Keep the first of overlapping secrets, and the longest of those that begin together."""
    chosen: list[Secret] = []
    for secret in sorted(found, key=lambda secret: (secret.start, -secret.end)):
        if not chosen or secret.start >= chosen[-1].end:
            chosen.append(secret)
    return chosen


def _find_gaps(text: str, spans: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield the pieces between the spans."""
    last = 0
    for start, end in (*spans, (len(text), len(text))):
        if start > last:
            yield last, start
        last = end
