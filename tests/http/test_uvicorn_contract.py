"""The parts of uvicorn that `retentive.http.uvicorn_server` extends are still there. They are not public."""

import asyncio
import inspect
import signal

import pytest
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle
from uvicorn.server import HANDLED_SIGNALS, ServerState

from retentive.http.uvicorn_server import STOP_SIGNALS


async def _app(scope: object, receive: object, send: object) -> None: ...


def test_a_connection_has_the_attributes_that_tell_whether_it_is_idle() -> None:
    async def make() -> H11Protocol:
        config = uvicorn.Config(_app, http=H11Protocol, lifespan="off", log_config=None, timeout_keep_alive=7)
        config.load()
        assert config.http_protocol_class is H11Protocol
        return H11Protocol(config, ServerState(), {})

    made = asyncio.run(make())
    cycle: RequestResponseCycle | None = made.cycle  # its annotation leaves out the None
    assert cycle is None
    assert (made.client, len(made.connections), made.timeout_keep_alive) == (None, 0, 7)
    assert isinstance(made.loop, asyncio.AbstractEventLoop)
    assert hasattr(made, "transport")


def test_a_request_says_when_its_response_is_complete() -> None:
    assert "self.response_complete = False" in inspect.getsource(RequestResponseCycle.__init__)
    assert "self.response_complete = True" in inspect.getsource(RequestResponseCycle.send)


@pytest.mark.parametrize("name", ["startup", "capture_signals", "handle_exit"])
def test_a_server_has_the_methods_that_are_extended(name: str) -> None:
    assert callable(getattr(uvicorn.Server, name))


def test_the_server_stops_by_the_signals_that_uvicorn_handles() -> None:
    assert {*STOP_SIGNALS} == {signal.Signals(each) for each in HANDLED_SIGNALS}
