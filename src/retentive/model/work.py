"""Background work: its tasks, and the status of the worker."""

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from typing import NamedTuple

from retentive.frozen_dataclass import dataclass


class Task(NamedTuple):
    """A piece of background work."""

    job: str
    """`learn`, `vectors`, `expiry`, `retention`, `purges`, `proposals`, `changes`, `copies` or
    `consolidate`."""
    namespace: str = ""
    """The namespace of the work; empty: the whole store."""
    session: str = ""


@dataclass(frozen=True, slots=True)
class WorkerStatus:
    """The status of the background worker."""

    running: bool
    """Whether a worker runs in this process."""
    holder: str | None = None
    """The worker that holds the lease now, here or in another process: machine, process and a number.

    None: there is none, or the store does not answer.
    """
    working: bool = False
    """Whether the worker of this process holds the lease."""
    done: Mapping[str, int] = field(default_factory=dict)
    """The work of this worker since its start, by job: sessions learned from, vectors made, memories expired ..."""
    last: datetime | None = None
    """When this worker last did something."""
    failures: Mapping[str, str] = field(default_factory=dict)
    """The last failure of each job, until it succeeds; `store` is the failure of reading the list of work."""
    note: str = ""
    """The work that this worker cannot do, and why."""
