"""Choose the namespaces by the client's roots, where the server's own folder is no project.

A client with windows starts its servers in any folder, but lists the folders it works in (roots) on request. The
server asks once, at the first call.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

import anyio
import mcp_types as types
from mcp.shared.exceptions import MCPError

from retentive.api import Retentive
from retentive.mcp.caller import Caller, limit_store
from retentive.mcp.server import RequestContext
from retentive.served_namespaces import ServedNamespaces

ROOTS_SECONDS = 2.0  # for the client to list its roots


class ClientProject:
    """The caller behind standard input. Its roots choose the namespaces, unless `by_folder` is None."""

    def __init__(
        self, memory: Retentive, served: ServedNamespaces, by_folder: Callable[[Path], ServedNamespaces] | None = None
    ) -> None:
        self._memory = memory
        self._served = served
        self._by_folder = by_folder
        self._settling = anyio.Lock()

    async def __call__(self, context: RequestContext) -> Caller:
        async with self._settling:
            if self._by_folder:
                folder, by_folder, self._by_folder = await _request_first_root(context), self._by_folder, None
                self._served = by_folder(folder) if folder else self._served
        served = self._served
        view = limit_store(self._memory, served.namespace, served.person, served.also_read)
        return Caller(view, served.also_read, served.person, failures=self._list_failures)

    def _list_failures(self) -> Mapping[str, str]:
        failures: Mapping[str, str] = self._memory.stats()["failures"]
        return failures


async def _request_first_root(context: RequestContext) -> Path | None:
    """The first folder among the client's roots."""
    known = context.session.client_capabilities
    if known is None or known.roots is None or not context.session.can_send_request:
        return None
    answer: types.ListRootsResult | None = None
    with anyio.move_on_after(ROOTS_SECONDS):
        try:
            answer = await context.session.send_request(types.ListRootsRequest(), types.ListRootsResult)
        except MCPError:
            return None
    paths = [urlsplit(str(root.uri)) for root in answer.roots] if answer else []
    return next((Path(url2pathname(each.path)) for each in paths if each.scheme == "file"), None)
