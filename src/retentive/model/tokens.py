"""Access tokens, and the namespaces that they give access to."""

from dataclasses import field, replace
from datetime import datetime

from retentive.frozen_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Bounds:
    """The namespaces that may be read, and those that may be changed."""

    namespaces: tuple[str, ...]
    subtree: bool = False
    """Whether the namespaces below are included: `alice/coder` below `alice`."""
    read_only: bool = False
    also_read: tuple[str, ...] = ()
    """Further namespaces that may be read but never changed: names, or prefixes such as `team/*`."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the namespaces that may be read; `prefixes` has the others. `team/*` includes `team`."""
        return (*self.namespaces, *(name.removesuffix("/*") for name in self.also_read))

    @property
    def prefixes(self) -> tuple[str, ...]:
        below = tuple(name.removesuffix("*") for name in self.also_read if name.endswith("/*"))
        return (*self._own_prefixes, *below)

    @property
    def writable(self) -> "Bounds":
        """The bounds without the namespaces that may only be read."""
        return replace(self, also_read=())

    def cover(self, namespace: str) -> bool:
        """Whether a namespace may be read."""
        return namespace in self.names or namespace.startswith(self.prefixes)

    def can_write(self, namespace: str) -> bool:
        is_own = namespace in self.namespaces or namespace.startswith(self._own_prefixes)
        return is_own and not self.read_only

    def can_read_all_of(self, other: "Bounds") -> bool:
        """Whether these bounds may read all that the other bounds may read."""
        return all(map(self.cover, other.names)) and all(each.startswith(self.prefixes) for each in other.prefixes)

    def limit_writes(self, other: "Bounds") -> "Bounds":
        """Return the other bounds, in which namespaces that may not be changed here can only be read."""
        if self.read_only:
            return replace(other, read_only=True)
        end = "/*" if other.subtree else ""
        closed = [name for name in other.namespaces if not self._can_write_all(f"{name}{end}")]
        return replace(
            other,
            namespaces=tuple(name for name in other.namespaces if name not in closed),
            also_read=(*other.also_read, *(f"{name}{end}" for name in closed)),
        )

    def _can_write_all(self, name: str) -> bool:
        """Whether a namespace, or all below a prefix such as `team/*`, may be changed."""
        return name.startswith(self._own_prefixes) if name.endswith("/*") else self.can_write(name)

    @property
    def _own_prefixes(self) -> tuple[str, ...]:
        return tuple(f"{name}/" for name in self.namespaces) if self.subtree else ()


@dataclass(frozen=True, slots=True)
class Token:
    """A stored access token, without its secret."""

    id: str
    name: str | None
    """A label that its creator chose."""
    namespace: str
    subtree: bool
    """Whether the token opens the namespaces below, too."""
    read_only: bool
    created: datetime
    expires: datetime | None
    last_used: datetime | None
    """The last use, to the minute."""
    revoked: datetime | None

    @property
    def bounds(self) -> Bounds:
        return Bounds((self.namespace,), self.subtree, self.read_only)

    def holds_at(self, moment: datetime) -> bool:
        return self.revoked is None and (self.expires is None or moment < self.expires)


@dataclass(frozen=True, slots=True)
class NewToken:
    """A new token with its secret. The secret is shown only here, and not stored."""

    token: Token
    secret: str = field(repr=False)
