"""The grammar of time expressions: rules in the order in which they are applied. Later rules see earlier results."""

from retentive.text.dates import amounts, calendar_dates, ranges, relative_times, vague
from retentive.text.dates.cascade import GrammarRule, NewToken, TokenBuilder, Utterance, rule
from retentive.text.dates.lexer import TimeToken

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


def _accept(name: str) -> TokenBuilder:
    return lambda _, token: (name, token.value[0])


def _accept_capitalised(name: str) -> TokenBuilder:
    return lambda _, token: (name, token.value[0]) if token.value[1] else None


def _accept_after_number(_: Utterance, token: TimeToken) -> NewToken:
    """5 june; but not "5 may go"."""
    month, large = token.value
    return ("month", month) if large or month not in _VERBS else None


def _accept_either_number(
    utterance: Utterance, weekday: TimeToken, plain: TimeToken | None, ordinal: TimeToken | None
) -> NewToken:
    return calendar_dates.parse_weekday_and_day(utterance, weekday, plain or ordinal)  # type: ignore[arg-type]


NUMBERS: tuple[GrammarRule, ...] = (
    rule("prior to", lambda _: ("before", "before")),
    rule("previous (weekday)", calendar_dates.parse_previous_weekday),
    rule("prior|previous", lambda _: ("rel", -1)),
    rule("(tens) dash? (num|nth|second)", amounts.parse_compound_number),
    rule("(tens)", amounts.parse_tens),
    rule("(num) (hundred) and? (num)?", amounts.parse_hundreds),
    rule("(num) (num)", amounts.parse_spoken_year),
    rule("(num) oclock", relative_times.parse_oclock),
    rule("(noon)", relative_times.parse_noon),
)
# Everyday words ("may", "sat", "fall") are months, weekdays and seasons only beside certain other words.
DOUBTS: tuple[GrammarRule, ...] = (
    rule(f"(?<={_PREPOSITION}|between|of|ord) (maybe_month)", _accept("month")),
    rule("(?<=rel|past) (maybe_month)", _accept_capitalised("month")),
    rule("(?<=in the) (maybe_month)", _accept_capitalised("month")),
    rule(f"(?<=(?:month|span|year|num|ord|unit) (?:{_JOIN}|and|or)) (maybe_month)", _accept_capitalised("month")),
    rule(f"(maybe_month) (?=(?:comma|of|dash)? (?:{_YEAR})|dash? the? (?:ord|nth|second))", _accept("month")),
    rule(f"(maybe_month) (?=dash? num (?!{_NOUN}|unit|units))", _accept("month")),
    rule("(maybe_month) (?=(?:to|dash|through|and|or) month)", _accept("month")),
    rule("(maybe_month) (?=stop? dash? num)", _accept_capitalised("month")),
    rule("(?<=num) (maybe_month)", _accept_after_number),
    rule(f"(?<=num|ord) (maybe_month) (?=in (?:{_YEAR}))", _accept("month")),
    rule("(?<=rel|past|every) (maybe_weekday)", _accept("weekday")),
    rule(
        "(?<=on|until|by|since|from|before|after|through|unit|or|and) (maybe_weekday)", _accept_capitalised("weekday")
    ),
    rule("(maybe_weekday) (?=(?:or|and|dash|to|comma) weekday)", _accept_capitalised("weekday")),
    rule("(maybe_weekday) (?=comma? stop? (?:ord|month|slash|span|part|num month))", _accept_capitalised("weekday")),
    rule(f"(?<={_PREPOSITION}|rel|past) (maybe_season) (?!of word|of the|of plural)", _accept("season")),
    rule("(?<=(?:in|during|since|until|by) the) (maybe_season) (?!of word|of the|of plural)", _accept("season")),
    rule("(maybe_season) (?=of? year)", _accept("season")),
    rule("(rel) (past)", lambda _, rel, past: ("past", past.value) if rel.value == 0 else None),
)
LENGTHS: tuple[GrammarRule, ...] = (
    rule(f"(num) and a half ({_UNIT})", amounts.parse_number_and_a_half),
    rule(f"half (?:a|num)? ({_UNIT})", amounts.parse_half_unit),
    rule(f"a? (few) of? ({_UNIT}|parts)", amounts.parse_length),
    rule(f"(num|year|a) dash? ({_UNIT}|parts)", amounts.parse_length),
    rule("(length) and a? half (?!the|a|num|few)", amounts.parse_length_and_a_half),
    rule("(length) (?:and|comma)? (length) (?!ago)", amounts.parse_joined_lengths),
    rule("(length) (?:and|comma)? (length) (?!ago)", amounts.parse_joined_lengths),
    rule("(length) (length) (?=ago)", amounts.parse_joined_lengths),
    rule("(length) or (num|few) (?=ago)", amounts.parse_longer_alternative),
    rule("(length) later", relative_times.skip_unknown_time),
)
SETS: tuple[GrammarRule, ...] = (
    rule("a? (num|few) of? (seasons) ago", calendar_dates.parse_seasons_ago),
    rule("a? (num|few) of? (weekdays) ago", calendar_dates.parse_weekdays_ago),
    rule("(vague_word)", vague.parse_vague_word),
    rule("the other (unit|part)", vague.parse_other_day),
    rule("these (units)", vague.parse_these_days),
    rule("(adverb)", amounts.parse_frequency_adverb),
    rule(
        f"(?:every|any) (other|nth|second)? (length|{_UNIT}|weekday|month|part|season|holiday)",
        amounts.parse_repetition,
    ),
    rule("num? times (other)? (length)", amounts.parse_repetition),
    rule("num? times? per (other)? (unit)", amounts.parse_repetition),
    rule("(other)? (weekdays)", amounts.parse_repetition),
    rule("weekday parts", amounts.parse_weekly),
)
DATES: tuple[GrammarRule, ...] = (
    rule(f"the? ({_DAY}) of? (month) of (num)", calendar_dates.parse_day_month_short_year),
    rule(f"(month) the? ({_DAY}) of (num)", calendar_dates.parse_month_day_short_year),
    rule(
        f"(weekday comma?)? the? (?<!month) ({_DAY}) (unit)? dash? of? (month)"
        f"(?:stop? (?:of|comma|in|dash)? ({_YEAR}))?",
        calendar_dates.parse_day_month,
    ),
    rule(
        f"(weekday comma? stop?)? (month) stop? dash? the? ({_DAY}) (?:(?:comma|of|in|dash)? ({_YEAR}))?",
        calendar_dates.parse_month_day,
    ),
    rule(f"(month) stop? (?:of|comma|dash|in)? ({_YEAR})", calendar_dates.parse_month_year),
    rule("(month) of? (num)", calendar_dates.parse_month_short_year),
    rule("(rel|past) (month)", calendar_dates.parse_relative_month),
    rule("(month)", calendar_dates.parse_month),
    rule(f"(season) of? ({_YEAR})", calendar_dates.parse_season),
    rule("(rel|past) (season)", calendar_dates.parse_relative_season),
    rule(
        f"(?<={_PREPOSITION}) (season)", lambda utterance, season: calendar_dates.parse_season(utterance, season, None)
    ),
    rule(
        "(?<=(?:in|during|since|until|by) the) (season)",
        lambda utterance, season: calendar_dates.parse_season(utterance, season, None),
    ),
    rule(f"(quarter) (?:of|dash|comma)? ({_YEAR})", calendar_dates.parse_quarter),
    rule("(year) dash? (quarter)", calendar_dates.parse_year_and_quarter),
    rule("(quarter)", lambda utterance, quarter: calendar_dates.parse_quarter(utterance, quarter, None)),
    rule(f"(?:rel|past)? holiday (?:{_YEAR})? (unit)", relative_times.skip_holiday_weekend),
    rule(f"(holiday) (?:of|in|comma)? ({_YEAR})", calendar_dates.parse_holiday),
    rule("(rel|past) (holiday)", calendar_dates.parse_relative_holiday),
    rule("(holiday)", lambda utterance, holiday: calendar_dates.parse_holiday(utterance, holiday, None)),
    rule("(rel) (slash)", calendar_dates.parse_relative_slash_date),
    rule("(rel|past) (weekday) (slash)", calendar_dates.parse_weekday_slash_date),
    rule(
        "(?<=on|by|until|since|from|before|after|between|to|through|weekday|for|rel|dash) (slash)",
        calendar_dates.parse_slash_date,
    ),
    rule("(slash) (?=dash (?:slash|span))", calendar_dates.parse_slash_date),
    rule(f"(?<!{_NOUN}|num|unit) (slash) (?!{_NOUN}|num|unit|units|of|length)", calendar_dates.parse_slash_date),
    rule("weekday comma? (span)", calendar_dates.parse_date_after_weekday),
    rule("weekday open (span) close", calendar_dates.parse_date_after_weekday),
    rule("(weekday) (?:the (num)|the? (ord|nth)) (?!unit|units)", _accept_either_number),
    rule(
        f"(weekday) (num) (?!{_COUNTABLE}|word|dash|to|and|at|clock|oclock|part)", calendar_dates.parse_weekday_and_day
    ),
    rule("(weekday) (num) (?=at (?:num|clock|maybe_clock))", calendar_dates.parse_weekday_and_day),
    rule(f"(year) (?:{_JOIN}) (year) (?!{_COUNTABLE})", ranges.parse_years),
    rule(
        f"(?<=in|during|since|until|by|before|after|from|between|to|through|stage|unit|of) (year) (?!{_COUNTABLE})",
        calendar_dates.parse_year,
    ),
    rule(
        f"(?<!{_NOUN}|num|dash|clock|maybe_clock) (year) (?!{_NOUN}|num|unit|units|length|dash num)",
        calendar_dates.parse_year,
    ),
    rule(f"(?<=span(?:{_JOIN}|and|or)) (year) (?!{_COUNTABLE})", calendar_dates.parse_year),
    rule(f"(year) (?=(?:{_JOIN}) span)", calendar_dates.parse_year),
    rule("the? (unit) (span)", relative_times.parse_year_with_word),
    rule("(rel) school unit", calendar_dates.parse_school_year),
    rule("(?<=in|of) the? (unit) (num) (?:of|in) (span)", relative_times.parse_week_number),
    rule("(nth|ord|second) (weekday) (?!of|in)", relative_times.skip_unknown_time),
    rule("(rel) semester", calendar_dates.parse_semester),
    rule("(?<=the) semester", lambda utterance: calendar_dates.parse_semester(utterance, None)),
    rule("the (unit) (before|after) (rel) (?!unit|weekday|month|length|season)", calendar_dates.parse_unit_before_last),
    rule("(num|few) (rel|past) (units)", calendar_dates.parse_counted_relative_units),
    rule("(?<!modal|to) (rel|past) (length) (?!of (?:the|rel|span|unit))", calendar_dates.parse_relative_length),
    rule("the? (nth|ord) (unit)", calendar_dates.parse_century),
    rule("the? (decade)", calendar_dates.parse_decade),
    rule("the (nineties) (?!dash)", calendar_dates.parse_decade),
    rule("(day)", calendar_dates.parse_day_word),
    rule("tonight", calendar_dates.parse_tonight),
    rule("right? now", calendar_dates.parse_now),
    rule("(rel|past) (unit) (?!of (?:the|rel|span|unit))", calendar_dates.parse_relative_unit),
    rule("the? (nth|ord|second|rel) (weekday|unit) (?:of|in) the? (span|unit)", relative_times.parse_nth_in_period),
    rule("(span) (nth|ord|second) (unit)", relative_times.parse_nth_of_year),
    rule("the? (nth|rel) (length) of the? (span|unit)", relative_times.parse_nth_length_in_period),
    rule("the? (nth|second|rel) half (?:of|in) the? (span|unit)", relative_times.parse_half_of_period),
    rule("(rel|past) (weekday)", calendar_dates.parse_relative_weekday),
    rule("(weekday)", calendar_dates.parse_weekday),
    rule("the (unit)", calendar_dates.parse_weekend),
    rule("(span) (?:of|in|comma)? (span)", relative_times.parse_date_in_year),
    rule("(span) (?:of|on|comma)? (span)", relative_times.parse_weekday_in_week),
    rule(
        f"(?<=on|by|until|since|from|before|after|between|through|at|to|for) the (ord) (?!{_COUNTABLE}|of|word)",
        calendar_dates.parse_day_of_month,
    ),
    rule(f"(?<=on|by|until|since) (ord) (?!{_COUNTABLE}|of|word)", calendar_dates.parse_day_of_month),
    rule("(?<=on) the (num) (?=(?:from|at|between) (?:clock|hours))", calendar_dates.parse_day_of_month),
    rule("(rel) (part)", calendar_dates.parse_relative_part_of_day),
    rule("the? (part) (?:of|on)? (span)", calendar_dates.parse_part_and_date),
    rule("(span) (?:in the|stage)? (part)", calendar_dates.parse_date_and_part),
    rule("(span) (?:of|on|comma)? (span)", relative_times.parse_weekday_in_week),
)
CLOCKS: tuple[GrammarRule, ...] = (
    rule("(half|num|length) past (num|clock)", relative_times.parse_minutes_past_hour),
    rule("(num) (ampm) (?!word|plural)", relative_times.parse_hour_with_am_pm),
    rule("(clock|maybe_clock|num) (?:in the) (part)", relative_times.parse_clock_in_part),
    rule("in the (part) at (clock|num)", relative_times.parse_part_at_clock),
    rule("(num) dash? (num) (?=span)", relative_times.parse_spoken_clock),
    rule("(?<=span) (num) dash? (num) (?!plural|counted)", relative_times.parse_spoken_clock),
    rule("(?<=span at) (num) dash? (num) (?!plural|counted)", relative_times.parse_spoken_clock),
    rule(
        "(?:from|between)? (clock|maybe_clock|num) (?:to|dash|until|through|and) (clock)",
        relative_times.parse_hour_range,
    ),
    rule(
        "(?:from|between)? (maybe_clock) (?:to|dash|until|through|and) (maybe_clock)", relative_times.parse_hour_range
    ),
    rule("(span) comma? (?:at|from|between|dash)? (clock|maybe_clock|hours)", relative_times.parse_date_at_clock),
    rule(f"(span) comma? at (num) (?!{_COUNTABLE})", relative_times.parse_date_at_hour),
    rule("(clock|maybe_clock) or (later) on? (span)", relative_times.parse_clock_or_later),
    rule("(span) comma? (before|after|by) (clock)", relative_times.parse_date_beside_clock),
    rule("(clock|maybe_clock|hours) (?:on|comma)? the? (span)", relative_times.parse_clock_on_date),
    rule("(clock|hours)", relative_times.parse_clock_today),
    rule("(?<=at|by|from|until|since|before|after) (maybe_clock)", relative_times.parse_clock_today),
    rule("in the? (part)", relative_times.parse_part_of_today),
)
SHIFTS: tuple[GrammarRule, ...] = (
    rule("(stage) dash? (?:in the?)? (span)", relative_times.parse_stage_of_period),
    rule("the? (edge|beginning) of the? (span|unit)", relative_times.parse_edge_of_period),
    rule("(later) (?:in the?)? (span)", relative_times.parse_later_in_period),
    rule("(later) in the (unit)", relative_times.parse_later_in_period),
    rule("the? (unit) (?:of|starting|beginning) on? (span)", relative_times.parse_week_of),
    rule("(week_of) (span)", relative_times.parse_week_of),
    rule("the (unit) (before|after) (span)", relative_times.parse_unit_beside_date),
    rule("(length) ago", relative_times.parse_ago),
    rule("(length) back (?!to|in|at|from|on|of)", relative_times.parse_ago),
    rule("for (length) comma? from the? (span)", ranges.parse_start_and_length),
    rule("(more) than (length) (before|after|from|since) the? (span)", ranges.parse_more_than),
    rule(
        "(length) (before|after|from|since) the? (span) (?!to|until|through|dash)",
        relative_times.parse_length_from_date,
    ),
    rule("the (unit) (before|after) (span)", relative_times.parse_unit_beside_date),
    rule("in (length) (?!before|after|of|from)", relative_times.parse_time_from_now),
    rule("within (?:the)? (length)", relative_times.parse_within),
    rule("(span) on? (span)", relative_times.parse_date_with_weekday),
)
RANGES: tuple[GrammarRule, ...] = (
    rule(f"(from|between)? the? (span) ({_JOIN}|and) the? (span)", ranges.parse_range),
    rule(f"(from|between)? the? ({_DAY}) ({_JOIN}|and) the? (span)", ranges.parse_range_from_day),
    rule(f"(from|between)? the? (span) ({_JOIN}|and) the? ({_DAY}) comma? (span|year)", ranges.parse_range_to_day),
    rule(
        f"(from|between)? the? (span) ({_JOIN}|and) the? ({_DAY}) (?!{_COUNTABLE}|word|to)", ranges.parse_range_to_day
    ),
    rule("(length) comma? (?:starting|beginning|from) (?:on|from|at)? the? (span)", ranges.parse_start_and_length),
    rule("(?:starting|beginning|from) (?:on|from)? the? (span) comma? for (length)", ranges.parse_start_and_length),
    rule("no (later) than the? (span)", ranges.parse_not_later_than),
    rule("(later) than the? (span)", ranges.parse_later_than),
    rule("as (stage) as the? (span)", ranges.parse_as_early_as),
    rule("(span) (?:or|and) (later)", ranges.parse_date_or_later),
    rule("(since|after|before|until|by|through) (?:the|at|in|on)? (span)", ranges.parse_one_sided),
    rule("(?:starting|beginning) (?:on|from|in)? the? (span)", ranges.parse_starting),
    rule("from (span) (?:on|onward)", ranges.parse_starting),
)
STAGES = (NUMBERS, DOUBTS, LENGTHS, SETS, DATES, CLOCKS, SHIFTS, RANGES)
