"""Read together: on a server each read is a round trip.

`read_ahead` is for what a verb will surely read, `read_together` for parts of a verb that do not need each other.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, cast

from retentive.storage.answered_engine import AnsweredEngine, ReadRecorder
from retentive.storage.tables import Tables
from retentive.store import OpenStore

if TYPE_CHECKING:
    from retentive.storage import Engine

T = TypeVar("T")


def read_ahead(store: OpenStore, announce: Callable[[Tables], object]) -> OpenStore:
    """The store with the answers to what `announce` reads, until the next write.

    `announce` only names the reads: each answers it with nothing. An engine in this process is read when it is needed.
    """
    if store.engine.uses_local_index:
        return store
    recorder = ReadRecorder()
    announce(Tables(cast("Engine", recorder)))
    engine = cast("Engine", AnsweredEngine(store.engine, recorder.reads))
    return replace(store, engine=engine, tables=Tables(engine))


def read_together(store: OpenStore, works: Sequence[Callable[[OpenStore], Any]]) -> list[Any]:
    """Run works that only read and return their results, on a server side by side."""
    if store.engine.uses_local_index:
        return [work(store) for work in works]
    return store.engine.together([partial(_run_with_engine, store, work) for work in works])


def _run_with_engine(store: OpenStore, work: Callable[[OpenStore], T], engine: "Engine") -> T:
    return work(replace(store, engine=engine, tables=Tables(engine)))
