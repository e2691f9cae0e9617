"""Consolidates a store until it is killed. Prints a line when the first group is made.

Usage: consolidator.py DB
"""

import sys

from retentive import Retentive


def tell(scanned: int, groups: int) -> None:
    if groups == 1:
        print("merging", scanned, flush=True)


with Retentive.open(sys.argv[1], embedder="hashing") as store:
    store.consolidate(older_than=0, progress=tell)
print("done", flush=True)
