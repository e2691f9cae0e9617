"""When something that is to be done again and again is due."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from retentive.errors import Invalid

FIELDS = 5  # a sixth would be seconds, which nobody who looks now and then could keep
_MORNING, _NOON, _EVENING, _NIGHT = 5, 12, 18, 22  # the hours at which these begin


def checked(cron: str, zone: str | None) -> None:
    """Refuse what is no schedule, or never comes."""
    _zone(zone)
    following(cron, zone, datetime.now(UTC))


def following(cron: str, zone: str | None, after: datetime) -> datetime:
    """The first time after this one."""
    from cronsim import CronSim, CronSimError

    hint = "Five fields: minute, hour, day, month, weekday, as in `0 8 * * 1` for Mondays at eight."
    if len(cron.split()) != FIELDS:
        raise Invalid(f"{cron[:60]!r} is not a cron expression: it has {len(cron.split())} fields", hint)
    try:
        found: datetime = next(CronSim(cron, after.astimezone(_zone(zone))))
    except CronSimError as error:
        raise Invalid(f"{cron[:60]!r} is not a cron expression: {error}", hint) from error
    except StopIteration:
        raise Invalid(f"{cron[:60]!r} never comes", "Look at its day and month.") from None
    return found.astimezone(UTC)


def told(cron: str, zone: str | None) -> str:
    """In words, as people ask for it."""
    from cronsim import CronSim

    said = CronSim(cron, datetime.now(UTC)).explain()
    words = f"every {said.removeprefix('Every ')}" if said.startswith("Every") else f"{said[0].lower()}{said[1:]}"
    return f"{words}{_part(cron)}{f' ({zone})' if zone else ''}"


def _part(cron: str) -> str:
    """Of the day, if it comes at one hour, and how often by its fields: "every week, in the morning"."""
    _, hour, day, month, weekday = cron.split()[:5]
    monthly = day != "*" or "#" in weekday or "L" in weekday.upper()  # the first Monday, the last Friday
    often = "every year" if month != "*" else "every month" if monthly else "every week" if weekday != "*" else ""
    part = ""
    if hour.isdigit():
        number = int(hour)
        part = (
            "in the morning" if _MORNING <= number < _NOON else "in the afternoon" if _NOON <= number < _EVENING else ""
        )
        part = part or ("in the evening" if _EVENING <= number < _NIGHT else "at night")
        often = often or "every day"
    return "".join(f", {each}" for each in (often, part) if each)


def _zone(name: str | None) -> ZoneInfo:
    try:
        return ZoneInfo(name or "UTC")
    except (OSError, ValueError, KeyError) as error:
        raise Invalid(f"unknown time zone {str(name)[:60]!r}", "As in Europe/Oslo.") from error
