"""The protocol around the tools, resources and prompts: the same on standard input and over HTTP, in both eras."""

import json
import logging
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, TypeVar

import anyio
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from retentive import __version__, wire
from retentive.errors import Invalid, NotFound, RetentiveError
from retentive.serve.mcp import arguments, catalogue, prompts, resources
from retentive.serve.mcp.catalogue import Offer
from retentive.serve.mcp.reach import Reached

THREADS = 8  # calls at work at once; each thread holds a connection to the store

_HERE = {
    "`retentive list`": "memory_search",
    "`retentive search`": "memory_search",
    "`retentive note list`": "note with action list",
    "`retentive session list`": "the list of resources",
}
"""What hints that were written for the terminal say here."""

T = TypeVar("T")
Asked = ServerRequestContext[Any, Any]
Reach = Callable[[Asked], Awaitable[Reached]]
log = logging.getLogger(__name__)


def open_server(reach: Reach, offer: Offer, instructions: str, *, in_order: bool = False) -> Server[Any]:
    """`reach` tells of each request how far it may reach.

    `in_order` is for a single client: what it writes is done in the order in which it came, though it may not wait.
    """
    handlers = Handlers(reach, offer, in_order=in_order)
    return Server(
        "retentive",
        version=__version__,
        title="Retentive",
        description="Long-term memory for AI agents",
        instructions=instructions,
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        on_list_resources=handlers.list_resources,
        on_list_resource_templates=handlers.list_templates,
        on_read_resource=handlers.read_resource,
        on_list_prompts=handlers.list_prompts,
        on_get_prompt=handlers.get_prompt,
    )


class Handlers:
    """What is asked, answered on worker threads: the store is not asynchronous."""

    def __init__(self, reach: Reach, offer: Offer, *, in_order: bool) -> None:
        self._reach = reach
        self._offer = offer
        self._threads = anyio.CapacityLimiter(THREADS)
        self._writing = anyio.CapacityLimiter(1 if in_order else THREADS)  # whose queue is a queue

    async def list_tools(self, asked: Asked, _: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        tools = self._tools(await self._reach(asked)).values()
        return types.ListToolsResult(tools=[types.Tool.model_validate(catalogue.shown(each)) for each in tools])

    async def call_tool(self, asked: Asked, params: types.CallToolRequestParams) -> types.CallToolResult:
        reached = await self._reach(asked)
        tools = self._tools(reached)
        if params.name not in tools:
            return _failed(NotFound(f"there is no tool {params.name[:60]!r}", f"There are: {', '.join(tools)}."))
        tool = tools[params.name]
        try:
            given = arguments.checked(tool, params.arguments)
            threads = self._threads if tool.reads or tool.long else self._writing
            answer = await anyio.to_thread.run_sync(partial(tool.run, reached, **given), limiter=threads)
        except RetentiveError as error:
            return _failed(error)
        except Exception:
            log.exception("%s failed", tool.name)
            return _failed(RetentiveError(f"{tool.name} failed unexpectedly", "See the server's log."))
        return _result(answer.text, dict(answer.data))

    async def list_resources(self, asked: Asked, _: types.PaginatedRequestParams | None) -> types.ListResourcesResult:
        found = await self._answered(partial(resources.listed, await self._reach(asked)))
        return types.ListResourcesResult(resources=[_resource(each) for each in found])

    async def list_templates(
        self, _: Asked, __: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(resource_templates=[_template(each) for each in resources.TEMPLATES])

    async def read_resource(self, asked: Asked, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        uri = str(params.uri)
        told = await self._answered(partial(resources.read, await self._reach(asked), uri), uri=uri)
        return types.ReadResourceResult(
            contents=[types.TextResourceContents(uri=uri, mime_type="text/plain", text=told)]
        )

    async def list_prompts(self, asked: Asked, _: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
        offered = prompts.offered(writes=self._writes(await self._reach(asked)))
        return types.ListPromptsResult(prompts=[_prompt(each) for each in offered.values()])

    async def get_prompt(self, asked: Asked, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        reached = await self._reach(asked)
        find = partial(prompts.prompt, params.name, params.arguments, writes=self._writes(reached))
        found = await self._answered(find)
        told = await self._answered(partial(found.say, reached, params.arguments or {}))
        message = types.PromptMessage(role="user", content=types.TextContent(type="text", text=told))
        return types.GetPromptResult(description=found.description, messages=[message])

    def _writes(self, reached: Reached) -> bool:
        return reached.writes and self._offer is not Offer.READ

    def _tools(self, reached: Reached) -> Any:
        offer = self._offer if self._writes(reached) else Offer.READ
        return catalogue.offered(offer, person=reached.person is not None)

    async def _answered(self, do: Callable[[], T], **about: str) -> T:
        """What is no tool has no place for an error of its own: it becomes one of the protocol, `about` what it is."""
        try:
            return await anyio.to_thread.run_sync(do, limiter=self._threads)
        except RetentiveError as error:
            code = types.INVALID_PARAMS if isinstance(error, Invalid | NotFound) else types.INTERNAL_ERROR
            raise MCPError(code=code, message=_told(error), data=wire.error(error)["error"] | about) from error


def _result(text: str, data: dict[str, Any], *, failed: bool = False) -> types.CallToolResult:
    content: list[Any] = [types.TextContent(type="text", text=text)]
    return types.CallToolResult(content=content, structured_content=json.loads(json.dumps(data)), is_error=failed)


def _failed(error: RetentiveError) -> types.CallToolResult:
    return _result(f"Error: {_told(error)}", wire.error(error), failed=True)


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
