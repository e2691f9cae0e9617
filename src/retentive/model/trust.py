"""How far the source of a memory is trusted: which memory may end another, and what a memory made of others is worth.

Every way by which a memory ends another asks `may_replace`. Every way by which a memory is made of others asks
`find_lowest_trust`. So text that nobody vouched for neither ends what the user said nor passes for it.
"""

from collections.abc import Iterable, Mapping
from enum import IntEnum, StrEnum

from retentive.model.memory import Source
from retentive.model.proposals import HELD_RULES

AGENT = "agent"  # the actor of what an agent does by itself: it cannot vouch for anything


class Trust(IntEnum):
    """Who stands behind a text. More is a larger number."""

    MADE = 1
    """Nobody: an assistant concluded it, or a tool returned it, such as a web page."""
    BROUGHT = 2
    """The user chose the file or the import, but did not say each sentence in it."""
    SAID = 3
    """The user: asked for it to be kept, or said it in a conversation."""


class ImportTrust(StrEnum):
    """What the person who imports a file says of it."""

    USER = "user"
    """They vouch for it: it counts as their own word."""
    STATED = "stated"
    """An export says of each memory where it came from. It is believed of what is new, but ends nothing of the user."""
    IMPORT = "import"
    """It is a stranger's: nothing in it counts for more than an import, whatever it says."""


# The most trusted first. Within one level the order only names the source of a memory that is made of several.
_LEVELS: Mapping[Source, Trust] = {
    Source.EXPLICIT: Trust.SAID,
    Source.EXTRACTED: Trust.SAID,  # learned from the user's own messages: a change of mind in talk must count
    Source.CONVERSATION: Trust.SAID,
    Source.FILE: Trust.BROUGHT,
    Source.IMPORT: Trust.BROUGHT,
    Source.ASSISTANT: Trust.MADE,
    Source.TOOL: Trust.MADE,
}
_ORDER = {source: place for place, source in enumerate(_LEVELS)}


def find_trust(source: Source) -> Trust:
    return _LEVELS[source]


def may_replace(new: Source, old: Source) -> bool:
    """Whether a memory of one source may end a memory of another. If not, it becomes a proposal."""
    return _LEVELS[new] >= _LEVELS[old]


def is_held(rule: str, newer: Source, older: Source) -> bool:
    """Whether a proposal is one because of its sources: then no agent accepts it."""
    return rule in HELD_RULES or not may_replace(newer, older)


def find_lowest_trust(sources: Iterable[Source]) -> Source:
    """The least trusted source: that of a memory which is made of others."""
    return max(sources, key=_ORDER.__getitem__)


def is_said(source: Source) -> bool:
    """Whether it is the user's own word. All other text is quoted where a model reads it."""
    return _LEVELS[source] is Trust.SAID


def describe_refusal(new: Source, old: Source) -> str:
    """Why a memory of one source does not end a memory of another, for people."""
    return f"what is {describe_source(new)} does not replace what is {describe_source(old)}"


def describe_source(source: Source) -> str:
    return _FROM[source]


_FROM: Mapping[Source, str] = {
    Source.EXPLICIT: "said by the user",
    Source.EXTRACTED: "said by the user",
    Source.CONVERSATION: "said by the user",
    Source.FILE: "from a file",
    Source.IMPORT: "imported",
    Source.ASSISTANT: "concluded by the assistant",
    Source.TOOL: "returned by a tool",
}
