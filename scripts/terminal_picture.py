"""Draw `docs/terminal.svg`: what the terminal shows, from real commands on a store that is made for it.

    .venv/bin/python scripts/terminal_picture.py [FILE]

The picture names no fonts of a network and has the same names inside each time; ids and durations are those of the run.
"""

import contextlib
import io
import os
import re
import shlex
import sys
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

COLUMNS = 80
TARGET = Path(__file__).parent.parent / "docs" / "terminal.svg"
COMMANDS = (
    'retentive add "The user\'s dog is called Rex" --slot user.dog.name --tag pets',
    'retentive search "what is my pet called?" --limit 2',
    'retentive add "The user\'s dog is called Max" --slot user.dog.name --tag pets',
    "retentive",
)
SUBJECTS = ("Atlas", "Billing", "Lantern", "Harbour", "Quill", "Orchard")
STATEMENTS = (  # kind, text, and how many days ago it was made
    ("decision", "{} stays on PostgreSQL because of its row-level security", 12),
    ("project", "{} is deployed on Tuesdays from the release branch", 9),
    ("fact", "The integration tests of {} take eleven minutes", 6),
    ("fact", "The staging server of {} restarts at 3 a.m.", 4),
    ("contact", "Anna Keller signs off the migrations of {}", 2),
    ("outcome", "The last release of {} failed: a migration locked the orders", 1),
)
HABITS = (
    ("preference", "The user prefers tea to coffee in the afternoon"),
    ("preference", "The user likes short answers with an example"),
    ("personal", "The user's daughter starts school in August"),
    ("pattern", "The user reviews pull requests before lunch"),
)
_FONT_FACES = re.compile(r"\s*@font-face \{.*?\}\n", re.DOTALL)
_FONTS = "ui-monospace, 'SFMono-Regular', Menlo, Consolas, 'DejaVu Sans Mono', monospace"


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


def fill(path: Path) -> None:
    """Make a store of some weeks."""
    from retentive import Retentive
    from retentive.testing import Clock, use_clock

    with Retentive.open(path, daily_log="off") as memory:
        for number, subject in enumerate(SUBJECTS):
            for kind, text, days in STATEMENTS[: len(STATEMENTS) - number % 3]:
                moment = datetime.now(UTC) - timedelta(days=days + number % 4, hours=number)
                with use_clock(Clock(int(moment.timestamp() * 1_000_000))):
                    memory.add(text.format(subject), kind=kind, tags=[subject.lower()])
        for number, (kind, text) in enumerate(HABITS, start=2):
            moment = datetime.now(UTC) - timedelta(hours=3 * number)
            with use_clock(Clock(int(moment.timestamp() * 1_000_000))):
                memory.add(text, kind=kind)


def run(command: str) -> str:
    """Return what a command shows on a terminal."""
    from retentive.cli import main

    screen = Screen()
    with contextlib.redirect_stdout(screen):
        main(shlex.split(command)[1:])
    return screen.getvalue()


def draw(shown: list[tuple[str, str]]) -> str:
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    for command, output in shown:
        console.print(Text.assemble(("$ ", "bold green"), (command, "bold")), soft_wrap=True)
        console.print(Text.from_ansi(output.rstrip("\n")), soft_wrap=True)
        console.print()
    svg = console.export_svg(title="retentive", theme=MONOKAI, unique_id="terminal")
    return re.sub(r"font-family: [^;]*Fira Code[^;]*;", f"font-family: {_FONTS};", _FONT_FACES.sub("\n", svg))


def main() -> None:
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else TARGET
    os.environ["COLUMNS"] = str(COLUMNS)
    os.environ.pop("NO_COLOR", None)
    os.environ["TERM"] = "xterm-256color"
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "memory.db"
        os.environ.update(RETENTIVE_DB=str(store), RETENTIVE_CONFIG=str(Path(folder) / "config.toml"))
        fill(store)
        shown = [(command, run(command).replace(str(store), "~/memory.db")) for command in COMMANDS]
    target.write_text(draw(shown), "utf-8")
    sys.stdout.write(f"{target}: {target.stat().st_size} bytes\n")


if __name__ == "__main__":
    main()
