"""Choosing, fetching, testing and removing embedding models, in the library and the terminal."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from retentive import Retentive, config
from retentive.cli import main
from retentive.config.settings_file import set_line, write_setting
from retentive.embed.catalogue import ARCTIC, CATALOGUE, INT8, POTION
from retentive.errors import BadConfig, Conflict, EmbedError, Forbidden, Invalid, ModelMissing, ModelUnfit
from retentive.maintenance.models import Models
from tests.embed.hub import Hub, running_hub
from tests.embed.stand_ins import write_folder
from tests.support import Run
from tests.weights import weights_or_skip

SIZE = sum(file.size for file in POTION.list_files(INT8))


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RETENTIVE_CACHE", str(tmp_path / "models"))
    return tmp_path / "models"


@pytest.fixture
def hub(cache: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """A hub that has the real files of two models, where HF_ENDPOINT says it is."""
    assert not cache.exists()
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with running_hub() as running:
        for entry in (POTION, ARCTIC):
            for file in entry.list_files(INT8):
                running.serve(file, weights_or_skip(entry.name) / file.path.rpartition("/")[2])
        monkeypatch.setenv("HF_ENDPOINT", running.url)
        yield running


@pytest.fixture
def models(cache: Path) -> Models:
    return Models(config.load(cache=str(cache)))


@pytest.fixture
def run(db: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """The terminal with the embedder that the settings name."""

    def run_(*arguments: str, code: int = 0) -> str:
        assert main(["--db", str(db), *arguments]) == code
        return capsys.readouterr().out

    return run_


def settings_file() -> Path:
    return Path(os.environ["RETENTIVE_CONFIG"])


def test_the_list_is_the_catalogue(models: Models) -> None:
    """The default is in use and here, what needs no files is here, nothing else is."""
    known = models.list()
    assert [each.name for each in known] == [entry.name for entry in CATALOGUE]
    assert [each.name for each in known if each.is_used] == ["all-MiniLM-L6-v2"]
    assert [each.name for each in known if each.is_here] == ["all-MiniLM-L6-v2", "hashing"]


def test_a_model_is_fetched_used_and_found_by_an_open_store(hub: Hub, cache: Path, db: Path) -> None:
    seen: list[tuple[int, int]] = []
    with Retentive.open(db, embedder="hashing") as store:
        found = store.models.pull("fast", progress=lambda here, total: seen.append((here, total)))
        assert found.is_here
        assert seen[-1] == (SIZE, SIZE)
        assert store.models.use("fast") == settings_file()
    assert {path.name for path in cache.iterdir()} >= {file.name for file in POTION.list_files(INT8)}
    with Retentive.open(db) as store:
        store.add("The tide turns at noon")
        assert store.search("when does the tide turn?").tier == "hybrid"
        assert store.stats()["spaces"][-1]["name"] == POTION.space.name
    assert len(hub.asked) == 2


def test_a_model_that_is_not_here_is_not_used(models: Models) -> None:
    with pytest.raises(ModelMissing) as caught:
        models.use("fast")
    assert "models.pull('fast')" in caught.value.hint
    assert not settings_file().exists()


@pytest.mark.parametrize("name", ["minilmm", "", "/no/such/folder", "nobody-knows:this"])
def test_a_name_that_is_none_changes_nothing(models: Models, name: str) -> None:
    with pytest.raises((BadConfig, EmbedError)):
        models.use(name)
    assert not settings_file().exists()


def test_a_folder_is_used_by_its_full_path(models: Models, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A store that is opened elsewhere finds it."""
    write_folder(tmp_path / "mine")
    monkeypatch.chdir(tmp_path)
    models.use("./mine")
    assert config.load().embedder == str(tmp_path / "mine")
    assert Models(config.load(cache=str(tmp_path / "models"))).list()[-1].is_used


def test_precision_is_chosen_with_the_model(models: Models) -> None:
    models.use("hashing", precision="float32")
    assert (config.load().embedder, config.load().precision) == ("hashing", "float32")
    with pytest.raises(BadConfig):
        models.use("hashing", precision="float16")


def test_minilm_in_float_must_be_fetched(models: Models) -> None:
    """The package has eight bits only."""
    with pytest.raises(ModelMissing):
        models.use("minilm", precision="float32")


