"""Access tokens, and the bounds that they set to whoever brings one."""

from dataclasses import dataclass, field, replace
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Bounds:
    """Which namespaces may be touched, and which of them may be changed."""

    namespaces: tuple[str, ...]
    subtree: bool = False
    """And all below them: `alice/coder` below `alice`."""
    read_only: bool = False
    also_read: tuple[str, ...] = ()
    """Further ones that may be read and never changed: names, or prefixes such as `team/*`."""

    @property
    def names(self) -> tuple[str, ...]:
        """The namespaces that may be read, by name; `prefixes` has the others. `team/*` includes `team`."""
        return (*self.namespaces, *(name.removesuffix("/*") for name in self.also_read))

    @property
    def prefixes(self) -> tuple[str, ...]:
        below = tuple(name.removesuffix("*") for name in self.also_read if name.endswith("/*"))
        return (*self._own_prefixes, *below)

    @property
    def writable(self) -> "Bounds":
        """The part that may be changed."""
        return replace(self, also_read=())

    def cover(self, namespace: str) -> bool:
        """Whether a namespace may be read."""
        return namespace in self.names or namespace.startswith(self.prefixes)

    def can_write(self, namespace: str) -> bool:
        is_own = namespace in self.namespaces or namespace.startswith(self._own_prefixes)
        return is_own and not self.read_only

    def contain(self, other: "Bounds") -> bool:
        """Nothing that the other lets read is closed here; what may be changed, `narrow` decides."""
        return all(map(self.cover, other.names)) and all(each.startswith(self.prefixes) for each in other.prefixes)

    def narrow(self, other: "Bounds") -> "Bounds":
        """The other bounds without the right to change what may not be changed here."""
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
        """Of a name, or of a prefix such as `team/*`."""
        return name.startswith(self._own_prefixes) if name.endswith("/*") else self.can_write(name)

    @property
    def _own_prefixes(self) -> tuple[str, ...]:
        return tuple(f"{name}/" for name in self.namespaces) if self.subtree else ()


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
