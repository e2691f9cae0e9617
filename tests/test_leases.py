"""Leases: one holder at a time, over all processes of a store."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from retentive import clock
from retentive.storage import Engine
from retentive.storage.leases import Leases
from tests.engines import open_target

pytestmark = pytest.mark.engines


@pytest.fixture
def engine(target: str) -> Iterator[Engine]:
    opened = open_target(target)
    yield opened
    opened.close()


def test_one_has_it_until_it_is_let_go(engine: Engine) -> None:
    one, two = Leases(engine), Leases(engine)
    assert one.take("sweep", 60)
    assert not two.take("sweep", 60)
    assert one.take("sweep", 60)
    assert two.take("sweep", 60, namespace="alice")
    assert two.take("mend", 60)
    two.release("sweep")
    assert not two.take("sweep", 60)
    one.release("sweep")
    assert two.take("sweep", 60)


def test_the_lease_of_one_that_is_gone_runs_out(engine: Engine) -> None:
    one, two = Leases(engine), Leases(engine)
    assert one.take("sweep", 0.2)
    assert not two.take("sweep", 60)
    time.sleep(0.25)
    assert two.take("sweep", 60)
    assert not one.take("sweep", 60)


@pytest.mark.engines("libsql", "postgres")
def test_a_clock_that_is_wrong_takes_no_lease_away(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """The time is the server's: machines do not agree on it."""
    assert Leases(engine).take("sweep", 60)
    now = clock.now()
    monkeypatch.setattr(clock, "now", lambda: now + 3_600_000_000)
    assert not Leases(engine).take("sweep", 60)
    monkeypatch.setattr(clock, "now", lambda: now - 3_600_000_000)
    assert Leases(engine).take("mend", 60)
    monkeypatch.setattr(clock, "now", lambda: now)
    assert not Leases(engine).take("mend", 60)


def test_of_many_processes_one_has_it(engine: Engine, target: str) -> None:
    """The others' is still theirs after they ended: nobody let go."""
    program = Path(__file__).parent / "programs" / "leaser.py"
    command = [sys.executable, str(program), target]
    crowd = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=dict(os.environ)) for _ in range(3)]
    taken = [process.communicate(timeout=60)[0].strip() for process in crowd]
    assert sorted(taken) == ["False", "False", "True"]
    assert not Leases(engine).take("sweep", 60)
