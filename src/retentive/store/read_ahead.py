"""Read together what a verb will surely read: on a server each read is a round trip."""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from retentive.storage.answered_engine import AnsweredEngine, ReadRecorder
from retentive.storage.tables import Tables
from retentive.store import OpenStore

if TYPE_CHECKING:
    from retentive.storage import Engine


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
