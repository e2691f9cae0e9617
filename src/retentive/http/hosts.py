"""Check the Host and Origin headers against DNS rebinding.

A web page can point a name of its own at 127.0.0.1 and then call the server there. Its requests carry that name as
Host, and its own address as Origin. So both must be ours: a name of loopback, the address we are bound to, or an
allowed name. A numeric address cannot be rebound; if we listen on all addresses, any of them may be ours.
"""

import re

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from retentive.http.responses import refusal
from retentive.http.settings import HttpSettings, parse_address

_HOST = re.compile(r"(\[[0-9A-Fa-f:.]{2,45}\]|[^\s:/@\[\]?#]{1,253})(?::\d{1,5})?")
_ORIGIN = re.compile(r"https?://(.+)", re.IGNORECASE)


class HostCheck:
    def __init__(self, app: ASGIApp, settings: HttpSettings) -> None:
        self._app = app
        self._bound = settings.address
        given = (settings.host, *settings.allow_hosts)
        self._names = {"localhost", *(name for each in given if (name := _parse_host_name(each)))}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        hosts, origins = headers.getlist("host"), headers.getlist("origin")
        if len(hosts) != 1 or not self._is_ours(hosts[0]):
            hint = "Use its address, or allow the name: --allow-host NAME."
            refused = refusal(421, "Misdirected", "this server is not known by that name", hint)
        elif origins and not (len(origins) == 1 and self._is_our_page(origins[0])):
            hint = "Pages of other sites may not use it; allow your own site with --allow-host NAME."
            refused = refusal(403, "Forbidden", "the request comes from a page of another site", hint)
        else:
            await self._app(scope, receive, send)
            return
        await refused(scope, receive, send)

    def _is_our_page(self, origin: str) -> bool:
        found = _ORIGIN.fullmatch(origin)
        return bool(found and self._is_ours(found[1]))

    def _is_ours(self, host: str) -> bool:
        name = _parse_host_name(host)
        if name is None or name in self._names:
            return name is not None
        address = parse_address(name)
        if address is None:
            return False
        return address.is_loopback or address == self._bound or bool(self._bound and self._bound.is_unspecified)


def _parse_host_name(host: str) -> str | None:
    """Return the host name without its port, in lower case; None if it is invalid."""
    if address := parse_address(host):
        return str(address)
    found = _HOST.fullmatch(host)
    return found[1].strip("[]").rstrip(".").lower() if found else None
