"""Re-embeds a store with the small model. Prints a line for each step of it, and the result at the end.

Usage: reembedder.py DB [STAGE [DONE]]
With a stage it kills itself there (SIGKILL), once it has done so much of it.
"""

import os
import signal
import sys

from retentive import ReembedProgress
from tests.small_model import SmallModel, open_with_small


def main() -> None:
    target, stage, done = (*sys.argv[1:], "", "0")[:3]

    def tell(progress: ReembedProgress) -> None:
        print(progress.stage, progress.done, progress.total, flush=True)
        if progress.stage == stage and progress.done >= int(done):
            os.kill(os.getpid(), signal.SIGKILL)

    store = open_with_small(target)
    result = store.reembed(SmallModel(), progress=tell)
    store.close()
    print("result", result.embedded, result.switched, flush=True)


main()
