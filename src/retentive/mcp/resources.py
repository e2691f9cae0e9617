"""What can be read by address: a memory, a conversation, the newest memories, what is known of the person."""

from collections.abc import Callable, Sequence
from typing import NamedTuple
from urllib.parse import quote, unquote

from retentive.errors import NotFound
from retentive.mcp import conversation_tools, memory_tools, render
from retentive.mcp.caller import Reached
from retentive.model import Kind, Memory, is_said

SCHEME = "memory://"
SESSION = f"{SCHEME}session/"
RECENT = 30  # memories
SESSIONS = 20  # that are listed
KNOWN = 200  # memories of each kind that the profile shows
ABOUT = (Kind.INSTRUCTION, Kind.PREFERENCE, Kind.PERSONAL, Kind.BACKGROUND, Kind.CONTACT)
"""Kinds that tell of the person, in the order of the profile."""


class Resource(NamedTuple):
    uri: str
    name: str
    title: str
    description: str


FIXED = (
    Resource(f"{SCHEME}profile", "profile", "What is known of the user", "Profile, instructions, preferences, facts"),
    Resource(f"{SCHEME}recent", "recent", "Newest memories", f"The {RECENT} newest memories, a line each"),
)
TEMPLATES = (
    Resource(f"{SCHEME}{{id}}", "memory", "One memory", "The whole of a memory, by its id"),
    Resource(f"{SESSION}{{+id}}", "session", "One conversation", "Summary and newest messages of a conversation"),
)


def listed(reached: Reached) -> Sequence[Resource]:
    sessions = reached.memory.sessions.list(SESSIONS)
    return [*FIXED, *(_session(each.id, each.events) for each in sessions)]


def read(reached: Reached, uri: str) -> str:
    if not uri.startswith(SCHEME) or len(uri) == len(SCHEME):
        raise NotFound(f"no resource has the address {uri[:80]!r}", f"Addresses begin with {SCHEME}")
    if uri.startswith(SESSION):
        return _talk(reached, unquote(uri.removeprefix(SESSION)))
    name = unquote(uri.removeprefix(SCHEME))
    return _FIXED[name](reached) if name in _FIXED else memory_tools.get(reached, [name]).text


def profile(reached: Reached) -> str:
    """What is known of the person: the vital first, then kind by kind."""
    known = [memory.profile.text() for memory in reached.readable()]
    sections = [*known, *(_section(reached, kind) for kind in ABOUT)]
    return "\n\n".join(each for each in sections if each) or "Nothing is known of the user yet."


def recent(reached: Reached) -> str:
    rows = [render.memory(each) for each in reached.memory.list(RECENT)]
    return render.listed(rows) or "There are no memories yet."


def _section(reached: Reached, kind: Kind) -> str:
    found = [each for memory in reached.readable() for each in memory.list(KNOWN, kind=kind)]
    found.sort(key=_vital, reverse=True)
    told = [_line(each) for each in found[:KNOWN]]
    return "\n".join([f"{kind.title()}:", *told]) if told else ""


def _line(memory: Memory) -> str:
    """A memory on one line: quoted, with its source, if it is not the user's own word."""
    text = render.line(memory.content, 500)
    return f"- {text}" if is_said(memory.source) else f"- > {text} ({memory.source})"


def _vital(memory: Memory) -> tuple[int, float]:
    return memory.importance, memory.valid_from.timestamp()


def _talk(reached: Reached, session: str) -> str:
    found = reached.first(lambda memory: memory.sessions.summary(session))
    messages = conversation_tools.read(reached, session, limit=50).text
    return "\n\n".join(each for each in (found.text, messages) if each)


def _session(id: str, events: int) -> Resource:
    return Resource(SESSION + quote(id), id, f"Conversation {id}", f"{events} messages")


_FIXED: dict[str, Callable[[Reached], str]] = {"profile": profile, "recent": recent}
