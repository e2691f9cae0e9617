from collections.abc import Callable, Iterator

import pytest

from retentive.llm import LanguageModel, open_language_model
from tests.llm.provider import KEY, Provider, Reply

MODELS = ["anthropic:claude-x", "openai:gpt-x"]
Ask = Callable[..., tuple[LanguageModel, Provider]]


@pytest.fixture(params=MODELS)
def model(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def ask(model: str) -> Iterator[Ask]:
    """Opens a language model of a provider that gives these replies."""
    opened: list[tuple[LanguageModel, Provider]] = []

    def ask_(
        *replies: Reply, key: str = KEY, timeout: float = 10.0, model: str = model
    ) -> tuple[LanguageModel, Provider]:
        provider = Provider(*(replies or (Reply(),)))
        llm = open_language_model(
            model, key=key, url=provider.url + "/v1" * (not model.startswith("anthropic")), timeout=timeout
        )
        assert llm
        opened.append((llm, provider))
        return opened[-1]

    yield ask_
    for llm, provider in opened:
        llm.close()
        provider.stop()
