"""Dates that can be read in two ways: they are completed only if one of the two can be ruled out."""

from datetime import datetime, timedelta

from retentive.text.dates.lexer import Token
from retentive.text.dates.reading import read_by
from retentive.text.dates.spans import Span
from retentive.text.dates.tense import Direction, Tense

# Nobody promises "in October" a year ahead without saying so. A day that is further away than this is so near on the
# other side that it may be the one that is meant.
NEAR = timedelta(days=275)
_DOUBTFUL = {Direction.PROMISED, Direction.DONE, Direction.OPEN}


class Doubts:
    """Both readings of one text, made when the first doubtful date asks for them."""

    def __init__(self, text: str, now: datetime, tense: Tense) -> None:
        self._text = text
        self._now = now
        self._tense = tense
        self._back: dict[tuple[int, int], Token] | None = None
        self._ahead: dict[tuple[int, int], Token] = {}

    def settle(self, token: Token) -> Token | None:
        """The token as it is meant; None if that does not show."""
        found = self._tense.directions(token.start, token.end)
        if found.isdisjoint(_DOUBTFUL):
            return token
        if self._back is None:
            self._back, self._ahead = (self._read(open_past=past) for past in (True, False))
        place = token.start, token.end
        back, ahead = self._back.get(place), self._ahead.get(place)
        if back is None or ahead is None:
            return None
        if back.value == ahead.value:
            return token
        meant = ahead if Direction.PROMISED in found else back
        return meant if Direction.OPEN not in found and self._near(meant.value) else None

    def _read(self, *, open_past: bool) -> dict[tuple[int, int], Token]:
        tense = Tense(self._text, past=self._tense.default, open_past=open_past)
        return {(token.start, token.end): token for token in read_by(tense, self._text, self._now)}

    def _near(self, span: Span) -> bool:
        moment = span.begin or span.finish
        return moment is not None and abs(moment - self._now) <= NEAR
