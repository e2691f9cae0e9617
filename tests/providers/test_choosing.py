"""A provider among the other models of a store: named, tried, changed to."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from retentive import Retentive, config
from retentive.cli import main
from retentive.embed import _choose_provider_settings
from tests.providers.conftest import Serve
from tests.providers.server import Reply


def test_the_key_and_the_address_that_are_set_are_for_the_provider_that_is_set(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-o")
    monkeypatch.setenv("GROQ_API_KEY", "gsk")
    settings = config.load(embedder="openai:x")
    found = {
        name: _choose_provider_settings(settings, name, None) for name in ("openai:y", "groq:y", "ollama:y", "minilm")
    }
    assert {name: remote and remote.key for name, remote in found.items()} == {
        "openai:y": "sk-o",
        "groq:y": "gsk",
        "ollama:y": "",
        "minilm": None,
    }
    elsewhere = replace(settings, embedder_url="http://gpu:1/v1", embedder_key="mine")
    groq = _choose_provider_settings(elsewhere, "groq:y", None)
    assert groq
    assert (groq.url, groq.key) == ("", "gsk")


def test_a_store_is_changed_to_the_model_of_a_provider(serve: Serve, db: Path, tmp_path: Path) -> None:
    """However slow its answers are: nobody waits for these."""
    server = serve(Reply(delay=0.2))
    settings: dict[str, Any] = {"embedder_url": server.url, "cache": str(tmp_path / "cache"), "model_wait": 0.05}
    with Retentive.open(db, embedder="hashing", **settings) as store:
        store.add_many([f"Fact {number} is about the tide" for number in range(100)])
        store.reembed("openai-compatible:m")
        name = f"openai-compatible:m@127.0.0.1:{server.server_port}"
        assert store.space
        assert (store.space.name, store.space.dimension) == (name, 384)
        assert store.stats()["vectors_pending"] == 0
    with Retentive.open(db, embedder="openai-compatible:m", **{**settings, "model_wait": 30}) as store:
        assert store.search("Fact 7").notes == ()
        assert store.stats()["model_difference"] == ""


def test_the_command_line_names_a_provider_and_takes_its_key_from_the_environment(
    serve: Serve, db: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    server = serve()
    monkeypatch.setenv("RETENTIVE_EMBEDDER", "openai-compatible:m")
    monkeypatch.setenv("RETENTIVE_EMBEDDER_URL", server.url)
    monkeypatch.setenv("RETENTIVE_EMBEDDER_KEY", "sk-mine")
    monkeypatch.setenv("RETENTIVE_MODEL_WAIT", "30")
    assert main(["--db", str(db), "add", "The tide turns at noon"]) == 0
    assert main(["--db", str(db), "search", "when does the tide turn?"]) == 0
    assert main(["models", "test"]) == 0
    assert main(["config"]) == 0
    said = capsys.readouterr().out
    assert "pending" not in said
    assert "sk-mine" not in said
    assert {asked.headers["authorization"] for asked in server.asked} == {"Bearer sk-mine"}
