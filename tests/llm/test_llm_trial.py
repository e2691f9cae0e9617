"""`retentive models test --llm`: how does the language model that is set do?"""

import json
from collections.abc import Callable, Iterator

import pytest

from retentive import config
from retentive.cli import main
from retentive.errors import BadConfig
from retentive.maintenance.models import Models
from tests.llm.provider import KEY, Provider, Reply

MOVED = {
    "content": "The user moved to Porto last week with a dog called Rex.",
    "kind": "personal",
    "slot": "",
    "events": [2],
    "relation": "new",
    "known": [],
    "confidence": 0.9,
    "importance": 5,
    "valid_from": "",
    "expires": "",
}
ANSWER = Reply(json.dumps({"claims": [MOVED, MOVED | {"events": [1]}]}))
Serve = Callable[..., Provider]


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Iterator[Serve]:
    """The language model that is set gives these answers."""
    running: list[Provider] = []

    def serve_(*replies: Reply) -> Provider:
        running.append(Provider(*replies))
        monkeypatch.setenv("RETENTIVE_LLM", "openai:gpt-x")
        monkeypatch.setenv("RETENTIVE_LLM_URL", f"{running[-1].url}/v1")
        monkeypatch.setenv("RETENTIVE_LLM_KEY", KEY)
        return running[-1]

    yield serve_
    for each in running:
        each.stop()


def test_a_trial_shows_latency_validity_a_sample_and_the_cost(serve: Serve, capsys: pytest.CaptureFixture[str]) -> None:
    serve(Reply("ready"), ANSWER)
    assert main(["models", "test", "--llm"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("openai:gpt-x: a short answer took ")
    assert lines[1:] == [
        "answers in the requested form (extract-1): 1 of 1",
        f"  {MOVED['content']}",
        "  left out: claims[1]: it cites no message of the user's",
        "cost: 2 calls, 200 tokens read, 14 written",
    ]


def test_a_trial_of_a_model_that_writes_no_json_says_so(serve: Serve, capsys: pytest.CaptureFixture[str]) -> None:
    provider = serve(Reply("I would rather not."))
    assert main(["models", "test", "--llm", "--json"]) == 6
    told = json.loads(capsys.readouterr().out)
    assert (told["answers"], told["valid"], told["claims"]) == (2, 0, [])
    assert "not JSON" in told["error"]
    assert told["cost"] == {"calls": 3, "tokens_in": 300, "tokens_out": 21}
    assert len(provider.asked) == 3


def test_a_trial_of_a_server_that_is_down_says_so(serve: Serve) -> None:
    serve(ANSWER).stop()
    done = Models(config.load()).test_llm()
    assert (done.answers, done.claims) == (0, ())
    assert done.error
    assert KEY not in done.error


def test_without_a_language_model_there_is_nothing_to_try() -> None:
    with pytest.raises(BadConfig, match="no language model"):
        Models(config.load()).test_llm()


def test_a_name_of_an_embedding_model_does_not_go_with_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models", "test", "minilm", "--llm"]) == 2
    assert "--llm tests the language model in the settings" in capsys.readouterr().err
