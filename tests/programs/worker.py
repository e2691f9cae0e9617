"""Works in the background on a store, and prints each task that it did, and when it stops.

Usage: worker.py TARGET SECONDS_OF_LEASE [slow]
"""

import sys
import time

from retentive import Retentive
from retentive.model import Task


def main() -> None:
    target, lease, slow = sys.argv[1], float(sys.argv[2]), "slow" in sys.argv[3:]

    def tell(task: Task, count: int) -> None:
        print(task.job, task.namespace, task.session, count, flush=True)
        if slow:
            time.sleep(0.3)

    with (
        Retentive.open(target, embedder="hashing", learn_after=0) as store,
        store.worker(poll=0.2, lease=lease, progress=tell),
    ):
        print("ready", flush=True)
        sys.stdin.read()


main()
