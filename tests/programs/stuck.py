"""Copies a store and stops half-way until it is killed. Prints a line when it is there.

Usage: stuck.py backup DB FILE | stuck.py restore DB FILE | stuck.py export DB FILE | stuck.py pages DB FOLDER
"""

import sys
import time
from typing import Any

from retentive import Retentive
from retentive.transfer import export


def stop(*_: Any) -> None:
    print("half-way", flush=True)
    time.sleep(600)


verb, db, target = sys.argv[1:]
export.PROGRESS_LINES = 1
if verb == "restore":
    Retentive.restore_backup(target, db, progress=lambda stage, *_: stop() if stage.startswith("saving") else None)
with Retentive.open(db, embedder="hashing") as store:
    if verb == "backup":
        store.backup(target, progress=lambda stage, *_: stop() if stage == "checking" else None)
    else:
        store.export(
            target, format="jsonl" if verb == "export" else "markdown", progress=lambda n: stop() if n else None
        )
