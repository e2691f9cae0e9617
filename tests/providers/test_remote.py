"""Embedding models of providers, asked of a real server on the loopback."""

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from retentive import Retentive
from retentive.config import resolve
from retentive.embed import ProviderSettings, open_embedder, similarity_scale
from retentive.embed.hashing_embedder import HashingEmbedder
from retentive.embed.provider_embedder import find_prefixes, name_space
from retentive.embed.time_limit import without_time_limit
from retentive.errors import BadConfig, EmbedError, ModelMissing, ModelUnfit, PartlyEmbedded
from retentive.providers.client import MAX_CALLS
from retentive.providers.registry import parse_spec
from tests.providers.conftest import Ask, Serve
from tests.providers.server import (
    Asked,
    EmbeddingServer,
    Reply,
    blank,
    cut_one,
    drop_last,
    repeat_last,
    shorten,
    spoil,
)

TEXTS = [f"fact number {number} about tides" for number in range(150)]


def sent_texts(server: EmbeddingServer) -> list[str]:
    """All but the sentences of our own, which the first use sends."""
    own = {*similarity_scale.SAMPLE_QUESTIONS, *similarity_scale.SAMPLE_TEXTS}
    return [text for asked in server.asked for text in asked.texts if text not in own]


@pytest.mark.parametrize(
    ("model", "path"),
    [("openai-compatible:m", "/v1/embeddings"), ("lmstudio:m", "/v1/embeddings"), ("ollama:m", "/api/embed")],
)
def test_vectors_come_in_batches_and_in_order(ask: Ask, model: str, path: str) -> None:
    embedder, server = ask(model=model)
    assert np.allclose(embedder.embed(TEXTS), HashingEmbedder().embed(TEXTS), atol=1e-6)
    assert {asked.path for asked in server.asked} == {path}
    assert {asked.body["model"] for asked in server.asked} == {"m"}
    assert sent_texts(server) == TEXTS
    assert max(len(asked.texts) for asked in server.asked) <= 64


def test_rows_that_come_in_another_order_are_put_right(ask: Ask) -> None:
    embedder, _ = ask(Reply(is_shuffled=True))
    assert np.allclose(embedder.embed(TEXTS[:10]), HashingEmbedder().embed(TEXTS[:10]), atol=1e-6)


def test_dimension_and_scale_are_asked_once_and_remembered(ask: Ask, tmp_path: Path) -> None:
    embedder, server = ask()
    assert embedder.space.dimension == 0
    embedder.embed_query("tide")
    space = embedder.space
    assert space.dimension == 384
    assert 0.05 < space.spread < 0.2
    assert 0.2 < space.min_similarity < 0.6
    asked = len(server.asked)
    again = open_embedder("openai-compatible:m", cache=tmp_path / "cache", provider=ProviderSettings(server.url))
    assert again
    assert again.space == space
    again.embed_query("tide")
    again.close()
    assert len(server.asked) == asked + 1


@pytest.mark.parametrize("change", [spoil, blank, drop_last, repeat_last, cut_one])
def test_an_answer_that_is_not_one_vector_for_each_text_is_an_error(ask: Ask, change: Any) -> None:
    embedder, server = ask()
    embedder.embed_query("tide")
    server.replies = [Reply(change=change)]
    with pytest.raises(EmbedError, match="openai-compatible:m"):
        embedder.embed(TEXTS[:3])


@pytest.mark.parametrize(
    "body",
    [
        b"<html>a page of a proxy</html>",
        b"[]",
        b"{}",
        b'{"data": null}',
        b'{"data": [{"index": 0}]}',
        b'{"data": [{"index": 7, "embedding": [1.0]}]}',
        b'{"data": [{"index": 0, "embedding": "AAAA"}]}',
        b'{"data": [{"index": 0, "embedding": [[1.0]]}]}',
        b'{"data": [3]}',
        b"\xff\xfe",
        b"[" * 100_000,
    ],
)
def test_an_answer_in_no_protocol_is_an_error(ask: Ask, body: bytes) -> None:
    embedder, server = ask()
    embedder.embed_query("tide")
    server.replies = [Reply(body=body)]
    with pytest.raises(EmbedError):
        embedder.embed(["sea"])


