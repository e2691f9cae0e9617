import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from retentive.index import image as image_module
from retentive.index import open_images
from retentive.index.graph_build import GraphBuilder
from retentive.index.graph_file import GraphFile
from retentive.index.hnsw import Hnsw
from retentive.model import Scope

if TYPE_CHECKING:
    from retentive.index import Images
    from tests.index.conftest import Store

HERE = Scope(("home",), None, 100)
DIMENSION = 8


ROWS = np.random.default_rng(1).standard_normal((600, DIMENSION)).astype(np.float32)
ROWS /= np.linalg.norm(ROWS, axis=1, keepdims=True)
QUERIES = ROWS[::30] * np.float32(0.99)


def opened(store: "Store", cache: Path, store_id: str = "mine") -> "Images":
    return open_images(store, weights=[1, 1], cache=cache, store_id=store_id, hnsw_from=300)


def answers(images: "Images", store: "Store") -> list[list[int]]:
    """The chunks in order; scores may differ in the last digit."""
    found = [images.search_vectors(query, store.space, HERE, 10) for query in QUERIES]
    return [[match.chunk for match in one] for one in found]


def tier(images: "Images") -> str:
    return str(images.stats()["home"]["tier"])


@pytest.fixture
def store(new_store: Callable[..., "Store"]) -> "Store":
    store = new_store(DIMENSION)
    store.load(ROWS)
    return store


