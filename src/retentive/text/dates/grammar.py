"""The language of time, as rules in the order in which they are tried. What an earlier line joins, later lines see."""

from retentive.text.dates import amounts, days, ranges, shifts, vague
from retentive.text.dates.cascade import Build, Rule, Saying, rule
from retentive.text.dates.lexer import Token

_UNIT = "unit|units|second"
_DAY = "num|ord|nth|second"
_YEAR = "year|short_year"
_NOUN = "word|plural|counted"
_COUNTABLE = "counted|unit|units|plural|length"
_PREPOSITION = (
    "in|during|since|until|by|before|after|from|every|stage"  # after these "march" is a month and "fall" a season
)
_VERBS = (3, 5)  # march, may
_JOIN = "to|dash|through|until"


def _sure(name: str) -> Build:
    return lambda _, token: (name, token.value[0])


def _written_large(name: str) -> Build:
    return lambda _, token: (name, token.value[0]) if token.value[1] else None


def _after_number(_: Saying, token: Token) -> days.Made:
    """5 june; but not "5 may go"."""
    month, large = token.value
    return ("month", month) if large or month not in _VERBS else None


def _either(saying: Saying, weekday: Token, plain: Token | None, ordinal: Token | None) -> days.Made:
    return days.weekday_number(saying, weekday, plain or ordinal)  # type: ignore[arg-type]


