"""Imports a file, twenty memories to a commit, and says how far it is: to be killed on the way.

Usage: importer.py DB FILE
"""

import sys

from retentive import Retentive
from retentive.transfer import import_memories

import_memories.BATCH_SIZE = 20
with Retentive.open(sys.argv[1], embedder="hashing") as store:
    store.import_memories(sys.argv[2], progress=lambda done, _: print(done, flush=True))
