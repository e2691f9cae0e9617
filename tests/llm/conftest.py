from collections.abc import Callable, Iterator

import pytest

from retentive.llm import Writer, open_writer
from tests.llm.provider import KEY, Provider, Reply

MODELS = ["anthropic:claude-x", "openai:gpt-x"]
Ask = Callable[..., tuple[Writer, Provider]]


@pytest.fixture(params=MODELS)
def model(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def ask(model: str) -> Iterator[Ask]:
    """A writer, and the provider it asks, with the replies it is to give."""
    opened: list[tuple[Writer, Provider]] = []

    def ask_(*replies: Reply, key: str = KEY, timeout: float = 10.0, model: str = model) -> tuple[Writer, Provider]:
        provider = Provider(*(replies or (Reply(),)))
        writer = open_writer(
            model, key=key, url=provider.url + "/v1" * (not model.startswith("anthropic")), timeout=timeout
        )
        assert writer
        opened.append((writer, provider))
        return opened[-1]

    yield ask_
    for writer, provider in opened:
        writer.close()
        provider.stop()
