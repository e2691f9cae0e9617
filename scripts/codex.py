"""Fetch Codex, which tests ask whether it reads what `retentive install codex` writes, into the virtual environment.

Usage: python scripts/codex.py .venv
"""

import sys
from pathlib import Path

from npm_program import NpmProgram, install

CODEX = NpmProgram(
    title="Codex",
    name="codex",
    package="@openai/codex@{version}-{machine}",
    version="0.110.0",  # 45 MB; the package has grown since, to 167 MB in 0.169, and reads the same file
    digests={
        "linux-x64": "o9xIcgU9U5mpljQx2b6v763qz3dU3eugxWCZMid6YU8hc1VZvR9hkWMFL0kaboYOKFkpZPLGg1bUFSWfsmZN+A==",
        "linux-arm64": "Mswcq2dmt1S+d2DeaxLUOu9AfVjs0O5b4M8fqvNzSeWozY6dw905JnU+nOKPlqP4xN4K6OK+H+zjSDFJXsmS6w==",
        "darwin-x64": "UgDkVR+9Ffky60Paygc48NjGjMpEi8HBl/GtVFuhYprvcFep0qodjcL6/K3NmmIpDOBoF4PtkjUFB/sATklfvw==",
        "darwin-arm64": "yCrO3HLpohNM5zqqEzJhqtBBAH4r9nHb+h7F0+2/T0qbCJwxzL6XtgjQonvKW9Ol6qc3kqlW7uQVFEX+z13Ydg==",
    },
)

if __name__ == "__main__":
    environment = Path(sys.argv[1])
    install(CODEX, environment, environment / "codex")
