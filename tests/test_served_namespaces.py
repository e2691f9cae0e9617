"""Which namespace a folder stands for."""

import subprocess
from pathlib import Path

import pytest

from retentive import Retentive
from retentive.cli.output import describe_earlier_name
from retentive.errors import Invalid
from retentive.served_namespaces import PERSON, Project, ServedNamespaces, find_namespaces, find_project
from retentive.store.validate import require_namespace
from tests.support import Run


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


def clone_from(repository: Path, address: str) -> Path:
    git(repository, "remote", "add", "origin", address)
    return repository


def test_a_project_without_an_origin_is_named_after_its_folder(repository: Path) -> None:
    (repository / "src" / "deep").mkdir(parents=True)
    assert find_project(repository / "src" / "deep") == Project("billing-app")


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("https://example.org/team/invoices.git", "team/invoices"),
        ("https://example.org/team/invoices", "team/invoices"),
        ("https://user:secret@example.org:8443/team/invoices.git/", "team/invoices"),
        ("git@example.org:team/invoices.git", "team/invoices"),
        ("example.org:team/invoices", "team/invoices"),
        ("ssh://git@example.org:2222/team/invoices/", "team/invoices"),
        ("git://example.org/team/invoices.git?a=b#c", "team/invoices"),
        ("git@gitlab.example.org:group/sub/invoices.git", "group/sub/invoices"),
        ("https://gitlab.example.org/group/sub/invoices", "group/sub/invoices"),
        ("https://bitbucket.example.org/scm/TEAM/invoices.git", "TEAM/invoices"),
        ("ssh://git@bitbucket.example.org:7999/TEAM/invoices.git", "TEAM/invoices"),
        ("https://dev.azure.com/org/project/_git/invoices", "org/project/invoices"),
        ("git@ssh.dev.azure.com:v3/org/project/invoices", "org/project/invoices"),
        ("git@example.org:invoices.git", "invoices"),
        ("https://example.org/~ada/in%20voices!.git", "ada/in-voices"),
        ("https://example.org/équipe/факту́ры", "équipe/факту-ры"),
        ("/srv/git/invoices", "git/invoices"),
        ("/srv/git/invoices.git/", "git/invoices"),
        ("file:///srv/git/invoices.git", "git/invoices"),
        ("../team/invoices", "team/invoices"),
        ("C:\\git\\invoices.git", "git/invoices"),
        ("C:/git/invoices", "git/invoices"),
        ("\\\\server\\git\\invoices.git", "git/invoices"),
        ("https://example.org/", "billing-app"),
        ("https://example.org/!!!/???", "billing-app"),
    ],
)
def test_an_origin_names_a_project_by_owner_and_name(repository: Path, address: str, name: str) -> None:
    found = find_project(clone_from(repository, address))
    assert found is not None
    assert found.name == name
    assert require_namespace(found.name) == found.name


def test_projects_of_two_owners_share_nothing_new(tmp_path: Path) -> None:
    """Their earlier name, which both had, is still read and never written."""
    served = []
    for owner in ("fjordpay", "othercorp"):
        folder = tmp_path / owner / "core"
        folder.mkdir(parents=True)
        git(folder, "init")
        served.append(find_namespaces("auto", [], clone_from(folder, f"git@example.org:{owner}/core.git")))
    assert [each.namespace for each in served] == ["fjordpay/core", "othercorp/core"]
    assert [each.also_read for each in served] == [(PERSON, "core"), (PERSON, "core")]
    assert [each.earlier for each in served] == ["core", "core"]


def test_a_very_long_name_is_cut_and_stays_distinct(tmp_path: Path) -> None:
    names = set()
    for number in range(2):
        folder = tmp_path / str(number)
        folder.mkdir()
        git(folder, "init")
        found = find_project(clone_from(folder, f"https://example.org/{'group/' * 40}{number}/core.git"))
        assert found is not None
        names.add(require_namespace(found.name))
    assert len(names) == 2


