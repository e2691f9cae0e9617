"""A model of the catalogue as its files are: fetched once, verified each time it is loaded."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

from retentive.embed.catalogue import HUB
from retentive.embed.checksum import verify_file
from retentive.embed.download import fetch
from retentive.embed.local import Encoder, Loaded, Local
from retentive.errors import ModelMissing, ModelUnfit

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from retentive.embed.catalogue import Entry, HubFile
    from retentive.model import Space


class Catalogued(Local[Encoder]):
    def __init__(
        self,
        entry: Entry,
        cache: Path,
        *,
        precision: str,
        threads: int | None = None,
        download: bool = False,
        hub: str = HUB,
    ) -> None:
        super().__init__(query_prefix=entry.query_prefix, document_prefix=entry.document_prefix)
        self._entry, self._cache, self._precision = entry, cache, precision
        self._threads, self._download, self._hub = threads, download, hub
        self._files = entry.files(precision)

    @property
    def space(self) -> Space:
        """The same for both precisions: their vectors differ by the noise of eight bits."""
        return self._entry.space

    def _open(self) -> Loaded[Encoder]:
        try:
            return self._open_verified()
        except (ModelMissing, ModelUnfit):
            if not self._download:
                raise
        fetch(self._files, self._cache, self._hub)
        return self._open_verified()

    def _open_verified(self) -> Loaded[Encoder]:
        name = self._entry.name
        hint = f"Fetch it with `retentive models pull {name}`{size_note(self._files)}."
        with ExitStack() as verified:
            for file in self._files:
                verified.enter_context(verify_file(self._cache / file.name, file.sha256, hint))
            return Loaded(self._make(), f"catalogue, {self._entry.choose_precision(self._precision)}")

    def _make(self) -> Encoder:
        from retentive.embed.graph import Graph, Reading

        weights, *others = (self._cache / file.name for file in self._files)
        reading = Reading(self.space.dimension, self._entry.pooling, self._entry.max_tokens)
        if self._entry.is_static:
            from retentive.embed.static import Static

            return Static(weights, vocabulary=others[0], reading=reading)
        return Graph(weights, vocabulary=others[0] if others else None, threads=self._threads, reading=reading)

    def _expect(self) -> Mapping[str, str]:
        weights = self._cache / self._files[0].name
        if all((self._cache / file.name).is_file() for file in self._files):
            return {"graph": str(weights), "origin": "catalogue"}
        if self._download:
            return {"graph": "", "origin": "the first text downloads it"}
        missing = f"{self._entry.name} is not on this machine; `retentive models pull {self._entry.name}` fetches it."
        return {"graph": "", "origin": "", "degraded": missing}


def size_note(files: tuple[HubFile, ...]) -> str:
    return f" ({sum(file.size for file in files) / 1e6:.0f} MB)"
