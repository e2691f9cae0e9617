"""List the packages of the lock with their licences: docs/reference/dependencies.md.

Usage: python scripts/licences.py [FILE]
"""

import sys
from collections.abc import Iterator
from pathlib import Path

from lockfile import LOCKED_FOR, ROOT, Package, group_by_use, list_requirements, name_of, read_lock, read_project

LIST = ROOT / "docs" / "reference" / "dependencies.md"
INTRODUCTION = (
    f"Packages that Retentive is tested with, as pip resolves them for {LOCKED_FOR}, and their licences as "
    "[SPDX expressions](https://spdx.org/licenses/). Retentive itself is under the Apache License 2.0. It asks for "
    "lower bounds only, so `pip install retentive` may choose newer versions. This page is made by `make licences`."
)
TITLES = {
    "required": "Installed with Retentive",
    "optional": "Installed with an extra",
    "development": "For development and tests",
}


def main() -> None:
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else LIST
    target.write_text("\n".join(["# Dependencies", "", INTRODUCTION, *render_sections()]) + "\n", "utf-8")


def render_sections() -> Iterator[str]:
    lock, project = read_lock(), read_project()
    reasons = find_reasons(lock, list_requirements(project))
    for use, names in group_by_use(lock, project).items():
        yield f"\n## {TITLES[use]}\n"
        yield "| package | version | licence | needed by |\n|---|---|---|---|"
        for name in sorted(names):
            package = lock[name]
            yield f"| `{name}` | {package.version} | {package.licence} | {', '.join(reasons[name])} |"


def find_reasons(lock: dict[str, Package], requirements: dict[str, list[str]]) -> dict[str, list[str]]:
    """Who needs each package: sections of pyproject.toml first, then other packages."""
    reasons: dict[str, list[str]] = {name: [] for name in lock}
    for owner, texts in requirements.items():
        for name in sorted({name_of(text) for text in texts}):
            reasons[name].append(owner)
    for package in lock.values():
        for name in package.needs:
            reasons[name].append(package.name)
    return reasons


if __name__ == "__main__":
    main()
