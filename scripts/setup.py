"""Make the environment in which everything else runs: a virtual environment with the package, its tools and servers.

Usage: python scripts/setup.py .venv

Packages are those of the lock, checked by their hashes, where it was made for this platform; nothing else is fetched.
Elsewhere pip chooses the newest that fit.
"""

import subprocess
import sys
import venv
from pathlib import Path

OLDEST = (3, 11)
if sys.version_info < OLDEST:  # before the import of what an older one cannot read
    sys.exit(f"Python {'.'.join(map(str, OLDEST))} or newer is needed; choose one with: make PYTHON=python3.12 ...")

from lockfile import LOCK, ROOT, explain_no_lock, read_project  # noqa: E402 - see above

FETCHED = {
    "sqld.py": "libSQL server",
    "pgbouncer.py": "PgBouncer",
    "node.py": "MCP inspector and conformance suite",
    "claude_code.py": "Claude Code",
    "codex.py": "Codex",
    "gemini_cli.py": "Gemini CLI",
    "weights.py": "weights of embedding models",
    "language_model.py": "language model",
}


def main() -> None:
    folder = Path(sys.argv[1])
    if not (folder / "bin" / "python").exists():
        venv.create(folder, with_pip=True)
    install_packages(folder)
    for script, what in FETCHED.items():
        if subprocess.run([sys.executable, str(ROOT / "scripts" / script), str(folder)], check=False).returncode:
            print(f"no {what} could be fetched: tests are skipped, or fail where CI=1 or RETENTIVE_ALL_ENGINES=1")


def install_packages(folder: Path) -> None:
    tools = [tool for group in read_project()["dependency-groups"].values() for tool in group]
    install = [folder / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    ourselves = ["--editable", str(ROOT), *tools]
    if reason := explain_no_lock():
        print(f"no locked versions: {reason}. Newest versions are installed instead")
        subprocess.run([*install, *ourselves], check=True)
        return
    subprocess.run([*install, "--require-hashes", "--requirement", str(LOCK)], check=True)
    if subprocess.run([*install, "--no-index", "--no-build-isolation", *ourselves], check=False).returncode:
        sys.exit(f"{LOCK.relative_to(ROOT)} does not have what pyproject.toml asks for: run `make lock`")


if __name__ == "__main__":
    main()
