"""Writes the summary of a session on which another works too: each epoch that it won, with its name.

Usage: summariser.py DB NAME COUNT
"""

import sys

from retentive import Retentive
from retentive.errors import Stale


def main() -> None:
    db, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    with Retentive.open(db, embedder="hashing") as store:
        won = 0
        while won < count:
            seen = store.sessions.summary("shared")
            text = f"{name} wrote epoch {seen.epoch + 1}"
            try:
                print(name, store.sessions.set_summary("shared", text, upto=1, epoch=seen.epoch).epoch)
            except Stale:
                continue
            won += 1


main()
