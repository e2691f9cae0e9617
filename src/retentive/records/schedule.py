"""Cron schedules of skills: validate one, find its next run, describe it in words."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from retentive.errors import Invalid

CRON_FIELDS = 5  # a sixth would be seconds, which a caller who polls now and then could not keep
_MORNING, _NOON, _EVENING, _NIGHT = 5, 12, 18, 22  # the hours at which these begin


def check_schedule(cron: str, zone: str | None) -> None:
    """Refuse a cron expression that is malformed or never occurs, and an unknown time zone."""
    _parse_zone(zone)
    next_run(cron, zone, datetime.now(UTC))


def next_run(cron: str, zone: str | None, after: datetime) -> datetime:
    """Return the first time of a schedule after a moment."""
    from cronsim import CronSim, CronSimError

    hint = "Five fields: minute, hour, day, month, weekday, as in `0 8 * * 1` for Mondays at eight."
    if len(cron.split()) != CRON_FIELDS:
        raise Invalid(f"{cron[:60]!r} is not a cron expression: it has {len(cron.split())} fields", hint)
    try:
        found: datetime = next(CronSim(cron, after.astimezone(_parse_zone(zone))))
    except CronSimError as error:
        raise Invalid(f"{cron[:60]!r} is not a cron expression: {error}", hint) from error
    except StopIteration:
        raise Invalid(f"{cron[:60]!r} never occurs", "Check its day and month.") from None
    return found.astimezone(UTC)


def describe_schedule(cron: str, zone: str | None) -> str:
    """Describe a schedule with the words that people ask by."""
    from cronsim import CronSim

    explained = CronSim(cron, datetime.now(UTC)).explain()
    words = explained[0].lower() + explained[1:]
    return f"{words}{_describe_frequency(cron)}{f' ({zone})' if zone else ''}"


def _describe_frequency(cron: str) -> str:
    """Say how often a schedule comes, and at which part of the day: ", every week, in the morning"."""
    _, hour, day, month, weekday = cron.split()[:CRON_FIELDS]
    is_monthly = day != "*" or "#" in weekday or "L" in weekday.upper()  # the first Monday, the last Friday
    often = ""
    if month != "*":
        often = "every year"
    elif is_monthly:
        often = "every month"
    elif weekday != "*":
        often = "every week"
    elif hour.isdigit():
        often = "every day"
    part = _part_of_day(int(hour)) if hour.isdigit() else ""
    return "".join(f", {each}" for each in (often, part) if each)


def _part_of_day(hour: int) -> str:
    if _MORNING <= hour < _NOON:
        return "in the morning"
    if _NOON <= hour < _EVENING:
        return "in the afternoon"
    return "in the evening" if _EVENING <= hour < _NIGHT else "at night"


def _parse_zone(name: str | None) -> ZoneInfo:
    try:
        return ZoneInfo(name or "UTC")
    except (OSError, ValueError, KeyError) as error:
        raise Invalid(f"unknown time zone {str(name)[:60]!r}", "As in Europe/Oslo.") from error
