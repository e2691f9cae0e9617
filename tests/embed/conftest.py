from collections.abc import Iterator
from pathlib import Path

import pytest

from retentive.embed.minilm import MiniLM


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("models")


@pytest.fixture(scope="session")
def minilm(cache: Path) -> Iterator[MiniLM]:
    embedder = MiniLM(cache)
    embedder.embed(["rebuild it once for all tests"])
    yield embedder
    embedder.close()
