"""Says the lines of a file, one message each, and prints the id of each that was kept.

Usage: asker.py DB FILE
"""

import sys
from pathlib import Path

from retentive import Retentive


def main() -> None:
    store = Retentive.open(sys.argv[1], embedder="hashing")
    for line in Path(sys.argv[2]).read_text("utf-8").splitlines():
        print(store.sessions.append("talk", "user", line).id, flush=True)


main()
