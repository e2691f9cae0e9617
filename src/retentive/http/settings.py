"""The settings of the HTTP server."""

from ipaddress import IPv4Address, IPv6Address, ip_address

from retentive.config import Config
from retentive.frozen_dataclass import dataclass

MIN_CALLERS = 10  # it takes at least so many callers to use all connections
BURST_SECONDS = 4  # of requests that may come at once after a pause: a starting client sends many


@dataclass(frozen=True, slots=True)
class HttpSettings:
    host: str = "127.0.0.1"
    port: int = 8765
    """0 chooses a free port."""
    require_token: bool = False
    """Require a token on loopback, too. Elsewhere one is always required."""
    allow_hosts: tuple[str, ...] = ()
    """Host names that clients may use, besides the address of the server."""
    trusted_proxies: tuple[str, ...] = ("127.0.0.1", "::1")
    """Addresses of proxies whose `X-Forwarded-For` is trusted."""
    max_request: int = 4 << 20
    """The maximum size of a body in bytes."""
    requests_per_second: float = 50.0
    """Per token, or per address without a token. 0: no limit."""

    max_connections: int = 1000
    """Beyond it, new connections replace idle ones."""
    idle_seconds: int = 30
    """How long a connection is kept open without a complete request."""
    drain_seconds: int = 10
    """How long running requests may take after the server was asked to stop. Then open streams are ended."""

    @property
    def address(self) -> IPv4Address | IPv6Address | None:
        """The address of `host`; None if it is a name."""
        return parse_address(self.host)

    @property
    def requests_at_once(self) -> int:
        """Maximum concurrent requests per token, or per address without one: a part of all connections."""
        return max(1, self.max_connections // MIN_CALLERS)

    @property
    def needs_token(self) -> bool:
        is_loopback = self.address.is_loopback if self.address else self.host.lower() == "localhost"
        return self.require_token or not is_loopback


def make_settings(config: Config) -> HttpSettings:
    return HttpSettings(
        host=config.serve_host,
        port=config.serve_port,
        require_token=config.require_token,
        allow_hosts=_split_list(config.allow_hosts),
        trusted_proxies=_split_list(config.trusted_proxies),
        max_request=config.max_request,
        requests_per_second=config.requests_per_second,
    )


def parse_address(text: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(text.strip("[]").partition("%")[0])
    except ValueError:
        return None


def _split_list(text: str) -> tuple[str, ...]:
    return tuple(each.strip() for each in text.split(",") if each.strip())
