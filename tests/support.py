"""What tests share besides fixtures."""

from collections.abc import Callable

from retentive import Retentive

Open = Callable[..., Retentive]
Run = Callable[..., str]
Place = Callable[[str], str]


class Clock:
    """A clock that stands still until it is told to go on."""

    def __init__(self) -> None:
        self.micros = 1_800_000_000_000_000

    def __call__(self) -> int:
        self.micros += 1
        return self.micros

    def forward(self, seconds: float) -> None:
        self.micros += int(seconds * 1_000_000)
