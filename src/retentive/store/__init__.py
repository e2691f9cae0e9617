"""The parts that all capabilities share: the open store, validation, views, the optimistic write, the journal.

Read `OpenStore` first: it is the first argument of nearly every function of a capability.
"""

import threading
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Generic, TypeVar

from retentive.config import Config
from retentive.embed import Embedder
from retentive.frozen_dataclass import dataclass
from retentive.model import Bounds, Event, Space
from retentive.storage import Engine
from retentive.storage.tables import Tables

if TYPE_CHECKING:
    from retentive.files.watch import Watch
    from retentive.index import Images
    from retentive.judgement import Judgement
    from retentive.llm import LanguageModel
    from retentive.maintenance.worker import Worker
    from retentive.memories.daily_files import DailyLog
    from retentive.rerank import Reranker
    from retentive.search.speakers import SpeakerCache
    from retentive.store.active_model import ActiveModel
    from retentive.store.journal import Journal
    from retentive.text.token_counters import TokenCounter

T = TypeVar("T")


class Lazy(Generic[T]):
    """A value that is made at its first use, by one thread."""

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
    """The parts of an open store. It is frozen, because threads share it."""

    config: Config
    namespace: str
    engine: Engine
    tables: Tables
    embedder: Embedder | None
    """The model of the store's active space when the verb began (`active_model.py`)."""
    active: "ActiveModel"
    """Finds the model of the active space, also after another process changed it."""
    journal: "Journal"
    tokens_at_failed_summary: dict[tuple[str, str], int]
    """By session in which nothing could be condensed: how many tokens waited then."""
    rules: Lazy["Judgement"]
    """The judgement of texts; loaded by the first memory whose text is judged."""
    llm: Lazy["LanguageModel | None"]
    """The language model, if one is set."""
    reranker: Lazy["Reranker | None"]
    """The model that reorders the first hits of a search, if one is set."""
    counter: Lazy["TokenCounter"]
    """Counts tokens."""
    images: Lazy["Images"]
    """Vectors and terms in memory; they load numpy."""
    speakers: "SpeakerCache"
    """The speakers of each namespace."""
    sync_profile_slots: Callable[["OpenStore", Iterable[str | None]], None]
    """Called after the facts in these slots changed: updates the profile."""
    on_user_message: Callable[["OpenStore", Event], Event]
    """Called with a new message: carries out what it asks for, such as "remember that ..." and "forget ..."."""
    workers: list["Worker"]
    """The worker of this process, if one runs."""
    watches: list["Watch"]
    """The watches of folders in this process."""
    daily: "DailyLog | None"
    """The daily log beside the store; None for a store in memory."""
    bounds: Bounds | None = None
    """The part of the store that a view sees; `engine` then lets nothing else through. None: all of it."""
    person: str = ""
    """The namespace for facts about the person. Empty: they stay in the namespace in which they were learned."""

    @property
    def space(self) -> Space | None:
        return self.embedder.space if self.embedder else None
