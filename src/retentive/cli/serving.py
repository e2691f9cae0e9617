"""The verbs that serve others."""

import logging
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from retentive.cli import show
from retentive.cli.given import given, is_json
from retentive.errors import RetentiveError

MODEL_WAIT = 2.0  # seconds that a call waits for the model, unless set: loading takes 0.2, its first rebuilding 10


def _mcp(arguments: Any) -> int:
    from retentive.serve.mcp.catalogue import Offer

    offer = Offer(arguments.tools)
    if arguments.tool_cost:
        return _cost(arguments, offer)
    if sys.stdin.isatty():
        show.aside("This is an MCP server: it waits for a client's messages. `retentive install` sets a client up.")
    return _stdio(arguments, offer)


def _cost(arguments: Any, offer: Any) -> int:
    from retentive.serve.mcp.catalogue import cost, offered

    tokens = cost(offered(offer, person=arguments_whose(arguments).person is not None))
    if is_json(arguments):
        show.as_json({"tools": dict(tokens), "total": sum(tokens.values())})
    else:
        show.table(("tool", "tokens"), [*tokens.items(), ("all", sum(tokens.values()))])
    return 0


def _stdio(arguments: Any, offer: Any) -> int:
    from retentive.app import Retentive
    from retentive.serve.mcp.catalogue import Offer
    from retentive.serve.mcp.instructions import instructions
    from retentive.serve.mcp.reach import Reached
    from retentive.serve.mcp.server import open_server
    from retentive.serve.mcp.stdio import serve

    logging.basicConfig(level=logging.WARNING, stream=sys.stderr)
    whose = arguments_whose(arguments)
    with Retentive.open(**_settings(arguments, whose.namespace)) as memory:
        reached = Reached(memory, whose.also, whose.person)
        told = instructions(whose, writes=offer is not Offer.READ)
        works = offer is not Offer.READ and _works(arguments)
        begun = partial(_begin, memory, whose.also, works=works)
        serve(open_server(lambda _: reached, offer, told, in_order=True), begun)
    return 0


def arguments_whose(arguments: Any) -> Any:
    from retentive import config
    from retentive.serve.whose import whose

    namespace = config.load(**given(arguments, ("db", "namespace", "embedder"))).namespace
    return whose(namespace, arguments.also, Path.cwd())


def _settings(arguments: Any, namespace: str) -> Mapping[str, Any]:
    from retentive import config

    settings = given(arguments, ("db", "embedder"))
    resolved = config.resolve(settings)
    if resolved["model_wait"].origin == "default":
        settings["model_wait"] = MODEL_WAIT
    return {"target": settings.pop("db", None), "namespace": namespace, **settings}


def _works(arguments: Any) -> bool:
    from retentive import config

    return config.load(**given(arguments, ("db", "embedder"))).worker


def _begin(memory: Any, also: tuple[str, ...], *, works: bool) -> None:
    _warm(memory, also)
    if works:
        memory.worker().start()


def _warm(memory: Any, also: tuple[str, ...]) -> None:
    def load() -> None:
        with suppress(RetentiveError):  # the first question will tell
            memory.warm(also)

    threading.Thread(target=load, name="retentive-warm", daemon=True).start()


VERBS: dict[str, Callable[[Any], int]] = {"mcp": _mcp}
