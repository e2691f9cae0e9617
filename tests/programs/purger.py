"""Purges one memory after the other until it is killed. Prints a line before each.

Usage: purger.py DB ID...
"""

import sys

from retentive import Retentive

with Retentive.open(sys.argv[1], embedder="hashing") as store:
    for id in sys.argv[2:]:
        print("purging", id, flush=True)
        store.purge(id, with_origin=True)