def test_another_dimension_than_before_is_an_error(ask: Ask) -> None:
    embedder, server = ask()
    embedder.embed_query("tide")
    server.replies = [Reply(change=shorten)]
    with pytest.raises(EmbedError, match="192 numbers, and those of the store have 384"):
        embedder.embed(["sea"])


def test_a_store_without_vectors_takes_a_model_of_another_dimension(ask: Ask, tmp_path: Path) -> None:
    """What the cache remembers is of a model that was served before."""
    embedder, server = ask()
    embedder.embed_query("tide")
    server.replies = [Reply(change=shorten)]
    again = open_embedder("openai-compatible:m", cache=tmp_path / "cache", provider=ProviderSettings(server.url))
    assert again
    assert again.embed(["sea", "tide"]).shape == (2, 192)
    assert again.space.dimension == 192
    again.close()


def test_a_refusal_is_followed_by_another_try(ask: Ask) -> None:
    embedder, server = ask(Reply(429, {"Retry-After": "0.05"}), Reply(503), Reply())
    assert embedder.embed(["tide"]).shape == (1, 384)
    assert len(server.asked) == 5


def refuse_long(limit: int) -> Any:
    def reply(asked: Asked) -> Reply:
        is_too_long = any(len(text) > limit for text in asked.texts)
        return Reply(400, error="maximum context length is 8192 tokens") if is_too_long else Reply()

    return reply


def test_a_text_that_is_too_long_is_shortened_and_keeps_no_other_from_its_vector(ask: Ask) -> None:
    embedder, _ = ask(refuse_long(1000))
    texts = [*TEXTS[:20], "tide " * 900, *TEXTS[20:40]]
    found = embedder.embed(texts)
    assert np.allclose(found[:20], HashingEmbedder().embed(texts[:20]), atol=1e-6)
    assert np.allclose(found[21:], HashingEmbedder().embed(texts[21:]), atol=1e-6)
    assert found[20] @ HashingEmbedder().embed(["tide"])[0] > 0.5


def test_a_server_that_refuses_whatever_it_is_sent_is_told_as_it_is(ask: Ask) -> None:
    embedder, server = ask(Reply(400, error="no such encoding"))
    with pytest.raises(EmbedError, match="400 no such encoding"):
        embedder.embed_query("tide")
    assert len(server.asked) < 10


def test_a_wrong_key_is_told_once_and_never_shown(ask: Ask) -> None:
    embedder, server = ask(Reply(401, error="sk-mine is unknown"), key="sk-mine")
    for _ in range(5):
        with pytest.raises(EmbedError) as caught:
            embedder.embed_query("tide")
        assert "sk-mine" not in f"{caught.value} {caught.value.hint} {caught.value.__cause__} {embedder.describe()}"
    assert len(server.asked) == 1
    assert server.asked[0].headers["authorization"] == "Bearer sk-mine"


def test_a_model_that_is_not_there_says_how_it_is_fetched(ask: Ask) -> None:
    embedder, _ = ask(Reply(404, error="model 'm' not found, try pulling it first"), model="ollama:m")
    with pytest.raises(EmbedError, match="not found") as caught:
        embedder.embed_query("tide")
    assert "ollama pull m" in caught.value.hint


@pytest.mark.parametrize(
    ("model", "query", "document"),
    [
        ("nomic-embed-text", "search_query: ", "search_document: "),
        ("text-embedding-nomic-embed-text-v1.5", "search_query: ", "search_document: "),
        ("intfloat/multilingual-e5-small", "query: ", "passage: "),
        ("multilingual-e5-large-instruct", "", ""),
        ("text-embedding-3-small", "", ""),
        ("all-minilm", "", ""),
        ("snowflake-arctic-embed2", "query: ", ""),
    ],
)
def test_prefixes_are_those_that_a_model_is_known_to_want(model: str, query: str, document: str) -> None:
    assert find_prefixes(model) == (query, document)


def test_questions_and_texts_are_sent_with_the_prefixes_of_the_model(ask: Ask) -> None:
    embedder, server = ask(model="ollama:nomic-embed-text")
    embedder.embed_query("tide")
    embedder.embed(["sea"])
    assert [text for asked in server.asked for text in asked.texts][-2:] == [
        "search_query: tide",
        "search_document: sea",
    ]


