"""Fetch Gemini CLI, which tests ask whether it reads what `retentive install gemini-cli` writes.

Usage: python scripts/gemini_cli.py .venv

It is one package of scripts for Node, which comes as a wheel from PyPI: 21 MB, 98 MB unpacked. None is run here.
"""

import sys
import tarfile
import tempfile
from pathlib import Path

from npm_program import fetch_package

VERSION = "0.61.0"
DIGEST = "dbQ9A0qBtFJNi6XBkHvfZ6Azpn6PNgH/P8h2MZ67RLlX8hSAVjup39CRWqdRxZv7YXIuhrFaytr8y0jKnkoxnQ=="


def main() -> None:
    venv = Path(sys.argv[1])
    folder, mark = venv / "gemini-cli", venv / "gemini-cli" / "version"
    if mark.exists() and mark.read_text() == VERSION:
        return
    with tempfile.TemporaryDirectory() as temporary:
        package = fetch_package(f"@google/gemini-cli@{VERSION}", DIGEST, venv, Path(temporary))
        folder.mkdir(exist_ok=True)
        with tarfile.open(package) as archive:
            archive.extractall(folder, filter="data")
    mark.write_text(VERSION)


if __name__ == "__main__":
    main()
