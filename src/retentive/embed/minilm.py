"""all-MiniLM-L6-v2 in eight bits: the default, rebuilt for speed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from retentive.embed import locate
from retentive.embed.catalogue import HUB, MINILM
from retentive.embed.local import Loaded, Local, interrupts_waiting

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from retentive.embed.graph import Graph

__all__ = ["MiniLM", "interrupts_waiting"]


class MiniLM(Local["Graph"]):
    space = MINILM.space
    """The same for every graph of the model: their vectors agree by .985 and better."""

    def __init__(
        self,
        cache: Path,
        *,
        model_path: Path | None = None,
        threads: int | None = None,
        download: bool = False,
        hub: str = HUB,
    ) -> None:
        super().__init__()
        self._where = locate.Where(cache, model_path, threads, download, hub)

    def _open(self) -> Loaded[Graph]:
        return locate.load(self._where)

    def _expect(self) -> Mapping[str, str]:
        where = self._where
        if where.path:
            return {"graph": str(where.path), "origin": "configured"}
        source = locate.find_source(where)
        if cached := locate.find_cached(where, source):
            return {"graph": str(cached), "origin": "rebuilt, from the cache"}
        if source:
            return {"graph": str(source.path), "origin": "as shipped; the first text rebuilds it"}
        if where.download:
            return {"graph": "", "origin": "the first text downloads it"}
        return {"graph": "", "origin": "", "degraded": "No embedding model is on this machine."}
