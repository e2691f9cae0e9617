"""The messages that the origin of a memory names."""

from collections.abc import Iterator, Mapping
from typing import Any

from retentive.model import Memory
from retentive.store import validate

MAX_SEQUENCE_DIGITS = 20


def memory_origins(memory: Memory) -> Iterator[tuple[str, int]]:
    """Session and sequence of the messages that a memory came from."""
    return read_origin(memory.origin or {})


def read_origin(origin: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    """Session and sequence of the messages that an origin names."""
    session = origin.get("session")
    for each in (*as_list(origin.get("event")), *as_list(origin.get("events")), *as_list(origin.get("sequence"))):
        name, _, number = each.rpartition("#") if isinstance(each, str) else (session, "", each)
        name = name or session
        place = parse_sequence(number)
        if isinstance(name, str) and place is not None:
            yield name, place


def parse_sequence(given: Any) -> int | None:
    """The sequence of a message; None if it cannot be one."""
    number = int(given) if str(given).isdecimal() and len(str(given)) < MAX_SEQUENCE_DIGITS else 0
    return number if 0 < number <= validate.MAX_SEQUENCE else None


def as_list(given: Any) -> list[Any]:
    return given if isinstance(given, list) else [] if given is None else [given]
