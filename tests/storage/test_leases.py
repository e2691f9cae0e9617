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
from retentive.storage.engines.libsql import LibsqlEngine
from retentive.storage.engines.sqlite import SqliteEngine
from retentive.storage.tables.leases import Leases
from tests.engines import open_target
from tests.forkserver import ForkedProgram

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


def test_a_clock_that_is_wrong_takes_no_lease_away(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """The time is the database's: machines do not agree on it."""
    assert Leases(engine).take("sweep", 60)
    now = clock.now()
    monkeypatch.setattr(clock, "now", lambda: now + 3_600_000_000)
    assert not Leases(engine).take("sweep", 60)
    monkeypatch.setattr(clock, "now", lambda: now - 3_600_000_000)
    assert Leases(engine).take("mend", 60)
    monkeypatch.setattr(clock, "now", lambda: now)
    assert not Leases(engine).take("mend", 60)


def test_a_lease_that_ends_later_than_its_span_allows_is_not_believed(engine: Engine, target: str) -> None:
    """A clock that was years ahead when it was taken, and is right now, locks nobody out."""
    one, two = Leases(engine), Leases(engine)
    assert one.take("sweep", 60)
    run_sql(engine, target, f"UPDATE leases SET expires = expires + {3 * 365 * 86_400_000_000}")
    assert two.find_holder("sweep") is None
    assert two.take("sweep", 60)
    held = two.find_holder("sweep")
    assert held
    assert held.holder == two.holder
    assert held.seconds <= 60
    assert not one.take("sweep", 60)


def test_a_lease_is_judged_by_its_own_span_not_by_that_of_the_next(engine: Engine) -> None:
    one, two = Leases(engine), Leases(engine)
    assert one.take("sweep", 600)
    assert not two.take("sweep", 1)
    held = two.find_holder("sweep")
    assert held
    assert held.holder == one.holder
    assert one.take("sweep", 1)
    assert not two.take("sweep", 600)


def run_sql(engine: Engine, target: str, sql: str) -> None:
    """Change what only the engine should change."""
    if isinstance(engine, SqliteEngine):
        engine._writer.execute(sql)
    elif isinstance(engine, LibsqlEngine):
        engine._server.rows({"sql": sql})
    else:
        from tests.storage.postgres_rows import run

        run(target, sql)


def test_of_many_processes_one_has_it(engine: Engine, target: str) -> None:
    """The others' is still theirs after they ended: nobody let go."""
    program = Path(__file__).parents[1] / "programs" / "leaser.py"
    command = [sys.executable, str(program), target]
    crowd = [ForkedProgram(command, stdout=subprocess.PIPE, text=True, env=dict(os.environ)) for _ in range(3)]
    taken = [process.communicate(timeout=60)[0].strip() for process in crowd]
    assert sorted(taken) == ["False", "False", "True"]
    assert not Leases(engine).take("sweep", 60)
