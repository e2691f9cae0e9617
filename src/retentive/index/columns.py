"""The facets of a namespace's active rows, as columns: what a filter asks about, and what a match tells.

A slot is a row's place in every column. Slots are given in the order of arrival, which is the order of chunk numbers
but for rows that became active again; so a chunk's slot is found by bisection, with a dict for those few strays. That
is 8 bytes a row where a dict of all would be about 150. A row that is gone leaves its slot dead until `compact`.

`mask` answers a filter for all rows at once (a few us per condition and 10,000 rows) and is None when every live row
may be seen, which is the usual question. Expiry is compared with the moment of the question, never applied as a
change: a row disappears at its instant though nobody writes.
"""

import json
from array import array
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retentive.index.arrays import Ints, Mask, grow
from retentive.model import REPLY, Match, Scope, Type

AnyRow = tuple[Any, ...]
"""The fields of `retentive.index.Row`, in its order."""

NEVER = np.iinfo(np.int64).max

# Compacting 100,000 rows with their vectors and postings takes about 0.1 s; a quarter of waste pays for it.
_UNTIDY_SHARE = 4
_UNTIDY_FROM = 1000

_COLUMNS = {
    "chunk": np.int64,
    "owner": np.object_,
    "type": np.int8,
    "session": np.int32,
    "kind": np.int16,
    "source": np.int16,
    "importance": np.int16,
    "confidence": np.float64,
    "time": np.int64,
    "expires": np.int64,
    "alive": np.bool_,
}


@lru_cache(4096)
def _parse_tags(text: str | None) -> tuple[str, ...]:
    """The tags of a row; none of one whose tags are damaged."""
    try:
        return tuple(dict.fromkeys(json.loads(text))) if text else ()
    except (ValueError, TypeError):
        return ()


def _either(column: NDArray[np.integer], codes: set[int]) -> Mask:
    allowed = np.zeros(len(column), np.bool_)
    for code in codes:
        allowed |= column == code
    return allowed


