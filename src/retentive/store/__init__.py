"""What the verbs work with."""

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from retentive.config import Config
from retentive.embed import Embedder
from retentive.model import Bounds, Event, Space
from retentive.storage import Engine
from retentive.storage.tables import Tables

if TYPE_CHECKING:
    from retentive.files.watch import Watch
    from retentive.index import Images
    from retentive.judgement import Rules
    from retentive.llm import Writer
    from retentive.maintenance.worker import Worker
    from retentive.memories.daily_files import DailyLog
    from retentive.rerank import Reranker
    from retentive.search.speakers import People
    from retentive.store.active_model import ActiveModel
    from retentive.store.journal import Journal
    from retentive.text.token_counters import Counter

T = TypeVar("T")


class Once(Generic[T]):
    """A value made at its first use, by one thread."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self.made: T | None = None

    def __call__(self) -> T:
        if self.made is None:
            with self._lock:
                if self.made is None:
                    self.made = self._make()
        return self.made


@dataclass(frozen=True, slots=True)
class OpenStore:
    """The parts of an open store. Frozen: the verbs share it between threads."""

    config: Config
    namespace: str
    engine: Engine
    tables: Tables
    embedder: Embedder | None
    """The model of the store's active space when the verb began (`active.py`)."""
    active: "ActiveModel"
    """What follows the active space."""
    journal: "Journal"
    sessions_without_progress: dict[tuple[str, str], int]
    """Of sessions in which nothing could be condensed: how many tokens waited then."""
    rules: Once["Rules"]
    """What can be told from words: loaded by the first memory whose words are read."""
    writer: Once["Writer | None"]
    """The language model, if one is set; opened when it is first asked for."""
    reranker: Once["Reranker | None"]
    """What reorders the first hits of a search, if it is set."""
    counter: Once["Counter"]
    """What counts tokens."""
    images: Once["Images"]
    """Opened by the first question that needs them: they bring numpy along."""
    people: "People"
    """Who speaks in which namespace."""
    sync_profile: Callable[["OpenStore", Iterable[str | None]], None]
    """Bring facts that were written in these slots into the profile."""
    handle_requests: Callable[["OpenStore", Event], Event]
    """Carry out what a user's message asks for: "remember that ...", "forget ..."."""
    workers: list["Worker"]
    """The one that runs in this process, if one does."""
    watches: list["Watch"]
    """Of folders, in this process."""
    daily: "DailyLog | None"
    """The log beside the store. None: a store in memory, that keeps none."""
    bounds: Bounds | None = None
    """Of a view that sees a part of the store; then `engine` lets nothing else through."""
    person: str = ""
    """The namespace of the person, where what is learned about them is kept. Empty: what is learned stays."""

    @property
    def space(self) -> Space | None:
        return self.embedder.space if self.embedder else None
