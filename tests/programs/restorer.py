"""Takes in an export, five lines to a commit, and says how far it is: to be killed on the way."""

import sys

from retentive import Retentive
from retentive.transfer.restore_export import restore

restore.MAX_BATCH_LINES = 5
_, where, path = sys.argv
with Retentive.open(where, embedder="hashing") as store:
    store.import_memories(path, progress=lambda done, _: print(done, flush=True))
