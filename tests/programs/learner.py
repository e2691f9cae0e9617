"""Learns from a session, and prints the ids of what it kept.

Usage: learner.py DB SESSION
"""

import sys

from retentive import Retentive


def main() -> None:
    store = Retentive.open(sys.argv[1], embedder="hashing")
    print("ready", flush=True)
    (learned,) = store.learn(sys.argv[2])
    print(*learned.kept, flush=True)


main()
