"""Settings on the terminal: shown in groups, changed one at a time."""

import json
import os
from pathlib import Path

import pytest

from retentive import config
from retentive.config.groups import MAIN_SETTINGS, SETTING_GROUPS
from tests.support import Run
from tests.terminal import terminal


@pytest.fixture
def file() -> Path:
    return config.settings_path(os.environ)


def test_every_setting_is_in_one_group() -> None:
    grouped = [name for names in SETTING_GROUPS.values() for name in names]
    assert sorted(grouped) == sorted(setting.name for setting in config.SETTINGS)


def test_those_that_matter_come_first_with_their_meaning() -> None:
    lines = terminal("config", NO_COLOR="1").splitlines()
    first = [line.split()[0] for line in lines if line.startswith("  ") and line[2] != " "]
    assert tuple(first[: len(MAIN_SETTINGS)]) == MAIN_SETTINGS
    assert any("The namespace, whose memory it is" in line for line in lines)


@pytest.mark.parametrize("name", ["fusion", "FUSION", "RETENTIVE_FUSION"])
def test_one_is_shown_by_its_name(run: Run, name: str) -> None:
    assert run("config", "get", name) == "blend\n"
    assert json.loads(run("config", "get", name, "--json")) == {"fusion": {"value": "blend", "origin": "default"}}


def test_a_misspelt_name_gets_the_right_one(refused: Run) -> None:
    assert "Did you mean embedder" in refused("config", "get", "embeder", code=2)


@pytest.mark.parametrize(
    ("name", "typed", "line"),
    [
        ("hooks", "recall", 'hooks = "recall"'),
        ("rrf_k", "50", "rrf_k = 50"),
        ("download", "yes", "download = true"),
        ("min_relevance", "0.5", "min_relevance = 0.5"),
        ("watch", "~/notes, ~/work", 'watch = "~/notes, ~/work"'),
    ],
)
def test_a_value_is_written_as_its_type(run: Run, file: Path, name: str, typed: str, line: str) -> None:
    run("config", "set", name, typed)
    assert file.read_text() == f"{line}\n"


def test_every_other_byte_stays(run: Run, file: Path) -> None:
    before = "# mine\r\nfusion = 'rrf'   # tried\r\n\r\nrrf_k = 20"
    file.write_bytes(before.encode())
    run("config", "set", "fusion", "blend")
    assert file.read_bytes() == before.replace("'rrf'", '"blend"').encode()


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("hooks", "sometimes", "must be one of all, recall, off"),
        ("rrf_k", "many", "rrf_k = 'many'"),
        ("llm_key", "sk-1", "must not be stored in a file"),
        ("colour", "red", "there is no setting"),
    ],
)
def test_a_wrong_value_is_refused_with_the_reason(refused: Run, file: Path, name: str, value: str, reason: str) -> None:
    assert reason in refused("config", "set", name, value, code=2)
    assert not file.exists()


def test_a_file_that_cannot_be_read_is_not_changed(refused: Run, file: Path) -> None:
    file.write_text("fusion = = 1\n")
    refused("config", "set", "hooks", "off", code=2)
    assert file.read_text() == "fusion = = 1\n"


def test_an_environment_variable_that_counts_for_more_is_named(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RETENTIVE_HOOKS", "off")
    assert json.loads(run("config", "set", "hooks", "all", "--json"))["used"] is False


def test_an_edited_file_is_checked_before_it_is_used(run: Run, refused: Run, file: Path, tmp_path: Path) -> None:
    """A wrong one stays a draft, which is opened again."""
    file.write_text('hooks = "off"\n')
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\necho "fusion = \'wrong\'" >> "$1"\n')
    editor.chmod(0o755)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EDITOR", str(editor))
        patch.delenv("VISUAL", raising=False)
        assert "config edit` opens your draft again" in refused("config", "edit", code=2)
        assert file.read_text() == 'hooks = "off"\n'
        editor.write_text('#!/bin/sh\nsed -i s/wrong/rrf/ "$1"\n')
        run("config", "edit")
    assert file.read_text() == "hooks = \"off\"\nfusion = 'rrf'\n"
    assert [*file.parent.glob("*.draft")] == []


def test_the_file_is_named(run: Run, file: Path) -> None:
    assert run("config", "path") == f"{file}\n"
    assert json.loads(run("config", "path", "--json")) == {"file": str(file), "exists": False}
