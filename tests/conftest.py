import os
import shutil
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings

from retentive import Retentive
from retentive.cli import main
from retentive.testing import Clock, use_clock
from tests.engines import ENGINES, POSTGRES, Sqld, missing, sqld_or_skip
from tests.sizes import choose
from tests.support import Open, Place, Run

if TYPE_CHECKING:
    from tests.server import Server

# The tests start hundreds of processes; where none may write bytecode, each would compile every module anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# Stores, servers and their logs in memory, where there is room: a new PostgreSQL database takes 19 ms instead of 57,
# and no commit waits for a disk, which no test could cut the power of. TMPDIR=/tmp has them on disk.
MEMORY = Path("/dev/shm")  # noqa: S108 - the folders in it are made by pytest and tempfile
ROOM = 4 << 30
if "TMPDIR" not in os.environ and MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > ROOM:
    os.environ["TMPDIR"] = tempfile.tempdir = str(MEMORY)

# By hand every run tries examples of its own; in CI the same ones, so that a change is judged by what it changed.
EXAMPLES = choose(40, 100)
settings.register_profile("ci", derandomize=True, deadline=None, max_examples=EXAMPLES)
settings.register_profile("hand", deadline=None, max_examples=EXAMPLES)
settings.load_profile("ci" if os.environ.get("RETENTIVE_ALL_ENGINES") else "hand")


def pytest_xdist_auto_num_workers() -> int | None:
    """Two more workers than processors: the tests wait half of their time for other processes and servers."""
    return None if os.environ.get("PYTEST_XDIST_AUTO_NUM_WORKERS") else (os.cpu_count() or 1) + 2


@pytest.fixture(scope="session")
def model_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One rebuilt model for all tests, of all workers."""
    base = tmp_path_factory.getbasetemp()
    return (base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base) / "models"


@pytest.fixture(autouse=True)
def surroundings(tmp_path: Path, model_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of the machine's own settings, and nothing written outside the test's folder."""
    for name in [name for name in os.environ if name.startswith("RETENTIVE_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("RETENTIVE_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.setenv("RETENTIVE_CACHE", str(model_cache))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "settings"))


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """See `tests/engines.py`."""
    wanted = metafunc.definition.get_closest_marker("engines")
    if wanted and "target" in metafunc.fixturenames and "db" not in metafunc.fixturenames:
        metafunc.parametrize("target", wanted.args or ENGINES, indirect=True)


@pytest.fixture(scope="session")
def sqld(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sqld]:
    """A server for each worker, started by the first test that wants it."""
    sqld_or_skip()
    server = Sqld(tmp_path_factory.mktemp("sqld"))
    yield server
    server.stop()


@pytest.fixture(scope="session")
def server() -> "Iterator[Server]":
    """One PostgreSQL for all tests of a worker, with an empty store to copy; or the one of RETENTIVE_TEST_POSTGRES."""
    try:
        from tests.server import FAST, GivenServer, Server

        running = GivenServer(POSTGRES) if POSTGRES else Server(FAST)
    except (ImportError, OSError, subprocess.CalledProcessError) as error:
        missing("PostgreSQL", getattr(error, "output", None) or error)
    else:
        running.make_template()
        yield running
        running.remove()


@pytest.fixture
def postgres(server: "Server") -> Iterator[str]:
    """The address of a fresh store."""
    name = server.make_store()
    yield server.url(name)
    server.drop(name)


@pytest.fixture
def target(request: pytest.FixtureRequest) -> str:
    """Where the test's store is: a file, or a database of a server."""
    return ENGINES[getattr(request, "param", "sqlite")](request)


@pytest.fixture
def open_store(target: str) -> Iterator[Open]:
    """Opens the test's store; the hashing embedder is real, exact and instant."""
    opened: list[Retentive] = []

    def open_(**settings: Any) -> Retentive:
        where = settings.pop("target", target)
        opened.append(Retentive.open(where, **{"embedder": "hashing", **settings}))
        return opened[-1]

    yield open_
    for store in opened:
        store.close()


@pytest.fixture
def store(open_store: Open) -> Retentive:
    return open_store()


@pytest.fixture
def run(db: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command line on the test's store and gives back what it printed."""

    def run_(*arguments: str, code: int = 0) -> str:
        assert main(["--db", str(db), "--embedder", "hashing", *arguments]) == code
        return capsys.readouterr().out

    return run_


@pytest.fixture
def refused(db: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command line that must fail with this code, and gives back how it was told."""

    def refused_(*arguments: str, code: int) -> str:
        assert main(["--db", str(db), "--embedder", "hashing", *arguments]) == code
        return capsys.readouterr().err

    return refused_


@pytest.fixture
def time() -> Iterator[Clock]:
    with use_clock() as clock:
        yield clock


@pytest.fixture
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """The address of a store of this engine that is not there yet, as many as are asked for."""

    def place_(engine: str) -> str:
        if engine == "sqlite":
            return str(tmp_path / f"s{uuid.uuid4().hex}.db")
        if engine == "libsql":
            return str(request.getfixturevalue("sqld").database())
        server = request.getfixturevalue("server")
        return str(server.url(server.make_store()))

    return place_
