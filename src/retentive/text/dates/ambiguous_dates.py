"""Resolves ambiguous dates: they are completed only if one of two readings can be ruled out."""

from datetime import datetime, timedelta

from retentive.text.dates.lexer import TimeToken
from retentive.text.dates.parse_times import parse_times_with_tense
from retentive.text.dates.spans import Period
from retentive.text.dates.tense import Direction, Tense

# Nobody promises "in October" a year ahead without a year. If a date is further away than this, the same date of the
# year before or after is near enough to be the right one.
MAX_DISTANCE = timedelta(days=275)
_UNCERTAIN_DIRECTIONS = {Direction.PROMISED, Direction.DONE, Direction.OPEN}


class AmbiguousDates:
    """Two parses of a text, one towards the past and one towards the future, made for the first ambiguous date."""

    def __init__(self, text: str, now: datetime, tense: Tense) -> None:
        self._text = text
        self._now = now
        self._tense = tense
        self._back: dict[tuple[int, int], TimeToken] | None = None
        self._ahead: dict[tuple[int, int], TimeToken] = {}

    def resolve(self, token: TimeToken) -> TimeToken | None:
        """Return the token of the right parse; None if that is unclear."""
        directions = self._tense.list_directions(token.start, token.end)
        if directions.isdisjoint(_UNCERTAIN_DIRECTIONS):
            return token
        if self._back is None:
            self._back, self._ahead = (self._parse(open_past=past) for past in (True, False))
        position = token.start, token.end
        back, ahead = self._back.get(position), self._ahead.get(position)
        if back is None or ahead is None:
            return None
        if back.value == ahead.value:
            return token
        likely = ahead if Direction.PROMISED in directions else back
        return likely if Direction.OPEN not in directions and self._is_near(likely.value) else None

    def _parse(self, *, open_past: bool) -> dict[tuple[int, int], TimeToken]:
        tense = Tense(self._text, past=self._tense.default, open_past=open_past)
        return {(token.start, token.end): token for token in parse_times_with_tense(tense, self._text, self._now)}

    def _is_near(self, span: Period) -> bool:
        moment = span.begin or span.finish
        return moment is not None and abs(moment - self._now) <= MAX_DISTANCE
