"""Serve the store over MCP: on standard input and output, or over HTTP."""

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
from retentive.cli.args import is_json, pick_options
from retentive.errors import Invalid, RetentiveError
from retentive.fs.paths import require_free_descriptors

if TYPE_CHECKING:
    from retentive.api import Retentive
    from retentive.mcp.catalogue import Offer
    from retentive.served_namespaces import ServedNamespaces

CLOSE_SECONDS = 1.0  # that running calls have to notice that the store is closed
MIN_FREE_DESCRIPTORS = 32  # for a server's event loop, the store on several threads, and clients
MODEL_WAIT_SECONDS = 2.0  # that a call waits for the model, unless set: loading takes 0.2, the first rebuild 10


def _mcp(arguments: Any) -> int:
    from retentive.mcp.catalogue import Offer

    offer = Offer(arguments.tools)
    if arguments.tool_cost:
        return _print_tool_cost(arguments, offer)
    if sys.stdin is None or sys.stdout is None:
        hint = "An MCP client needs both; `retentive serve` needs neither."
        raise Invalid("standard input or output is closed", hint)
    if sys.stdin.isatty():
        output.print_hint(
            "This is an MCP server: it waits for a client's messages. `retentive install` sets a client up."
        )
    return _serve_stdio(arguments, offer)


def _print_tool_cost(arguments: Any, offer: "Offer") -> int:
    from retentive.mcp.catalogue import estimate_tokens, select_tools

    tokens = estimate_tokens(select_tools(offer, person=_find_namespaces(arguments).person is not None))
    if is_json(arguments):
        output.print_json({"tools": dict(tokens), "total": sum(tokens.values())})
    else:
        output.print_table(("tool", "tokens"), [*tokens.items(), ("all", sum(tokens.values()))])
    return 0


def _serve_stdio(arguments: Any, offer: "Offer") -> int:
    from retentive.api import Retentive
    from retentive.mcp.instructions import instructions

    with hide_package("uvicorn"):
        from retentive.mcp.client_roots import ClientProject
        from retentive.mcp.server import open_server
        from retentive.mcp.stdio import serve
    from retentive.served_namespaces import AUTO, find_namespaces

    logging.basicConfig(level=logging.WARNING, stream=sys.stderr)
    require_free_descriptors(MIN_FREE_DESCRIPTORS)
    served, has_worker = _find_namespaces(arguments), _has_worker(arguments)
    with Retentive.open(**_build_store_settings(arguments, served)) as memory:
        by_folder = partial(find_namespaces, AUTO, arguments.also, person=memory.person or "")
        served = _settle_earlier_name(memory, served)
        find_caller = ClientProject(memory, served, None if served.is_settled else by_folder)
        server = open_server(find_caller, offer, instructions(served, offer), in_order=True)
        memory.namespaces(served.also_read)  # fails now for names that are invalid
        serve(server, lambda: _start_background_work(memory, has_worker=has_worker))
    _exit_without_calls()
    return 0


def _serve(arguments: Any) -> int:
    from retentive import config
    from retentive.api import Retentive
    from retentive.http import make_settings, open_app, serve
    from retentive.mcp.catalogue import Offer
    from retentive.mcp.http import open_endpoint

    logging.basicConfig(level=logging.WARNING, stream=sys.stderr)
    require_free_descriptors(MIN_FREE_DESCRIPTORS)
    found = _find_namespaces(arguments)
    network = pick_options(arguments, ("db", "embedder", "serve_host", "serve_port", "require_token"))
    if arguments.allow_hosts:
        network["allow_hosts"] = ",".join(arguments.allow_hosts)
    settings = make_settings(config.load(**network))
    with Retentive.open(**_build_store_settings(arguments, found)) as memory:
        served = _settle_earlier_name(memory, found)
        endpoint, lifespan = open_endpoint(served, Offer(arguments.tools), settings.max_request)
        app = open_app(memory, endpoint, settings, lifespan)
        memory.namespaces(served.also_read)  # fails now for names that are invalid
        _start_background_work(memory, has_worker=_has_worker(arguments))
        serve(app, settings)
    _exit_without_calls()
    return 0


def _find_namespaces(arguments: Any) -> "ServedNamespaces":
    from retentive import config
    from retentive.served_namespaces import find_namespaces

    settings = config.load(**pick_options(arguments, ("db", "namespace", "embedder")))
    return find_namespaces(settings.namespace, arguments.also, Path.cwd(), settings.person)


def _settle_earlier_name(memory: "Retentive", served: "ServedNamespaces") -> "ServedNamespaces":
    """Drop the project's earlier name if nothing was saved under it; else say once that it is read."""
    served = served.keep_earlier_if_in(memory.namespaces())
    if served.earlier:
        sys.stderr.write(f"{output.describe_earlier_name(served)}\n")
    return served


def _build_store_settings(arguments: Any, served: "ServedNamespaces") -> Mapping[str, Any]:
    from retentive import config

    settings = pick_options(arguments, ("db", "embedder"))
    if config.resolve(settings)["model_wait"].origin == "default":
        settings["model_wait"] = MODEL_WAIT_SECONDS
    settings["daily_log"] = config.resolve_daily_log(config.load(**settings))
    if served.person:
        settings["person"] = served.person
    return {"target": settings.pop("db", None), "namespace": served.namespace, **settings}


def _has_worker(arguments: Any) -> bool:
    """Whether the server does background work; a read-only one does not."""
    from retentive import config

    return config.load(**pick_options(arguments, ("db", "embedder"))).worker and arguments.tools != "read"


@contextmanager
def hide_package(name: str) -> Iterator[None]:
    """Let an optional import of a package fail, as if it were not installed.

    The MCP SDK imports a web server if one is installed: 4 MB that a server on standard input never uses.
    """
    if name in sys.modules:
        yield
        return
    sys.modules[name] = None  # type: ignore[assignment]  # so Python marks what cannot be imported
    try:
        yield
    finally:
        del sys.modules[name]


def _start_background_work(memory: "Retentive", *, has_worker: bool) -> None:
    """Start background work in a thread, because the first answer does not need it.

    Model and index are loaded by the first call that needs them: they take 100 MB, and many clients start a server
    without ever calling it.
    """
    if has_worker:
        threading.Thread(target=_run_background_work, args=(memory,), name="retentive-begin", daemon=True).start()


def _run_background_work(memory: "Retentive") -> None:
    memory.worker().start()
    with suppress(RetentiveError):
        memory.files.watch_configured()


def _exit_without_calls() -> None:
    """End the process although calls still run: the store is closed, and nobody waits for their answers."""
    from retentive.mcp.server import CALL_THREAD_NAME

    until = time.monotonic() + CLOSE_SECONDS
    calls = [each for each in threading.enumerate() if each.name.startswith(CALL_THREAD_NAME)]
    for each in calls:
        each.join(max(0.0, until - time.monotonic()))
    if any(each.is_alive() for each in calls):
        sys.stderr.flush()
        os._exit(0)


VERBS: dict[str, Callable[[Any], int]] = {"mcp": _mcp, "serve": _serve}
