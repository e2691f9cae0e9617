"""Whose memory it is, where the folder does not tell.

A client with windows starts its servers anywhere, but says which folders it works in when it is asked (roots). It is
asked once, at its first request.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

import anyio
import mcp_types as types
from mcp.shared.exceptions import MCPError

from retentive.api import Retentive
from retentive.mcp.caller import Reached, limit_store
from retentive.mcp.server import Asked
from retentive.served_namespaces import Whose

SECONDS = 2.0  # for the client to tell


class Project:
    """How far a single client reaches. `by_folder` is None where that is settled."""

    def __init__(self, memory: Retentive, whose: Whose, by_folder: Callable[[Path], Whose] | None = None) -> None:
        self._memory = memory
        self._whose = whose
        self._by_folder = by_folder
        self._settling = anyio.Lock()

    async def __call__(self, asked: Asked) -> Reached:
        async with self._settling:
            if self._by_folder:
                folder, by_folder, self._by_folder = await _folder(asked), self._by_folder, None
                self._whose = by_folder(folder) if folder else self._whose
        whose = self._whose
        view = limit_store(self._memory, whose.namespace, whose.person, whose.also)
        return Reached(view, whose.also, whose.person, failures=self._list_failures)

    def _list_failures(self) -> Mapping[str, str]:
        failures: Mapping[str, str] = self._memory.stats()["failures"]
        return failures


async def _folder(asked: Asked) -> Path | None:
    """The first that the client works in."""
    known = asked.session.client_capabilities
    if known is None or known.roots is None or not asked.session.can_send_request:
        return None
    told: types.ListRootsResult | None = None
    with anyio.move_on_after(SECONDS):
        try:
            told = await asked.session.send_request(types.ListRootsRequest(), types.ListRootsResult)
        except MCPError:
            return None
    paths = [urlsplit(str(root.uri)) for root in told.roots] if told else []
    return next((Path(url2pathname(each.path)) for each in paths if each.scheme == "file"), None)
