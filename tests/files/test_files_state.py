"""Whatever happens in a folder, its index is that of a folder that was never different."""

import shutil
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from retentive import Retentive
from tests.files.test_files import fresh, state
from tests.sizes import choose

NAMES = st.sampled_from(["a.md", "b.txt", "c.py", "sub/a.md", "sub/deep/b.md", "x/a.md", ".hidden.md", "image.png"])
FOLDERS = st.sampled_from(["sub", "sub/deep", "x", "y"])
TEXTS = st.sampled_from(
    ["", "One heron\n", "# T\n\nTwo\n", "# T\n\n## U\n\nThree [l](m.md)\n", "---\ntitle: F\n---\nX\n"]
)
RULES = st.sampled_from(["", "*.txt\n", "sub/\n", "/a.md\n!x/\n"])


class Folder(RuleBasedStateMachine):
    @initialize()
    def begin(self) -> None:
        self.folder = Path(tempfile.mkdtemp())
        self.store = Retentive.open(":memory:", embedder="hashing")
        self.stale = False

    def teardown(self) -> None:
        if hasattr(self, "store"):
            self.store.close()
            shutil.rmtree(self.folder)

    @rule(name=NAMES, text=TEXTS)
    def write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        self.stale = True

    @rule(name=NAMES, text=TEXTS)
    def append(self, name: str, text: str) -> None:
        if (self.folder / name).is_file():
            with (self.folder / name).open("a") as file:
                file.write(text)
            self.stale = True

    @rule(old=NAMES, new=NAMES)
    def rename(self, old: str, new: str) -> None:
        if (self.folder / old).is_file():
            (self.folder / new).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / old).replace(self.folder / new)
            self.stale = True

    @rule(old=FOLDERS, new=FOLDERS)
    def move(self, old: str, new: str) -> None:
        if (self.folder / old).is_dir() and not (self.folder / new).exists() and not new.startswith(old):
            (self.folder / new).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / old).rename(self.folder / new)
            self.stale = True

    @rule(name=NAMES)
    def delete(self, name: str) -> None:
        (self.folder / name).unlink(missing_ok=True)
        self.stale = True

    @rule(rules=RULES)
    def ignore(self, rules: str) -> None:
        (self.folder / ".gitignore").write_text(rules)
        self.stale = True

    @rule()
    def index(self) -> None:
        self.store.files.index(self.folder)
        self.stale = False

    @precondition(lambda self: hasattr(self, "store") and not self.stale)
    @invariant()
    def as_if_it_had_always_been_so(self) -> Any:
        if hasattr(self, "store"):
            assert state(self.store) == fresh(self.folder)


TestFolder = Folder.TestCase
TestFolder.settings = settings(max_examples=choose(12, 100), stateful_step_count=30, deadline=None)
