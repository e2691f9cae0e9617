"""Whatever is sent, a server lives, and answers the next good request."""

from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.engines import NO_TLS
from tests.mcp.client import ERAS, eras, serving
from tests.mcp.malformed import line, messages, others, requests, shapes
from tests.mcp.posting import HEADERS, NOT_HTTP, Posting, connected
from tests.mcp.process import Piped, request

EXAMPLES = 60
SHARED = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]


@pytest.fixture(scope="module", params=ERAS)
def piped(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Piped]:
    """A server that has all of it to bear."""
    with Piped(tmp_path_factory.mktemp("fuzz") / "memory.db", request.param) as server:
        yield server


def lives(server: Piped) -> None:
    assert "memories" in server.call("memory_list", {}), server.said()


def test_wrong_lines_are_survived(piped: Piped) -> None:
    for lines in (shapes() | requests(piped.era) | others()).values():
        piped.send(*lines)
        lives(piped)


@settings(max_examples=EXAMPLES, suppress_health_check=SHARED)
@given(st.lists(messages, min_size=1, max_size=8))
def test_any_lines_are_survived(piped: Piped, lines: list[bytes]) -> None:
    piped.send(*lines)
    lives(piped)


def test_all_that_it_says_meanwhile_is_protocol(piped: Piped) -> None:
    piped.send(*(each for lines in shapes().values() for each in lines))
    lives(piped)
    assert all(each["jsonrpc"] == "2.0" for each in piped.messages())


@eras
def test_what_comes_before_the_greeting_is_survived(db: Path, era: str) -> None:
    with Piped(db, era, greet=False) as server:
        server.send(*(each for lines in (shapes() | others()).values() for each in lines))
        server.greet()
        lives(server)


@eras
def test_a_request_before_the_greeting_is_answered(db: Path, era: str) -> None:
    """By an error where the era wants a greeting; the greeting then works."""
    with Piped(db, era, greet=False) as server:
        answer = server.ask("tools/list")
        assert ("error" in answer) == (era == "2025-11-25")
        server.greet()
        lives(server)


def test_many_requests_at_once_are_all_answered(db: Path) -> None:
    """Their answers are more than a pipe holds."""
    with Piped(db) as server:
        ids = [server.post("tools/list") for _ in range(100)]
        assert all("result" in server.answer(each) for each in ids)


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("fuzz")
    (folder / "config.toml").write_text("requests_per_second = 0\n", "utf-8")  # more come than a client would send
    with serving(folder / "memory.db") as address:
        yield address


@eras
def test_wrong_bodies_are_refused_and_survived(url: str, era: str) -> None:
    with Posting(url, era) as posting:
        for wrong, lines in (shapes() | requests(era) | others()).items():
            for each in lines:
                assert posting.post(each) < 500, wrong
            posting.lives()


@settings(max_examples=EXAMPLES, suppress_health_check=SHARED)
@given(st.sampled_from([*ERAS]), st.lists(messages, min_size=1, max_size=8))
def test_any_bodies_are_survived(url: str, era: str, bodies: list[bytes]) -> None:
    with Posting(url, era) as posting:
        for each in bodies:
            assert posting.post(each) < 500, each
        posting.lives()


@eras
def test_wrong_headers_are_refused_and_survived(url: str, era: str) -> None:
    with Posting(url, era) as posting:
        for wrong in HEADERS:
            assert 400 <= posting.post(line(request(1, "tools/list", era=era)), wrong) < 500, wrong
        posting.lives()


@pytest.mark.parametrize("method", ["PUT", "PATCH", "OPTIONS", "TRACE", "HEAD", "BREW"])
def test_wrong_methods_are_refused(url: str, method: str) -> None:
    assert 400 <= httpx.request(method, url, verify=NO_TLS).status_code < 500


def test_what_is_not_even_http_is_survived(url: str) -> None:
    for sent in NOT_HTTP:
        with connected(url) as raw, suppress(ConnectionError):  # it may hang up before it has heard all
            raw.sendall(sent)
    with Posting(url, "2026-07-28") as posting:
        posting.lives()


def test_those_who_connect_and_say_nothing_hold_up_nobody(url: str) -> None:
    with ExitStack() as silent, Posting(url, "2026-07-28") as posting:
        for _ in range(100):
            silent.enter_context(connected(url))
        posting.lives()
