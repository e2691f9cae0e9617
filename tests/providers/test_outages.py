"""A provider that dies in the middle of a bulk import: everything is kept, and its vectors come when it is back."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from retentive import Retentive
from retentive.providers.client import MAX_CALLS
from tests.providers.conftest import Serve
from tests.providers.process import ProviderProcess
from tests.providers.server import Reply
from tests.sizes import choose
from tests.support import Open

COUNT = choose(3_000, 6_000)  # memories; two or three commits
LAST = f"Fact {COUNT - 1}"
pytestmark = pytest.mark.engines


@pytest.fixture
def provider() -> Iterator[ProviderProcess]:
    process = ProviderProcess()
    yield process
    process.thaw()
    process.kill()


def connect(provider: ProviderProcess, tmp_path: Path, **settings: Any) -> dict[str, Any]:
    return {
        "embedder": "openai-compatible:m",
        "embedder_url": provider.url,
        "cache": str(tmp_path / "cache"),
        "model_wait": 60,  # that no busy machine exceeds while the provider is well
        **settings,
    }


def import_many(store: Retentive, spoil: Any) -> Any:
    """All of them in one call; after the first commit something happens to the provider."""
    spoilt: list[int] = []

    def hear(done: int) -> None:
        if not spoilt:
            spoilt.append(done)
            spoil()

    return store.add_many((f"Fact {number} is about the tide" for number in range(COUNT)), progress=hear)


def count_requests(store: Retentive) -> int:
    return int(store.stats()["embedder"]["requests"])


def check_kept(store: Retentive, loaded: Any) -> None:
    """Everything is kept, what is pending is exact, and questions are answered by words."""
    stats = store.stats()
    (space,) = stats["spaces"]
    assert (loaded.created, stats["memories"]) == (COUNT, COUNT)
    assert stats["vectors_pending"] == loaded.pending == COUNT - space["vectors"]
    assert 0 < loaded.pending < COUNT
    found = store.search(LAST, 3)
    assert f"{LAST} is about the tide" in [hit.content for hit in found]
    assert "vectors were not used" in found.notes[0]
    assert stats["embedder"]["breaker"] != "closed"


def check_complete(store: Retentive) -> None:
    stats = store.stats()
    assert (stats["vectors_pending"], stats["spaces"][0]["vectors"]) == (0, COUNT)
    assert stats["embedder"]["breaker"] == "closed"
    assert store.search(LAST, 3).notes == ()


def test_a_provider_that_is_killed_in_the_middle_of_an_import_loses_nothing(
    open_store: Open, provider: ProviderProcess, tmp_path: Path
) -> None:
    store = open_store(**connect(provider, tmp_path))
    requests: list[int] = []

    def kill() -> None:
        requests.append(count_requests(store))
        provider.kill()

    loaded = import_many(store, kill)
    check_kept(store, loaded)
    # Refused connections come back at once; the breaker lets one through in a pause that grows.
    assert count_requests(store) - requests[0] < 20
    provider.start()
    fill_in(store)
    check_complete(store)


def fill_in(store: Retentive) -> None:
    """As soon as the breaker lets it."""
    until = time.monotonic() + 120
    while store.stats()["embedder"]["breaker"].startswith("open"):
        assert time.monotonic() < until
        time.sleep(0.05)
    assert store.backfill().remaining == 0


def test_a_provider_that_hangs_costs_an_import_one_wait_and_not_thousands(
    open_store: Open, provider: ProviderProcess, tmp_path: Path
) -> None:
    settings = connect(provider, tmp_path, model_wait=3, embedder_timeout=600)
    store = open_store(**settings)
    store.add("The first use measures the model")
    requests = count_requests(store)
    provider.freeze()
    begun = time.monotonic()
    for number in range(300):
        assert store.add(f"Fact {number} is about the tide").pending
    waited = time.monotonic() - begun
    assert count_requests(store) - requests <= MAX_CALLS
    assert waited < 3 * 10  # one wait of three seconds; three hundred would be 900
    provider.thaw()
    until = time.monotonic() + 60
    while store.add(f"Back at {time.monotonic()}").pending:
        assert time.monotonic() < until
        time.sleep(0.1)
    assert store.backfill().remaining == 0


def test_the_worker_fills_in_what_was_pending_when_the_provider_is_back(
    open_store: Open, provider: ProviderProcess, tmp_path: Path
) -> None:
    provider.kill()
    store = open_store(**connect(provider, tmp_path))
    added = store.add_many(f"Fact {number} is about the tide" for number in range(100))
    assert added.pending == 100
    provider.start()
    with store.worker(poll=0.1):
        until = time.monotonic() + 120
        while store.stats()["vectors_pending"]:
            assert time.monotonic() < until
            time.sleep(0.05)
    assert store.search("tide").notes == ()


@pytest.mark.engines("sqlite")
def test_a_provider_that_limits_us_slows_nothing_down_but_its_vectors(
    open_store: Open, serve: Serve, tmp_path: Path
) -> None:
    """The provider asks to come back in a minute: writes and questions do not wait for that."""
    server = serve(Reply(429, {"Retry-After": "60"}, error="limit of a minute"))
    settings = {"embedder": "openai-compatible:m", "embedder_url": server.url, "cache": str(tmp_path / "cache")}
    store = open_store(**settings)
    begun = time.monotonic()
    for number in range(50):
        assert store.add(f"Fact {number} is about the tide").pending
    assert time.monotonic() - begun < 30
    assert len(server.asked) == 1
    finding = next(each for each in store.doctor() if each.name == "model")
    assert not finding.ok
    assert "429 limit of a minute" in finding.detail
    assert "not asked for" in finding.detail


@pytest.mark.engines("sqlite")
def test_what_a_provider_was_asked_is_counted(open_store: Open, serve: Serve, tmp_path: Path) -> None:
    server = serve()
    settings = {"embedder": "openai-compatible:m", "embedder_url": server.url, "cache": str(tmp_path / "cache")}
    first = open_store(**settings)
    first.add("The tide turns at noon")
    first.close()
    stats = open_store(**settings).stats()
    assert stats["embed_calls"] == len(server.asked)
    assert stats["embed_tokens"] == sum(len(text.split()) for asked in server.asked for text in asked.texts)
