"""The model of an open store: that of its active space, even if the setting names another.

Vectors of two models cannot be compared. So a store has one active space, in which questions and new texts are
embedded. If the setting names another model, the store opens the one that it remembers, and reports the difference. If
that model cannot be opened here, keyword search answers, and new vectors stay pending.

Another process may switch the store to another space at any time (`reembed.py`). Each verb therefore reads the table of
spaces first, and uses one model until its end: a vector is never stored under the name of another space. Texts that
were written with the old model during the switch lack their new vectors. The process that wrote them embeds them when
it notices the switch.
"""

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from retentive import clock
from retentive.embed import Embedder
from retentive.embed.unavailable_embedder import UnavailableEmbedder
from retentive.errors import EmbedError, RetentiveError, StorageError
from retentive.model import Space, SpaceState, StoredSpace, to_micros
from retentive.storage.tables import spaces
from retentive.storage.tables.spaces import Spaces, decode_spaces
from retentive.store.vectors import embed_pending

if TYPE_CHECKING:
    from retentive.store import OpenStore

SERVER_CHECK_SECONDS = 0.25  # between two reads of the table of spaces, where each is a round trip to a server
RETRY_SECONDS = 30.0  # until a model that could not be opened is tried again
SWITCH_SECONDS = 5.0  # that a writer waits for a switch that was announced
_POLL_SECONDS = 0.02
VERB_BATCHES = 4  # of fifty texts, that one verb embeds after a switch: a second or two
CLOSING_BATCHES = 20  # that `close` embeds: it must end
UNKNOWN_THRESHOLD = 0.35  # of a model that cannot be opened: MiniLM's; nothing is compared with it


class ActiveModel:
    """Finds the model to use now. It is shared by all threads and views of an open store."""

    def __init__(
        self,
        stored: Spaces,
        chosen: Embedder | None,
        setting: str,
        open_model: Callable[[Any], Embedder | None],
        check_seconds: float = 0.0,
    ) -> None:
        self._stored, self._chosen, self.setting = stored, chosen, setting
        self._open_model = open_model
        self._check_seconds = check_seconds
        self._lock = threading.RLock()
        self._embedder = chosen
        self._active: StoredSpace | None = None
        self._rows: list[tuple[Any, ...]] | None = None
        """The table of spaces when it was read last."""
        self._is_announced = False
        """Whether a switch was announced then."""
        self._checked_at = float("-inf")
        self._retry_at = float("inf")
        self._opened: dict[str | None, Embedder] = {}
        """Models by name: those of the setting, of the store, and of `reembed`."""
        self._given: list[Embedder] = []
        """Models that a program gave; the store cannot open them by itself."""
        self.difference = ""
        """How the model of the store differs from the setting; empty if it does not."""
        self._is_reported = False
        self.has_switched = False
        """Whether the active space changed, and texts of this process may lack vectors in the new one."""
        self.completed_chunk = 0
        """The last chunk that was embedded again after the switch."""

    def current_model(self, stored: Spaces | None = None, *, is_writing: bool = False) -> Embedder | None:
        """The model to use now. None: the setting is "none", and this process makes and uses no vectors.

        `stored` is the table as the verb reads it, which may have read it with other things.
        """
        if self._chosen is None:
            return None
        if time.monotonic() - self._checked_at < self._check_seconds:
            return self._embedder
        try:
            rows = (stored or self._stored).read_rows()
            if rows != self._rows or self._is_announced or time.monotonic() >= self._retry_at:
                spaces_now = decode_spaces(rows)
                self._update(self._await_switch(spaces_now) if is_writing else spaces_now)
                self._rows = rows
            self._checked_at = time.monotonic()
        except StorageError:
            pass  # the verb itself will fail, and report it
        return self._embedder

    def open(self, model: Any) -> Embedder | None:
        """Open a model by a value of the setting `embedder`, once, or take a given one. None for "none"."""
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

    def announce(self, stored: Spaces) -> None:
        """Name what `current_model` will read now, for `read_ahead`."""
        if self._chosen is not None and time.monotonic() - self._checked_at >= self._check_seconds:
            stored.read_rows()

    def expire_check(self) -> None:
        """Have the next verb read the table of spaces, however soon it comes."""
        self._checked_at, self._retry_at = float("-inf"), float("-inf")

    def take_difference(self) -> str:
        """How the model of the store differs from the setting. Only the first call returns it."""
        if self._is_reported or not self.difference:
            return ""
        self._is_reported = True
        return self.difference

    def close(self) -> None:
        """Close all models."""
        for embedder in (self._chosen, *self._opened.values()):
            if embedder is not None:
                embedder.close()

    def _await_switch(self, known: list[StoredSpace]) -> list[StoredSpace]:
        """Wait until an announced switch is made, or is overdue."""
        until = time.monotonic() + SWITCH_SECONDS
        while any(_is_announced(each) for each in known) and time.monotonic() < until:
            time.sleep(_POLL_SECONDS)
            known = self._stored.all()
        return known

    def _update(self, known: list[StoredSpace]) -> None:
        """Choose the model by the table of spaces as it is now."""
        active = next((each for each in known if each.state is SpaceState.ACTIVE), None)
        with self._lock:
            self._is_announced = any(_is_announced(each) for each in known)
            if active is None and any(each.state is SpaceState.KEPT for each in known):
                active = self._adopt_space(known)
            if _name(active) == _name(self._active) and time.monotonic() < self._retry_at:
                return
            if self._active is not None and _name(active) != _name(self._active):
                self.has_switched, self.completed_chunk = True, 0
            self._active, self._retry_at = active, float("inf")
            self._embedder = self._chosen if active is None else self._choose(active)

    def _adopt_space(self, known: list[StoredSpace]) -> StoredSpace | None:
        """Choose the active space of a store whose vectors came with an import: the setting's, or the largest."""
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
        """The model for the active space. A store without vectors takes the model of the setting."""
        name, model = _find_space(self._chosen)
        if name == active.name:
            self.difference = ""
            if active.model is None and model:
                with suppress(StorageError):  # a restricted connection may not write; nothing depends on it
                    self._stored.engine.apply([spaces.model_step(name, model)])
            return self._chosen
        if self._release_space(active):
            self._active, self.difference = None, ""
            return self._chosen
        embedder = self._open_stored(active)
        self._describe_difference(active, embedder)
        return embedder

    def _release_space(self, active: StoredSpace) -> bool:
        """Free a space that has no vectors, so that the store takes another model. False if it has some."""
        if self._stored.has_vectors(active.name):
            return False
        with suppress(StorageError):
            self._stored.engine.apply([spaces.release_step(active.name)])
            return not any(each.state is SpaceState.ACTIVE for each in self._stored.all())
        return False

    def _open_stored(self, active: StoredSpace) -> Embedder:
        space = Space(active.name, active.dimension, UNKNOWN_THRESHOLD, model=active.model)
        for given in self._given:
            if given.space.name == active.name:
                return given
        if active.model is None:
            return self._make_unavailable(space, "it was passed in by a program, and cannot be opened by name")
        try:
            opened = self.open(active.model)
            found = opened.space.name if opened else "none"
        except (RetentiveError, OSError) as error:
            return self._make_unavailable(space, str(error))
        if opened is None or found != active.name:
            return self._make_unavailable(space, f"{active.model!r} opens {found} here")
        return opened

    def _make_unavailable(self, space: Space, why: str) -> Embedder:
        self._retry_at = time.monotonic() + RETRY_SECONDS
        reason = f"the store's vectors are of {space.name}, and this model cannot be opened: {why}"
        hint = f"Make that model available, or change the store's: `reembed(model={self.setting!r})`."
        return UnavailableEmbedder(space, reason, hint)

    def _describe_difference(self, active: StoredSpace, embedder: Embedder) -> None:
        is_used = "is not available" if isinstance(embedder, UnavailableEmbedder) else "is used"
        named = active.model or active.name
        back = f"embedder = {named!r} the setting" if active.model else "or open it with that model"
        self.difference = (
            f"the store's vectors are of {named}, which {is_used}, not of {self.setting}, which the setting names;"
            f" `reembed(model={self.setting!r})` changes the store, {back}"
        )


