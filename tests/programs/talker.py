"""Appends to a session that others append to as well, and prints the numbers it was given.

Usage: talker.py DB NAME COUNT
"""

import sys

from retentive import Retentive


def main() -> None:
    db, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    with Retentive.open(db, embedder="hashing") as store:
        for number in range(count):
            print(store.sessions.append("shared", "user", f"talker {name} says heron {number}").sequence)


main()
