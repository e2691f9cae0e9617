"""From a text to tokens that are times."""

from datetime import UTC, datetime, tzinfo
from typing import NamedTuple

from retentive.text.dates import lexer
from retentive.text.dates.cascade import Saying, reduce
from retentive.text.dates.grammar import STAGES
from retentive.text.dates.lexer import Token
from retentive.text.dates.tense import Tense


class Clock(NamedTuple):
    """The moment of speaking, as people there read it, and the zone they are in."""

    local: datetime
    zone: tzinfo

    def utc(self, moment: datetime) -> datetime:
        return moment.replace(tzinfo=self.zone).astimezone(UTC)


def clock(now: datetime) -> Clock:
    return Clock(now.replace(tzinfo=None), now.tzinfo or UTC)


def read(text: str, now: datetime, *, past: bool) -> list[Token]:
    return read_by(Tense(text, past=past), text, now)


def read_by(tense: Tense, text: str, now: datetime) -> list[Token]:
    saying = Saying(now, tense)
    tokens = lexer.tokens(text)
    for stage in STAGES:
        tokens = reduce(tokens, stage, saying)
    return tokens
