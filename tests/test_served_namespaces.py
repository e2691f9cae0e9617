"""Which namespace a folder stands for."""

import subprocess
from pathlib import Path

import pytest

from retentive.served_namespaces import PERSON, ServedNamespaces, find_namespaces, find_project


def git(folder: Path, *words: str) -> None:
    settings = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main")
    subprocess.run(["git", *settings, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "billing app"
    folder.mkdir()
    git(folder, "init")
    git(folder, "commit", "--allow-empty", "-m", "first")
    return folder


def test_a_project_is_named_after_its_folder(repository: Path) -> None:
    (repository / "src" / "deep").mkdir(parents=True)
    assert find_project(repository / "src" / "deep") == "billing-app"


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("https://example.org/team/invoices.git", "invoices"),
        ("git@example.org:team/invoices.git", "invoices"),
        ("ssh://git@example.org:2222/team/invoices/", "invoices"),
        ("/srv/git/invoices", "invoices"),
    ],
)
def test_an_origin_names_it_better(repository: Path, address: str, name: str) -> None:
    git(repository, "remote", "add", "origin", address)
    assert find_project(repository) == name


def test_worktrees_are_the_same_project(repository: Path, tmp_path: Path) -> None:
    git(repository, "worktree", "add", str(tmp_path / "elsewhere"))
    assert find_project(tmp_path / "elsewhere") == "billing-app"


def test_a_broken_repository_still_has_a_name(tmp_path: Path) -> None:
    (tmp_path / "old" / ".git").mkdir(parents=True)
    (tmp_path / "old" / ".git" / "config").write_bytes(b"[remote \xff\n]]")
    assert find_project(tmp_path / "old") == "old"


def test_auto_reads_what_is_known_of_the_person(repository: Path) -> None:
    assert find_namespaces("auto", ["team/*"], repository) == ServedNamespaces(
        "billing-app", (PERSON, "team/*"), PERSON
    )


def test_auto_outside_any_project_is_the_person(tmp_path: Path) -> None:
    assert find_namespaces("auto", [], tmp_path) == ServedNamespaces(PERSON, is_settled=False)


def test_a_named_namespace_reads_only_what_is_named(repository: Path) -> None:
    assert find_namespaces("alice", ["work", "alice", "work"], repository) == ServedNamespaces("alice", ("work",))


def test_a_folder_that_cannot_be_looked_into_is_of_no_project() -> None:
    """A client may tell any folder; no file system takes this one."""
    assert find_project(Path("/", "x" * 300)) is None


def test_a_person_that_is_set_takes_the_place_of_the_default(repository: Path, tmp_path: Path) -> None:
    assert find_namespaces("auto", [], repository, "me") == ServedNamespaces("billing-app", ("me",), "me")
    assert find_namespaces("auto", [], tmp_path, "me") == ServedNamespaces("me", is_settled=False)


def test_a_person_that_is_set_holds_for_a_named_project_too(tmp_path: Path) -> None:
    assert find_namespaces("shop", ["team/*"], tmp_path, "me") == ServedNamespaces("shop", ("me", "team/*"), "me")
    assert find_namespaces("me", [], tmp_path, "me") == ServedNamespaces("me")
