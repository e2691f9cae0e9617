"""Indexes a folder and prints what it came to. Usage: indexer.py TARGET FOLDER."""

import sys
from dataclasses import asdict

from retentive import Retentive

if __name__ == "__main__":
    with Retentive.open(sys.argv[1], embedder="hashing") as store:
        print(asdict(store.files.index(sys.argv[2])))
