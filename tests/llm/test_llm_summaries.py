"""Summaries that a language model writes, when it is asked to."""

from pathlib import Path
from typing import Any

from retentive import Retentive
from tests.llm.conftest import MODELS
from tests.llm.provider import KEY, Provider, Reply

TALK = [{"role": "user", "content": f"Heron number {n} flew over the lake " * 5} for n in range(12)]


def opened(folder: Path, provider: Provider) -> Retentive:
    settings: dict[str, Any] = {"llm": MODELS[1], "llm_url": f"{provider.url}/v1", "llm_key": KEY, "summarise": False}
    return Retentive.open(folder / "m.db", embedder="hashing", session_budget=400, **settings)


def test_a_summary_that_is_asked_for_is_in_the_models_words(tmp_path: Path) -> None:
    """`summarise` sends the oldest messages to the model, and keeps what it writes."""
    provider = Provider(Reply("The user counts herons."))
    with opened(tmp_path, provider) as store:
        store.sessions.append_many("s", TALK)
        assert store.sessions.summarise("s").text == "The user counts herons."
        assert store.stats()["llm_calls"] == 1
    provider.stop()


def test_where_the_model_fails_the_summary_is_made_of_what_was_said(tmp_path: Path) -> None:
    """A server that errs costs no summary, and `stats` tells of it."""
    provider = Provider(Reply(status=500, error="out of order"))
    with opened(tmp_path, provider) as store:
        store.sessions.append_many("s", TALK)
        assert "flew over the lake" in store.sessions.summarise("s").text
        assert "condenser" in store.stats()["failures"]
    provider.stop()


def test_an_append_sends_nothing_anywhere(tmp_path: Path) -> None:
    """What is condensed by itself, while someone waits, is condensed without the model."""
    provider = Provider(Reply("The user counts herons."))
    settings: dict[str, Any] = {"llm": MODELS[1], "llm_url": f"{provider.url}/v1", "llm_key": KEY}
    with Retentive.open(tmp_path / "m.db", embedder="hashing", session_budget=400, **settings) as store:
        store.sessions.append_many("s", TALK)
        assert store.sessions.summary("s").epoch
    assert not provider.asked
    provider.stop()