@pytest.mark.parametrize(
    ("spec", "url", "name"),
    [
        ("openai:text-embedding-3-small", "", "openai:text-embedding-3-small"),
        ("ollama:nomic-embed-text:latest", "", "ollama:nomic-embed-text"),
        ("ollama:nomic-embed-text", "http://127.0.0.1:11434", "ollama:nomic-embed-text"),
        ("ollama:nomic-embed-text", "http://gpu:11434", "ollama:nomic-embed-text@gpu:11434"),
        ("openai-compatible:BAAI/bge-m3", "http://localhost:8080/v1", "openai-compatible:BAAI/bge-m3@localhost:8080"),
        ("openai-compatible:m", "https://me:secret@host/v1", "openai-compatible:m@host"),
    ],
)
def test_a_space_is_named_by_provider_and_model_and_by_a_host_that_is_not_the_providers(
    spec: str, url: str, name: str
) -> None:
    assert name_space(parse_spec(spec), url) == name


@pytest.mark.parametrize(
    ("spec", "url"),
    [
        ("openai", ""),
        ("openai-compatible:m", ""),
        ("openai-compatible:m", "localhost:8080"),
        ("openai-compatible:m", "http://[::1/v1"),
        ("anthropic:claude", ""),
    ],
)
def test_what_cannot_be_asked_is_told_at_once(spec: str, url: str, tmp_path: Path) -> None:
    with pytest.raises(BadConfig):
        open_embedder(spec, cache=tmp_path, provider=ProviderSettings(url))


def test_a_provider_without_its_key_is_not_asked(tmp_path: Path) -> None:
    embedder = open_embedder("openai:text-embedding-3-small", cache=tmp_path)
    assert embedder
    with pytest.raises(EmbedError, match="needs a key") as caught:
        embedder.embed_query("tide")
    assert "OPENAI_API_KEY" in caught.value.hint


KEYS = {"OPENAI_API_KEY": "sk-o", "GROQ_API_KEY": "gsk"}


@pytest.mark.parametrize(
    ("environment", "key"),
    [
        (KEYS, ("", "default")),
        ({**KEYS, "RETENTIVE_EMBEDDER": "openai:x"}, ("sk-o", "OPENAI_API_KEY")),
        ({**KEYS, "RETENTIVE_EMBEDDER": "groq:x"}, ("gsk", "GROQ_API_KEY")),
        ({**KEYS, "RETENTIVE_EMBEDDER": "openai:x", "RETENTIVE_EMBEDDER_KEY": "k"}, ("k", "RETENTIVE_EMBEDDER_KEY")),
        (
            {**KEYS, "RETENTIVE_EMBEDDER": "openai:x", "RETENTIVE_EMBEDDER_URL": "https://other.example"},
            ("", "default"),
        ),
    ],
)
def test_the_key_of_a_provider_goes_to_that_provider_only(environment: dict[str, str], key: tuple[str, str]) -> None:
    assert resolve({}, environment)["embedder_key"] == key


