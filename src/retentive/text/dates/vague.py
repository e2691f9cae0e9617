"""Rules for vague times (recently, soon, these days): they have a direction but no date."""

from datetime import timedelta

from retentive.text.dates.cascade import NewToken, Utterance
from retentive.text.dates.lexer import TimeToken
from retentive.text.dates.spans import Period

# "Recently" and "soon" are a matter of weeks, "the other day" of days.
_MONTH = timedelta(days=30)
_WEEK = timedelta(days=7)


def parse_vague_word(utterance: Utterance, token: TimeToken) -> NewToken:
    now = utterance.now
    match token.value:
        case "recent":
            span = Period(now - _MONTH, now, "open", "relative")
        case "soon":
            span = Period(now, now + _MONTH, "open", "relative")
        case "later":
            span = Period(now, None, "open", "relative")
        case "before":
            span = Period(None, now, "open", "relative")
        case _:
            span = Period(None, None, "open", "relative")
    return "vague", (token.value, span)


def parse_other_day(utterance: Utterance, unit: TimeToken) -> NewToken:
    if unit.value not in {"day", "night", "week"}:
        return None
    return "vague", ("recent", Period(utterance.now - _WEEK, utterance.now, "open", "relative"))


def parse_these_days(_: Utterance, unit: TimeToken) -> NewToken:
    return ("vague", ("present", Period(None, None, "open", "relative"))) if unit.value == "day" else None
