"""Rules over classes of tokens: what matches becomes one token, pass after pass.

A pattern is written in the names of classes (`lexicon.NAMES`), with `?`, `|` and groups as in regular expressions:
"the? (ord) of (month)". Its groups are handed to the rule's function as tokens, None where a group is absent. A
function that returns None leaves the tokens as they were. No pattern repeats without bound, so a pass is linear.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from retentive.text.dates.lexer import Token
from retentive.text.dates.lexicon import LETTERS
from retentive.text.dates.tense import Tense


@dataclass(frozen=True, slots=True)
class Saying:
    """What the rules know beside the tokens: when it was said, and whether it looks back."""

    now: datetime
    tense: Tense

    def past(self, token: Token) -> bool:
        return self.tense.past(token.start)

    def looks_back(self, token: Token) -> bool:
        """Only if the sentence shows it."""
        return self.tense.looks_back(token.start)


OpenStore = tuple[Token | None, ...]
Build = Callable[..., tuple[str, Any] | None]


class Rule(NamedTuple):
    pattern: re.Pattern[str]
    build: Build


_NAME = re.compile(r"[a-z_]+")


def rule(pattern: str, build: Build) -> Rule:
    letters = _NAME.sub(lambda match: LETTERS[match[0]], pattern).replace(" ", "")
    return Rule(re.compile(letters), build)


def reduce(tokens: list[Token], rules: Iterable[Rule], saying: Saying) -> list[Token]:
    letters = "".join([token.letter for token in tokens])
    for pattern, build in rules:
        if not pattern.search(letters):
            continue
        tokens = _pass(tokens, letters, pattern, build, saying)
        letters = "".join([token.letter for token in tokens])
    return tokens


def _pass(tokens: list[Token], letters: str, pattern: re.Pattern[str], build: Build, saying: Saying) -> list[Token]:
    done, at = [], 0
    for match in pattern.finditer(letters):
        found = _built(tokens, match, build, saying)
        if found is not None:
            done += tokens[at : match.start()]
            done.append(found)
            at = match.end()
    return done + tokens[at:]


def _built(tokens: list[Token], match: re.Match[str], build: Build, saying: Saying) -> Token | None:
    store = [tokens[at] if at >= 0 else None for at, _ in match.regs[1:]]
    try:
        made = build(saying, *store)
    except (OverflowError, ValueError):  # outside the years 1 to 9999, or 30 February
        return None
    return made and Token(made[0], tokens[match.start()].start, tokens[match.end() - 1].end, made[1])
