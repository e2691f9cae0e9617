"""The protocol around the tools, resources and prompts: the same on standard input and over HTTP, in both eras."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext, suppress
from functools import partial
from typing import Any, TypeVar

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from retentive import __version__, serialize
from retentive.errors import Invalid, NotFound, RetentiveError
from retentive.mcp import arguments, catalogue, prompts, resources
from retentive.mcp.caller import Reached
from retentive.mcp.catalogue import Offer
from retentive.mcp.tool import Tool

CALL = "retentive-call"  # how its threads are called
THREADS = 8  # calls at work at once; each thread holds a connection to the store
LONG_THREADS = 2  # for calls that may take minutes, such as an import: whatever they wait for, questions are answered

_HERE = {
    "`retentive list`": "memory_search",
    "`retentive search`": "memory_search",
    "`retentive note list`": "note with action list",
    "`retentive session list`": "the list of resources",
}
"""What hints that were written for the terminal say here."""

T = TypeVar("T")
P = TypeVar("P")
R = TypeVar("R")
Asked = ServerRequestContext[Any, Any]
Reach = Callable[[Asked], Awaitable[Reached]]
Shown = Callable[[RetentiveError], RetentiveError]
Hold = Callable[[Asked], AbstractContextManager[None]]
log = logging.getLogger(__name__)


def open_server(
    reach: Reach,
    offer: Offer,
    instructions: str,
    *,
    in_order: bool = False,
    shown: Shown = lambda error: error,
    hold: Hold = lambda _: nullcontext(),
) -> Server[Any]:
    """`reach` tells of each request how far it may reach; `shown` is an error as whoever asks may see it.

    `in_order` is for a single client: what it writes is done in the order in which it came, though it may not wait.
    `hold` is entered while a request is worked on, also if whoever asked is gone.
    """
    handlers = Handlers(reach, offer, shown, in_order=in_order)
    held = partial(_held, hold)
    return Server(
        "retentive",
        version=__version__,
        title="Retentive",
        description="Long-term memory for AI agents",
        instructions=instructions,
        lifespan=handlers.life,
        on_list_tools=held(handlers.list_tools),
        on_call_tool=held(handlers.call_tool),
        on_list_resources=held(handlers.list_resources),
        on_list_resource_templates=held(handlers.list_templates),
        on_read_resource=held(handlers.read_resource),
        on_list_prompts=held(handlers.list_prompts),
        on_get_prompt=held(handlers.get_prompt),
    )


def _held(hold: Hold, handle: Callable[[Asked, P], Awaitable[R]]) -> Callable[[Asked, P], Awaitable[R]]:
    async def handle_held(asked: Asked, params: P) -> R:
        with hold(asked):
            return await handle(asked, params)

    return handle_held


class Threads:
    """Worker threads of which one caller takes up a half, so that nobody waits for the calls of one other alone."""

    def __init__(self, count: int) -> None:
        self._pool = ThreadPoolExecutor(count, CALL)
        self._share = max(1, count // 2)
        self._turns: dict[str, asyncio.Semaphore] = {}

    async def run(self, do: Callable[[], T], caller: str = "") -> T:
        """A caller without a name has all of them."""
        if not caller:
            return await asyncio.wrap_future(self._pool.submit(do))
        turn = self._turns.setdefault(caller, asyncio.Semaphore(self._share))
        await turn.acquire()
        work = self._pool.submit(do)
        loop = asyncio.get_running_loop()
        work.add_done_callback(lambda _: _tell(loop, turn.release))  # whoever asked may be gone before
        return await asyncio.wrap_future(work)

    def shutdown(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)


def _tell(loop: asyncio.AbstractEventLoop, what: Callable[[], None]) -> None:
    with suppress(RuntimeError):  # the loop has ended
        loop.call_soon_threadsafe(what)


class Handlers:
    """What is asked, answered on worker threads: the store is not asynchronous.

    Who is cancelled, as all are when the server ends, does not wait for a call at work; its thread is taken until then.
    """

    def __init__(self, reach: Reach, offer: Offer, shown: Shown, *, in_order: bool) -> None:
        self._reach = reach
        self._offer = offer
        self._shown = shown
        self._threads = Threads(THREADS)
        self._long = Threads(LONG_THREADS)
        self._writing = Threads(1) if in_order else self._threads

    @asynccontextmanager
    async def life(self, _: Server[Any]) -> AsyncIterator[None]:
        try:
            yield
        finally:
            for threads in (self._threads, self._long, self._writing):
                threads.shutdown()

    async def list_tools(self, asked: Asked, _: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        tools = self._tools(await self._reach(asked)).values()
        return types.ListToolsResult(tools=[types.Tool.model_validate(catalogue.shown(each)) for each in tools])

    async def call_tool(self, asked: Asked, params: types.CallToolRequestParams) -> types.CallToolResult:
        reached = await self._reach(asked)
        tools = self._tools(reached)
        if params.name not in tools:
            return _no_such_tool(asked, params.name, tools)
        tool = tools[params.name]
        try:
            given = arguments.checked(tool, params.arguments)
            answer = await self._threads_for(tool).run(partial(tool.run, reached, **given), reached.caller)
        except RetentiveError as error:
            return _failed(self._shown(error))
        except Exception as error:  # noqa: BLE001 - an edge; the log has it
            return _failed(_unexpected(tool.name, error))
        return _result(answer.text, dict(answer.data))

    async def list_resources(self, asked: Asked, _: types.PaginatedRequestParams | None) -> types.ListResourcesResult:
        reached = await self._reach(asked)
        found = await self._answered(partial(resources.listed, reached), reached.caller)
        return types.ListResourcesResult(resources=[_resource(each) for each in found])

    async def list_templates(
        self, _: Asked, __: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(resource_templates=[_template(each) for each in resources.TEMPLATES])

    async def read_resource(self, asked: Asked, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        uri, reached = str(params.uri), await self._reach(asked)
        told = await self._answered(partial(resources.read, reached, uri), reached.caller, uri=uri)
        return types.ReadResourceResult(
            contents=[types.TextResourceContents(uri=uri, mime_type="text/plain", text=told)]
        )

    async def list_prompts(self, asked: Asked, _: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
        offered = prompts.offered(writes=self._writes(await self._reach(asked)))
        return types.ListPromptsResult(prompts=[_prompt(each) for each in offered.values()])

    async def get_prompt(self, asked: Asked, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        reached = await self._reach(asked)
        find = partial(prompts.prompt, params.name, params.arguments, writes=self._writes(reached))
        found = await self._answered(find, reached.caller)
        told = await self._answered(partial(found.say, reached, params.arguments or {}), reached.caller)
        message = types.PromptMessage(role="user", content=types.TextContent(type="text", text=told))
        return types.GetPromptResult(description=found.description, messages=[message])

    def _threads_for(self, tool: Tool) -> Threads:
        if tool.long:
            return self._long
        return self._threads if tool.reads else self._writing

    def _writes(self, reached: Reached) -> bool:
        return reached.writes and self._offer is not Offer.READ

    def _tools(self, reached: Reached) -> Mapping[str, Tool]:
        offer = self._offer if self._writes(reached) else Offer.READ
        known = catalogue.offered(offer, person=reached.person is not None)
        return {name: tool for name, tool in known.items() if reached.near or not tool.near}

    async def _answered(self, do: Callable[[], T], caller: str = "", **about: str) -> T:
        """What is no tool has no place for an error of its own: it becomes one of the protocol, `about` what it is."""
        try:
            return await self._threads.run(do, caller)
        except RetentiveError as error:
            raise _as_protocol(self._shown(error), about) from error
        except Exception as error:
            raise _as_protocol(_unexpected("what was asked", error), about) from error


def _unexpected(what: str, error: Exception) -> RetentiveError:
    """Whoever asks need not see our insides."""
    log.error("%s failed", what, exc_info=error)
    return RetentiveError(f"{what} failed unexpectedly", "See the server's log.")


def _as_protocol(error: RetentiveError, about: Mapping[str, str]) -> MCPError:
    code = types.INVALID_PARAMS if isinstance(error, Invalid | NotFound) else types.INTERNAL_ERROR
    return MCPError(code=code, message=_told(error), data={**serialize.error(error)["error"], **about})


def _result(text: str, data: dict[str, Any], *, failed: bool = False) -> types.CallToolResult:
    content: list[Any] = [types.TextContent(type="text", text=text)]
    return types.CallToolResult(content=content, structured_content=json.loads(json.dumps(data)), is_error=failed)


def _no_such_tool(asked: Asked, name: str, tools: Iterable[str]) -> types.CallToolResult:
    """An error of the protocol where the era wants one; before, a result, since that is what models are shown."""
    missing = NotFound(f"there is no tool {name[:60]!r}", f"There are: {', '.join(tools)}.")
    if asked.protocol_version in HANDSHAKE_PROTOCOL_VERSIONS:
        return _failed(missing)
    raise _as_protocol(missing, {})


def _failed(error: RetentiveError) -> types.CallToolResult:
    return _result(f"Error: {_told(error)}", serialize.error(error), failed=True)


def _told(error: RetentiveError) -> str:
    again = " It may succeed if tried again." if error.retryable else ""
    hint = error.hint
    for verb, here in _HERE.items():
        hint = hint.replace(verb, here)
    return f"{str(error).rstrip('.')}. {hint}{again}".strip()


def _resource(each: resources.Resource) -> types.Resource:
    return types.Resource(
        uri=each.uri, name=each.name, title=each.title, description=each.description, mime_type="text/plain"
    )


def _template(each: resources.Resource) -> types.ResourceTemplate:
    return types.ResourceTemplate(
        uri_template=each.uri, name=each.name, title=each.title, description=each.description, mime_type="text/plain"
    )


def _prompt(each: prompts.Prompt) -> types.Prompt:
    taken = types.PromptArgument(name=each.argument, description=each.meaning, required=True) if each.argument else None
    return types.Prompt(
        name=each.name, title=each.title, description=each.description, arguments=[taken] if taken else []
    )