@pytest.fixture
def cache(store: "Store", tmp_path: Path) -> Path:
    """The folder after a graph was built and everything closed."""
    folder = tmp_path / "derived"
    images = opened(store, folder)
    answers(images, store)
    assert images.wait(30)
    images.close()
    return folder


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The sizes of batches added to graphs."""
    sizes: list[int] = []
    add = Hnsw.add

    def counted(self: Hnsw, chunks: Any, *rest: Any, **options: Any) -> None:
        sizes.append(len(chunks))
        add(self, chunks, *rest, **options)

    monkeypatch.setattr(Hnsw, "add", counted)
    return sizes


def exact(store: "Store") -> list[list[int]]:
    images = open_images(store, weights=[1, 1])
    found = answers(images, store)
    images.close()
    return found


def the_file(cache: Path) -> Path:
    (file,) = cache.iterdir()
    return file


def test_a_restart_builds_nothing(store: "Store", cache: Path, built: list[int]) -> None:
    """The saved graph answers at once, the same."""
    images = opened(store, cache)
    assert answers(images, store) == exact(store)
    assert tier(images) == "hnsw"
    assert images.wait(10)
    assert not built
    images.close()


def test_opening_a_saved_graph_sorts_no_rows(store: "Store", cache: Path) -> None:
    """Rows are there once, in the database and in the graph: what is missing is found without making sure of it."""
    called: list[str] = []
    images = opened(store, cache)
    sys.setprofile(lambda frame, event, _: called.append(frame.f_code.co_name) if event == "call" else None)
    try:
        images.search_vectors(QUERIES[0], store.space, HERE, 1)
    finally:
        sys.setprofile(None)
    assert tier(images) == "hnsw"
    assert "setdiff1d" in called
    assert "unique" not in called
    images.close()


def test_only_the_owner_may_read_it(cache: Path) -> None:
    """A graph holds what memories mean: it is as private as the database."""
    assert the_file(cache).stat().st_mode & 0o077 == 0
    assert cache.stat().st_mode & 0o077 == 0


def test_a_restart_catches_up(store: "Store", cache: Path, built: list[int]) -> None:
    """What happened while nobody looked is in the first answer."""
    store.forget(3)
    store.embed(5, QUERIES[0])
    new = store.add(vector=QUERIES[1])
    images = opened(store, cache)
    assert answers(images, store) == exact(store)
    assert images.search_vectors(QUERIES[1], store.space, HERE, 1)[0].chunk == new
    assert tier(images) == "hnsw"
    assert not built
    images.close()


def test_a_graph_of_another_past_is_not_used(store: "Store", cache: Path) -> None:
    """A store put back from a copy gives numbers again; the saved graph knows other rows by them."""
    with store.db:
        newest = store.db.execute("SELECT max(chunk) FROM vectors").fetchall()[0][0]
        vector = QUERIES[0].astype("<f2").tobytes()
        store.db.execute("UPDATE vectors SET vector = ? WHERE chunk = ?", (vector, newest))
    images = opened(store, cache)
    assert answers(images, store) == exact(store)
    assert tier(images) == "flat"
    images.close()


def test_a_graph_that_lacks_rows_is_completed(store: "Store", cache: Path) -> None:
    """As after going back to a copy: rows that the graph never saw, and no change that tells of them."""
    with store.db:
        same = "type, session, kind, source, importance, confidence, tags, time, expires, active"
        store.db.execute(f"INSERT INTO chunks SELECT n + 5000, namespace, owner, {same} FROM chunks WHERE n <= 20")
        store.db.execute("INSERT INTO vectors SELECT chunk + 5000, space, vector FROM vectors WHERE chunk <= 20")
    images = opened(store, cache)
    assert answers(images, store) == exact(store)
    assert images.stats()["home"]["vectors"] == images.stats()["home"]["rows"]
    images.close()


def test_text_first_then_vectors_from_the_file(store: "Store", cache: Path, built: list[int]) -> None:
    """Rows loaded for keyword search serve a graph that comes from its file later."""
    images = open_images(store, weights=[1, 1], cache=cache, store_id="mine", hnsw_from=300, terms_from=0)
    store.add("dog", vector=QUERIES[2])
    images.search_text(["dog"], HERE, 5)
    assert images.wait(10)
    assert answers(images, store) == exact(store)
    assert len(images.search_text(["dog"], HERE, 5) or []) == 1
    assert not built
    images.close()


def damage(file: Path, at: int) -> None:
    data = bytearray(file.read_bytes())
    data[at] ^= 0xFF
    file.write_bytes(data)


def rewrite(file: Path, **header: Any) -> None:
    data = file.read_bytes()
    length = int.from_bytes(data[-16:-8], "little")
    body, old = data[: -16 - length], json.loads(data[-16 - length : -16])
    new = json.dumps(old | header).encode()
    file.write_bytes(body + new + len(new).to_bytes(8, "little") + data[-8:])


@pytest.mark.parametrize(
    "harm",
    [
        lambda file: file.write_bytes(b""),  # nothing
        lambda file: file.write_bytes(b"\0" * 5000),  # what a power cut leaves
        lambda file: file.write_bytes(file.read_bytes()[:-9]),  # torn at the end
        lambda file: file.write_bytes(file.read_bytes()[4000:]),  # torn at the start
        lambda file: damage(file, 5000),  # a flipped byte in the graph
        lambda file: damage(file, -20),  # in the header
        lambda file: damage(file, -12),  # in its length
        lambda file: damage(file, -1),  # in the magic
        lambda file: rewrite(file, format=2),  # a format of the future
        lambda file: rewrite(file, usearch="0.0"),  # another usearch
        lambda file: rewrite(file, store="theirs"),  # another store
        lambda file: rewrite(file, namespace="away"),  # another namespace
        lambda file: rewrite(file, space="other"),  # another model
        lambda file: rewrite(file, dimension=16),
        lambda file: rewrite(file, count=1),
        lambda file: rewrite(file, sequence=10**9),  # the database was put back to an older day
        lambda file: rewrite(file, sequence="x"),
        lambda file: rewrite(file, effort=None),
    ],
)
def test_a_file_of_no_use_is_built_anew(
    store: "Store", cache: Path, harm: Callable[[Path], None], built: list[int]
) -> None:
    """Damaged, foreign or from the future: no search fails, the answers are right, and the file is made again."""
    file = the_file(cache)
    harm(file)
    images = opened(store, cache)
    assert answers(images, store) == exact(store)
    assert images.wait(30)
    assert sum(built) == 600
    assert answers(images, store) == exact(store)
    images.close()
    assert GraphFile(cache, "mine", "home", store.space.name, DIMENSION).load(0, store.head()) is not None


def test_older_than_the_log_is_built_anew(store: "Store", cache: Path, built: list[int]) -> None:
    """When the changes since are no longer known, the graph cannot be brought up to date."""
    store.forget(1)
    store.prune()
    images = opened(store, cache)
    assert answers(images, store) == exact(store)
    assert images.wait(30)
    assert sum(built) == 599
    images.close()


def test_another_store_has_another_file(store: "Store", cache: Path, built: list[int]) -> None:
    """One folder may serve several stores."""
    images = opened(store, cache, "theirs")
    answers(images, store)
    assert images.wait(30)
    images.close()
    assert sum(built) == 600
    assert len(list(cache.iterdir())) == 2


def test_much_change_is_saved_at_close(store: "Store", cache: Path) -> None:
    """A tenth changed is written again when the images close; a little is not."""
    before = the_file(cache).read_bytes()
    images = opened(store, cache)
    store.forget(1)
    answers(images, store)
    images.close()
    assert the_file(cache).read_bytes() == before
    images = opened(store, cache)
    for chunk in range(2, 80):
        store.forget(chunk)
    answers(images, store)
    images.close()
    assert the_file(cache).read_bytes() != before
    images = opened(store, cache)
    assert answers(images, store) == exact(store)
    assert images.stats()["home"]["vectors"] == 521
    images.close()


def test_a_folder_that_cannot_be_written(store: "Store", tmp_path: Path) -> None:
    """The graph answers though it could not be saved, and the statistics say why."""
    (tmp_path / "file").write_text("")
    images = opened(store, tmp_path / "file")
    answers(images, store)
    assert images.wait(30)
    assert tier(images) == "hnsw"
    assert "build" in images.stats()["home"]["errors"]
    images.close()


def test_nothing_is_written_without_a_folder(store: "Store", tmp_path: Path) -> None:
    """A store in memory leaves nothing on disk."""
    images = open_images(store, weights=[1, 1], hnsw_from=300)
    answers(images, store)
    assert images.wait(30)
    images.close()
    assert list(tmp_path.glob("**/*.hnsw")) == []


BATCH = 100


class Stopper:
    """Has the images of a test close when so many batches of a graph are added."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.stop_after(3)
        add = GraphBuilder.add

        def add_and_stop(builder: GraphBuilder, chunks: Any, vectors: Any) -> None:
            add(builder, chunks, vectors)
            self._batches -= 1
            if self._batches == 0:
                self._midway.set()
                assert self._closing.wait(30)

        monkeypatch.setattr(image_module, "_BUILD_BATCH", BATCH)
        monkeypatch.setattr(GraphBuilder, "add", add_and_stop)

    def stop_after(self, batches: int) -> None:
        self._batches = batches
        self._midway, self._closing = threading.Event(), threading.Event()

    def close_midway(self, images: "Images") -> None:
        assert self._midway.wait(30)
        closing = threading.Thread(target=images.close)
        closing.start()
        while not images._worker.is_closing():
            time.sleep(0.001)
        self._closing.set()
        closing.join()


