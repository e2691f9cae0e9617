"""Conversations written down: `=== session 2026-03-02 18:30`, then `role: text`, a minute apart.

Further lines of a message are indented. They are played as they happened: the clock stands at each message when it is
kept, and each session is learned when it ends.
"""

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from retentive import Event, Retentive
from retentive.model import LearnResult, to_micros
from retentive.testing import Clock

FOLDER = Path(__file__).parent / "dialogues"
INDENT = " " * 6

_MESSAGE = re.compile(r"^(\w+): (.*(?:\n(?:      .*|(?=\n +)))*)", re.MULTILINE)


class Line(NamedTuple):
    session: str
    role: str
    text: str
    time: datetime


class Played(NamedTuple):
    events: list[Event]
    learned: list[LearnResult]


def read(name: str) -> Iterator[Line]:
    for part in (FOLDER / name).read_text("utf-8").split("=== ")[1:]:
        head, _, rest = part.partition("\n")
        session, day, hour = head.split()
        begun = datetime.fromisoformat(f"{day}T{hour}:00+00:00")
        for number, (role, text) in enumerate(_MESSAGE.findall(rest)):
            yield Line(session, role, text.replace(f"\n{INDENT}", "\n"), begun + timedelta(minutes=number))


def play(store: Retentive, time: Clock, lines: Iterator[Line]) -> Played:
    played = Played([], [])
    time.micros = 0
    for session, own in groupby(lines, key=lambda line: line.session):
        for line in own:
            time.micros = max(time.micros, to_micros(line.time))
            played.events.append(store.sessions.append(line.session, line.role, line.text, time=line.time))
        played.learned.extend(store.learn(session))
    return played


def known(store: Retentive) -> list[str]:
    return sorted(memory.content for memory in store.list(limit=1000))