class Rows:
    def __init__(self, namespace: str = "") -> None:
        self.namespace = namespace
        for name, kind in _COLUMNS.items():
            setattr(self, name, np.empty(0, kind))
        self.used = 0
        self.live = 0
        self._ordered = 0
        self._strays: dict[int, int] = {}
        self._soonest = NEVER
        self._types: dict[str, int] = {}
        self._sessions: dict[str, int] = {}
        self._kinds: dict[str, int] = {}
        self._sources: dict[str, int] = {}
        self._tags: dict[int, tuple[str, ...]] = {}
        self._tagged: dict[str, array[int]] = {}

    chunk: Ints
    owner: NDArray[np.object_]
    type: NDArray[np.int8]
    session: NDArray[np.int32]
    kind: NDArray[np.int16]
    source: NDArray[np.int16]
    importance: NDArray[np.int16]
    confidence: NDArray[np.float64]
    time: Ints
    expires: Ints
    alive: Mask

    @property
    def bytes(self) -> int:
        return sum(getattr(self, name).nbytes for name in _COLUMNS)

    @property
    def untidy(self) -> bool:
        waste = self.used - self.live + len(self._strays)
        return waste >= _UNTIDY_FROM and waste * _UNTIDY_SHARE >= self.used

    def find(self, chunks: Ints) -> Ints:
        """The slots of these chunks, -1 for those that are not here."""
        ordered = self.chunk[: self._ordered]
        if not len(ordered):
            slots = np.full(len(chunks), -1)
        else:
            at = np.searchsorted(ordered, chunks).clip(max=len(ordered) - 1)
            slots = np.where((ordered[at] == chunks) & self.alive[at], at, -1)
        if self._strays:
            for i in np.flatnonzero(slots < 0):
                slots[i] = self._strays.get(int(chunks[i]), -1)
        return slots

    def put(self, rows: Sequence[AnyRow]) -> Ints:
        """Make these rows as given, new or known, and tell their slots."""
        chunks = np.fromiter((row[0] for row in rows), np.int64, len(rows))
        slots = self.find(chunks)
        new = np.flatnonzero(slots < 0)
        slots[new] = self._append(chunks[new])
        self._write(slots, rows)
        return slots

    def remove(self, chunks: Ints) -> Ints:
        """Let go of these chunks; the slots of those that were here."""
        slots = self.find(chunks)
        slots = slots[slots >= 0]
        self.alive[slots] = False
        self.live -= len(slots)
        for slot in slots.tolist():
            self._strays.pop(int(self.chunk[slot]), None)
            self._retag(slot, ())
        return slots

    def compact(self) -> Ints:
        """Give the live rows new slots in the order of their chunks; the new slot of each old one, -1 for none."""
        kept = np.flatnonzero(self.alive[: self.used])
        kept = kept[np.argsort(self.chunk[kept])]
        moved = np.full(self.used, -1)
        moved[kept] = np.arange(len(kept))
        for name in _COLUMNS:
            setattr(self, name, getattr(self, name)[kept])
        self.used = self.live = self._ordered = len(kept)
        self._strays.clear()
        tags, self._tags = self._tags, {}
        self._tagged.clear()
        for slot, names in tags.items():
            self._retag(int(moved[slot]), names)
        return moved

    def mask(self, scope: Scope) -> Mask | None:
        """Which slots a question may see; None when it may see every live row."""
        conditions = list(self._conditions(scope))
        if not conditions:
            return None
        allowed = conditions[0]
        for condition in conditions[1:]:
            allowed &= condition
        if self.live < self.used:
            allowed &= self.alive[: self.used]
        return None if np.count_nonzero(allowed) == self.live else allowed

    def matches(self, slots: Ints, scores: NDArray[np.floating], limit: int | None) -> list[Match]:
        """The best first; of equals the newer, then the higher chunk."""
        scores = scores.astype(np.float64)
        order = np.lexsort((-self.chunk[slots], -self.time[slots], -scores))[:limit]
        slots = slots[order]
        columns = (self.chunk, self.owner, self.type, self.time, self.confidence, self.importance)
        chunk, owner, code, time, confidence, importance = (column[slots].tolist() for column in columns)
        names = ["", *self._types]
        type, best = [names[each] for each in code], scores[order].tolist()
        whose = repeat(self.namespace, len(chunk))
        rows = zip(chunk, best, owner, type, time, confidence, importance, whose, strict=True)
        return [*map(Match._make, rows)]

    def _append(self, chunks: Ints) -> Ints:
        start, end = self.used, self.used + len(chunks)
        for name in _COLUMNS:
            setattr(self, name, grow(getattr(self, name), end, start))
        slots = np.arange(start, end)
        self.chunk[slots] = chunks
        self.alive[slots] = True
        last = self.chunk[start - 1] if start else -1
        if self._ordered == start and len(chunks) and chunks[0] > last and bool((np.diff(chunks) > 0).all()):
            self._ordered = end
        else:
            self._strays.update(zip(chunks.tolist(), slots.tolist(), strict=True))
        self.used = end
        self.live += len(chunks)
        return slots

    def _write(self, slots: Ints, rows: Sequence[AnyRow]) -> None:
        if not rows:
            return
        _, owner, type, session, kind, source, importance, confidence, tags, time, expires, _ = zip(*rows, strict=True)
        self.owner[slots] = owner
        self.type[slots] = self._codes(self._types, type)
        self.session[slots] = self._codes(self._sessions, session)
        self.kind[slots] = self._codes(self._kinds, kind)
        self.source[slots] = self._codes(self._sources, source)
        self.importance[slots] = importance
        self.confidence[slots] = confidence
        self.time[slots] = time
        self.expires[slots] = [NEVER if moment is None else moment for moment in expires]
        self._soonest = min(self._soonest, int(self.expires[slots].min()))
        for slot, text in zip(slots.tolist(), tags, strict=True):
            if text or slot in self._tags:
                self._retag(slot, _parse_tags(text))

    @staticmethod
    def _codes(known: dict[str, int], names: Sequence[str | None]) -> list[int]:
        """Numbers for names, from 1 on; 0 stands for None."""
        return [0 if name is None else known.setdefault(name, len(known) + 1) for name in names]

    @staticmethod
    def _codes_of(known: dict[str, int], *names: str | None) -> set[int]:
        return {known[name] for name in names if name is not None and name in known}

    def _retag(self, slot: int, names: tuple[str, ...]) -> None:
        before = self._tags.pop(slot, ())
        if before != names:
            for name in before:
                self._tagged[name].remove(slot)
            for name in names:
                self._tagged.setdefault(name, array("q")).append(slot)
        if names:
            self._tags[slot] = names

    def _conditions(self, scope: Scope) -> Iterator[Mask]:
        used, filter = self.used, scope.filter
        if self._sessions or not self._types.keys() <= {*scope.types}:
            yield self._visible(scope)
        if self._soonest <= scope.now:
            yield self.expires[:used] > scope.now
        if filter.kinds:
            yield _either(self.kind[:used], self._codes_of(self._kinds, *filter.kinds))
        if filter.without_replies and REPLY in self._kinds:
            yield self.kind[:used] != self._kinds[REPLY]
        if filter.sources:
            yield _either(self.source[:used], self._codes_of(self._sources, *filter.sources))
        for name in filter.tags:
            yield self._having(name)
        yield from self._bounds(scope)

    def _bounds(self, scope: Scope) -> Iterator[Mask]:
        """Which rows are above or below the numbers and times that a filter names."""
        used, filter = self.used, scope.filter
        if filter.min_importance is not None:
            yield self.importance[:used] >= filter.min_importance
        if filter.min_confidence is not None:
            yield self.confidence[:used] >= filter.min_confidence
        if filter.since is not None:
            yield self.time[:used] >= filter.since
        if filter.until is not None:
            yield self.time[:used] < filter.until

    def _visible(self, scope: Scope) -> Mask:
        """Global rows and those of the asker's session; of events, those of all sessions or of one."""
        session, own = self.session[: self.used], self.namespace == scope.namespaces[0]
        local = _either(session, {0, *self._codes_of(self._sessions, scope.session if own else None)})
        if Type.EVENT not in self._types and self._types.keys() <= {*scope.types}:
            return local
        said: Mask = self.type[: self.used] == self._types.get(Type.EVENT, -1)
        local &= ~said
        if scope.within is not None:
            said &= _either(session, self._codes_of(self._sessions, scope.within if own else None))
        local |= said
        local &= _either(self.type[: self.used], self._codes_of(self._types, *scope.types))
        return local

    def _having(self, tag: str) -> Mask:
        having = np.zeros(self.used, np.bool_)
        if slots := self._tagged.get(tag):
            having[np.frombuffer(slots, np.int64)] = True
        return having
