"""The columns of a namespace's active rows: the values that filters compare and that matches carry.

A position is a row's index in every column. Positions are given in the order of arrival, which is the order of chunk
numbers but for rows that became active again; so a chunk's position is found by bisection, with a dict for those few
strays. This takes 8 bytes a row; a dict of all would take about 150. A removed row leaves its position dead until
`compact`.

`mask` evaluates a filter for all rows at once (a few us per condition and 10,000 rows). It is None if every live row
may be seen, as in most searches. Expiry is compared with the moment of the search, never applied as a change: a row
disappears at its instant though nobody writes.
"""

import json
from array import array
from collections.abc import Iterator, Sequence
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retentive.index.arrays import Ints, Mask, grow
from retentive.model import REPLY, ItemType, Match, Scope
from retentive.text.caches import text_cache

AnyRow = tuple[Any, ...]
"""The fields of `retentive.index.IndexRow`, in its order."""

NEVER = np.iinfo(np.int64).max

# Compacting 100,000 rows with their vectors and postings takes about 0.1 s; a quarter of waste pays for it.
_UNTIDY_DIVISOR = 4
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


def read_chunk_numbers(rows: Sequence[AnyRow]) -> Ints:
    return np.fromiter((row[0] for row in rows), np.int64, len(rows))


@text_cache(4096)
def _parse_tags(text: str | None) -> tuple[str, ...]:
    """Parse the tags of a row; none if they are damaged."""
    try:
        return tuple(dict.fromkeys(json.loads(text))) if text else ()
    except (ValueError, TypeError):
        return ()


def _is_any_of(column: NDArray[np.integer], codes: set[int]) -> Mask:
    allowed = np.zeros(len(column), np.bool_)
    for code in codes:
        allowed |= column == code
    return allowed


