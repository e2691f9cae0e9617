"""Which files have been left alone for long enough to be read: an editor saves in several steps, a download grows."""

from collections.abc import Iterable

QUIET = 0.5  # seconds without a change
LATEST = 5.0  # seconds after the first change, for a file that keeps changing


class Pending:
    """Paths that changed, each with the first and the last time it did. Times are those of one clock, in seconds."""

    def __init__(self) -> None:
        self._changes: dict[str, tuple[float, float]] = {}

    def __len__(self) -> int:
        return len(self._changes)

    def note(self, paths: Iterable[str], now: float) -> None:
        for path in paths:
            first, _ = self._changes.get(path, (now, now))
            self._changes[path] = (first, now)

    def due(self, now: float) -> list[str]:
        """Those whose time has come, which are pending no more."""
        ready = [path for path, times in self._changes.items() if _at(times) <= now]
        for path in ready:
            del self._changes[path]
        return ready

    def wait(self, now: float, most: float) -> float:
        """Seconds until the next is due."""
        return max(0.0, min((_at(times) - now for times in self._changes.values()), default=most))


def _at(times: tuple[float, float]) -> float:
    first, last = times
    return min(last + QUIET, first + LATEST)