def test_a_clone_of_a_clone_on_this_machine_is_the_same_project(repository: Path, tmp_path: Path) -> None:
    clone_from(repository, "git@example.org:team/invoices.git")
    git(tmp_path, "clone", str(repository), "second")
    git(tmp_path, "clone", "second", "third")
    git(tmp_path, "clone", "--bare", "third", "fourth.git")
    git(tmp_path, "clone", "fourth.git", "fifth")
    for name in ("second", "third", "fifth"):
        assert find_project(tmp_path / name) == Project("team/invoices", "invoices")


def test_clones_that_name_each_other_end(tmp_path: Path) -> None:
    for one, other in (("a", "b"), ("b", "a")):
        (tmp_path / one).mkdir()
        git(tmp_path / one, "init")
        git(tmp_path / one, "remote", "add", "origin", str(tmp_path / other))
    assert find_project(tmp_path / "a") is not None


def test_worktrees_are_the_same_project(repository: Path, tmp_path: Path) -> None:
    git(repository, "worktree", "add", str(tmp_path / "elsewhere"))
    assert find_project(tmp_path / "elsewhere") == Project("billing-app")


def test_a_broken_repository_still_has_a_name(tmp_path: Path) -> None:
    (tmp_path / "old" / ".git").mkdir(parents=True)
    (tmp_path / "old" / ".git" / "config").write_bytes(b"[remote \xff\n]]")
    assert find_project(tmp_path / "old") == Project("old")


def test_auto_reads_what_is_known_of_the_person(repository: Path) -> None:
    assert find_namespaces("auto", ["team/*"], repository) == ServedNamespaces(
        "billing-app", (PERSON, "team/*"), PERSON
    )


def test_an_earlier_name_under_which_nothing_was_saved_is_not_read(repository: Path) -> None:
    found = find_namespaces("auto", ["team/*"], clone_from(repository, "git@example.org:team/invoices"))
    assert found.keep_earlier_if_in([PERSON]) == ServedNamespaces("team/invoices", (PERSON, "team/*"), PERSON)
    assert found.keep_earlier_if_in(["invoices"]) == found
    assert "retentive import old.jsonl --into team/invoices" in describe_earlier_name(found)


def test_what_was_saved_under_the_earlier_name_is_found_and_stays_there(
    repository: Path, db: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(clone_from(repository, "git@example.org:team/invoices"))
    run("-n", "invoices", "add", "Invoices are numbered by year")
    run("-n", "auto", "add", "Invoices are printed in blue")
    found = run("-n", "auto", "search", "how are invoices numbered?")
    assert "numbered by year" in found
    with Retentive.open(db, "team/invoices", embedder="hashing") as store:
        assert [each.content for each in store.list()] == ["Invoices are printed in blue"]


def test_an_export_of_the_earlier_name_is_imported_into_the_new_one(db: Path, run: Run, tmp_path: Path) -> None:
    run("-n", "invoices", "add", "Invoices are numbered by year", "--tag", "law")
    run("-n", "invoices", "session", "append", "monday", "the roof leaks")
    run("-n", "invoices", "export", str(tmp_path / "old.jsonl"))
    run("import", str(tmp_path / "old.jsonl"), "--into", "team/invoices")
    with Retentive.open(db, "team/invoices", embedder="hashing") as store:
        assert [(each.content, each.tags) for each in store.list()] == [("Invoices are numbered by year", ("law",))]
        assert [each.content for each in store.sessions.events("monday")] == ["the roof leaks"]
        assert store.search("numbered")[0].id == store.in_namespace("invoices").list().items[0].id


def test_an_export_of_several_namespaces_is_not_imported_into_one(db: Path, run: Run, tmp_path: Path) -> None:
    run("-n", "one", "add", "first")
    run("-n", "two", "add", "second")
    run("export", str(tmp_path / "all.jsonl"), "--all-namespaces")
    with Retentive.open(db, embedder="hashing") as store, pytest.raises(Invalid, match="2 namespaces: one, two"):
        store.import_memories(tmp_path / "all.jsonl", into="three")


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
