"""Ask pip which packages pyproject.toml needs, and write them down with their hashes, licences and needs.

Usage: python scripts/resolve.py FILE (lock.py runs it, with the pip that it is written for)

pip decides on the versions, by the index that it is configured for; no address of it is written down. The index lists
the hashes of all files, but no command of pip shows them, so pip's own reader of indexes is called.
"""

import json
import subprocess
import sys
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from lockfile import Package, list_requirements, read_project, render_lock
from pip._internal.commands import create_command
from pip._internal.index.collector import LinkCollector, parse_links
from pip._internal.models.link import Link
from pip._vendor.packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression
from pip._vendor.packaging.requirements import Requirement
from pip._vendor.packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename
from pip._vendor.packaging.version import Version

SPDX = {  # licences that packages state in words of their own
    "3-clause bsd license": "BSD-3-Clause",
    "apache 2.0": "Apache-2.0",
    "apache software license": "Apache-2.0",
    "bsd 2-clause license": "BSD-2-Clause",
    "mit license": "MIT",
    "mit license, apache license, version 2.0": "MIT OR Apache-2.0",
    "mozilla public license 2.0 (mpl 2.0)": "MPL-2.0",
}
READ = {"cronsim": "BSD-3-Clause"}  # it states "BSD License"; the file in the package has three clauses


def main() -> None:
    requirements = [*chain(*list_requirements(read_project()).values())]
    installs = resolve(requirements)
    needs = find_needs(installs, requirements)
    hashes = dict(list_hashes({name: install["metadata"]["version"] for name, install in installs.items()}))
    packages = [make_package(name, install, hashes[name], needs[name]) for name, install in installs.items()]
    target = Path(sys.argv[1])
    target.parent.mkdir(exist_ok=True)
    target.write_text(render_lock(packages), "utf-8")
    print(f"{target}: {len(packages)} packages, {sum(map(len, hashes.values()))} hashes")


def resolve(requirements: list[str]) -> dict[str, dict[str, Any]]:
    """What pip would install into an empty environment, by name."""
    dry_run = ("--dry-run", "--ignore-installed", "--only-binary=:all:", "--quiet")
    with TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        install = [sys.executable, "-m", "pip", "install", *dry_run, "--report", report, *requirements]
        subprocess.run(install, check=True)
        installs = json.loads(report.read_text("utf-8"))["install"]
    return {canonicalize_name(install["metadata"]["name"]): install for install in installs}


def find_needs(installs: dict[str, dict[str, Any]], requirements: Iterable[str]) -> dict[str, set[str]]:
    """The packages that each one needs on this platform, with the extras that anyone asks for."""
    needs: dict[str, set[str]] = {name: set() for name in installs}
    seen: set[tuple[str, str]] = set()
    waiting = [*map(Requirement, requirements)]
    while waiting:
        asked = waiting.pop()
        name = canonicalize_name(asked.name)
        for extra in ("", *asked.extras):
            if (name, extra) not in seen:
                seen.add((name, extra))
                found = list_needs(installs[name]["metadata"], extra)
                needs[name] |= {canonicalize_name(each.name) for each in found} - {name}
                waiting += found
    return needs


def list_needs(metadata: dict[str, Any], extra: str) -> list[Requirement]:
    stated = map(Requirement, metadata.get("requires_dist", ()))
    return [each for each in stated if each.marker is None or each.marker.evaluate({"extra": extra})]


def list_hashes(versions: dict[str, str]) -> Iterator[tuple[str, set[str]]]:
    """The SHA-256 of every wheel of each version."""
    command = create_command("download")
    options, _ = command.parse_args([])
    with command.main_context():
        finder = command._build_package_finder(options, command.get_default_session(options))  # noqa: SLF001
        for name, version in versions.items():
            links = list_links(finder._link_collector, name)  # noqa: SLF001
            yield name, {link.hash for link in links if link.hash_name == "sha256" and is_wheel(link, version)}


def list_links(collector: LinkCollector, name: str) -> list[Link]:
    """All files of a package, in all indexes that pip is configured for."""

    def read_page(page: Link) -> list[Link]:
        answer = collector.fetch_response(page)
        return [*parse_links(answer)] if answer else []

    sources = chain(*collector.collect_sources(name, read_page))
    return [link for source in sources if source for link in source.page_candidates()]


def is_wheel(link: Link, version: str) -> bool:
    try:
        return parse_wheel_filename(link.filename)[1] == Version(version)
    except InvalidWheelFilename:
        return False


def make_package(name: str, install: dict[str, Any], hashes: set[str], needs: set[str]) -> Package:
    if install["download_info"]["archive_info"]["hashes"]["sha256"] not in hashes:
        sys.exit(f"the file that pip would install for {name} is not one that the index lists")
    metadata = install["metadata"]
    return Package(name, metadata["version"], tuple(sorted(hashes)), find_licence(name, metadata), tuple(sorted(needs)))


def find_licence(name: str, metadata: dict[str, Any]) -> str:
    """The licence that a package states, as an SPDX expression."""
    classifiers = [each.rpartition(" :: ")[2] for each in metadata.get("classifier", ()) if each.startswith("License")]
    first_line = metadata.get("license", "").partition("\n")[0]
    stated = [READ.get(name, ""), metadata.get("license_expression", ""), first_line, *classifiers]
    for text in stated:
        try:
            return canonicalize_license_expression(SPDX.get(text.lower(), text))
        except InvalidLicenseExpression:
            continue
    sys.exit(f"the licence of {name} is not known as SPDX: {stated}. Add it to SPDX or READ in resolve.py")


if __name__ == "__main__":
    main()
