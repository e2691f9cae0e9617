"""Array helpers of the images: names of types, arrays that grow, wider floats, and the best of an array of scores.

The best of many. `argpartition` touches every score several times: 142 us for 50 of 100,000. A lower bound of the
limit-th best score is enough, and cheap: fold the scores into lanes, take each lane's maximum, and the limit-th
largest of those maxima. At least `limit` scores reach it and hardly more do, so one comparison finds them: 31 us.
Ties with the last place are all among them; the caller orders the few that are left.

Wider floats. numpy turns float16 into float32 one by one, 2 ns each. Here the bits are shifted into place and the
exponent's bias is corrected by a multiplication, for all at once: 0.55 ns. That is exact for every finite number, the
subnormal too; infinities and NaN become numbers of 65536 and more, which no part of a unit vector is.
"""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Halves = NDArray[np.float16]
Doubles = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

T = TypeVar("T")
Scalar = TypeVar("Scalar", bound=np.generic)

# Scores nearer than this are equal. The same vector may be added up in another order in another place, and then differs
# by up to 2e-7 (measured over 384 dimensions); the same text must tie.
TIE = 1e-6

# Scores per lane: 8 to 64 measure the same at 10,000 scores, 32 is best at 100,000.
_LANE_SCORES = 32

# After the shift the sign is spread over bits 28 to 31; it belongs in 31 only, above the magnitude in 13 to 27.
_SIGN_AND_MAGNITUDE = np.int32(-0x7000_2000)
_REBIAS = np.float32(2.0 ** (127 - 15))

# With fewer lanes than this many times the limit, lanes hold several of the best and the bound gets loose.
_LANES_PER_RESULT = 3


def grow(array: NDArray[Scalar], need: int, used: int) -> NDArray[Scalar]:
    """Return the array, or a longer copy of its first `used` entries if it cannot hold `need`."""
    if need <= len(array):
        return array
    # A quarter to spare: amortised appends, without the half that doubling would leave empty in a large matrix.
    longer = np.empty((max(need, len(array) + len(array) // 4 + 16), *array.shape[1:]), array.dtype)
    longer[:used] = array[:used]
    return longer


def widen(halves: Halves) -> Floats:
    """Convert float16 to float32, exactly."""
    bits = halves.view(np.int16).astype(np.int32)
    bits <<= 13
    bits &= _SIGN_AND_MAGNITUDE
    floats = bits.view(np.float32)
    floats *= _REBIAS
    return floats


def select_best(scores: Floats, limit: int | None, min_score: float, slack: float = TIE) -> Ints:
    """The indexes of the `limit` best scores from `min_score` on, in no order, with all within `slack` of the last."""
    if limit is not None and limit < len(scores):
        min_score = max(min_score, _bound_best(scores, limit) - slack)
    return np.flatnonzero(scores >= np.float32(min_score))


def _bound_best(scores: Floats, limit: int) -> float:
    """A lower bound of the `limit`-th best score."""
    if limit == 0:
        return np.inf
    lanes = len(scores) // _LANE_SCORES
    if lanes >= limit * _LANES_PER_RESULT:
        scores = scores[: lanes * _LANE_SCORES].reshape(_LANE_SCORES, lanes).max(axis=0)
    index = len(scores) - limit
    return float(np.partition(scores, index)[index])


def split_batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Yield lists of at most `size` items."""
    source = iter(items)
    while batch := list(islice(source, size)):
        yield batch
