import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from retentive.index import open_images
from retentive.index.hnsw import Hnsw
from retentive.index.sidecar import Sidecar
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
    """Rows loaded for the text leg serve a graph that comes from its file later."""
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
    assert Sidecar(cache, "mine", "home", store.space.name, DIMENSION).load(0, store.head()) is not None


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