def test_a_test_says_how_quick_and_how_good(models: Models) -> None:
    done = models.test("hashing")
    assert (done.space, done.dimension, done.questions) == ("hashing-384", 384, 6)
    assert done.texts_per_second > 0
    assert models.test("minilm").found == 6


@pytest.mark.usefixtures("hub")
def test_verify_finds_a_changed_byte_and_pull_mends_it(models: Models, cache: Path) -> None:
    models = Models(config.load(cache=str(cache)))
    models.pull("fast")
    assert models.verify("fast").problem == ""
    weights = cache / POTION.list_files(INT8)[0].name
    content = bytearray(weights.read_bytes())
    content[-1] ^= 1
    weights.write_bytes(content)
    done = models.verify("fast")
    assert weights.name in done.problem
    assert [file.state for file in done.files] == ["wrong", "right"]
    models.pull("fast")
    assert models.verify("fast").problem == ""


def test_verify_of_a_folder_compares_with_its_first_use(models: Models, tmp_path: Path, cache: Path) -> None:
    folder = str(write_folder(tmp_path / "mine"))
    assert models.verify(folder).problem == ""
    (record,) = cache.glob("own-*.json")
    kept = json.loads(record.read_text())
    record.write_text(json.dumps(kept | {"vectors": "AAAA" * (len(kept["vectors"]) // 4)}))
    assert "different vectors" in models.verify(folder).problem
    assert models.verify(folder, accept=True).problem == ""
    assert models.verify(folder).problem == ""


@pytest.mark.usefixtures("hub")
def test_remove_deletes_what_was_fetched_and_nothing_else(cache: Path, tmp_path: Path) -> None:
    models = Models(config.load(cache=str(cache)))
    models.pull("fast")
    models.pull("snowflake-arctic-embed-s")
    assert {path.name for path in models.remove("fast")} == {file.name for file in POTION.list_files(INT8)}
    assert models.info("snowflake-arctic-embed-s").is_here
    folder = write_folder(tmp_path / "mine")
    models.test(str(folder))
    assert [path.suffix for path in models.remove(str(folder))] == [".json"]
    assert (folder / "model.onnx").exists()
    assert models.remove("fast") == ()


def test_the_model_in_use_is_not_removed(models: Models) -> None:
    with pytest.raises(Conflict):
        models.remove("all-MiniLM-L6-v2")


@pytest.mark.parametrize("name", ["none", "ollama:nomic-embed-text"])
def test_what_has_no_files_is_not_fetched(models: Models, name: str) -> None:
    with pytest.raises(Invalid):
        models.pull(name)


def test_a_view_of_a_part_has_no_say_about_the_machine(store: Retentive) -> None:
    view = store.restricted([store.namespace])
    for verb in ("pull", "use", "test", "verify", "remove", "info"):
        with pytest.raises(Forbidden):
            getattr(view.models, verb)("hashing")
    with pytest.raises(Forbidden):
        view.models.list()


def test_two_processes_that_pull_fetch_once(hub: Hub, cache: Path) -> None:
    command = [sys.executable, "-m", "retentive", "models", "pull", "fast", "--json"]
    started = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(2)]
    answers = [json.loads(process.communicate(timeout=120)[0]) for process in started]
    assert [answer["is_here"] for answer in answers] == [True, True]
    assert hub.count() == {"model.safetensors": 1, "tokenizer.json": 1}
    assert (cache / "fetch.lock").exists()


def test_the_terminal_has_every_verb(run: Run, hub: Hub, cache: Path) -> None:
    """Told in words; what it prints for programs is in docs/reference/json.md."""
    assert "potion-base-8M/fast\tnot downloaded\t30.9 MB" in run("models")
    assert hub.asked == []
    assert "models use fast" in run("models", "pull", "fast")
    assert "sha256 f65d0f32" in run("models", "info", "fast")
    assert "retentive reembed --model fast" in run("models", "use", "fast")
    assert "6 of 6" in run("models", "test")
    assert "its files and vectors are correct" in run("models", "verify")
    run("models", "remove", "fast", code=4)
    run("models", "use", "minilm")
    assert "removed" in run("models", "remove", "fast")
    assert "fast was not downloaded" in run("models", "remove", "fast")
    assert [path.name for path in cache.iterdir()] == ["fetch.lock"]


def test_a_wrong_file_is_an_exit_code(run: Run, hub: Hub, cache: Path) -> None:
    run("models", "pull", "fast")
    (cache / POTION.list_files(INT8)[1].name).write_text("{}")
    run("models", "verify", "fast", code=6)
    hub.contents.clear()
    run("models", "pull", "fast", code=6)


def test_a_variable_that_hides_the_choice_is_named(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RETENTIVE_EMBEDDER", "none")
    assert "RETENTIVE_EMBEDDER" in run("models", "use", "hashing")


@pytest.mark.parametrize("wrong", ["no-such-model", "/no/such/folder"])
def test_a_setting_that_cannot_be_used_still_lets_models_be_chosen(run: Run, wrong: str) -> None:
    settings_file().write_text(f'embedder = "{wrong}"\n')
    run("stats", code=6 if "/" in wrong else 2)
    assert "in use" not in run("models")
    run("models", "info", "fast")
    run("models", "remove", "fast")
    run("models", "use", "hashing")
    run("stats")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", 'embedder = "fast"\n'),
        ('# mine\nfusion = "rrf"', '# mine\nfusion = "rrf"\nembedder = "fast"\n'),  # without a last line end
        ('embedder = "minilm"  # why\nfusion = "rrf"\n', 'embedder = "fast"  # why\nfusion = "rrf"\n'),
        ("  embedder='a#b' # c\n", '  embedder="fast" # c\n'),
        ('# embedder = "x"\n', '# embedder = "x"\nembedder = "fast"\n'),  # a comment is no setting
        ('embedder_url = "x"\r\n', 'embedder_url = "x"\r\nembedder = "fast"\r\n'),
        (r'embedder = "C:\\models \" x"' + "\n", 'embedder = "fast"\n'),
    ],
)
def test_one_line_is_changed_and_every_other_stays(before: str, after: str) -> None:
    assert set_line(before, "embedder", "fast") == after


def test_a_value_that_is_laid_out_strangely_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text('embedder = """\nminilm"""\n')
    with pytest.raises(BadConfig) as caught:
        write_setting(path, "embedder", "fast")
    assert 'embedder = "fast"' in caught.value.hint
    assert path.read_text() == 'embedder = """\nminilm"""\n'
    assert [each.name for each in tmp_path.iterdir()] == ["config.toml"]


def test_permissions_and_links_of_the_settings_stay(tmp_path: Path) -> None:
    real, link = tmp_path / "real.toml", tmp_path / "config.toml"
    real.write_text("threads = 1\n")
    real.chmod(0o640)
    link.symlink_to(real)
    write_setting(link, "embedder", "fast")
    assert link.is_symlink()
    assert real.read_text() == 'threads = 1\nembedder = "fast"\n'
    assert real.stat().st_mode & 0o777 == 0o640


def test_a_mirror_is_named_by_the_setting_or_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    assert config.load().hub_url == "https://huggingface.co"
    monkeypatch.setenv("HF_ENDPOINT", "https://mirror.example")
    assert config.resolve({})["hub_url"] == ("https://mirror.example", "HF_ENDPOINT")
    assert config.load(hub_url="https://own.example").hub_url == "https://own.example"
    monkeypatch.setenv("HF_ENDPOINT", "ftp://mirror.example")
    with pytest.raises(BadConfig, match="HF_ENDPOINT"):
        config.load()


def test_none_switches_vectors_off_and_says_so(db: Path) -> None:
    with Retentive.open(db, embedder="none") as store:
        assert store.add("The tide turns at noon").pending
        found = store.search("when does the tide turn?")
        assert found.tier == "text"
        assert "switched off" in " ".join(found.notes)
        assert store.search("tid").tier in ("text", "substring")


def test_a_folder_that_is_no_model_does_not_open_a_store(tmp_path: Path, db: Path) -> None:
    """Its space is not known, so that vectors could not be told from those of others."""
    shutil.copytree(write_folder(tmp_path / "mine", tokenizer=False), tmp_path / "copy")
    with pytest.raises((ModelMissing, ModelUnfit)):
        Retentive.open(db, embedder=str(tmp_path / "copy"))
    assert not db.exists()
