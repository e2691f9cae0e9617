"""A tree of Markdown files: how fast it is indexed with the model, and what it costs when nothing changed."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from benchmarks.corpus import OPENINGS, text, vocabulary, zipfian
from benchmarks.measure import Figure, Target
from retentive import Retentive

FOLDERS = 40
SECTIONS = 3
LENGTH = 40  # words of each
SEED = 11


def figures(folder: Path, files: int, tell: Callable[[str], None]) -> Iterator[Figure]:
    tree = folder / "tree"
    _write(tree, files)
    time.sleep(2.1)  # files of this moment would be opened a second time
    with Retentive.open(folder / "files.db") as memory:
        memory.search("what is known", 1)  # the model is loaded
        began = time.monotonic()
        first = memory.files.index(tree, progress=lambda done, of: tell(f"{done} of {of} files"))
        passed = time.monotonic() - began
        yield Figure("first run", "files/s", first.added / passed)
        yield Figure("first run, passages embedded", "/s", first.embedded / passed)
        began = time.monotonic()
        second = memory.files.index(tree)
        yield Figure("second run", "ms", (time.monotonic() - began) * 1000)
        yield Figure("embedded in the second run", "", second.embedded, targets=(Target(0, of="value"),))
        (tree / "d0").rename(tree / "moved")
        began = time.monotonic()
        third = memory.files.index(tree)
        yield Figure(f"a folder of {third.renamed} renamed", "ms", (time.monotonic() - began) * 1000)
        yield Figure("embedded then", "", third.embedded, targets=(Target(0, of="value"),))


def _write(tree: Path, files: int) -> None:
    generator = np.random.default_rng(SEED)
    words = zipfian(generator, vocabulary(generator))
    for number in range(files):
        path = tree / f"d{number % FOLDERS}" / f"note{number}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        parts = [f"## Part {each}\n\n{text(OPENINGS[each], words, LENGTH)}\n" for each in range(SECTIONS)]
        path.write_text("\n".join([f"# Note {number}\n", *parts]), "utf-8")
