"""A real language model, and a weak one: SmolLM2 with 135 million parameters, served by llama.cpp on the loopback.

What it answers is mostly wrong, and may be another thing on another processor. So these tests ask nothing of its
quality: they ask that it does no harm, and that everything around it works.
"""

import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from benchmarks.llama_server import LlamaServer
from retentive import Retentive
from retentive.learning.llm.support import MIN_SUPPORT_SHARE, find_share, find_stems
from retentive.learning.llm_trial import SAMPLE_MESSAGES, try_language_model
from retentive.llm import open_language_model
from tests.engines import missing

WEIGHTS = Path(sys.prefix) / "share" / "retentive-weights" / "SmolLM2-135M-Instruct" / "model.gguf"
PATIENCE = 300.0  # seconds for an answer: a busy machine reads 60 tokens a second on one thread, of some 1,000
ANSWER_TOKENS = 160  # it may not end by itself; one claim has 120
HOME = "The user lives in Lisbon."
TALK = (
    ("assistant", "The deployment to staging finished without errors. How can I help you today?"),
    ("user", "I moved to Porto last week with my dog Rex. Please always answer briefly."),
)


@pytest.fixture(scope="module")
def server() -> Iterator[LlamaServer]:
    if find_spec("xllamacpp") is None or not WEIGHTS.is_file():
        missing("a real language model", "run `make setup` for xllamacpp and its weights")
    with LlamaServer(WEIGHTS) as running:
        yield running


def opened(folder: Path, server: LlamaServer, **settings: Any) -> Retentive:
    model: dict[str, Any] = {"llm": "openai:smollm2", "llm_url": server.url, "llm_timeout": PATIENCE}
    model["llm_answer_tokens"] = ANSWER_TOKENS
    return Retentive.open(folder / "m.db", embedder="hashing", **model, **settings)


def test_a_weak_model_does_no_harm_and_what_was_said_is_learned(server: LlamaServer, tmp_path: Path) -> None:
    """Whatever it answers: the messages are read once, nothing that was not said is believed, nothing ends by it."""
    with opened(tmp_path, server) as store:
        old = store.add(HOME, slot="user.home").id
        for role, text in TALK:
            store.sessions.append("s", role, text)
        (told,) = store.learn("s")
        assert (told.events, told.upto, store.learn("s")[0].events) == (2, 2, 0)
        assert told.cost.calls in (1, 2)
        assert told.cost.tokens_in > 500
        assert told.cost.tokens_out > 0
        assert store.stats()["llm_calls"] == told.cost.calls
        assert told.notes or told.by == "openai:smollm2"  # rules that took over say so
        said = find_stems(TALK[1][1])
        learned = [memory for memory in store.list() if memory.source == "extracted"]
        assert all(
            find_share(find_stems(each.content), said) >= MIN_SUPPORT_SHARE
            for each in learned
            if each.confidence >= 0.5
        )
        assert not [each for each in learned if "deployment" in each.content]
        assert store.get(old).status == "active"
        if told.by == "rules":
            assert any("Porto" in each.content for each in learned)


def test_a_weak_summary_is_no_echo(server: LlamaServer, tmp_path: Path) -> None:
    """It is the model's own prose, or the summary is made of what was said."""
    talk = [{"role": "user", "content": f"Heron number {n} flew over the lake at dawn " * 3} for n in range(8)]
    with opened(tmp_path, server, session_budget=300, summarise=False) as store:
        store.sessions.append_many("s", talk)
        made = store.sessions.summarise("s").text
        failures = store.stats()["failures"]
    assert made
    assert '"text":' not in made
    assert "You keep the summary of a long conversation" not in made
    assert "condenser" not in failures or "lake" in made


def test_a_trial_of_a_real_model_says_how_it_did(server: LlamaServer) -> None:
    llm = open_language_model("openai:smollm2", url=server.url, timeout=PATIENCE)
    assert llm
    trial = try_language_model(llm, ANSWER_TOKENS)
    llm.close()
    assert (trial.model, trial.prompt) == ("openai:smollm2", "extract-1")
    assert trial.latency > 0
    assert 0 <= trial.valid <= trial.answers <= 2
    assert trial.error or trial.answers
    assert trial.cost.calls in (2, 3)
    said = find_stems(" ".join(text for _, text in SAMPLE_MESSAGES))
    assert all(find_share(find_stems(each), said) > 0 for each in trial.claims)
