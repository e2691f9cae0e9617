from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from retentive.embed import Embedder, ProviderSettings, open_embedder
from tests.providers.server import Asked, EmbeddingServer, Reply

Serve = Callable[..., EmbeddingServer]
Ask = Callable[..., tuple[Embedder, EmbeddingServer]]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """A provider that runs until the test ends, with the replies it is to give."""
    servers: list[EmbeddingServer] = []

    def serve_(*replies: Reply | Callable[[Asked], Reply], port: int = 0) -> EmbeddingServer:
        servers.append(EmbeddingServer(*replies, port=port).start())
        return servers[-1]

    yield serve_
    for server in servers:
        server.stop()


@pytest.fixture
def ask(serve: Serve, tmp_path: Path) -> Iterator[Ask]:
    """An embedder, and the provider that it asks."""
    opened: list[Embedder] = []

    def ask_(
        *replies: Reply | Callable[[Asked], Reply],
        model: str = "openai-compatible:m",
        wait: float = 30.0,
        timeout: float = 30.0,
        key: str = "",
    ) -> tuple[Embedder, EmbeddingServer]:
        server = serve(*replies)
        remote = ProviderSettings(server.url, key, timeout)
        embedder = open_embedder(model, cache=tmp_path / "cache", wait=wait, provider=remote)
        assert embedder
        opened.append(embedder)
        return embedder, server

    yield ask_
    for embedder in opened:
        embedder.close()
