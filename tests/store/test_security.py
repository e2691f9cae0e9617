"""What SECURITY.md promises and no other test shows."""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]

ORDINARY_DAY = """
import sys
events = []
sys.addaudithook(lambda event, args: events.append((event, args)) if event.startswith("socket.") else None)

from retentive import Retentive

with Retentive.open("memory.db") as memory:
    memory.add("The user's dog is called Rex")
    memory.sessions.append("monday", "user", "I moved to Porto last week. Remember that I am allergic to nuts.")
    memory.learn("monday")
    assert [hit.why for hit in memory.search("pets")]
    memory.context("Where do I live?", session="monday")
    memory.files.index(".")
    memory.upkeep()
    memory.doctor()
    memory.backup("backup.db")
print(events)
"""


def spend_ordinary_day(home: Path) -> str:
    outside = {name: value for name, value in os.environ.items() if not name.startswith(("RETENTIVE_", "XDG_"))}
    run = subprocess.run(
        [sys.executable, "-c", ORDINARY_DAY],
        cwd=home,
        env={**outside, "HOME": str(home)},
        umask=0o022,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return run.stdout.strip()


def test_an_ordinary_day_opens_no_connection_and_makes_files_for_their_owner_only(tmp_path: Path) -> None:
    """With the real model, which is rebuilt in a home that is empty at first."""
    assert spend_ordinary_day(tmp_path) == "[]"
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {"memory.db", "backup.db"} < {path.name for path in files}
    assert [path for path in files if path.stat().st_mode & 0o077] == []


def test_every_promise_names_the_tests_that_keep_it() -> None:
    promises = (ROOT / "SECURITY.md").read_text("utf-8").partition("## What is promised")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| \*\*.*\|$", promises, re.MULTILINE)
    assert rows
    assert [row for row in rows if "](tests/" not in row.rpartition(" | ")[2]] == []
