"""`Field`: the declaration of one value that a caller gives or reads."""

from typing import Any, Literal, NamedTuple

Type = Literal[
    "text", "words", "name", "choice", "integer", "number", "time", "object", "flag",
    "id", "session", "namespace", "model", "setting", "path",
]  # fmt: skip
"""`name` is a text of one line; `object` is JSON; `time` is a date, an instant, a phrase or a span.

`words` is a text that may be typed without quotation marks. An `id` says in `of` what it is an id of. The last six
are names that the shell completes.
"""

TIME_HELP = "as 2026-12-31, 2026-12-31T18:00+01:00, 'last monday', or a span such as 12h, 7d, 4w"
MAX_NAME_CHARS = 200  # characters of a namespace, session, slot or tag: names, not texts


class Field(NamedTuple):
    """The declaration of a field, a filter or an option. Each door reads what it needs."""

    name: str
    type: Type
    help: str
    """What it means, in one phrase: on the terminal and in the reference."""
    many: bool = False
    """Whether it holds several values."""
    choices: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    max_chars: int = MAX_NAME_CHARS
    default: Any = None
    """The value if none is given; None: there is none, or it depends on others, as `help` says."""
    flag: str = ""
    """The long option on the command line, if it is not `--` and the name."""
    short: str = ""
    """The short option on the command line."""
    metavar: str = "TEXT"
    required: bool = False
    group: str = ""
    """The heading in the help of a verb."""
    of: str = ""
    """What an id is an id of."""
    off_flag: str = ""
    """The option that switches a flag off."""
    has_commas: bool = False
    """Whether several values may be given in one, with commas."""
    is_end: bool = False
    """Whether a time is the end of something: it may be in the future, and a day counts to its end."""
    is_clearable: bool = False
    """Whether an empty text is accepted, and takes the value away."""
    tool_help: str = ""
    """What a model reads in the schema of a tool, where the name does not say it. Short: it is read every time."""

    @property
    def option(self) -> str:
        """The long option on the command line."""
        return self.flag or f"--{self.name.replace('_', '-')}"
