"""Changes the profile of a store once.

Usage: profiler.py TARGET TURN
"""

import sys

from retentive import Retentive

target, turn = sys.argv[1], int(sys.argv[2])
with Retentive.open(target, embedder="hashing") as store:
    store.profile.patch(
        [
            {"op": "add", "path": "/turn", "value": -turn},
            {"op": "add", "path": f"/by another {turn}", "value": {"ł": turn, "list": [*range(turn)]}},
        ],
        actor="another",
    )
