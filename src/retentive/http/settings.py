"""What a server of the network is like."""

from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address

from retentive.config import Config

SHARES = 10  # callers that could take up all connections only together
BURST_SECONDS = 4  # of requests that may come at once after a pause: a client that starts asks for much


@dataclass(frozen=True, slots=True)
class Settings:
    host: str = "127.0.0.1"
    port: int = 8765
    """0: one that is free."""
    require_token: bool = False
    """On loopback, too. Elsewhere one is always required."""
    allow_hosts: tuple[str, ...] = ()
    """Names by which clients may call the server, beside its address."""
    trusted_proxies: tuple[str, ...] = ("127.0.0.1", "::1")
    """Whose word on where a request came from is believed."""
    max_request: int = 4 << 20
    """Bytes of a body."""
    requests_per_second: float = 50.0
    """Of one token; of one address, where there is none. 0: any number."""

    max_connections: int = 1000
    """Beyond it, those that wait for a request give way to new ones."""
    idle_seconds: int = 30
    """For which a connection is kept open without a whole request."""
    drain_seconds: int = 10
    """For what runs when the server is told to end; streams that never end are ended then."""

    @property
    def address(self) -> IPv4Address | IPv6Address | None:
        """None: it is a name."""
        return address_of(self.host)

    @property
    def requests_at_once(self) -> int:
        """Of one token, or of one address where there is none: a part of all, so that nobody takes up the server."""
        return max(1, self.max_connections // SHARES)

    @property
    def needs_token(self) -> bool:
        loopback = self.address.is_loopback if self.address else self.host.lower() == "localhost"
        return self.require_token or not loopback


def settings_of(config: Config) -> Settings:
    return Settings(
        host=config.serve_host,
        port=config.serve_port,
        require_token=config.require_token,
        allow_hosts=_several(config.allow_hosts),
        trusted_proxies=_several(config.trusted_proxies),
        max_request=config.max_request,
        requests_per_second=config.requests_per_second,
    )


def address_of(text: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(text.strip("[]").partition("%")[0])
    except ValueError:
        return None


def _several(text: str) -> tuple[str, ...]:
    return tuple(each.strip() for each in text.split(",") if each.strip())