@pytest.fixture
def stopper(monkeypatch: pytest.MonkeyPatch) -> Stopper:
    return Stopper(monkeypatch)


@pytest.fixture
def unfinished(store: "Store", tmp_path: Path, stopper: Stopper) -> Path:
    """The folder after everything was closed when half of a graph was built."""
    folder = tmp_path / "half"
    images = opened(store, folder)
    answers(images, store)
    stopper.close_midway(images)
    return folder


def finish(store: "Store", cache: Path) -> None:
    """Let the next process come, and look at what it answers before and after the graph is there."""
    images = opened(store, cache)
    assert answers(images, store) == exact(store)
    assert images.wait(30)
    pairs = zip(answers(images, store), exact(store), strict=True)
    assert sum(len({*found}.intersection(right)) for found, right in pairs) >= 0.98 * 10 * len(QUERIES)
    figures = images.stats()["home"]
    assert (figures["tier"], figures["vectors"]) == ("hnsw", figures["rows"])
    images.close()
    assert [file.suffixes for file in cache.iterdir()] == [[".hnsw"]]


def test_a_build_that_was_stopped_goes_on_in_the_next_process(
    store: "Store", unfinished: Path, built: list[int]
) -> None:
    """Nothing is added twice, and what is there at the end answers as a graph built at once."""
    finish(store, unfinished)
    assert sum(built) == 600 - 3 * BATCH


def test_short_lived_processes_get_there_together(
    store: "Store", unfinished: Path, stopper: Stopper, built: list[int]
) -> None:
    """Each goes on where the one before it was stopped."""
    for _ in range(2):
        stopper.stop_after(1)
        images = opened(store, unfinished)
        answers(images, store)
        stopper.close_midway(images)
        assert sum(built) == BATCH
        built.clear()
    finish(store, unfinished)
    assert sum(built) == BATCH


