"""What is done in the background."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple


class Task(NamedTuple):
    """A piece of background work."""

    job: str
    """`learn`, `vectors`, `expiry`, `retention`, `purges`, `proposals`, `changes`, `copies` or
    `consolidate`."""
    namespace: str = ""
    """Whose it is; empty: the whole store's."""
    session: str = ""


@dataclass(frozen=True, slots=True)
class WorkerStatus:
    """How a worker is doing."""

    running: bool
    """Is there one in this process?"""
    holder: str | None = None
    """Who is at work on the store now, here or in another process: machine, process and a number. None: nobody."""
    working: bool = False
    """Is it this one?"""
    done: Mapping[str, int] = field(default_factory=dict)
    """What this one did since it began, by job: sessions learned from, vectors made, memories expired ..."""
    last: datetime | None = None
    """When it last did something."""
    failures: Mapping[str, str] = field(default_factory=dict)
    """The last failure of each job, until it succeeds; `store`: of asking what there is to do."""
    note: str = ""
    """What it cannot do, and why."""