@pytest.mark.parametrize("role", ["embedder", "llm"])
def test_a_key_in_the_file_of_settings_is_refused_without_showing_it(role: str, tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text(f'{role} = "openai:x"\n{role}_key = "sk-mine"\n')
    with pytest.raises(BadConfig) as caught:
        resolve({}, {}, file)
    assert "sk-mine" not in f"{caught.value}{caught.value.hint}"
    assert f"RETENTIVE_{role.upper()}_KEY" in caught.value.hint


def test_a_call_waits_no_longer_than_it_said(ask: Ask) -> None:
    """The provider hangs for ten seconds: one call waits, the others fail at once, while one request is under way."""
    embedder, server = ask(Reply(delay=10), wait=0.3)
    begun = time.monotonic()
    for _ in range(50):
        with pytest.raises(EmbedError, match=r"did not answer within 0\.3 s|has not answered for"):
            embedder.embed(["tide"])
        with pytest.raises(EmbedError):
            embedder.embed_query("tide")
    assert time.monotonic() - begun < 5
    assert len(server.asked) == 1


def test_what_came_in_time_is_not_lost(ask: Ask) -> None:
    embedder, server = ask(wait=2.0)
    embedder.embed_query("tide")
    server.replies = [Reply(), Reply(delay=10)]
    with pytest.raises(PartlyEmbedded) as caught:
        embedder.embed(TEXTS)
    assert np.allclose(np.stack(caught.value.vectors), HashingEmbedder().embed(TEXTS[:64]), atol=1e-6)


def test_work_in_the_background_waits_as_long_as_it_takes(ask: Ask) -> None:
    embedder, _ = ask(Reply(delay=0.3), wait=0.1)
    with without_time_limit():
        assert embedder.embed(["tide"]).shape == (1, 384)


def test_no_more_requests_than_allowed_are_under_way(ask: Ask) -> None:
    embedder, server = ask(Reply(delay=0.02))
    threads = [threading.Thread(target=embedder.embed, args=([text],)) for text in TEXTS[:30]]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert server.most_under_way <= MAX_CALLS


def test_tokens_and_the_breaker_are_described(ask: Ask) -> None:
    embedder, server = ask()
    embedder.embed(["one two three"])
    before = embedder.describe()
    assert (before["breaker"], before["loaded"], before["dimension"]) == ("closed", "yes", "384")
    assert int(before["tokens"]) == sum(len(text.split()) for asked in server.asked for text in asked.texts)
    server.stop()
    with pytest.raises(EmbedError):
        embedder.embed(["four"])
    after = embedder.describe()
    assert after["breaker"].startswith("open for 5 s")
    assert "does not answer" in after["degraded"]


def test_importing_and_opening_costs_nothing_and_sends_nothing(tmp_path: Path) -> None:
    code = f"""
import sys, pathlib
events = []
sys.addaudithook(lambda event, args: events.append(event) if event.startswith("socket.") else None)
from retentive import Retentive
store = Retentive.open({str(tmp_path / "m.db")!r}, embedder="openai:text-embedding-3-small")
store.close()
print(events, "httpx" in sys.modules, "numpy" in sys.modules)
"""
    env = {**os.environ, "PYTHONPATH": ":".join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=env)
    assert done.stdout.strip() == "[] False False"


def test_what_the_cache_holds_is_for_its_owner_only_and_may_be_damaged(ask: Ask, tmp_path: Path) -> None:
    embedder, server = ask()
    embedder.embed_query("tide")
    (file,) = (tmp_path / "cache" / "spaces").iterdir()
    assert file.stat().st_mode & 0o077 == 0
    for damaged in (b"", b"{", b"[]", json.dumps({"name": embedder.space.name, "dimension": "x"}).encode()):
        file.write_bytes(damaged)
        again = open_embedder("openai-compatible:m", cache=tmp_path / "cache", provider=ProviderSettings(server.url))
        assert again
        assert again.embed(["tide"]).shape == (1, 384)
        again.close()


def test_a_store_keeps_the_dimension_of_its_vectors(serve: Serve, db: Path, tmp_path: Path) -> None:
    """A server that has another model under the same name: the memory is kept, and the store is not spoilt."""
    server = serve()
    settings: dict[str, Any] = {"embedder": "openai-compatible:m", "embedder_url": server.url, "model_wait": 30}
    with Retentive.open(db, cache=str(tmp_path / "one"), **settings) as store:
        assert not store.add("The tide turns at noon").pending
    server.replies = [Reply(change=shorten)]
    with Retentive.open(db, cache=str(tmp_path / "two"), **settings) as store:
        assert store.add("The ferry leaves at nine").pending
        assert "192 numbers, and those of the store have 384" in store.stats()["failures"]["embed"]
        found = store.search("when does the tide turn?")
        assert found.hits[0].content == "The tide turns at noon"
        assert "192 numbers" in found.notes[0]
        with pytest.raises(ModelUnfit):
            store.backfill()
        (space,) = store.stats()["spaces"]
        assert (space["dimension"], space["vectors"]) == (384, 1)
    server.replies = [Reply()]
    with Retentive.open(db, cache=str(tmp_path / "two"), **settings) as store:
        assert store.backfill().remaining == 0


def test_the_missing_key_keeps_no_memory_from_being_kept(db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with Retentive.open(db, embedder="openai:text-embedding-3-small") as store:
        added = store.add("The tide turns at noon")
        assert added.pending
        found = store.search("tide")
        assert [hit.id for hit in found] == [added.id]
        assert "needs a key" in found.notes[0]
        with pytest.raises(ModelMissing):
            store.backfill()
        model = next(each for each in store.doctor() if each.name == "model")
        assert not model.ok
        assert "OPENAI_API_KEY" in model.remedy
