"""Which model an open store embeds with: that of its active space, whatever the setting names.

Vectors of two models cannot be compared, so a store has one active space, in which questions are asked and new texts
are embedded. Opened with another model, it opens the one it remembers, and says so. If that cannot be opened here,
full text answers, and new vectors stay pending.

Another process may switch the store to another space at any time (`reembed.py`). Each verb therefore begins with a look
at the table of spaces, and works with one model until its end: a vector is never kept under the name of another space.
What was written with the old model while the switch was made lacks its new vector; the process that wrote it fills that
in when it notices the switch.
"""

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from retentive import clock
from retentive.embed import Embedder
from retentive.embed.unavailable import Unavailable
from retentive.errors import EmbedError, RetentiveError, StorageError
from retentive.model import Space, SpaceState, StoredSpace, to_micros
from retentive.storage.tables import spaces
from retentive.storage.tables.spaces import Spaces, decode_spaces
from retentive.store.vectors import embed_pending

if TYPE_CHECKING:
    from retentive.store import OpenStore

LOOK_SECONDS = 0.25  # that a look holds where it is a round trip to a server
RETRY_SECONDS = 30.0  # until a model that could not be opened is tried again
SWITCH_SECONDS = 5.0  # that a writer waits for a switch that was announced
_POLL_SECONDS = 0.02
COMPLETED_BATCHES = 4  # of fifty texts, that one verb fills in of what was written during a switch: a second or two
CLOSING_BATCHES = 20  # that `close` fills in: it must end
UNKNOWN_THRESHOLD = 0.35  # of a model that cannot be opened: MiniLM's; nothing is compared with it


class ActiveModel:
    """Shared by all threads and views of an open store."""

    def __init__(
        self,
        stored: Spaces,
        chosen: Embedder | None,
        setting: str,
        open_model: Callable[[Any], Embedder | None],
        look_seconds: float = 0.0,
    ) -> None:
        self._stored, self._chosen, self.setting = stored, chosen, setting
        self._open_model = open_model
        self._look_seconds = look_seconds
        self._lock = threading.RLock()
        self._embedder = chosen
        self._active: StoredSpace | None = None
        self._rows: list[tuple[Any, ...]] | None = None
        """The table of spaces at the last look."""
        self._is_announced = False
        """Whether a switch was about to be made then."""
        self._looked = float("-inf")
        self._retry_at = float("inf")
        self._opened: dict[str | None, Embedder] = {}
        """By how they are opened: those of the setting, of the store, and of `reembed`."""
        self._given: list[Embedder] = []
        """Models that a program brought; the store cannot open them by itself."""
        self.difference = ""
        """How the store's model differs from the setting; empty if it does not."""
        self._is_reported = False
        self.has_switched = False
        """Whether the active space changed since this process filled in what it wrote in the old one."""
        self.completed = 0
        """Up to this chunk it has filled that in."""

    def follow(self, *, is_writing: bool = False) -> Embedder | None:
        """The model to use now. None: the setting is "none", and this process makes and uses no vectors."""
        if self._chosen is None:
            return None
        if time.monotonic() - self._looked < self._look_seconds:
            return self._embedder
        try:
            rows = self._stored.read_rows()
            if rows != self._rows or self._is_announced or time.monotonic() >= self._retry_at:
                self._note(self._await_switch(decode_spaces(rows)) if is_writing else decode_spaces(rows))
                self._rows = rows
            self._looked = time.monotonic()
        except StorageError:
            pass  # what is wrong with the store is told by what the verb does with it
        return self._embedder

    def open(self, model: Any) -> Embedder | None:
        """A model by what the setting `embedder` may be, opened once; or one that a program brings. None for "none"."""
        if not isinstance(model, str):
            given = self._open_model(model)
            if given is not None:
                self._given.append(given)
            return given
        with self._lock:
            if model == self.setting:
                return self._chosen
            if model not in self._opened:
                opened = self._open_model(model)
                if opened is None:
                    return None
                self._opened[model] = opened
            return self._opened[model]

    def look_again(self) -> None:
        """Let the next look be one at the store, however soon it comes."""
        self._looked, self._retry_at = float("-inf"), float("-inf")

    def take_note(self) -> str:
        """How the store's model differs from the setting, told once."""
        if self._is_reported or not self.difference:
            return ""
        self._is_reported = True
        return self.difference

    def close(self) -> None:
        for embedder in (self._chosen, *self._opened.values()):
            if embedder is not None:
                embedder.close()

    def _await_switch(self, known: list[StoredSpace]) -> list[StoredSpace]:
        """Wait until a switch that was announced is made, or is not going to be."""
        until = time.monotonic() + SWITCH_SECONDS
        while any(_is_announced(each) for each in known) and time.monotonic() < until:
            time.sleep(_POLL_SECONDS)
            known = self._stored.all()
        return known

    def _note(self, known: list[StoredSpace]) -> None:
        active = next((each for each in known if each.state is SpaceState.ACTIVE), None)
        with self._lock:
            self._is_announced = any(_is_announced(each) for each in known)
            if active is None and any(each.state is SpaceState.KEPT for each in known):
                active = self._adopt(known)
            if _name(active) == _name(self._active) and time.monotonic() < self._retry_at:
                return
            if self._active is not None and _name(active) != _name(self._active):
                self.has_switched, self.completed = True, 0
            self._active, self._retry_at = active, float("inf")
            self._embedder = self._chosen if active is None else self._choose(active)

    def _adopt(self, known: list[StoredSpace]) -> StoredSpace | None:
        """Choose the active one of a store whose vectors came with an import: the setting's, or the largest."""
        named = {each.name: each for each in known if each.state is not SpaceState.GIVEN}
        name, model = _find_space(self._chosen)
        if name not in named:
            counts = {name: count for name, _, count in self._stored.count_vectors() if name in named and count}
            name, model = max(counts, key=lambda each: (counts[each], each), default=""), None
        if not name:
            return None
        self._stored.engine.apply([spaces.adopt_step(name, model)])
        return self._stored.find_active()

    def _choose(self, active: StoredSpace) -> Embedder | None:
        name, model = _find_space(self._chosen)
        if name == active.name:
            self.difference = ""
            if active.model is None and model:
                with suppress(StorageError):  # a restricted connection may not; nothing hangs on it
                    self._stored.engine.apply([spaces.model_step(name, model)])
            return self._chosen
        if self._release(active):
            self._active, self.difference = None, ""
            return self._chosen
        embedder = self._open(active)
        self._describe(active, embedder)
        return embedder

    def _release(self, active: StoredSpace) -> bool:
        """A store without vectors takes the new model."""
        if self._stored.has_vectors(active.name):
            return False
        with suppress(StorageError):
            self._stored.engine.apply([spaces.release_step(active.name)])
            return not any(each.state is SpaceState.ACTIVE for each in self._stored.all())
        return False

    def _open(self, active: StoredSpace) -> Embedder:
        space = Space(active.name, active.dimension, UNKNOWN_THRESHOLD, model=active.model)
        for given in self._given:
            if given.space.name == active.name:
                return given
        if active.model is None:
            return self._fail(space, "it was given by a program, and the store cannot open it by itself")
        try:
            opened = self.open(active.model)
            found = opened.space.name if opened else "none"
        except (RetentiveError, OSError) as error:
            return self._fail(space, str(error))
        if opened is None or found != active.name:
            return self._fail(space, f"{active.model!r} opens {found} here")
        return opened

    def _fail(self, space: Space, why: str) -> Embedder:
        self._retry_at = time.monotonic() + RETRY_SECONDS
        reason = f"the store's vectors are of {space.name}, and this model cannot be opened: {why}"
        hint = f"Make that model available, or change the store's: `retentive reembed --model {self.setting}`."
        return Unavailable(space, reason, hint)

    def _describe(self, active: StoredSpace, embedder: Embedder) -> None:
        is_used = "is not available" if isinstance(embedder, Unavailable) else "is used"
        named = active.model or active.name
        back = f"embedder = {named!r} the setting" if active.model else "or open it with that model"
        self.difference = (
            f"the store's vectors are of {named}, which {is_used}, not of {self.setting}, which the setting names;"
            f" `retentive reembed --model {self.setting}` changes the store, {back}"
        )


