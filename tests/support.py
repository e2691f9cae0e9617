"""What tests share besides fixtures."""

from collections.abc import Callable

from retentive import Retentive

Open = Callable[..., Retentive]
Run = Callable[..., str]
Place = Callable[[str], str]
