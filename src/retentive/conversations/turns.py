"""Group messages into turns that must stay together, and render them for a prompt.

A model refuses a tool's answer without its call, and a call without its answer. So a call, its answers and the messages
between them are one turn, and conversations are cut between turns only.
"""

from collections.abc import Sequence
from itertools import pairwise

from retentive.model import Event, Role
from retentive.text.messages import (
    extract_forwarded_text,
    extract_sender_text,
    extract_text,
    find_tool_calls,
    find_tool_results,
    is_tool_result,
)
from retentive.text.quote import indent_lines, join_lines, quote_lines


def group_turns(events: Sequence[Event]) -> list[tuple[Event, ...]]:
    """Split events into groups that must stay together, in order.

    An answer belongs to the latest call with its id: some models number their calls from 1 in each message. A tool's
    message that names no known call belongs to the group before it, if that has a call.
    """
    starts: list[int] = []
    called: dict[str, int] = {}
    last_call = -1
    for place, event in enumerate(events):
        asked = find_tool_calls(event.payload)
        called.update((call.id, place) for call in asked if call.id)
        found = [called[answer.call] for answer in find_tool_results(event.payload) if answer.call in called]
        first = min(found, default=place)
        if not found and event.role is Role.TOOL and starts and last_call >= starts[-1]:
            first = starts[-1]
        starts.append(place)
        while starts[-1] > first:
            starts.pop()
        last_call = place if asked else last_call
    return [tuple(events[start:end]) for start, end in pairwise([*starts, len(events)])]


def has_missing_call(turn: Sequence[Event]) -> bool:
    """Return whether a turn has an answer without its call: that lies before what was read, or was never logged."""
    known: set[str] = set()
    for event in turn:
        known.update(call.id for call in find_tool_calls(event.payload))
        answered = [answer.call for answer in find_tool_results(event.payload)]
        if not known.issuperset(answered) or (event.role is Role.TOOL and not known):
            return True
    return False


def has_hidden(turn: Sequence[Event]) -> bool:
    """Return whether a turn has a hidden message. It is then left out whole: a call needs its answer."""
    return any(event.is_hidden for event in turn)


def render_line(event: Event, *, is_imported: bool = False) -> str:
    """Render a message as a line of a prompt."""
    return f"{speaker_name(event)}: {render_message(event, is_imported=is_imported)}"


def speaker_name(event: Event) -> str:
    """Return the speaker or role of a message. Anthropic's models get results of tools as messages of the user."""
    if event.role is Role.USER and not event.content.strip() and find_tool_results(event.payload):
        return Role.TOOL
    return join_lines(event.speaker) if event.speaker else event.role


def render_message(event: Event, *, is_imported: bool = False) -> str:
    """Render the words of a message: the sender's own indented, others quoted. Imported messages are quoted whole."""
    others = extract_forwarded_text(event.payload)
    if is_imported or is_foreign(event):
        return quote_lines(extract_text(event.content, event.payload))
    own = indent_lines(extract_sender_text(event.content, event.payload))
    return f"{own}\n  {quote_lines(others)}" if others else own


def render_excerpt(event: Event, text: str, *, is_imported: bool = False) -> str:
    """Render a part of a message: quoted unless it is in the words of its sender."""
    if text == extract_text(event.content, event.payload):
        return render_message(event, is_imported=is_imported)
    own = extract_sender_text(event.content, event.payload)
    is_own = not extract_forwarded_text(event.payload) or text.removesuffix(" …") in own
    return indent_lines(text) if is_own and not is_imported and not is_foreign(event) else quote_lines(text)


def is_foreign(event: Event) -> bool:
    """Return whether all of a message comes from a tool or a file."""
    if event.role is Role.TOOL or is_tool_result(event.payload):
        return True
    return not extract_sender_text(event.content, event.payload) and bool(extract_forwarded_text(event.payload))


def has_quotes(event: Event, *, is_imported: bool = False) -> bool:
    """Return whether a part of a message is quoted."""
    return is_imported or is_foreign(event) or bool(extract_forwarded_text(event.payload))
