"""Access tokens, and the bounds that they set to whoever brings one."""

from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Bounds:
    """Which namespaces may be touched, and whether they may be changed."""

    namespaces: tuple[str, ...]
    subtree: bool = False
    """And all below them: `alice/coder` below `alice`."""
    read_only: bool = False

    @property
    def prefixes(self) -> tuple[str, ...]:
        return tuple(f"{name}/" for name in self.namespaces) if self.subtree else ()

    def cover(self, namespace: str) -> bool:
        return namespace in self.namespaces or namespace.startswith(self.prefixes)

    def contain(self, other: "Bounds") -> bool:
        """Nothing that the other allows is forbidden here; but for writing, which is asked apart."""
        return all(map(self.cover, other.namespaces)) and (self.subtree or not other.subtree)


@dataclass(frozen=True, slots=True)
class Token:
    """An access token as the store knows it: everything but its secret."""

    id: str
    name: str | None
    """A label of its maker's choice."""
    namespace: str
    subtree: bool
    """Whether it reaches the namespaces below, too."""
    read_only: bool
    created: datetime
    expires: datetime | None
    last_used: datetime | None
    """To the minute."""
    revoked: datetime | None

    @property
    def bounds(self) -> Bounds:
        return Bounds((self.namespace,), self.subtree, self.read_only)

    def holds_at(self, moment: datetime) -> bool:
        return self.revoked is None and (self.expires is None or moment < self.expires)


@dataclass(frozen=True, slots=True)
class Issued:
    """A new token with its secret, which is kept nowhere and told once."""

    token: Token
    secret: str = field(repr=False)
