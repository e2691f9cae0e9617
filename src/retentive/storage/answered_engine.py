"""An engine some of whose answers are known already, because they were read together.

On a server each read is a round trip. A verb that knows what it will read has that read at once
(`store/read_ahead.py`). Its code then reads as always, and finds the answers here, until something is written.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from retentive.storage import NO_PARAMS, Engine, Params, Read, Step


class ReadRecorder:
    """Records what is read, and answers with nothing."""

    def __init__(self) -> None:
        self.reads: list[Read] = []

    def read(self, query: str, params: Params = NO_PARAMS, filters: Sequence[str] = ()) -> list[tuple[Any, ...]]:
        self.reads.append(Read(query, params, filters))
        return []


class AnsweredEngine:
    """Answers the reads that were made already, and passes all else on."""

    def __init__(self, engine: Engine, reads: Sequence[Read]) -> None:
        self._engine = engine
        answers = engine.read_many(reads) if reads else []
        self._answers = {_make_key(*each): rows for each, rows in zip(reads, answers, strict=True)}

    def read(self, query: str, params: Params = NO_PARAMS, filters: Sequence[str] = ()) -> list[tuple[Any, ...]]:
        rows = self._answers.get(_make_key(query, params, filters)) if self._answers else None
        return self._engine.read(query, params, filters) if rows is None else rows

    def apply(self, steps: Iterable[Step]) -> None:
        self._answers.clear()
        self._engine.apply(steps)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)


def _make_key(query: str, params: Params, filters: Sequence[str]) -> tuple[str, str]:
    values = {name: [*value] if isinstance(value, tuple) else value for name, value in sorted(params.items())}
    return query, f"{values!r} {[*filters]!r}"
