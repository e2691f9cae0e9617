"""A model of the catalogue, used as its files are: downloaded once, verified each time it is loaded."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

from retentive.embed.catalogue import HUB
from retentive.embed.checksum import verify_file
from retentive.embed.download import download_files
from retentive.embed.local_embedder import Encoder, LoadedModel, LocalEmbedder
from retentive.errors import ModelMissing, ModelUnfit

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from retentive.embed.catalogue import CatalogueEntry
    from retentive.model import Space


class CatalogueEmbedder(LocalEmbedder[Encoder]):
    def __init__(
        self,
        entry: CatalogueEntry,
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
        self._files = entry.list_files(precision)

    @property
    def space(self) -> Space:
        """The same for both precisions: their vectors differ by the noise of eight bits."""
        return self._entry.space

    def _open(self) -> LoadedModel[Encoder]:
        try:
            return self._open_verified()
        except (ModelMissing, ModelUnfit):
            if not self._download:
                raise
        download_files(self._files, self._cache, self._hub)
        return self._open_verified()

    def _open_verified(self) -> LoadedModel[Encoder]:
        name = self._entry.name
        megabytes = sum(file.size for file in self._files) / 1e6
        hint = f"Download it with `models.pull({name!r})` ({megabytes:.0f} MB)."
        with ExitStack() as verified_files:
            for file in self._files:
                verified_files.enter_context(verify_file(self._cache / file.name, file.sha256, hint))
            return LoadedModel(self._load_encoder(), f"catalogue, {self._entry.choose_precision(self._precision)}")

    def _load_encoder(self) -> Encoder:
        from retentive.embed.onnx_encoder import EncoderOptions, OnnxEncoder

        weights, *others = (self._cache / file.name for file in self._files)
        vocabulary = others[0] if others else None
        options = EncoderOptions(self.space.dimension, self._entry.pooling, self._entry.max_tokens)
        if self._entry.is_static and vocabulary:
            from retentive.embed.static_encoder import StaticEncoder

            return StaticEncoder(weights, vocabulary=vocabulary, options=options)
        return OnnxEncoder(weights, vocabulary=vocabulary, threads=self._threads, options=options)

    def _describe_unloaded(self) -> Mapping[str, str]:
        weights = self._cache / self._files[0].name
        if all((self._cache / file.name).is_file() for file in self._files):
            return {"graph": str(weights), "origin": "catalogue"}
        if self._download:
            return {"graph": "", "origin": "downloaded at the first text"}
        missing = f"{self._entry.name} is not on this machine; `models.pull({self._entry.name!r})` downloads it."
        return {"graph": "", "origin": "", "degraded": missing}