NUMBERS: tuple[Rule, ...] = (
    rule("prior to", lambda _: ("before", "before")),
    rule("previous (weekday)", days.previous_weekday),
    rule("prior|previous", lambda _: ("rel", -1)),
    rule("(tens) dash? (num|nth|second)", amounts.added),
    rule("(tens)", amounts.tens),
    rule("(num) (hundred) and? (num)?", amounts.times),
    rule("(num) (num)", amounts.spoken_year),
    rule("(num) oclock", shifts.oclock),
    rule("(noon)", shifts.noon),
)
# Everyday words that are months, weekdays and seasons only beside the right ones.
DOUBTS: tuple[Rule, ...] = (
    rule(f"(?<={_PREPOSITION}|between|of|ord) (maybe_month)", _sure("month")),
    rule("(?<=rel|past) (maybe_month)", _written_large("month")),
    rule("(?<=in the) (maybe_month)", _written_large("month")),
    rule(f"(?<=(?:month|span|year|num|ord|unit) (?:{_JOIN}|and|or)) (maybe_month)", _written_large("month")),
    rule(f"(maybe_month) (?=(?:comma|of|dash)? (?:{_YEAR})|dash? the? (?:ord|nth|second))", _sure("month")),
    rule(f"(maybe_month) (?=dash? num (?!{_NOUN}|unit|units))", _sure("month")),
    rule("(maybe_month) (?=(?:to|dash|through|and|or) month)", _sure("month")),
    rule("(maybe_month) (?=stop? dash? num)", _written_large("month")),
    rule("(?<=num) (maybe_month)", _after_number),
    rule(f"(?<=num|ord) (maybe_month) (?=in (?:{_YEAR}))", _sure("month")),
    rule("(?<=rel|past|every) (maybe_weekday)", _sure("weekday")),
    rule("(?<=on|until|by|since|from|before|after|through|unit|or|and) (maybe_weekday)", _written_large("weekday")),
    rule("(maybe_weekday) (?=(?:or|and|dash|to|comma) weekday)", _written_large("weekday")),
    rule("(maybe_weekday) (?=comma? stop? (?:ord|month|slash|span|part|num month))", _written_large("weekday")),
    rule(f"(?<={_PREPOSITION}|rel|past) (maybe_season) (?!of word|of the|of plural)", _sure("season")),
    rule("(?<=(?:in|during|since|until|by) the) (maybe_season) (?!of word|of the|of plural)", _sure("season")),
    rule("(maybe_season) (?=of? year)", _sure("season")),
    rule("(rel) (past)", lambda _, rel, past: ("past", past.value) if rel.value == 0 else None),
)
LENGTHS: tuple[Rule, ...] = (
    rule(f"(num) and a half ({_UNIT})", amounts.and_a_half),
    rule(f"half (?:a|num)? ({_UNIT})", amounts.half),
    rule(f"a? (few) of? ({_UNIT}|parts)", amounts.length),
    rule(f"(num|year|a) dash? ({_UNIT}|parts)", amounts.length),
    rule("(length) and a? half (?!the|a|num|few)", amounts.half_more),
    rule("(length) (?:and|comma)? (length) (?!ago)", amounts.joined),
    rule("(length) (?:and|comma)? (length) (?!ago)", amounts.joined),
    rule("(length) (length) (?=ago)", amounts.joined),
    rule("(length) or (num|few) (?=ago)", amounts.or_more),
    rule("(length) later", shifts.unread),
)
SETS: tuple[Rule, ...] = (
    rule("a? (num|few) of? (seasons) ago", days.seasons_ago),
    rule("a? (num|few) of? (weekdays) ago", days.weekdays_ago),
    rule("(vague_word)", vague.word),
    rule("the other (unit|part)", vague.other_day),
    rule("these (units)", vague.these_days),
    rule("(adverb)", amounts.adverb),
    rule(
        f"(?:every|any) (other|nth|second)? (length|{_UNIT}|weekday|month|part|season|holiday)",
        amounts.every,
    ),
    rule("num? times (other)? (length)", amounts.every),
    rule("num? times? per (other)? (unit)", amounts.every),
    rule("(other)? (weekdays)", amounts.every),
    rule("weekday parts", amounts.weekly),
)
DATES: tuple[Rule, ...] = (
    rule(f"the? ({_DAY}) of? (month) of (num)", days.day_month_of),
    rule(f"(month) the? ({_DAY}) of (num)", days.month_day_of),
    rule(
        f"(weekday comma?)? the? (?<!month) ({_DAY}) (unit)? dash? of? (month)"
        f"(?:stop? (?:of|comma|in|dash)? ({_YEAR}))?",
        days.day_month,
    ),
    rule(
        f"(weekday comma? stop?)? (month) stop? dash? the? ({_DAY}) (?:(?:comma|of|in|dash)? ({_YEAR}))?",
        days.month_day,
    ),
    rule(f"(month) stop? (?:of|comma|dash|in)? ({_YEAR})", days.month_year),
    rule("(month) of? (num)", days.month_of),
    rule("(rel|past) (month)", days.rel_month),
    rule("(month)", days.bare_month),
    rule(f"(season) of? ({_YEAR})", days.season),
    rule("(rel|past) (season)", days.rel_season),
    rule(f"(?<={_PREPOSITION}) (season)", lambda saying, season: days.season(saying, season, None)),
    rule("(?<=(?:in|during|since|until|by) the) (season)", lambda saying, season: days.season(saying, season, None)),
    rule(f"(quarter) (?:of|dash|comma)? ({_YEAR})", days.quarter),
    rule("(year) dash? (quarter)", days.quarter_back),
    rule("(quarter)", lambda saying, quarter: days.quarter(saying, quarter, None)),
    rule(f"(?:rel|past)? holiday (?:{_YEAR})? (unit)", shifts.unread_weekend),
    rule(f"(holiday) (?:of|in|comma)? ({_YEAR})", days.holiday),
    rule("(rel|past) (holiday)", days.rel_holiday),
    rule("(holiday)", lambda saying, holiday: days.holiday(saying, holiday, None)),
    rule("(rel) (slash)", days.rel_slash),
    rule("(rel|past) (weekday) (slash)", days.weekday_slash),
    rule("(?<=on|by|until|since|from|before|after|between|to|through|weekday|for|rel|dash) (slash)", days.slash),
    rule("(slash) (?=dash (?:slash|span))", days.slash),
    rule(f"(?<!{_NOUN}|num|unit) (slash) (?!{_NOUN}|num|unit|units|of|length)", days.slash),
    rule("weekday comma? (span)", days.with_weekday),
    rule("weekday open (span) close", days.with_weekday),
    rule("(weekday) (?:the (num)|the? (ord|nth)) (?!unit|units)", _either),
    rule(f"(weekday) (num) (?!{_COUNTABLE}|word|dash|to|and|at|clock|oclock|part)", days.weekday_number),
    rule("(weekday) (num) (?=at (?:num|clock|maybe_clock))", days.weekday_number),
    rule(f"(year) (?:{_JOIN}) (year) (?!{_COUNTABLE})", ranges.years),
    rule(
        f"(?<=in|during|since|until|by|before|after|from|between|to|through|stage|unit|of) (year) (?!{_COUNTABLE})",
        days.year,
    ),
    rule(f"(?<!{_NOUN}|num|dash|clock|maybe_clock) (year) (?!{_NOUN}|num|unit|units|length|dash num)", days.year),
    rule(f"(?<=span(?:{_JOIN}|and|or)) (year) (?!{_COUNTABLE})", days.year),
    rule(f"(year) (?=(?:{_JOIN}) span)", days.year),
    rule("the? (unit) (span)", shifts.year_word),
    rule("(rel) school unit", days.school_year),
    rule("(?<=in|of) the? (unit) (num) (?:of|in) (span)", shifts.numbered_week),
    rule("(nth|ord|second) (weekday) (?!of|in)", shifts.unread),
    rule("(rel) semester", days.semester),
    rule("(?<=the) semester", lambda saying: days.semester(saying, None)),
    rule("the (unit) (before|after) (rel) (?!unit|weekday|month|length|season)", days.before_last),
    rule("(num|few) (rel|past) (units)", days.counted_rel),
    rule("(?<!modal|to) (rel|past) (length) (?!of (?:the|rel|span|unit))", days.rel_length),
    rule("the? (nth|ord) (unit)", days.century),
    rule("the? (decade)", days.decade),
    rule("the (nineties) (?!dash)", days.decade),
    rule("(day)", days.deictic),
    rule("tonight", days.tonight),
    rule("right? now", days.now),
    rule("(rel|past) (unit) (?!of (?:the|rel|span|unit))", days.rel_unit),
    rule("the? (nth|ord|second|rel) (weekday|unit) (?:of|in) the? (span|unit)", shifts.nth),
    rule("(span) (nth|ord|second) (unit)", shifts.nth_of),
    rule("the? (nth|rel) (length) of the? (span|unit)", shifts.nth_lot),
    rule("the? (nth|second|rel) half (?:of|in) the? (span|unit)", shifts.half),
    rule("(rel|past) (weekday)", days.rel_weekday),
    rule("(weekday)", days.weekday),
    rule("the (unit)", days.weekend),
    rule("(span) (?:of|in|comma)? (span)", shifts.in_year),
    rule("(span) (?:of|on|comma)? (span)", shifts.weekday_in_week),
    rule(
        f"(?<=on|by|until|since|from|before|after|between|through|at|to|for) the (ord) (?!{_COUNTABLE}|of|word)",
        days.day_of_month,
    ),
    rule(f"(?<=on|by|until|since) (ord) (?!{_COUNTABLE}|of|word)", days.day_of_month),
    rule("(?<=on) the (num) (?=(?:from|at|between) (?:clock|hours))", days.day_of_month),
    rule("(rel) (part)", days.rel_part),
    rule("the? (part) (?:of|on)? (span)", days.part_day),
    rule("(span) (?:in the|stage)? (part)", days.day_part),
    rule("(span) (?:of|on|comma)? (span)", shifts.weekday_in_week),
)
CLOCKS: tuple[Rule, ...] = (
    rule("(half|num|length) past (num|clock)", shifts.past_the_hour),
    rule("(num) (ampm) (?!word|plural)", shifts.spoken_half_day),
    rule("(clock|maybe_clock|num) (?:in the) (part)", shifts.clock_of_part),
    rule("in the (part) at (clock|num)", shifts.part_at),
    rule("(num) dash? (num) (?=span)", shifts.spoken_clock),
    rule("(?<=span) (num) dash? (num) (?!plural|counted)", shifts.spoken_clock),
    rule("(?<=span at) (num) dash? (num) (?!plural|counted)", shifts.spoken_clock),
    rule("(?:from|between)? (clock|maybe_clock|num) (?:to|dash|until|through|and) (clock)", shifts.hours),
    rule("(?:from|between)? (maybe_clock) (?:to|dash|until|through|and) (maybe_clock)", shifts.hours),
    rule("(span) comma? (?:at|from|between|dash)? (clock|maybe_clock|hours)", shifts.at),
    rule(f"(span) comma? at (num) (?!{_COUNTABLE})", shifts.at_number),
    rule("(clock|maybe_clock) or (later) on? (span)", shifts.clock_or_later),
    rule("(span) comma? (before|after|by) (clock)", shifts.beside_clock),
    rule("(clock|maybe_clock|hours) (?:on|comma)? the? (span)", shifts.clock_on),
    rule("(clock|hours)", shifts.today_at),
    rule("(?<=at|by|from|until|since|before|after) (maybe_clock)", shifts.today_at),
    rule("in the? (part)", shifts.in_part),
)
SHIFTS: tuple[Rule, ...] = (
    rule("(stage) dash? (?:in the?)? (span)", shifts.staged),
    rule("the? (edge|beginning) of the? (span|unit)", shifts.edge),
    rule("(later) (?:in the?)? (span)", shifts.later),
    rule("(later) in the (unit)", shifts.later),
    rule("the? (unit) (?:of|starting|beginning) on? (span)", shifts.week_of),
    rule("(week_of) (span)", shifts.week_of),
    rule("the (unit) (before|after) (span)", shifts.day_beside),
    rule("(length) ago", shifts.ago),
    rule("(length) back (?!to|in|at|from|on|of)", shifts.ago),
    rule("for (length) comma? from the? (span)", ranges.lasting),
    rule("(more) than (length) (before|after|from|since) the? (span)", ranges.more_than),
    rule("(length) (before|after|from|since) the? (span) (?!to|until|through|dash)", shifts.from_date),
    rule("the (unit) (before|after) (span)", shifts.day_beside),
    rule("in (length) (?!before|after|of|from)", shifts.hence),
    rule("within (?:the)? (length)", shifts.within),
    rule("(span) on? (span)", shifts.two_days),
)
RANGES: tuple[Rule, ...] = (
    rule(f"(from|between)? the? (span) ({_JOIN}|and) the? (span)", ranges.two),
    rule(f"(from|between)? the? ({_DAY}) ({_JOIN}|and) the? (span)", ranges.number_first),
    rule(f"(from|between)? the? (span) ({_JOIN}|and) the? ({_DAY}) comma? (span|year)", ranges.number_last),
    rule(f"(from|between)? the? (span) ({_JOIN}|and) the? ({_DAY}) (?!{_COUNTABLE}|word|to)", ranges.number_last),
    rule("(length) comma? (?:starting|beginning|from) (?:on|from|at)? the? (span)", ranges.lasting),
    rule("(?:starting|beginning|from) (?:on|from)? the? (span) comma? for (length)", ranges.lasting),
    rule("no (later) than the? (span)", ranges.not_later),
    rule("(later) than the? (span)", ranges.later),
    rule("as (stage) as the? (span)", ranges.as_early_as),
    rule("(span) (?:or|and) (later)", ranges.or_later),
    rule("(since|after|before|until|by|through) (?:the|at|in|on)? (span)", ranges.open_ended),
    rule("(?:starting|beginning) (?:on|from|in)? the? (span)", ranges.starting),
    rule("from (span) (?:on|onward)", ranges.starting),
)
STAGES = (NUMBERS, DOUBTS, LENGTHS, SETS, DATES, CLOCKS, SHIFTS, RANGES)
