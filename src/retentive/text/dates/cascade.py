"""Applies rules to tokens, one after the other: each match of a rule becomes one token.

A pattern is written in the names of classes (`lexicon.NAMES`), with `?`, `|` and groups as in regular expressions:
"the? (ord) of (month)". The rule's function gets its groups as tokens, None for an absent group. If it returns
None, the tokens stay as they were. No pattern repeats without bound, so a pass is linear.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from retentive.text.dates.lexer import TimeToken
from retentive.text.dates.lexicon import LETTERS
from retentive.text.dates.tense import Tense


@dataclass(frozen=True, slots=True)
class Utterance:
    """The context of the tokens: when the text was written, and the tense of its sentences."""

    now: datetime
    tense: Tense

    def is_past(self, token: TimeToken) -> bool:
        return self.tense.is_past(token.start)

    def looks_back(self, token: TimeToken) -> bool:
        """Whether the sentence clearly speaks of the past."""
        return self.tense.looks_back(token.start)


NewToken = tuple[str, Any] | None
"""The class and the value of a new token; None if the tokens stay as they were."""
TokenBuilder = Callable[..., NewToken]


class GrammarRule(NamedTuple):
    pattern: re.Pattern[str]
    build: TokenBuilder
    needed: frozenset[str]
    """Letters without which the pattern cannot match: nine of ten rules need no search in a text."""


_CLASS_NAME = re.compile(r"[a-z_]+")
_NEEDED_NAME = re.compile(r"[a-z_]+(?![a-z_?])")
_INNER_GROUP = re.compile(r"\((?:\?(?P<kind>[:=!<]+))?(?P<inner>[^()]*)\)(?P<optional>\??)")


def rule(pattern: str, build: TokenBuilder) -> GrammarRule:
    """Compile a pattern of class names into a regular expression over the letters of classes."""
    letters = _CLASS_NAME.sub(lambda match: LETTERS[match[0]], pattern).replace(" ", "")
    return GrammarRule(re.compile(letters), build, _find_needed(pattern))


def _find_needed(pattern: str) -> frozenset[str]:
    """Letters of classes that each match of a pattern has. What is optional, or one of several, is not among them."""
    while "(" in pattern:
        pattern = _INNER_GROUP.sub(_keep_needed, pattern)
    return frozenset() if "|" in pattern else frozenset(LETTERS[name] for name in _NEEDED_NAME.findall(pattern))


def _keep_needed(group: re.Match[str]) -> str:
    is_needed = not group["optional"] and "|" not in group["inner"] and "!" not in (group["kind"] or "")
    return f" {group['inner']} " if is_needed else " "


def apply_rules(tokens: list[TimeToken], rules: Iterable[GrammarRule], utterance: Utterance) -> list[TimeToken]:
    letters = _join_letters(tokens)
    present = {*letters}
    for pattern, build, needed in rules:
        if needed <= present and pattern.search(letters):
            tokens = _apply_rule(tokens, letters, pattern, build, utterance)
            letters = _join_letters(tokens)
            present = {*letters}
    return tokens


def _join_letters(tokens: list[TimeToken]) -> str:
    return "".join([LETTERS[token.name] for token in tokens])


def _apply_rule(
    tokens: list[TimeToken], letters: str, pattern: re.Pattern[str], build: TokenBuilder, utterance: Utterance
) -> list[TimeToken]:
    joined, at = [], 0
    for match in pattern.finditer(letters):
        token = _build_token(tokens, match, build, utterance)
        if token is not None:
            joined += tokens[at : match.start()]
            joined.append(token)
            at = match.end()
    return joined + tokens[at:]


def _build_token(
    tokens: list[TimeToken], match: re.Match[str], build: TokenBuilder, utterance: Utterance
) -> TimeToken | None:
    groups = [tokens[at] if at >= 0 else None for at, _ in match.regs[1:]]
    try:
        result = build(utterance, *groups)
    except (OverflowError, ValueError):  # outside the years 1 to 9999, or 30 February
        return None
    if result is None:
        return None
    name, value = result
    return TimeToken(name, tokens[match.start()].start, tokens[match.end() - 1].end, value)