def test_what_changed_since_a_build_was_stopped_is_in_the_graph(
    store: "Store", unfinished: Path, built: list[int]
) -> None:
    """Also if the log of changes no longer reaches back: each row is compared."""
    for chunk in range(1, 20):
        store.forget(chunk)
    for chunk in range(50, 60):
        store.embed(chunk, QUERIES[chunk % 7])
    store.add(vector=QUERIES[3])
    store.prune()
    finish(store, unfinished)
    assert sum(built) == 600 - 3 * BATCH + 10 + 1


def test_a_half_of_which_much_is_gone_is_not_gone_on_with(store: "Store", unfinished: Path, built: list[int]) -> None:
    for chunk in range(1, 120):
        store.forget(chunk)
    finish(store, unfinished)
    assert sum(built) == 600 - 119


@pytest.mark.parametrize(
    "harm",
    [
        lambda file: file.write_bytes(b"\0" * 5000),
        lambda file: file.write_bytes(file.read_bytes()[:-9]),
        lambda file: damage(file, 3000),
        lambda file: rewrite(file, store="theirs"),
        lambda file: rewrite(file, count=1),
    ],
)
def test_a_damaged_half_is_built_anew(
    store: "Store", unfinished: Path, harm: Callable[[Path], None], built: list[int]
) -> None:
    harm(the_file(unfinished))
    finish(store, unfinished)
    assert sum(built) == 600


def test_erasing_a_namespace_removes_its_unfinished_graph(store: "Store", unfinished: Path) -> None:
    images = opened(store, unfinished)
    images.erase("home", [store.space.name])
    assert list(unfinished.iterdir()) == []
    images.close()


def test_a_graph_that_cannot_be_saved_on_the_way_is_built_all_the_same(
    store: "Store", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(image_module, "_BUILD_BATCH", BATCH)
    (tmp_path / "file").write_text("")
    images = opened(store, tmp_path / "file")
    answers(images, store)
    assert images.wait(30)
    assert tier(images) == "hnsw"
    images.close()


KILLED = """
import os, signal, sys
from pathlib import Path
from retentive.index import hnsw, image, open_images
from retentive.index.graph_file import GraphFile
from retentive.model import Scope
from tests.index.conftest import Store
import numpy as np

store, cache, when = Store(Path(sys.argv[1]), 8), Path(sys.argv[2]), sys.argv[3]
image._BUILD_DELAY, image._BUILD_BATCH, hnsw._THREADS = 0.0, 100, 1
save, replace, saves = hnsw.Hnsw.save, Path.replace, []

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

def torn(graph, path):
    save(graph, path)
    saves.append(path)
    if len(saves) == 3:
        os.truncate(path, os.path.getsize(path) // 2)
        die()

def before_the_rename(path, target):
    if len(saves) == 3:
        die()
    return replace(path, target)

def after_the_rename(path, target):
    replace(path, target)
    if len(saves) == 3:
        die()

def counted(graph, path):
    save(graph, path)
    saves.append(path)

hnsw.Hnsw.save = torn if when == "while writing" else counted
Path.replace = {"before the rename": before_the_rename, "after the rename": after_the_rename}.get(when, replace)
images = open_images(store, weights=[1, 1], cache=cache, store_id="mine", hnsw_from=300)
images.search_vectors(np.full(8, 8 ** -0.5, np.float32), store.space, Scope(("home",), None, 100), 10)
images.wait(60)
print("was not killed")
"""


@pytest.mark.parametrize(
    ("when", "saved"), [("while writing", 200), ("before the rename", 200), ("after the rename", 300)]
)
def test_a_process_killed_while_it_saves_leaves_what_was_saved_before(
    store: "Store", tmp_path: Path, when: str, saved: int, built: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next process goes on from there, and what the killed one left is removed when it is old."""
    monkeypatch.setattr(image_module, "_BUILD_BATCH", BATCH)
    cache = tmp_path / "derived"
    program = [sys.executable, "-c", KILLED, store._path, str(cache), when]
    done = subprocess.run(program, check=False, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (-signal.SIGKILL, ""), done.stderr
    for file in cache.glob("*.tmp"):
        os.utime(file, (0, 0))
    finish(store, cache)
    assert sum(built) == 600 - saved


def test_the_file_that_another_process_is_writing_stays(store: "Store", cache: Path) -> None:
    (cache / "0123.abc.tmp").write_bytes(b"half a graph")
    images = opened(store, cache)
    for chunk in range(1, 80):
        store.forget(chunk)
    answers(images, store)
    images.close()
    assert (cache / "0123.abc.tmp").exists()
