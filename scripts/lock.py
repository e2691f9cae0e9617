"""Make the lock that the tests are installed from, requirements/tests.txt, for what pyproject.toml asks for.

Usage: python scripts/lock.py

The work is done by resolve.py, with one known version of pip, which is fetched into a temporary folder.
"""

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from lockfile import LOCK, explain_no_lock

PIP = "pip==26.3"  # resolve.py uses more of it than its public interface: after a change here, run `make lock`


def main() -> None:
    if reason := explain_no_lock():
        sys.exit(f"the lock cannot be made here: {reason}")
    with TemporaryDirectory() as folder:
        fetch = [sys.executable, "-m", "pip", "install", "--quiet", "--target", folder, PIP]
        subprocess.run(fetch, check=True)
        resolve = [sys.executable, Path(__file__).parent / "resolve.py", LOCK]
        subprocess.run(resolve, env={**os.environ, "PYTHONPATH": folder}, check=True)


if __name__ == "__main__":
    main()
