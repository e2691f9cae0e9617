"""Whatever is sent, a server lives, and answers the next good request."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.serve.client import ERAS, eras
from tests.serve.malformed import messages, others, requests, shapes
from tests.serve.process import Piped

EXAMPLES = 60
SHARED = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]


@pytest.fixture(scope="module", params=ERAS)
def piped(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Piped]:
    """A server that has all of it to bear."""
    with Piped(tmp_path_factory.mktemp("fuzz") / "memory.db", request.param) as server:
        yield server


def lives(server: Piped) -> None:
    assert "memories" in server.call("memory_stats", {}), server.said()


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
