"""Numbers as short signs: bars, spark lines, ages, sizes."""

import os
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

_FULL, _HALF = "━", "╸"
_LEVELS = "▁▂▃▄▅▆▇█"
_MINUTE, _HOUR, _DAY = 60, 3600, 86_400
_YOUNGEST_MONTHS = 60 * _DAY  # from here on an age is given in months
_YOUNGEST_YEARS = 730 * _DAY  # from here on in years
_SIZE_STEP = 1000


def make_bar(share: float, cells: int, *, blocks: bool = True) -> str:
    """Make a bar for a share from 0 to 1. What is not zero shows at least a little."""
    share = min(max(share, 0.0), 1.0)
    if not blocks:
        return ("#" * max(round(share * cells), share > 0)).ljust(cells)
    whole, has_half = divmod(max(round(share * cells * 2), share > 0), 2)
    return (_FULL * whole + _HALF * has_half).ljust(cells)


def make_spark_line(counts: Sequence[int], *, blocks: bool = True) -> str:
    """Make a sign for each count, higher for more. Zero is a dot, so that it differs from a little."""
    most = max(counts, default=0)
    levels = _LEVELS if blocks else "123456789"
    return "".join("·" if not each else levels[(each * len(levels) - 1) // most] for each in counts)


def format_age(moment: datetime, now: datetime) -> str:
    """Format how long ago a moment was: `now`, `5 min`, `3 h`, `12 d`, `4 mo`, `2 y`."""
    seconds = (now - moment).total_seconds()
    if seconds < -_MINUTE:
        return f"{moment:%Y-%m-%d}"
    for limit, unit, name in (
        (_HOUR, _MINUTE, "min"),
        (_DAY, _HOUR, "h"),
        (_YOUNGEST_MONTHS, _DAY, "d"),
        (_YOUNGEST_YEARS, 30.44 * _DAY, "mo"),
    ):
        if seconds < limit:
            return f"{int(seconds // unit)} {name}" if seconds >= _MINUTE else "now"
    return f"{int(seconds // (365.25 * _DAY))} y"


def shorten_path(path: str) -> str:
    """Shorten a path inside the current folder to what is typed there."""
    here = f"{Path.cwd()}{os.sep}"
    return path.removeprefix(here)


def format_size(size: float) -> str:
    """Format bytes: `820 B`, `12 kB`, `3.4 MB`."""
    for unit in ("B", "kB", "MB", "GB"):
        if size < _SIZE_STEP:
            return f"{size:.0f} {unit}" if unit in ("B", "kB") or size >= 100 else f"{size:.1f} {unit}"  # noqa: PLR2004
        size /= _SIZE_STEP
    return f"{size:.1f} TB"
