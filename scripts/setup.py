"""Make the environment in which everything else runs: a virtual environment with the package, its tools and servers.

Usage: python scripts/setup.py .venv
"""

import subprocess
import sys
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).parent.parent
OLDEST = (3, 11)
FETCHED = {"sqld.py": "libSQL server", "node.py": "MCP inspector and conformance suite"}


def main() -> None:
    if sys.version_info < OLDEST:
        sys.exit(f"Python {'.'.join(map(str, OLDEST))} or newer is needed; choose one with: make PYTHON=python3.12 ...")
    folder = Path(sys.argv[1])
    if not (folder / "bin" / "python").exists():
        venv.create(folder, with_pip=True)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    tools = [tool for group in project["dependency-groups"].values() for tool in group]
    install = [folder / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*install, "--editable", str(ROOT), *tools], check=True)
    for script, what in FETCHED.items():
        if subprocess.run([sys.executable, str(ROOT / "scripts" / script), str(folder)], check=False).returncode:
            print(f"no {what} could be fetched: tests are skipped, or fail where CI=1 or RETENTIVE_ALL_ENGINES=1")


if __name__ == "__main__":
    main()
