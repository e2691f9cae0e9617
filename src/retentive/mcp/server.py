"""The protocol around the tools, resources and prompts, for standard input and HTTP.

The SDK speaks the versions of the protocol that begin with a handshake, and those without.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping
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
from retentive.hints import for_tools
from retentive.mcp import arguments, catalogue, prompts, resources
from retentive.mcp.caller import Caller
from retentive.mcp.catalogue import Offer
from retentive.mcp.tool import Tool

CALL_THREAD_NAME = "retentive-call"  # prefix of the threads' names
CALL_THREADS = 8  # concurrent calls; each thread has a connection to the store
LONG_CALL_THREADS = 2  # for calls that may take minutes, such as an import, so that no question waits for them

T = TypeVar("T")
P = TypeVar("P")
R = TypeVar("R")
RequestContext = ServerRequestContext[Any, Any]
FindCaller = Callable[[RequestContext], Awaitable[Caller]]
RedactError = Callable[[RetentiveError], RetentiveError]
ReserveId = Callable[[RequestContext], AbstractContextManager[None]]
log = logging.getLogger(__name__)


def open_server(
    find_caller: FindCaller,
    offer: Offer,
    instructions: str,
    *,
    in_order: bool = False,
    redact: RedactError = lambda error: error,
    reserve_request_id: ReserveId = lambda _: nullcontext(),
) -> Server[Any]:
    """Make a server of the SDK.

    `find_caller` finds the caller of a request. `redact` removes from an error what callers may not see.
    `in_order` is for a single client: its writes, except long calls, are done in the order in which they came, even if
    it does not wait for the answers. `reserve_request_id` is entered while a request is handled, also if its client has
    disconnected.
    """
    handlers = Handlers(find_caller, offer, redact, in_order=in_order)
    reserving = partial(_with_reserved_id, reserve_request_id)
    return Server(
        "retentive",
        version=__version__,
        title="Retentive",
        description="Long-term memory for AI agents",
        instructions=instructions,
        lifespan=handlers.life,
        on_list_tools=reserving(handlers.list_tools),
        on_call_tool=reserving(handlers.call_tool),
        on_list_resources=reserving(handlers.list_resources),
        on_list_resource_templates=reserving(handlers.list_templates),
        on_read_resource=reserving(handlers.read_resource),
        on_list_prompts=reserving(handlers.list_prompts),
        on_get_prompt=reserving(handlers.get_prompt),
    )


def _with_reserved_id(
    reserve_request_id: ReserveId, handle: Callable[[RequestContext, P], Awaitable[R]]
) -> Callable[[RequestContext, P], Awaitable[R]]:
    async def reserve_and_handle(context: RequestContext, params: P) -> R:
        with reserve_request_id(context):
            return await handle(context, params)

    return reserve_and_handle


class Threads:
    """Worker threads. One caller may take half of them, so that it cannot block the others."""

    def __init__(self, count: int) -> None:
        self._pool = ThreadPoolExecutor(count, CALL_THREAD_NAME)
        self._share = max(1, count // 2)
        self._turns: dict[str, asyncio.Semaphore] = {}

    async def run(self, do: Callable[[], T], caller_id: str = "") -> T:
        """Run on a free thread. A caller without an id may take all threads."""
        if not caller_id:
            return await asyncio.wrap_future(self._pool.submit(do))
        turn = self._turns.setdefault(caller_id, asyncio.Semaphore(self._share))
        await turn.acquire()
        work = self._pool.submit(do)
        loop = asyncio.get_running_loop()
        work.add_done_callback(lambda _: _call_in_loop(loop, turn.release))  # also after its request was cancelled
        return await asyncio.wrap_future(work)

    def shutdown(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)


def _call_in_loop(loop: asyncio.AbstractEventLoop, do: Callable[[], None]) -> None:
    with suppress(RuntimeError):  # the loop has ended
        loop.call_soon_threadsafe(do)


class Handlers:
    """Handle requests on worker threads: the store is not asynchronous.

    A cancelled request ends at once. Its thread is busy until the call ends.
    """

    def __init__(self, find_caller: FindCaller, offer: Offer, redact: RedactError, *, in_order: bool) -> None:
        self._find_caller = find_caller
        self._offer = offer
        self._redact = redact
        self._threads = Threads(CALL_THREADS)
        self._long_call_threads = Threads(LONG_CALL_THREADS)
        self._write_threads = Threads(1) if in_order else self._threads

    @asynccontextmanager
    async def life(self, _: Server[Any]) -> AsyncIterator[None]:
        try:
            yield
        finally:
            for threads in (self._threads, self._long_call_threads, self._write_threads):
                threads.shutdown()

    async def list_tools(
        self, context: RequestContext, _: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        tools = self._tools_for(await self._find_caller(context)).values()
        return types.ListToolsResult(tools=[types.Tool.model_validate(catalogue.describe_tool(each)) for each in tools])

    async def call_tool(self, context: RequestContext, params: types.CallToolRequestParams) -> types.CallToolResult:
        caller = await self._find_caller(context)
        tools = self._tools_for(caller)
        if params.name not in tools:
            return _answer_unknown_tool(context, params.name, tools)
        tool = tools[params.name]
        try:
            given = arguments.parse_arguments(tool, params.arguments)
            answer = await self._threads_for(tool).run(partial(tool.run, caller, **given), caller.id)
        except RetentiveError as error:
            return _error_result(self._redact(error), tools)
        except Exception as error:  # noqa: BLE001 - the edge of the program; it is logged
            return _error_result(_unexpected(tool.name, error), tools)
        return _tool_result(answer.text, dict(answer.data))

    async def list_resources(
        self, context: RequestContext, _: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        caller = await self._find_caller(context)
        found = await self._run(partial(resources.list_resources, caller), caller)
        return types.ListResourcesResult(resources=[_to_mcp_resource(each) for each in found])

    async def list_templates(
        self, _: RequestContext, __: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(
            resource_templates=[_to_mcp_template(each) for each in resources.RESOURCE_TEMPLATES]
        )

    async def read_resource(
        self, context: RequestContext, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        uri, caller = str(params.uri), await self._find_caller(context)
        text = await self._run(partial(resources.read_resource, caller, uri), caller, uri=uri)
        return types.ReadResourceResult(
            contents=[types.TextResourceContents(uri=uri, mime_type="text/plain", text=text)]
        )

    async def list_prompts(
        self, context: RequestContext, _: types.PaginatedRequestParams | None
    ) -> types.ListPromptsResult:
        offered = prompts.list_prompts(writes=self._can_write(await self._find_caller(context)))
        return types.ListPromptsResult(prompts=[_to_mcp_prompt(each) for each in offered.values()])

    async def get_prompt(self, context: RequestContext, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        caller = await self._find_caller(context)
        find = partial(prompts.find_prompt, params.name, params.arguments, writes=self._can_write(caller))
        found = await self._run(find, caller)
        text = await self._run(partial(found.render, caller, params.arguments or {}), caller)
        message = types.PromptMessage(role="user", content=types.TextContent(type="text", text=text))
        return types.GetPromptResult(description=found.description, messages=[message])

    def _threads_for(self, tool: Tool) -> Threads:
        if tool.long:
            return self._long_call_threads
        return self._threads if tool.reads else self._write_threads

    def _can_write(self, caller: Caller) -> bool:
        return caller.can_write and self._offer.writes and self._offer.is_own

    def _tools_for(self, caller: Caller) -> Mapping[str, Tool]:
        known = catalogue.select_tools(self._offer, person=caller.person is not None, writes=caller.can_write)
        return {name: tool for name, tool in known.items() if caller.is_local or not tool.is_local}

    async def _run(self, do: Callable[[], T], caller: Caller, **about: str) -> T:
        """Run a request for resources or prompts on a thread. Its errors get `about` as data."""
        try:
            return await self._threads.run(do, caller.id)
        except RetentiveError as error:
            raise _to_mcp_error(self._redact(error), self._tools_for(caller), about) from error
        except Exception as error:
            raise _to_mcp_error(_unexpected("what was asked", error), self._tools_for(caller), about) from error


def _unexpected(what: str, error: Exception) -> RetentiveError:
    """Log the error and return one that shows nothing of the inside."""
    log.error("%s failed", what, exc_info=error)
    return RetentiveError(f"{what} failed unexpectedly", "See the server's log.")


def _to_mcp_error(error: RetentiveError, tools: Collection[str], about: Mapping[str, str]) -> MCPError:
    code = types.INVALID_PARAMS if isinstance(error, Invalid | NotFound) else types.INTERNAL_ERROR
    return MCPError(code=code, message=_describe(error, tools), data={**_serialize(error, tools)["error"], **about})


def _tool_result(text: str, data: dict[str, Any], *, failed: bool = False) -> types.CallToolResult:
    content: list[Any] = [types.TextContent(type="text", text=text)]
    return types.CallToolResult(content=content, structured_content=data, is_error=failed)


def _answer_unknown_tool(context: RequestContext, name: str, tools: Collection[str]) -> types.CallToolResult:
    """Return a result that shows the error to the model. Versions without a handshake want an `MCPError`: raise it."""
    missing = NotFound(f"there is no tool {name[:60]!r}", f"Choose one of: {', '.join(tools)}.")
    if context.protocol_version in HANDSHAKE_PROTOCOL_VERSIONS:
        return _error_result(missing, tools)
    raise _to_mcp_error(missing, tools, {})


def _error_result(error: RetentiveError, tools: Collection[str]) -> types.CallToolResult:
    return _tool_result(f"Error: {_describe(error, tools)}", _serialize(error, tools), failed=True)


def _serialize(error: RetentiveError, tools: Collection[str]) -> dict[str, Any]:
    return serialize.error(error, lambda hint: for_tools(hint, tools))


def _describe(error: RetentiveError, tools: Collection[str]) -> str:
    """Say in one line what went wrong, what helps, and whether to try again."""
    again = " It may succeed if tried again." if error.retryable else ""
    return f"{str(error).rstrip('.')}. {for_tools(error.hint, tools)}{again}".strip()


def _to_mcp_resource(each: resources.Resource) -> types.Resource:
    return types.Resource(
        uri=each.uri, name=each.name, title=each.title, description=each.description, mime_type="text/plain"
    )


def _to_mcp_template(each: resources.Resource) -> types.ResourceTemplate:
    return types.ResourceTemplate(
        uri_template=each.uri, name=each.name, title=each.title, description=each.description, mime_type="text/plain"
    )


def _to_mcp_prompt(each: prompts.Prompt) -> types.Prompt:
    arguments = []
    if each.argument:
        arguments.append(types.PromptArgument(name=each.argument, description=each.meaning, required=True))
    return types.Prompt(name=each.name, title=each.title, description=each.description, arguments=arguments)
