"""Messages that must stay together.

A model refuses a tool's answer without its call, and a call without its answer. So a call, its answers and what was
said between them are one turn, and whatever is cut is cut between turns.
"""

from collections.abc import Sequence
from itertools import pairwise

from retentive.model import Event, Role
from retentive.text.messages import answers, calls, is_answer, passed_on, readable, spoken
from retentive.text.quote import flatten, indent, quote


def turns(events: Sequence[Event]) -> list[tuple[Event, ...]]:
    """The events in order, in groups that must not be split.

    An answer belongs to the latest call of its id before it: some models number their calls anew in each message.
    A tool's message that names no known call belongs to the group before it, if there is a call in that.
    """
    starts: list[int] = []
    called: dict[str, int] = {}
    last_call = -1
    for place, event in enumerate(events):
        asked = calls(event.payload)
        called.update((call.id, place) for call in asked if call.id)
        found = [called[answer.call] for answer in answers(event.payload) if answer.call in called]
        first = min(found, default=place)
        if not found and event.role is Role.TOOL and starts and last_call >= starts[-1]:
            first = starts[-1]
        starts.append(place)
        while starts[-1] > first:
            starts.pop()
        last_call = place if asked else last_call
    return [tuple(events[start:end]) for start, end in pairwise([*starts, len(events)])]


def dangling(turn: Sequence[Event]) -> bool:
    """It holds an answer whose call is not in it: that lies before what was read, or was never logged."""
    known: set[str] = set()
    for event in turn:
        known.update(call.id for call in calls(event.payload))
        answered = [answer.call for answer in answers(event.payload)]
        if not known.issuperset(answered) or (event.role is Role.TOOL and not known):
            return True
    return False


def has_hidden(turn: Sequence[Event]) -> bool:
    """A call without its answer is refused, so a turn with a hidden message is left out whole."""
    return any(event.is_hidden for event in turn)


def line(event: Event, *, is_imported: bool = False) -> str:
    """How a message reads in a prompt."""
    return f"{speaker(event)}: {render_message(event, is_imported=is_imported)}"


def speaker(event: Event) -> str:
    """Who said it. Results of tools come to Anthropic's models as if the user had said them."""
    if event.role is Role.USER and not event.content.strip() and answers(event.payload):
        return Role.TOOL
    return flatten(event.speaker) if event.speaker else event.role


def render_message(event: Event, *, is_imported: bool = False) -> str:
    """The words of a message: those of its sender set in, all others quoted; of an imported one all are."""
    others = passed_on(event.payload)
    if is_imported or is_foreign(event):
        return quote(readable(event.content, event.payload))
    own = indent(spoken(event.content, event.payload))
    return f"{own}\n  {quote(others)}" if others else own


def render_excerpt(event: Event, text: str, *, is_imported: bool = False) -> str:
    """A part of a message: quoted unless it is found in the words of its sender."""
    if text == readable(event.content, event.payload):
        return render_message(event, is_imported=is_imported)
    own = spoken(event.content, event.payload)
    is_own = not passed_on(event.payload) or text.removesuffix(" …") in own
    return indent(text) if is_own and not is_imported and not is_foreign(event) else quote(text)


def is_foreign(event: Event) -> bool:
    """Whether all of a message is what a tool or a file says."""
    if event.role is Role.TOOL or is_answer(event.payload):
        return True
    return not spoken(event.content, event.payload) and bool(passed_on(event.payload))


def has_quotes(event: Event, *, is_imported: bool = False) -> bool:
    """Whether something of a message is quoted."""
    return is_imported or is_foreign(event) or bool(passed_on(event.payload))
