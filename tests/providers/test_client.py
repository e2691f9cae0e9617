"""The HTTP client of all providers, asked of a real server on the loopback."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from email.utils import formatdate
from typing import Any

import pytest

from retentive.errors import BadConfig
from retentive.providers.breaker import Breaker
from retentive.providers.client import MAX_CALLS, CircuitOpen, Client, Refusal, Retries, Unanswered, is_same_server
from retentive.providers.registry import parse_spec
from tests.providers.conftest import Serve
from tests.providers.server import Reply

KEY = "sk-of-mine-0123456789"
PATIENT = Retries(3, 5.0, first_pause=0.01)
Connect = Callable[..., Client]


@pytest.fixture
def connect() -> Iterator[Connect]:
    clients: list[Client] = []

    def connect_(url: str, **options: Any) -> Client:
        clients.append(Client(url, **options))
        return clients[-1]

    yield connect_
    for client in clients:
        client.close()


def ask(client: Client) -> bytes:
    return client.post("/embeddings", {"model": "m", "input": ["tide"]})


def test_the_body_of_the_answer_comes_back_and_the_key_is_sent(serve: Serve, connect: Connect) -> None:
    server = serve()
    assert b"embedding" in ask(connect(server.url, key=KEY))
    assert server.asked[0].headers["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 529])
def test_a_refusal_that_may_pass_is_followed_by_another_try(serve: Serve, connect: Connect, status: int) -> None:
    server = serve(Reply(status), Reply(status), Reply())
    assert ask(connect(server.url, retries=PATIENT))
    assert len(server.asked) == 3


def test_a_server_is_asked_again_when_it_says(serve: Serve, connect: Connect) -> None:
    server = serve(Reply(429, {"Retry-After": "0.3"}), Reply())
    begun = time.monotonic()
    assert ask(connect(server.url, retries=PATIENT))
    assert time.monotonic() - begun >= 0.3


@pytest.mark.parametrize("after", ["60", "a date"])
def test_a_long_pause_is_not_waited_for_and_keeps_the_breaker_open(serve: Serve, connect: Connect, after: str) -> None:
    asked = formatdate(time.time() + 60, usegmt=True) if after == "a date" else after
    server = serve(Reply(429, {"Retry-After": asked}))
    client = connect(server.url, retries=PATIENT)
    with pytest.raises(Refusal) as caught:
        ask(client)
    assert 50 < (caught.value.retry_after or 0) <= 60
    with pytest.raises(CircuitOpen, match=r"not asked for (5\d|60) s more"):
        ask(client)
    assert len(server.asked) == 1


@pytest.mark.parametrize("after", ["soon", "nan", "inf", "-3", ""])
def test_a_retry_after_that_is_none_does_no_harm(serve: Serve, connect: Connect, after: str) -> None:
    server = serve(Reply(429, {"Retry-After": after}), Reply())
    assert ask(connect(server.url, retries=PATIENT))


def test_tries_come_to_an_end(serve: Serve, connect: Connect) -> None:
    server = serve(Reply(500, error="out of order"))
    client = connect(server.url, retries=PATIENT)
    with pytest.raises(Refusal) as caught:
        ask(client)
    assert (caught.value.status, caught.value.message) == (500, "out of order")
    assert len(server.asked) == 4
    assert client.breaker.describe().startswith("open for 5 s: it answered 500 out of order")


@pytest.mark.parametrize("status", [400, 413, 422])
def test_a_request_that_the_server_does_not_want_is_not_repeated_and_opens_nothing(
    serve: Serve, connect: Connect, status: int
) -> None:
    server = serve(Reply(status))
    client = connect(server.url, retries=PATIENT)
    for _ in range(2):
        with pytest.raises(Refusal):
            ask(client)
    assert len(server.asked) == 2


def test_a_refused_key_is_sent_once_and_shown_never(serve: Serve, connect: Connect) -> None:
    server = serve(Reply(401, error=f"{KEY} is unknown"))
    client = connect(server.url, key=KEY, retries=PATIENT)
    for _ in range(10):
        with pytest.raises((Refusal, CircuitOpen)) as caught:
            ask(client)
        assert KEY not in f"{caught.value} {vars(caught.value).get('said')} {caught.value.__cause__}"
    assert len(server.asked) == 1


def test_nothing_follows_a_redirection(serve: Serve, connect: Connect) -> None:
    other = serve()
    server = serve(Reply(307, {"Location": f"{other.url}/embeddings"}))
    with pytest.raises(Refusal):
        ask(connect(server.url, key=KEY))
    assert other.asked == []


def test_a_dead_server_costs_one_timeout_however_many_ask(serve: Serve, connect: Connect) -> None:
    server = serve(Reply(delay=2))
    client = connect(server.url, timeout=0.2)
    with pytest.raises(Unanswered, match=r"did not answer within 0\.2 seconds"):
        ask(client)
    for _ in range(1000):
        with pytest.raises(CircuitOpen, match="did not answer within"):
            ask(client)
    assert len(server.asked) == 1


def test_a_server_that_drips_is_too_slow(serve: Serve, connect: Connect) -> None:
    """Each piece comes in time, the whole does not."""
    server = serve(Reply(body=b"x" * 10_000, drip=0.05))
    with pytest.raises(Unanswered, match=r"within 0\.3 seconds"):
        ask(connect(server.url, timeout=0.3))


def test_all_threads_together_cost_a_dead_server_no_more_than_fit_at_once(serve: Serve, connect: Connect) -> None:
    server = serve(Reply(delay=2))
    client = connect(server.url, timeout=0.2)

    def fail(_: int) -> bool:
        with pytest.raises(Unanswered):
            ask(client)
        return True

    with ThreadPoolExecutor(32) as pool:
        assert all(pool.map(fail, range(200)))
    assert client.requests <= MAX_CALLS


@pytest.mark.parametrize("reply", [Reply(broken=True), Reply(headers={"Content-Encoding": "gzip"})])
def test_an_answer_that_breaks_off_is_none(serve: Serve, connect: Connect, reply: Reply) -> None:
    with pytest.raises(Unanswered):
        ask(connect(serve(reply).url))


def test_a_server_that_is_back_is_asked_again(serve: Serve, connect: Connect) -> None:
    """By one call first; its answer lets the others through."""
    server = serve(Reply(500), Reply())
    client = connect(server.url, breaker=Breaker(first_pause=0.05))
    with pytest.raises(Refusal):
        ask(client)
    with pytest.raises(CircuitOpen):
        ask(client)
    time.sleep(0.06)
    assert client.breaker.describe().startswith("half-open")
    assert ask(client)
    assert client.breaker.describe() == "closed"


def test_the_pause_doubles_with_each_trial_that_fails() -> None:
    breaker = Breaker(first_pause=0.02)
    for seconds in (0.02, 0.04, 0.08):
        assert breaker.try_call() == ""
        breaker.fail("it is gone")
        assert breaker._pause == seconds
        time.sleep(seconds)
    assert breaker.try_call() == ""
    assert "another call is trying it" in breaker.try_call()


def test_calls_that_fail_together_are_one_failure() -> None:
    breaker = Breaker(first_pause=1.0)
    for _ in range(4):
        breaker.fail("it is gone")
    assert breaker._pause == 1.0


def test_no_more_calls_than_allowed_are_under_way(serve: Serve, connect: Connect) -> None:
    server = serve(Reply(delay=0.02))
    client = connect(server.url)
    with ThreadPoolExecutor(16) as pool:
        assert all(pool.map(lambda _: ask(client), range(40)))
    assert server.most_under_way <= MAX_CALLS


def test_closing_ends_a_pause(serve: Serve, connect: Connect) -> None:
    server = serve(Reply(429, {"Retry-After": "30"}))
    client = connect(server.url, retries=Retries(3, 60.0))
    with ThreadPoolExecutor(1) as pool:
        asking = pool.submit(ask, client)
        while not server.asked:
            time.sleep(0.01)
        client.close()
        assert isinstance(asking.exception(timeout=20), Refusal | Unanswered)


def test_no_proxy_leads_to_this_machine(serve: Serve, connect: Connect, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert ask(connect(serve().url))


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("http://localhost:11434", "http://127.0.0.1:11434/v1", True),
        ("https://api.openai.com/v1", "https://api.openai.com:443", True),
        ("http://localhost:1234", "http://localhost:1235", False),
        ("http://gpu.example:11434", "http://localhost:11434", False),
    ],
)
def test_servers_are_compared_by_host_and_port(one: str, other: str, same: bool) -> None:
    assert is_same_server(one, other) is same


@pytest.mark.parametrize(
    ("text", "name", "model"),
    [
        ("openai:text-embedding-3-small", "openai", "text-embedding-3-small"),
        ("ollama:qwen3:8b", "ollama", "qwen3:8b"),
        ("ollama:nomic-embed-text:latest", "ollama", "nomic-embed-text"),
        ("lmstudio:qwen/qwen3-8b", "lmstudio", "qwen/qwen3-8b"),
        ("openai-compatible", "openai-compatible", ""),
    ],
)
def test_a_spec_names_a_provider_and_its_model(text: str, name: str, model: str) -> None:
    spec = parse_spec(text)
    assert (spec.provider.name, spec.model) == (name, model)


def test_an_unknown_provider_names_those_there_are() -> None:
    with pytest.raises(BadConfig) as caught:
        parse_spec("gemini:flash")
    assert "ollama" in caught.value.hint
