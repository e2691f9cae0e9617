"""`Verb`: the declaration of a command; `VerbGroup` and `Topic`: how commands are arranged."""

from typing import NamedTuple

from retentive.surface.field import Field


class Verb(NamedTuple):
    """The declaration of a command, such as `add` or `session append`."""

    name: str
    help: str
    """What it does, in one line that begins with a verb."""
    arguments: tuple[Field, ...] = ()
    """Values that are given by their position."""
    options: tuple[Field, ...] = ()
    examples: tuple[str, ...] = ()
    """What is typed after `retentive`."""
    epilog: str = ""
    exclusive: tuple[tuple[str, ...], ...] = ()
    """Names of options, of which only one may be given."""

    @property
    def own_name(self) -> str:
        """The name inside its group."""
        return self.name.rpartition(" ")[2]

    @property
    def fields(self) -> tuple[Field, ...]:
        return (*self.arguments, *self.options)


class VerbGroup(NamedTuple):
    """Verbs on one kind of thing, behind its name: `session append`, `session list`."""

    name: str
    help: str
    verbs: tuple[Verb, ...]
    alone: str = ""
    """The verb if none is given."""
    otherwise: str = ""
    """The verb for arguments that begin with no verb."""
    epilog: str = ""

    @property
    def own_name(self) -> str:
        return self.name


class Topic(NamedTuple):
    """A heading of the help, with the verbs below it."""

    title: str
    verbs: tuple[Verb | VerbGroup, ...]
