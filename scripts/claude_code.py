"""Fetch Claude Code, with which the tests run its plugin, into the virtual environment.

Usage: python scripts/claude_code.py .venv
"""

import sys
from pathlib import Path

from npm_program import NpmProgram, install

CLAUDE_CODE = NpmProgram(
    title="Claude Code",
    name="claude",
    package="@anthropic-ai/claude-code-{machine}@{version}",
    version="2.1.327",
    digests={
        "linux-x64": "uJ24I+t47cpQjeo31ZrHepsFQ8QUsLjCxmDxLshMjYHEtoxhQdgKc4iuViQDaKpFqn3puR85gwHlLj4e7s+1iQ==",
        "linux-arm64": "vI4ygSwj6e8f0hWzM2sRxe6r2OvQU35HgoIZtx0rkvu574lxCFUUKUpn9hgWd6FwwMFz2gQyRhwQD7lPmTgW9A==",
        "darwin-x64": "QNGpfnwjftqzx1otsZjD9f+PAyo7PBomfnB+yNBgZ911o/1ERu9S5n5oNL3jeJTGV2pLbrVRCx/yg2X4/zkqOA==",
        "darwin-arm64": "LAK6PYjIZLxLMqhjj/R4bexyKqItk8RXtyUpIHPpgs3opSBzNb7AszbbN3hfdyoyf0VacA2hThVsnDkkpz9R7g==",
    },
)

if __name__ == "__main__":
    environment = Path(sys.argv[1])
    install(CLAUDE_CODE, environment, environment / "claude-code")
