"""The verbs that serve others."""

import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from retentive.cli import output
from retentive.cli.args import given, is_json
from retentive.errors import Invalid, RetentiveError
from retentive.fs.paths import require_free_descriptors

if TYPE_CHECKING:
    from retentive.api import Retentive
    from retentive.mcp.catalogue import Offer
    from retentive.served_namespaces import Whose

LAST_SECONDS = 1.0  # for calls to notice that the store is closed
MIN_FILES = 32  # that a server opens at once: its loop, the store on several threads, its clients
MODEL_WAIT = 2.0  # seconds that a call waits for the model, unless set: loading takes 0.2, its first rebuilding 10


def _mcp(arguments: Any) -> int:
    from retentive.mcp.catalogue import Offer

    offer = Offer(arguments.tools)
    if arguments.tool_cost:
        return _cost(arguments, offer)
    if sys.stdin is None or sys.stdout is None:
        hint = "A client talks through both; `retentive serve` needs neither."
        raise Invalid("standard input or output is closed", hint)
    if sys.stdin.isatty():
        output.aside("This is an MCP server: it waits for a client's messages. `retentive install` sets a client up.")
    return _stdio(arguments, offer)


def _cost(arguments: Any, offer: "Offer") -> int:
    from retentive.mcp.catalogue import cost, offered

    tokens = cost(offered(offer, person=_whose(arguments).person is not None))
    if is_json(arguments):
        output.as_json({"tools": dict(tokens), "total": sum(tokens.values())})
    else:
        output.table(("tool", "tokens"), [*tokens.items(), ("all", sum(tokens.values()))])
    return 0


def _stdio(arguments: Any, offer: "Offer") -> int:
    from retentive.api import Retentive
    from retentive.mcp.catalogue import Offer
    from retentive.mcp.instructions import instructions

    with hide_package("uvicorn"):
        from retentive.mcp.client_roots import Project
        from retentive.mcp.server import open_server
        from retentive.mcp.stdio import serve
    from retentive.served_namespaces import AUTO
    from retentive.served_namespaces import whose as find

    logging.basicConfig(level=logging.WARNING, stream=sys.stderr)
    require_free_descriptors(MIN_FILES)
    whose, works = _whose(arguments), _works(arguments)
    with Retentive.open(**_settings(arguments, whose)) as memory:
        by_folder = partial(find, AUTO, arguments.also, person=memory.person or "")
        reach = Project(memory, whose, None if whose.settled else by_folder)
        server = open_server(reach, offer, instructions(whose, writes=offer is not Offer.READ), in_order=True)
        memory.namespaces(whose.also)  # names that are none are told now
        serve(server, lambda: _begin(memory, works=works))
    _leave()
    return 0


def _serve(arguments: Any) -> int:
    from retentive import config
    from retentive.api import Retentive
    from retentive.http import open_app, serve, settings_of
    from retentive.mcp.catalogue import Offer
    from retentive.mcp.http import open_endpoint

    logging.basicConfig(level=logging.WARNING, stream=sys.stderr)
    require_free_descriptors(MIN_FILES)
    whose = _whose(arguments)
    network = given(arguments, ("db", "embedder", "serve_host", "serve_port", "require_token"))
    if hasattr(arguments, "allow_hosts"):
        network["allow_hosts"] = ",".join(arguments.allow_hosts)
    settings = settings_of(config.load(**network))
    endpoint, lifespan = open_endpoint(whose, Offer(arguments.tools), settings.max_request)
    with Retentive.open(**_settings(arguments, whose)) as memory:
        app = open_app(memory, endpoint, settings, lifespan)
        memory.namespaces(whose.also)  # names that are none are told now
        _begin(memory, works=_works(arguments))
        serve(app, settings)
    _leave()
    return 0


def _whose(arguments: Any) -> "Whose":
    from retentive import config
    from retentive.served_namespaces import whose

    settings = config.load(**given(arguments, ("db", "namespace", "embedder")))
    return whose(settings.namespace, arguments.also, Path.cwd(), settings.person)


def _settings(arguments: Any, whose: "Whose") -> Mapping[str, Any]:
    from retentive import config

    settings = given(arguments, ("db", "embedder"))
    if config.resolve(settings)["model_wait"].origin == "default":
        settings["model_wait"] = MODEL_WAIT
    settings["daily_log"] = config.served(config.load(**settings))
    if whose.person:
        settings["person"] = whose.person
    return {"target": settings.pop("db", None), "namespace": whose.namespace, **settings}


def _works(arguments: Any) -> bool:
    """A server that only reads leaves the chores to others."""
    from retentive import config

    return config.load(**given(arguments, ("db", "embedder"))).worker and arguments.tools != "read"


@contextmanager
def hide_package(name: str) -> Iterator[None]:
    """Let an optional import of a package fail, as if it were not installed.

    The SDK of MCP imports a web server wherever there is one: 4 MB that a server on standard input never uses.
    """
    if name in sys.modules:
        yield
        return
    sys.modules[name] = None  # type: ignore[assignment]  # so Python marks what cannot be imported
    try:
        yield
    finally:
        del sys.modules[name]


def _begin(memory: "Retentive", *, works: bool) -> None:
    """Start what need not be there for the first answer.

    Model and index are loaded by the first call that needs them: they take 100 MB, and many clients start a server that
    they never ask.
    """
    if works:
        threading.Thread(target=_work, args=(memory,), name="retentive-begin", daemon=True).start()


def _work(memory: "Retentive") -> None:
    memory.worker().start()
    with suppress(RetentiveError):
        memory.files.watch_configured()


def _leave() -> None:
    """The store is closed: what still runs, for an answer that nobody waits for, has nothing left to lose."""
    from retentive.mcp.server import CALL

    until = time.monotonic() + LAST_SECONDS
    calls = [each for each in threading.enumerate() if each.name.startswith(CALL)]
    for each in calls:
        each.join(max(0.0, until - time.monotonic()))
    if any(each.is_alive() for each in calls):
        sys.stderr.flush()
        os._exit(0)


VERBS: dict[str, Callable[[Any], int]] = {"mcp": _mcp, "serve": _serve}
