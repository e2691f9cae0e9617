r"""Read and write the lock: the version, hashes, licence and needs of each package that the tests are run with.

The lock is a requirements file, which pip installs from. Two comments under a package carry what the list of licences
and the SBOM are made of, so that both need the lock and pyproject.toml alone:

    httpx==0.28.1 \
        --hash=sha256:... \
        --hash=sha256:...
        # licence: BSD-3-Clause
        # needs: anyio, certifi, httpcore, idna
"""

import platform
import re
import sys
import tomllib
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
LOCK = ROOT / "requirements" / "tests.txt"
LOCKED_FOR = "CPython 3.11 on Linux x86_64"  # other platforms may need other packages, which nobody resolved
EDITABLE = "editables~=0.3"  # hatchling asks for it when it installs a project in place
HEADER = f"""\
# Made by `make lock` for {LOCKED_FOR}. Do not edit.
# The hashes are those of all wheels of a version, for every platform. There are none of source packages:
# to build one, pip would fetch tools that nothing pins.
"""

_PACKAGE = re.compile(r"^([a-z0-9-]+)==(\S+) \\\n((?:    .+\n)+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Package:
    name: str
    version: str
    hashes: tuple[str, ...]
    licence: str
    needs: tuple[str, ...]


def read_lock() -> dict[str, Package]:
    return parse_lock(LOCK.read_text("utf-8"))


def parse_lock(text: str) -> dict[str, Package]:
    return {name: parse_package(name, version, body) for name, version, body in _PACKAGE.findall(text)}


def parse_package(name: str, version: str, body: str) -> Package:
    comments = dict(re.findall(r"# (licence|needs): (.+)", body))
    needs = comments["needs"].split(", ") if "needs" in comments else ()
    return Package(name, version, tuple(re.findall("sha256:([0-9a-f]+)", body)), comments["licence"], tuple(needs))


def render_lock(packages: Iterable[Package]) -> str:
    ordered = sorted(packages, key=lambda package: package.name)
    return HEADER + "".join(chain(*(render_package(package) for package in ordered)))


def render_package(package: Package) -> Iterator[str]:
    yield f"{package.name}=={package.version} \\\n"
    yield " \\\n".join(f"    --hash=sha256:{hash}" for hash in package.hashes)
    yield f"\n    # licence: {package.licence}\n"
    if package.needs:
        yield f"    # needs: {', '.join(package.needs)}\n"


def read_project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def list_requirements(project: dict[str, Any]) -> dict[str, list[str]]:
    """Requirements by who has them: the package, each of its extras, each group of tools, the build."""
    extras = project["project"]["optional-dependencies"]
    return {
        "retentive": project["project"]["dependencies"],
        **{f"retentive[{extra}]": needs for extra, needs in extras.items()},
        **project["dependency-groups"],
        "build": [*project["build-system"]["requires"], EDITABLE],
    }


def name_of(requirement: str) -> str:
    """The name that a requirement begins with, as the lock spells it."""
    name = re.match(r"[\w.-]+", requirement)
    assert name is not None  # noqa: S101 - pip has read it before us
    return re.sub(r"[-_.]+", "-", name[0]).lower()


def collect_needs(names: Collection[str], lock: dict[str, Package]) -> set[str]:
    """These packages, and all that they need in turn."""
    collected: set[str] = set()
    waiting = [*names]
    while waiting:
        name = waiting.pop()
        if name not in collected:
            collected.add(name)
            waiting += lock[name].needs
    return collected


def group_by_use(lock: dict[str, Package], project: dict[str, Any]) -> dict[str, set[str]]:
    """Names of packages that are installed always, with an extra only, and for development only."""
    direct = {owner: {name_of(text) for text in texts} for owner, texts in list_requirements(project).items()}
    extras = [names for owner, names in direct.items() if owner.startswith("retentive[")]
    required = collect_needs(direct["retentive"], lock)
    optional = collect_needs(set().union(*extras), lock) - required
    return {"required": required, "optional": optional, "development": {*lock} - required - optional}


def explain_no_lock(
    version: tuple[int, ...] = sys.version_info[:2],
    implementation: str = platform.python_implementation(),
    system: str = platform.system(),
    machine: str = platform.machine(),
) -> str:
    """Why the lock cannot be used here; nothing if it can."""
    here = f"{implementation} {'.'.join(map(str, version))} on {system} {machine}"
    if here == LOCKED_FOR:
        return ""
    return f"{LOCK.relative_to(ROOT)} is for {LOCKED_FOR}, this is {here}"
