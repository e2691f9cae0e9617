"""Trust in sources: which memory may replace another, and how far a memory made from others is trusted.

All code that replaces a memory asks `may_replace`. All code that makes a memory from others asks `find_lowest_trust`.
So text that nobody vouched for neither replaces the user's own words nor passes for them.
"""

from collections.abc import Iterable, Mapping
from enum import IntEnum, StrEnum

from retentive.model.memory import Source
from retentive.model.proposals import HELD_RULES

AGENT = "agent"  # the actor of changes that an agent makes by itself: it cannot vouch for anything


class Trust(IntEnum):
    """How far a source is trusted. A larger number means more."""

    MADE = 1
    """An assistant concluded it, or a tool returned it, such as a web page. Nobody vouches for it."""
    BROUGHT = 2
    """The user chose the file or the import, but did not say each sentence in it."""
    SAID = 3
    """The user asked for it to be kept, or said it in a conversation."""


class ImportTrust(StrEnum):
    """How far an import is trusted, chosen by the person who imports it."""

    USER = "user"
    """The person vouches for the file: it counts as their own words."""
    STATED = "stated"
    """New memories keep the source that the export states, but replace nothing that the user said."""
    IMPORT = "import"
    """The file is from a stranger: everything counts as an import, whatever source it states."""


# The most trusted first. Within a level, the order only decides which source a memory made from several gets.
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
    """Whether a memory of one source may replace a memory of another. If not, a proposal is made."""
    return _LEVELS[new] >= _LEVELS[old]


def is_held(rule: str, newer: Source, older: Source) -> bool:
    """Whether a replacement is only proposed because of its sources. No agent may accept it then."""
    return rule in HELD_RULES or not may_replace(newer, older)


def find_lowest_trust(sources: Iterable[Source]) -> Source:
    """Find the least trusted source. A memory made from others gets it."""
    return max(sources, key=_ORDER.__getitem__)


def is_said(source: Source) -> bool:
    """Whether the text is the user's own words. All other text is quoted in prompts."""
    return _LEVELS[source] is Trust.SAID


def describe_refusal(new: Source, old: Source) -> str:
    """Explain to people why a memory of one source does not replace a memory of another."""
    return f"a memory {describe_source(new)} does not replace one {describe_source(old)}"


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
