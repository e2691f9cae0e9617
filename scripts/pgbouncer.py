"""Fetch PgBouncer, the connection pooler that the tests run against, into the virtual environment.

Usage: python scripts/pgbouncer.py .venv

It is the package of the Debian or Ubuntu that this runs on: apt checks its signature. Nothing is installed and no root
is needed; its files, and those of the libraries that the system does not have, are unpacked into `.venv/pgbouncer`.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PACKAGE = "pgbouncer"


def install(folder: Path) -> None:
    """Unpack the package into a folder. Does nothing if it is there already."""
    if (folder / "usr" / "sbin" / PACKAGE).exists():
        return
    for tool in ("apt-get", "apt-cache", "dpkg-query", "dpkg-deb"):
        if shutil.which(tool) is None:
            sys.exit(f"PgBouncer is fetched by apt, and there is no {tool} here: its tests will be skipped")
    with tempfile.TemporaryDirectory() as temporary:
        fetched = Path(temporary)
        if not _fetch(fetched) and not (_renew_lists() and _fetch(fetched)):
            sys.exit("PgBouncer could not be fetched by apt: its tests will be skipped")
        half = folder.with_name(f"{folder.name}.{os.getpid()}")  # so that nobody starts half of it
        for package in fetched.glob("*.deb"):
            subprocess.run(["dpkg-deb", "--extract", str(package), str(half)], check=True)
    shutil.rmtree(folder, ignore_errors=True)
    half.rename(folder)


def _fetch(folder: Path) -> bool:
    """Download the package and the libraries that it depends on and that are not installed."""
    listing = ["apt-cache", "depends", "--no-recommends", "--no-suggests", "--no-enhances", PACKAGE]
    listed = subprocess.run(listing, capture_output=True, text=True, check=False).stdout
    needed = [line.split()[1] for line in listed.splitlines() if line.startswith("  Depends: lib")]
    packages = [PACKAGE, *(name for name in needed if not _is_installed(name))]
    download = ["apt-get", "-qq", "download", *packages]
    return subprocess.run(download, cwd=folder, stderr=subprocess.DEVNULL, check=False).returncode == 0


def _is_installed(package: str) -> bool:
    command = ["dpkg-query", "--show", "--showformat", "${db:Status-Status}", package]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    return found.stdout == "installed"


def _renew_lists() -> bool:
    """Renew the lists of apt, which containers often lack. Only root may."""
    return os.geteuid() == 0 and subprocess.run(["apt-get", "-qq", "update"], check=False).returncode == 0


if __name__ == "__main__":
    install(Path(sys.argv[1]) / PACKAGE)
