"""Completion in the shell, asked for as bash, zsh and fish ask for it."""

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from retentive import Retentive
from tests.forkserver import write_command


def complete(line: str, db: Path, shell: str = "bash", **environment: str) -> list[str]:
    """The lines that the program prints for a line whose last word is incomplete."""
    words = shlex.split(line) + ([""] if line.endswith(" ") else [])
    env = {
        **os.environ,
        "RETENTIVE_DB": str(db),
        "_RETENTIVE_COMPLETE": f"{shell}_complete",
        "COMP_WORDS": "\n".join(words) if shell == "bash" else line,
        "COMP_CWORD": words[-1] if shell == "fish" else str(len(words) - 1),
        **environment,
    }
    done = subprocess.run([sys.executable, "-m", "retentive"], env=env, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return [each for each in done.stdout.splitlines() if each]


def values(line: str, db: Path) -> list[str]:
    return [each.partition(",")[2] for each in complete(line, db)]


@pytest.fixture
def id(store: Retentive) -> str:
    store.sessions.append("monday", "user", "Rex sees the vet on Friday")
    store.contacts.create(name="Anna Keller")
    store.contacts.create(name="Bo")
    return store.add("The user likes tea").memory.id


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("retentive se", ["search", "session", "serve"]),
        ("retentive session sh", ["show"]),
        ("retentive search --mo", ["--mode"]),
        ("retentive search --mode ", ["hybrid", "text", "vector"]),
        ("retentive add --kind pre", ["preference"]),
        ("retentive models info bge", ["bge-small-en-v1.5"]),
        ("retentive install cur", ["cursor"]),
        ("retentive config get emb", ["embedder"]),
        ("retentive session show ", ["monday"]),
        ("retentive list --session mon", ["monday"]),
        ("retentive -n de", ["default"]),
        ("retentive contact show B", ["Bo"]),
    ],
)
def test_a_word_is_completed(id: str, db: Path, line: str, expected: list[str]) -> None:
    assert id
    assert [each for each in values(line, db) if each in expected] == expected
    assert all(each.startswith(line.rpartition(" ")[2]) for each in values(line, db))


def test_ids_are_completed_as_they_are_shown(id: str, db: Path) -> None:
    assert values("retentive get ", db) == [id[-8:]]
    assert values(f"retentive get {id[-8:-5]}", db) == [id[-8:]]
    assert values(f"retentive get {id[:13]}", db) == [id]


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_an_id_is_described_where_the_shell_shows_it(id: str, db: Path, shell: str) -> None:
    shown = "\n".join(complete("retentive get ", db, shell))
    assert id[-8:] in shown
    assert "The user likes tea" in shown


def test_the_store_of_the_line_is_asked(id: str, db: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    assert values(f"retentive --db {db} get ", other) == [id[-8:]]


def test_no_store_is_created(tmp_path: Path) -> None:
    missing = tmp_path / "none.db"
    assert values("retentive get ", missing) == []
    assert not missing.exists()


def test_a_file_that_is_no_store_is_silent(tmp_path: Path) -> None:
    letter = tmp_path / "letter.txt"
    letter.write_text("Dear Anna")
    assert values("retentive get ", letter) == []


def test_no_model_is_loaded(id: str, db: Path) -> None:
    code = "import sys; from retentive.cli import main; main(); print(*sys.modules, file=sys.stderr)"
    env = {**os.environ, "_RETENTIVE_COMPLETE": "bash_complete", "COMP_WORDS": "retentive\nget\n", "COMP_CWORD": "2"}
    done = subprocess.run(
        [sys.executable, "-c", code], env={**env, "RETENTIVE_DB": str(db)}, capture_output=True, text=True, check=True
    )
    assert id[-8:] in done.stdout
    assert {"onnxruntime", "tokenizers"}.isdisjoint(done.stderr.split())


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_shell_itself_completes(id: str, db: Path, shell: str) -> None:
    """A real shell reads the script and calls its function, as it does when the user presses the key."""
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"{shell} is not installed")
    ask = {
        "bash": 'eval "$(retentive completion bash)"; COMP_WORDS=(retentive get ""); COMP_CWORD=2; '
        '_retentive_completion retentive; echo "${COMPREPLY[@]}"',
        "zsh": 'autoload -U compinit; compinit -u; eval "$(retentive completion zsh)"; '
        'env COMP_WORDS="retentive get " COMP_CWORD=2 _RETENTIVE_COMPLETE=zsh_complete retentive',
        "fish": 'retentive completion fish | source; complete -C "retentive get "',
    }[shell]
    env = {**os.environ, "PATH": f"{write_command().parent}:{os.environ['PATH']}", "RETENTIVE_DB": str(db)}
    done = subprocess.run([program, "-c", ask], env=env, capture_output=True, text=True, check=True)
    assert id[-8:] in done.stdout
