"""Write the SBOM of Retentive and its extras in CycloneDX 1.6: dist/retentive-VERSION.cdx.json.

Usage: python scripts/sbom.py [FOLDER]

It is made from the lock and pyproject.toml and is the same for the same files: no time is in it, and its serial number
is a UUID of its content. A release attaches it beside the wheel and the source package.
"""

import json
import sys
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_OID, uuid5

from lockfile import LOCKED_FOR, ROOT, Package, group_by_use, list_requirements, name_of, read_lock, read_project

NOTES = {
    "retentive:resolved-for": LOCKED_FOR,
    "retentive:hashes": "one for each wheel of the version, whatever its platform",
}


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "dist"
    project = read_project()
    sbom = make_sbom(read_lock(), project)
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"retentive-{project['project']['version']}.cdx.json"
    target.write_text(json.dumps(sbom, indent=2) + "\n", "utf-8")
    print(target)


def make_sbom(lock: dict[str, Package], project: dict[str, Any]) -> dict[str, Any]:
    uses = group_by_use(lock, project)
    shipped = {name: lock[name] for name in sorted(uses["required"] | uses["optional"])}
    scopes = {name: "required" if name in uses["required"] else "optional" for name in shipped}
    subject = describe_project(project["project"])
    content = {
        "metadata": {
            "component": subject,
            "properties": [{"name": name, "value": value} for name, value in NOTES.items()],
        },
        "components": [describe_package(package, scopes[name]) for name, package in shipped.items()],
        "dependencies": [
            {"ref": subject["bom-ref"], "dependsOn": [purl_of(lock[name]) for name in list_direct(project)]},
            *(
                {"ref": purl_of(package), "dependsOn": [purl_of(lock[name]) for name in package.needs]}
                for package in shipped.values()
            ),
        ],
    }
    serial = uuid5(NAMESPACE_OID, json.dumps(content))
    return {"bomFormat": "CycloneDX", "specVersion": "1.6", "serialNumber": serial.urn, "version": 1, **content}


def describe_project(project: dict[str, Any]) -> dict[str, Any]:
    purl = f"pkg:pypi/{project['name']}@{project['version']}"
    return {
        "type": "application",
        "bom-ref": purl,
        "name": project["name"],
        "version": project["version"],
        "description": project["description"],
        "licenses": [{"expression": project["license"]}],
        "purl": purl,
    }


def describe_package(package: Package, scope: str) -> dict[str, Any]:
    return {
        "type": "library",
        "bom-ref": purl_of(package),
        "name": package.name,
        "version": package.version,
        "scope": scope,
        "hashes": [{"alg": "SHA-256", "content": hash} for hash in package.hashes],
        "licenses": [{"expression": package.licence}],
        "purl": purl_of(package),
    }


def list_direct(project: dict[str, Any]) -> list[str]:
    """Names of the packages that Retentive or one of its extras asks for itself."""
    asked = [texts for owner, texts in list_requirements(project).items() if owner.startswith("retentive")]
    return sorted({name_of(text) for texts in asked for text in texts})


def purl_of(package: Package) -> str:
    return f"pkg:pypi/{package.name}@{package.version}"


if __name__ == "__main__":
    main()
