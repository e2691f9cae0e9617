"""Recently, soon, these days: no date was meant, but a direction was."""

from datetime import timedelta

from retentive.text.dates.cascade import Saying
from retentive.text.dates.days import Made
from retentive.text.dates.lexer import Token
from retentive.text.dates.spans import Span

# What people call recent or soon is a matter of weeks; "the other day" of days.
_MONTH = timedelta(days=30)
_WEEK = timedelta(days=7)


def word(saying: Saying, token: Token) -> Made:
    now = saying.now
    match token.value:
        case "recent":
            span = Span(now - _MONTH, now, "open", "relative")
        case "soon":
            span = Span(now, now + _MONTH, "open", "relative")
        case "later":
            span = Span(now, None, "open", "relative")
        case "before":
            span = Span(None, now, "open", "relative")
        case _:
            span = Span(None, None, "open", "relative")
    return "vague", (token.value, span)


def other_day(saying: Saying, unit: Token) -> Made:
    if unit.value not in {"day", "night", "week"}:
        return None
    return "vague", ("recent", Span(saying.now - _WEEK, saying.now, "open", "relative"))


def these_days(_: Saying, unit: Token) -> Made:
    return ("vague", ("present", Span(None, None, "open", "relative"))) if unit.value == "day" else None
