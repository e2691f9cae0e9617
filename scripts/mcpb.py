"""Pack the bundle for Claude Desktop: dist/retentive-VERSION.mcpb, a zip that is the same for the same files.

Usage: python scripts/mcpb.py [FOLDER]
"""

import json
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "packaging" / "mcpb"
FILES = {
    "manifest.json": SOURCE / "manifest.json",
    "pyproject.toml": SOURCE / "pyproject.toml",
    "server/main.py": SOURCE / "server" / "main.py",
    "LICENSE": ROOT / "LICENSE",
    "NOTICE": ROOT / "NOTICE",
}
LONG_AGO = (1980, 1, 1, 0, 0, 0)  # the earliest time that a zip can say


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "dist"
    folder.mkdir(parents=True, exist_ok=True)
    version = json.loads(FILES["manifest.json"].read_text("utf-8"))["version"]
    target = folder / f"retentive-{version}.mcpb"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as bundle:
        for name, file in FILES.items():
            entry = zipfile.ZipInfo(name, LONG_AGO)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            bundle.writestr(entry, file.read_bytes())
    print(target)


if __name__ == "__main__":
    main()
