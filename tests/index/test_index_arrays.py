import subprocess
import sys

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from retentive.index.arrays import grow, select_best, widen


@settings(deadline=None)
@given(st.lists(st.integers(-9, 9), max_size=800), st.integers(0, 12), st.integers(-9, 9))
def test_best_holds_the_best_and_their_ties(values: list[int], limit: int, floor: int) -> None:
    """The limit best are there, with those that tie with the last, and none below the floor."""
    found = select_best(np.array(values, np.float32), limit, floor).tolist()
    last = sorted(values, reverse=True)[:limit][-1:]
    wanted = {i for i, value in enumerate(values) if last and value >= max(floor, last[0])}
    assert wanted <= set(found)
    assert all(values[i] >= floor for i in found)


def test_best_takes_rounding_for_a_tie() -> None:
    """Two sums of the same numbers in another order differ in the last digit; neither is better."""
    assert select_best(np.array([0.5, 0.5000001, 0.4], np.float32), 1, 0.0).tolist() == [0, 1]


def test_best_is_tight_for_many_scores() -> None:
    """The bound by lanes lets hardly more through than was asked for."""
    scores = np.random.default_rng(0).random(100_000, np.float32)
    found = select_best(scores, 50, 0.0)
    assert set(np.argsort(-scores)[:50].tolist()) <= set(found.tolist())
    assert len(found) < 100


def test_widen_is_exact_for_every_half() -> None:
    """All finite float16 come out as numpy has them; the others as large as nothing in a unit vector."""
    halves = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    finite = np.isfinite(halves)
    assert np.array_equal(widen(halves)[finite], halves[finite].astype(np.float32))
    assert np.abs(widen(halves)[~finite]).min() >= 65536


def test_grow_keeps_what_is_used() -> None:
    """A longer array begins with the old entries, and one that is long enough is itself."""
    array = np.arange(5)
    assert grow(array, 9, 5)[:5].tolist() == [0, 1, 2, 3, 4]
    assert grow(array, 5, 5) is array


def test_importing_the_folder_is_cheap() -> None:
    """`import retentive.index` brings neither numpy nor usearch; opening images brings no usearch."""
    code = """
import sys, retentive.index
assert not {"numpy", "usearch"} & set(sys.modules)
retentive.index.open_images(None, weights=[1.0]).close()
assert retentive.index.Images and "usearch" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)