def with_active_model(store: "OpenStore", *, is_writing: bool = False) -> "OpenStore":
    """The store with the model of the active space, for one verb. It stays the same until the verb ends."""
    embedder = store.active.current_model(store.tables.spaces, is_writing=is_writing)
    if store.embedder is None or embedder is None:
        return store
    if embedder is not store.embedder and not _is_same_model(embedder, store.embedder):
        store = replace(store, embedder=embedder)
    if store.active.has_switched and store.bounds is None:
        complete_own_writes(store, VERB_BATCHES)
    return store


def _is_same_model(embedder: Embedder, other: Embedder) -> bool:
    """Whether another model, perhaps a caller's own, can be used in place of this one."""
    return embedder.space.name == other.space.name and not isinstance(other, UnavailableEmbedder)


def complete_own_writes(store: "OpenStore", batches: int) -> None:
    """Embed the texts that this process wrote while the store was switched to another space.

    It stops after so many batches, and the next verb continues. If the model fails, the rest is left to the worker.
    """
    active = store.active
    active.has_switched &= store.journal.has_written  # without writes nothing is missing
    if not active.has_switched:
        return
    with suppress(EmbedError, StorageError):
        for _ in range(batches):
            filled = embed_pending(store, active.completed_chunk)
            if not filled:
                break
            active.completed_chunk = filled[-1].chunk
        else:
            return
    active.has_switched = False


def _find_space(embedder: Embedder | None) -> tuple[str, str | None]:
    """The name of the space and of its model. The name is empty if a provider does not answer."""
    try:
        return (embedder.space.name, embedder.space.model) if embedder else ("", None)
    except EmbedError:
        return "", None


def _is_announced(space: StoredSpace) -> bool:
    """Whether a switch is being made. If it was announced long ago, its process was killed."""
    age = (clock.now() - to_micros(space.changed)) / 1e6
    return space.state is SpaceState.SWITCHING and -SWITCH_SECONDS < age < SWITCH_SECONDS


def _name(space: StoredSpace | None) -> str:
    return space.name if space else ""
