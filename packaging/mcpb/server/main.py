"""What Claude Desktop starts: `retentive mcp` with the settings that its dialogue asked for."""

import os
import sys

from retentive.cli import main

for name in ("RETENTIVE_DB", "RETENTIVE_NAMESPACE"):
    if os.environ.get(name, "").startswith("${"):
        del os.environ[name]  # a field that was left empty comes as its own placeholder

sys.exit(main(["mcp", *sys.argv[1:]]))
