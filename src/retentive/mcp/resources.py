"""Resources, read by address: a memory, a conversation, the newest memories, the profile of the person."""

from collections.abc import Callable, Sequence
from typing import NamedTuple
from urllib.parse import quote, unquote

from retentive.errors import NotFound
from retentive.mcp import conversation_tools, memory_tools, render
from retentive.mcp.caller import Caller
from retentive.model import Kind, Memory, is_said

SCHEME = "memory://"
SESSION_PREFIX = f"{SCHEME}session/"
MAX_RECENT = 30  # memories
MAX_SESSIONS = 20  # that are listed
MAX_PROFILE_MEMORIES = 200  # memories of each kind that the profile shows
PROFILE_KINDS = (Kind.INSTRUCTION, Kind.PREFERENCE, Kind.PERSONAL, Kind.BACKGROUND, Kind.CONTACT)
"""Kinds about the person, in the order of the profile."""


class Resource(NamedTuple):
    uri: str
    name: str
    title: str
    description: str


FIXED_RESOURCES = (
    Resource(f"{SCHEME}profile", "profile", "About the user", "Profile, instructions, preferences, facts"),
    Resource(f"{SCHEME}recent", "recent", "Newest memories", f"The {MAX_RECENT} newest memories, a line each"),
)
RESOURCE_TEMPLATES = (
    Resource(f"{SCHEME}{{id}}", "memory", "One memory", "A memory in full, by its id"),
    Resource(
        f"{SESSION_PREFIX}{{+id}}", "session", "One conversation", "Summary and newest messages of a conversation"
    ),
)


def list_resources(caller: Caller) -> Sequence[Resource]:
    sessions = caller.memory.sessions.list(MAX_SESSIONS)
    return [*FIXED_RESOURCES, *(_make_session_resource(each.id, each.events) for each in sessions)]


def read_resource(caller: Caller, uri: str) -> str:
    if not uri.startswith(SCHEME) or len(uri) == len(SCHEME):
        raise NotFound(f"no resource has the address {uri[:80]!r}", f"Addresses begin with {SCHEME}")
    if uri.startswith(SESSION_PREFIX):
        return _read_session(caller, unquote(uri.removeprefix(SESSION_PREFIX)))
    name = unquote(uri.removeprefix(SCHEME))
    return _READERS[name](caller) if name in _READERS else memory_tools.get(caller, [name]).text


def read_profile(caller: Caller) -> str:
    """Render what is known of the person: their profile, then memories kind by kind, the important ones first."""
    known = [memory.profile.text() for memory in caller.readable_views()]
    sections = [*known, *(_render_section(caller, kind) for kind in PROFILE_KINDS)]
    return "\n\n".join(each for each in sections if each) or "Nothing is known about the user yet."


def read_recent(caller: Caller) -> str:
    rows = [render.serialize_memory(each) for each in caller.memory.list(MAX_RECENT)]
    return render.join_rows(rows) or "There are no memories yet."


def _render_section(caller: Caller, kind: Kind) -> str:
    found = [each for memory in caller.readable_views() for each in memory.list(MAX_PROFILE_MEMORIES, kind=kind)]
    found.sort(key=_importance_and_time, reverse=True)
    lines = [_render_line(each) for each in found[:MAX_PROFILE_MEMORIES]]
    return "\n".join([f"{kind.title()}:", *lines]) if lines else ""


def _render_line(memory: Memory) -> str:
    """A memory on one line: quoted, with its source, if it is not the user's own word."""
    text = render.shorten(memory.content, 500)
    return f"- {text}" if is_said(memory.source) else f"- > {text} ({memory.source})"


def _importance_and_time(memory: Memory) -> tuple[int, float]:
    return memory.importance, memory.valid_from.timestamp()


def _read_session(caller: Caller, session: str) -> str:
    found = caller.find_first(lambda memory: memory.sessions.summary(session))
    messages = conversation_tools.read_session(caller, session, limit=50).text
    return "\n\n".join(each for each in (found.text, messages) if each)


def _make_session_resource(id: str, events: int) -> Resource:
    return Resource(SESSION_PREFIX + quote(id), id, f"Conversation {id}", f"{events} messages")


_READERS: dict[str, Callable[[Caller], str]] = {"profile": read_profile, "recent": read_recent}
