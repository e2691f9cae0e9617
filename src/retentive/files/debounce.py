"""Debounce changes of files: a file is read once it is left alone. Editors save in several steps; downloads grow."""

from collections.abc import Iterable

QUIET_SECONDS = 0.5  # without a change, then a file is due
MAX_DELAY_SECONDS = 5.0  # after its first change, then a file that keeps changing is due


class Debouncer:
    """Changed paths, each with the times of its first and its last change, in seconds of one clock."""

    def __init__(self) -> None:
        self._changes: dict[str, tuple[float, float]] = {}

    def __len__(self) -> int:
        return len(self._changes)

    def add(self, paths: Iterable[str], now: float) -> None:
        """Note that these paths changed."""
        for path in paths:
            first, _ = self._changes.get(path, (now, now))
            self._changes[path] = (first, now)

    def pop_due(self, now: float) -> list[str]:
        """Remove and return the paths that are due."""
        due = [path for path, times in self._changes.items() if _due_at(times) <= now]
        for path in due:
            del self._changes[path]
        return due

    def seconds_until_due(self, now: float, default: float) -> float:
        """Return the seconds until the next path is due, or the default if there is none."""
        return max(0.0, min((_due_at(times) - now for times in self._changes.values()), default=default))


def _due_at(times: tuple[float, float]) -> float:
    first, last = times
    return min(last + QUIET_SECONDS, first + MAX_DELAY_SECONDS)
