"""How large a test is: small enough for every commit, or thorough when asked for.

`RETENTIVE_TESTS=thorough make test` runs the sizes, examples and combinations that find rare faults. Both keep the
same promises; the thorough run looks for their exceptions longer.
"""

import os
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")

IS_THOROUGH = os.environ.get("RETENTIVE_TESTS") == "thorough"


def choose(small: T, thorough: T) -> T:
    return thorough if IS_THOROUGH else small


def every(step: int, items: Sequence[T], first: int = 0) -> Sequence[T]:
    """Each `step`-th item, or all of them in a thorough run."""
    return items[:] if IS_THOROUGH else items[first::step]