class Rows:
    """The rows of one namespace, column by column."""

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
    def is_untidy(self) -> bool:
        """Whether compacting is worth it."""
        waste = self.used - self.live + len(self._strays)
        return waste >= _UNTIDY_FROM and waste * _UNTIDY_DIVISOR >= self.used

    def live_chunks(self) -> Ints:
        return self.chunk[: self.used][self.alive[: self.used]]

    def find(self, chunks: Ints) -> Ints:
        """The positions of these chunks, -1 for those that are not here."""
        ordered = self.chunk[: self._ordered]
        if not len(ordered):
            positions = np.full(len(chunks), -1)
        else:
            at = np.searchsorted(ordered, chunks).clip(max=len(ordered) - 1)
            positions = np.where((ordered[at] == chunks) & self.alive[at], at, -1)
        if self._strays:
            for i in np.flatnonzero(positions < 0):
                positions[i] = self._strays.get(int(chunks[i]), -1)
        return positions

    def put(self, rows: Sequence[AnyRow]) -> Ints:
        """Insert or update rows, and return their positions."""
        chunks = read_chunk_numbers(rows)
        positions = self.find(chunks)
        new = np.flatnonzero(positions < 0)
        positions[new] = self._append(chunks[new])
        self._write(positions, rows)
        return positions

    def remove(self, chunks: Ints) -> Ints:
        """Remove chunks, and return the positions of those that were here."""
        positions = self.find(chunks)
        positions = positions[positions >= 0]
        self.alive[positions] = False
        self.live -= len(positions)
        for position in positions.tolist():
            self._strays.pop(int(self.chunk[position]), None)
            self._set_tags(position, ())
        return positions

    def compact(self) -> Ints:
        """Move the live rows together, by chunk. Returns the new position of each old one, -1 for none."""
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
        for position, names in tags.items():
            self._set_tags(int(moved[position]), names)
        return moved

    def mask(self, scope: Scope) -> Mask | None:
        """Mask the positions that a scope includes; None if it includes every live row."""
        conditions = list(self._list_conditions(scope))
        if not conditions:
            return None
        allowed = conditions[0]
        for condition in conditions[1:]:
            allowed &= condition
        if self.live < self.used:
            allowed &= self.alive[: self.used]
        return None if np.count_nonzero(allowed) == self.live else allowed

    def matches(self, positions: Ints, scores: NDArray[np.floating], limit: int | None) -> list[Match]:
        """Make matches of positions, the best first; of equals the newer, then the higher chunk."""
        scores = scores.astype(np.float64)
        order = np.lexsort((-self.chunk[positions], -self.time[positions], -scores))[:limit]
        positions = positions[order]
        columns = (self.chunk, self.owner, self.type, self.time, self.confidence, self.importance)
        chunk, owner, code, time, confidence, importance = (column[positions].tolist() for column in columns)
        names = ["", *self._types]
        type, best = [names[each] for each in code], scores[order].tolist()
        namespaces = repeat(self.namespace, len(chunk))
        rows = zip(chunk, best, owner, type, time, confidence, importance, namespaces, strict=True)
        return [*map(Match._make, rows)]

    def _append(self, chunks: Ints) -> Ints:
        start, end = self.used, self.used + len(chunks)
        for name in _COLUMNS:
            setattr(self, name, grow(getattr(self, name), end, start))
        positions = np.arange(start, end)
        self.chunk[positions] = chunks
        self.alive[positions] = True
        last = self.chunk[start - 1] if start else -1
        if self._ordered == start and len(chunks) and chunks[0] > last and bool((np.diff(chunks) > 0).all()):
            self._ordered = end
        else:
            self._strays.update(zip(chunks.tolist(), positions.tolist(), strict=True))
        self.used = end
        self.live += len(chunks)
        return positions

    def _write(self, positions: Ints, rows: Sequence[AnyRow]) -> None:
        if not rows:
            return
        _, owner, type, session, kind, source, importance, confidence, tags, time, expires, _ = zip(*rows, strict=True)
        self.owner[positions] = owner
        self.type[positions] = self._encode(self._types, type)
        self.session[positions] = self._encode(self._sessions, session)
        self.kind[positions] = self._encode(self._kinds, kind)
        self.source[positions] = self._encode(self._sources, source)
        self.importance[positions] = importance
        self.confidence[positions] = confidence
        self.time[positions] = time
        self.expires[positions] = self._read_expiry(expires)
        if self._tags or any(tags):
            for position, text in zip(positions.tolist(), tags, strict=True):
                if text or position in self._tags:
                    self._set_tags(position, _parse_tags(text))

    def _read_expiry(self, expires: Sequence[int | None]) -> Ints | int:
        """The moments at which rows expire. Mostly none does: looking for that is quicker than replacing each None."""
        if expires.count(None) == len(expires):
            return NEVER
        moments = np.array([NEVER if moment is None else moment for moment in expires], np.int64)
        self._soonest = min(self._soonest, int(moments.min()))
        return moments

    @staticmethod
    def _encode(known: dict[str, int], names: Sequence[str | None]) -> list[int]:
        """Numbers for names, from 1 on; 0 stands for None. Each distinct name is looked at once."""
        codes = {name: 0 if name is None else known.setdefault(name, len(known) + 1) for name in dict.fromkeys(names)}
        return [*map(codes.__getitem__, names)]

    @staticmethod
    def _codes_of(known: dict[str, int], *names: str | None) -> set[int]:
        return {known[name] for name in names if name is not None and name in known}

    def _set_tags(self, position: int, names: tuple[str, ...]) -> None:
        before = self._tags.pop(position, ())
        if before != names:
            for name in before:
                self._tagged[name].remove(position)
            for name in names:
                self._tagged.setdefault(name, array("q")).append(position)
        if names:
            self._tags[position] = names

    def _list_conditions(self, scope: Scope) -> Iterator[Mask]:
        """Yield a mask for each condition of a scope that may hide a row."""
        used, filter = self.used, scope.filter
        if self._sessions or not self._types.keys() <= {*scope.types}:
            yield self._is_visible(scope)
        if scope.is_session_only:
            own_session = scope.session if self.namespace == scope.namespaces[0] else None
            yield _is_any_of(self.session[:used], self._codes_of(self._sessions, own_session))
        if self._soonest <= scope.now:
            yield self.expires[:used] > scope.now
        if filter.kinds:
            yield _is_any_of(self.kind[:used], self._codes_of(self._kinds, *filter.kinds))
        if filter.without_replies and REPLY in self._kinds:
            yield self.kind[:used] != self._kinds[REPLY]
        if filter.sources:
            yield _is_any_of(self.source[:used], self._codes_of(self._sources, *filter.sources))
        for name in filter.tags:
            yield self._has_tag(name)
        yield from self._list_bounds(scope)

    def _list_bounds(self, scope: Scope) -> Iterator[Mask]:
        """Yield masks of the rows within the numbers and times of a filter."""
        used, filter = self.used, scope.filter
        if filter.min_importance is not None:
            yield self.importance[:used] >= filter.min_importance
        if filter.min_confidence is not None:
            yield self.confidence[:used] >= filter.min_confidence
        if filter.since is not None:
            yield self.time[:used] >= filter.since
        if filter.until is not None:
            yield self.time[:used] < filter.until

    def _is_visible(self, scope: Scope) -> Mask:
        """Mask global rows and those of the asker's session; for events, those of all sessions or of one."""
        session, own = self.session[: self.used], self.namespace == scope.namespaces[0]
        local = _is_any_of(session, {0, *self._codes_of(self._sessions, scope.session if own else None)})
        if ItemType.EVENT not in self._types and self._types.keys() <= {*scope.types}:
            return local
        said: Mask = self.type[: self.used] == self._types.get(ItemType.EVENT, -1)
        local &= ~said
        if scope.events_of_session is not None:
            said &= _is_any_of(session, self._codes_of(self._sessions, scope.events_of_session if own else None))
        local |= said
        local &= _is_any_of(self.type[: self.used], self._codes_of(self._types, *scope.types))
        return local

    def _has_tag(self, tag: str) -> Mask:
        having = np.zeros(self.used, np.bool_)
        if positions := self._tagged.get(tag):
            having[np.frombuffer(positions, np.int64)] = True
        return having