def with_active_model(store: "OpenStore", *, is_writing: bool = False) -> "OpenStore":
    """The parts with the model of the active space, for one verb. It stays the same until the verb ends."""
    embedder = store.active.follow(is_writing=is_writing)
    if store.embedder is None or embedder is None:
        return store
    if embedder is not store.embedder and not _is_same_model(embedder, store.embedder):
        store = replace(store, embedder=embedder)
    if store.active.has_switched and store.bounds is None:
        complete_own_writes(store, COMPLETED_BATCHES)
    return store


def _is_same_model(embedder: Embedder, other: Embedder) -> bool:
    """Whether the other one, which may be a caller's own, does as well."""
    return embedder.space.name == other.space.name and not isinstance(other, Unavailable)


def complete_own_writes(store: "OpenStore", batches: int) -> None:
    """Fill in the vectors of what this process wrote while the store was switched to another space.

    At most so many batches; the next verb goes on. What cannot be embedded now stays pending, for the worker.
    """
    active = store.active
    active.has_switched &= store.journal.wrote  # who wrote nothing owes nothing
    if not active.has_switched:
        return
    with suppress(EmbedError, StorageError):
        for _ in range(batches):
            filled = embed_pending(store, active.completed)
            if not filled:
                break
            active.completed = filled[-1].chunk
        else:
            return
    active.has_switched = False


def _find_space(embedder: Embedder | None) -> tuple[str, str | None]:
    """Name of the space and how the model is opened. A provider that is down cannot tell: an empty name."""
    try:
        return (embedder.space.name, embedder.space.model) if embedder else ("", None)
    except EmbedError:
        return "", None


def _is_announced(space: StoredSpace) -> bool:
    """Whether a switch is being made. One that was announced long ago was given up: its process was killed."""
    age = (clock.now() - to_micros(space.changed)) / 1e6
    return space.state is SpaceState.SWITCHING and -SWITCH_SECONDS < age < SWITCH_SECONDS


def _name(space: StoredSpace | None) -> str:
    return space.name if space else ""
