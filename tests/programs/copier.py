"""Backs up a store, or puts backups back in turn, until it is killed. Prints a line before each.

Usage: copier.py DB backup FOLDER | copier.py DB restore FILE...
"""

import itertools
import sys

from retentive import Retentive

store, verb, *places = sys.argv[1:]
if verb == "backup":
    with Retentive.open(store, embedder="hashing") as memory:
        for number in itertools.count():
            print("copying", number, flush=True)
            memory.backup(f"{places[0]}/{number}.db", overwrite=True)
for place in itertools.cycle(places):
    print("restoring", place, flush=True)
    Retentive.restore_backup(place, store)
