"""Parses a text into tokens, with its time expressions as single tokens."""

from datetime import UTC, datetime, tzinfo
from typing import NamedTuple

from retentive.text.dates import lexer
from retentive.text.dates.cascade import Utterance, apply_rules
from retentive.text.dates.grammar import STAGES
from retentive.text.dates.lexer import TimeToken
from retentive.text.dates.tense import Tense


class LocalClock(NamedTuple):
    """The local time at which a text was written, and its zone."""

    local: datetime
    zone: tzinfo

    def to_utc(self, moment: datetime) -> datetime:
        return moment.replace(tzinfo=self.zone).astimezone(UTC)


def make_clock(now: datetime) -> LocalClock:
    return LocalClock(now.replace(tzinfo=None), now.tzinfo or UTC)


def parse_times(text: str, now: datetime, *, past: bool) -> list[TimeToken]:
    return parse_times_with_tense(Tense(text, past=past), text, now)


def parse_times_with_tense(tense: Tense, text: str, now: datetime) -> list[TimeToken]:
    utterance = Utterance(now, tense)
    tokens = lexer.tokenize(text)
    for stage in STAGES:
        tokens = apply_rules(tokens, stage, utterance)
    return tokens
