"""Work in the background: what is due is done, by one worker at a time, and an idle store is left alone."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import apsw
import pytest

from retentive import Retentive, Task, clock
from retentive.embed import Embedder
from retentive.errors import Conflict, Invalid
from retentive.maintenance import jobs
from retentive.maintenance.worker import WORK_LEASE, Worker
from retentive.storage import Engine, Step, step
from retentive.storage.engines import libsql
from retentive.storage.engines.postgres import connections
from retentive.storage.tables.leases import STORE, Leases
from retentive.testing import SlowEmbedder, parts_of
from tests.engines import SQLITE, Sqld, behind_its_back, missing, sqld_or_skip
from tests.forkserver import ForkedProgram
from tests.places import place
from tests.server import Server
from tests.storage.test_processes import PROGRAMS
from tests.support import Open, Run

pytestmark = pytest.mark.engines

QUICK = 0.05  # seconds between two looks


def until(wanted: Callable[[], object], seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    while not wanted():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.02)


def past(**span: float) -> str:
    return (datetime.now(UTC) - timedelta(**span)).isoformat()


def contents(store: Retentive) -> list[str]:
    return sorted(memory.content for memory in store.list(limit=1000))


def say(store: Retentive, count: int = 3) -> None:
    """Sessions that have been silent for an hour."""
    for number in range(count):
        store.sessions.append(
            f"talk {number}", "user", f"I visited {place(number)} with my sister.", time=past(hours=1)
        )


def with_embedder(store: Retentive, embedder: Embedder) -> Retentive:
    return Retentive(replace(parts_of(store), embedder=embedder))


def test_silent_sessions_of_all_namespaces_are_learned_from(open_store: Open) -> None:
    store = open_store(namespace="alice")
    other = store.in_namespace("bob")
    say(store, 2)
    other.sessions.append("chat", "user", "I work for a bakery.", time=past(hours=1))
    other.sessions.append("fresh", "user", "I own a boat.")
    with store.worker(poll=QUICK) as worker:
        until(lambda: worker.status().done.get("learn") == 3)
    assert contents(store) == sorted(f"The user visited {place(number)} with their sister." for number in range(2))
    assert contents(other) == ["The user works for a bakery."]


def test_vectors_that_were_pending_are_filled_in(open_store: Open) -> None:
    with_none = open_store(embedder="none")
    with_none.add_many([f"fact {number}" for number in range(40)])
    with_none.in_namespace("other").add("a fact of another")
    store = open_store()
    with store.worker(poll=QUICK) as worker:
        until(lambda: worker.status().done.get("vectors") == 41)
        assert store.stats()["vectors_pending"] == 0
        with_none.add("one more, while it waits")
        until(lambda: worker.status().done["vectors"] == 42)
    assert store.search("one more, while it waits", mode="vector", limit=1)[0].content == "one more, while it waits"


def test_what_has_run_out_is_marked(open_store: Open) -> None:
    store = open_store()
    soon = (datetime.now(UTC) + timedelta(seconds=0.3)).isoformat()
    id = store.in_namespace("other").add("the shop is open", expires=soon).id
    with store.worker(poll=QUICK) as worker:
        until(lambda: worker.status().done.get("expiry") == 1)
    assert [change.actor for change in store.in_namespace("other").history(id)][-1] == "upkeep"


def test_the_rules_of_retention_hold_in_every_namespace(open_store: Open) -> None:
    store = open_store(retention="fact: 2")
    for name in ("alice", "bob"):
        store.in_namespace(name).add_many([f"fact {number}" for number in range(4)])
    status = store.worker().once()
    assert status.done == {"retention": 4}
    assert len(store.in_namespace("bob").list()) == 2


def test_a_summary_that_no_append_made_is_made(open_store: Open) -> None:
    """One that died after a message was kept, before it was condensed."""
    without = open_store(summarise=False)
    said = [{"role": "user", "content": f"On day {n} we went to see the old mill by the river."} for n in range(60)]
    without.sessions.append_many("talk", said)
    store = open_store(session_budget=400, learn_after=0)
    store.worker().once()
    assert store.sessions.summary("talk").epoch == 1


def test_open_purges_are_completed_when_nobody_holds_them_up(db: Path, open_store: Open) -> None:
    store = open_store()
    id = store.add("the code is heliotrope").id
    holder = ForkedProgram(
        [sys.executable, str(PROGRAMS / "holder.py"), str(db), "hold"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert holder.stdout is not None
    holder.stdout.readline()
    assert not store.purge(id).complete
    worker = store.worker()
    told = worker.once()
    assert told.failures == {"purges": "bytes of purged rows are held by another process"}
    assert worker.once().done == {}
    holder.communicate()
    assert store.worker().once().done == {"purges": 1}


def test_a_long_change_log_is_shortened(open_store: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "MAX_KEPT_CHANGES", 5)
    store = open_store()
    store.add_many([f"fact {number}" for number in range(20)])
    done = store.worker().once().done
    assert done == ({"changes": 1} if parts_of(store).engine.uses_local_index else {})


def test_the_image_follows_other_processes_before_the_next_question(open_store: Open) -> None:
    store, other = open_store(), open_store()
    store.add("the first")
    store.search("first")
    images = parts_of(store).images.made
    with store.worker(poll=QUICK):
        other.add_many([f"fact {number}" for number in range(50)])
        if images:
            until(lambda: images.stats()["default"]["rows"] == 51)
    assert len(store.search("fact", limit=60)) >= 50


def test_stopping_in_the_middle_of_a_long_job_is_prompt_and_loses_nothing(open_store: Open) -> None:
    open_store(embedder="none").add_many([f"fact {number}" for number in range(400)])
    store = with_embedder(open_store(), SlowEmbedder(0.1))
    worker = store.worker(poll=QUICK).start()
    until(lambda: worker.status().done.get("vectors", 0) >= 32)
    begun = time.monotonic()
    assert worker.stop()
    assert time.monotonic() - begun < 1.0
    status = worker.status()
    assert not status.running
    assert status.holder is None
    assert store.stats()["vectors_pending"] == 400 - status.done["vectors"] > 0
    with worker:
        until(lambda: store.stats()["vectors_pending"] == 0)
    assert worker.status().done == {"vectors": 400}


def test_questions_are_answered_between_batches(open_store: Open) -> None:
    """While questions come, it rests after each batch."""
    open_store(embedder="none").add_many([f"fact {number}" for number in range(300)])
    store = with_embedder(open_store(), SlowEmbedder(0.02))
    with store.worker(poll=QUICK) as worker:
        until(lambda: worker.status().done.get("vectors"))
        before, end = worker.status().done["vectors"], time.monotonic() + 1
        while time.monotonic() < end:
            store.search("fact")
        assert worker.status().done["vectors"] - before <= 8 * jobs.EMBED_BATCH_SIZE


def test_a_model_that_fails_rests_and_what_else_is_due_is_done(open_store: Open) -> None:
    store = open_store(embedder="none", learn_after=0)
    store.add("a fact")
    embedder = SlowEmbedder()
    embedder.is_broken = True
    store = with_embedder(store, embedder)
    say(store, 1)
    calls = embedder.calls
    with store.worker(poll=QUICK) as worker:
        until(lambda: worker.status().done.get("learn"))
        time.sleep(0.5)
        assert worker.status().failures == {"vectors": "the embedder is broken"}
        assert store.stats()["worker"]["failures"] == {"vectors": "the embedder is broken"}
        assert embedder.calls - calls <= 3
        embedder.is_broken = False
        until(lambda: "vectors" in worker.status().done)
        assert worker.status().failures == {}


@pytest.mark.engines(*SQLITE)
def test_one_session_that_fails_does_not_hold_up_the_others(open_store: Open) -> None:
    store = open_store(learn_after=0)
    say(store, 3)
    behind_its_back(store, "UPDATE session_state SET claims = '{', claims_left = 1 WHERE session = 'talk 0'")
    status = store.worker().once()
    assert status.done == {"learn": 2}
    assert [*status.failures] == ["learn"]
    store.sessions.delete("talk 0")
    assert store.worker().once().failures == {}


def test_writes_of_this_process_wake_it(open_store: Open) -> None:
    store = open_store(learn_after=0)
    with store.worker(poll=1000) as worker:
        time.sleep(0.3)
        store.sessions.append("talk", "user", "I live in Porto.")
        until(lambda: worker.status().done.get("learn"), 5)


def test_two_workers_of_two_processes_do_each_job_once(target: str, open_store: Open) -> None:
    store = open_store()
    store.sessions.append_many("talk", [{"role": "user", "content": "I live in Porto."}])
    open_store(embedder="none").add_many([f"fact {number}" for number in range(60)])
    pair = [run_worker(target, lease=30) for _ in range(2)]
    until(lambda: store.stats()["vectors_pending"] == 0 and "The user lives in Porto." in contents(store))
    say(store)
    until(lambda: not parts_of(store).tables.learning.list_due_of_all(1 << 60))
    told = Counter[str]()
    for each in pair:
        out, error = each.communicate("", timeout=30)
        assert (each.returncode, error) == (0, "")
        for line in out.splitlines():
            job, *_, count = line.split(" ")
            told[job] += int(count)
    assert told == {"learn": 4, "vectors": 60}


def run_worker(target: str, lease: float, *more: str) -> "subprocess.Popen[str]":
    command = [sys.executable, str(PROGRAMS / "worker.py"), target, str(lease), *more]
    pipes = subprocess.PIPE
    process = ForkedProgram(command, stdin=pipes, stdout=pipes, stderr=pipes, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def test_only_one_is_at_work_at_a_time(open_store: Open) -> None:
    one, two = open_store(), open_store()
    open_store(embedder="none").add_many([f"fact {number}" for number in range(100)])
    busy, idle = (with_embedder(each, SlowEmbedder(0.1)).worker(poll=QUICK) for each in (one, two))
    with busy, idle as other:
        until(lambda: busy.status().working or other.status().working)
        seen = []
        for _ in range(20):
            seen.append((busy.status(), other.status()))
            time.sleep(0.02)
        until(lambda: one.stats()["vectors_pending"] == 0)
    assert not any(a.working and b.working for a, b in seen)
    assert len({status.holder for pair in seen for status in pair} - {None}) == 1
    assert sorted([*busy.status().done.values(), *other.status().done.values()])[-1:] == [100]


def test_the_work_of_one_that_was_killed_goes_on_elsewhere(target: str, open_store: Open) -> None:
    open_store(embedder="none").add_many([f"fact {number}" for number in range(200)])
    store = open_store()
    killed = run_worker(target, 2, "slow")
    assert killed.stdout is not None
    assert killed.stdout.readline().startswith("vectors")
    killed.kill()
    killed.communicate()
    begun = time.monotonic()
    with store.worker(poll=QUICK, lease=2) as worker:
        status = worker.status()
        assert (status.working, status.holder is None) == (False, False)
        until(lambda: store.stats()["vectors_pending"] == 0)
        assert 0.5 < time.monotonic() - begun < 10
        assert worker.status().done["vectors"] < 200


def test_a_lost_lease_stops_the_work(open_store: Open) -> None:
    open_store(embedder="none").add_many([f"fact {number}" for number in range(400)])
    store = with_embedder(open_store(), SlowEmbedder(0.1))
    engine = parts_of(store).engine
    with store.worker(poll=QUICK, lease=0.6) as worker:
        until(lambda: worker.status().done.get("vectors"))
        steal(engine)
        until(lambda: not worker.status().working)
        assert worker.status().holder == "thief"
        done = worker.status().done
        time.sleep(0.5)
        assert worker.status().done == done


def steal(engine: Engine) -> None:
    """As if the holder had been suspended for longer than its lease."""
    held = Leases(engine).find_holder(WORK_LEASE)
    assert held is not None
    gone = step("lease_release", namespace=STORE, name=WORK_LEASE, holder=held.holder)
    values = {"namespace": STORE, "name": WORK_LEASE, "holder": "thief", "now": clock.now(), "span": 60_000_000}
    engine.apply([gone, Step("lease_take", [values], expect=1)])


def test_a_long_piece_of_work_keeps_its_lease(open_store: Open) -> None:
    open_store(embedder="none").add("a fact")
    one, two = with_embedder(open_store(), SlowEmbedder(1.5)), open_store()
    with one.worker(poll=QUICK, lease=0.6) as worker, two.worker(poll=QUICK, lease=0.6) as other:
        until(lambda: one.stats()["vectors_pending"] == 0)
        assert worker.status().done.get("vectors", 0) + other.status().done.get("vectors", 0) == 1


def test_nothing_is_written_while_idle(db: Path, open_store: Open) -> None:
    store = open_store()
    store.add("a fact")
    store.search("fact")
    with store.worker(poll=QUICK) as worker:
        parts_of(store).journal.flush()
        time.sleep(0.5)
        before, looker = wal(db), apsw.Connection(str(db))
        version = looker.pragma("data_version")
        time.sleep(1)
        assert worker.running
        assert looker.pragma("data_version") == version
        assert wal(db) == before


def wal(db: Path) -> list[tuple[int, int]]:
    return [(file.stat().st_size, file.stat().st_mtime_ns) for file in (db, Path(f"{db}-wal"))]


def test_it_ends_with_its_store_and_lets_go_of_its_connection(db: Path, open_store: Open) -> None:
    store = open_store()
    say(store, 1)
    with store.worker(poll=QUICK):
        time.sleep(0.3)
    opened = len([*parts_of(store).engine._connections])  # type: ignore[attr-defined]
    worker = store.worker(poll=QUICK).start()
    time.sleep(0.3)
    assert [each.name for each in threading.enumerate()].count("retentive-worker") == 1
    worker.stop()
    assert len([*parts_of(store).engine._connections]) == opened  # type: ignore[attr-defined]
    worker.start()
    store.close()
    assert not worker.running
    assert db.exists()


def test_what_was_read_is_written_down_at_the_end(open_store: Open) -> None:
    store, other = open_store(), open_store()
    id = store.add("a fact").id
    with store.worker(poll=QUICK):
        store.search("fact")
    assert [access.id for access in other.accesses()] == [id]


def test_a_store_has_one_worker(open_store: Open) -> None:
    store = open_store()
    with store.worker(), pytest.raises(Conflict):
        store.in_namespace("other").worker().start()
    with store.worker() as again, pytest.raises(Conflict):
        again.once()


@pytest.mark.parametrize("wrong", [0, -1, float("nan"), "soon", True])
def test_spans_that_make_no_sense_are_refused(store: Retentive, wrong: float) -> None:
    with pytest.raises(Invalid):
        store.worker(poll=wrong)


def test_a_forked_process_leaves_the_worker_alone(db: Path, open_store: Open) -> None:
    """Neither does closing the store there stop it here."""
    store = open_store()
    with store.worker(poll=QUICK) as worker:
        child = os.fork()
        if not child:
            worker.nudge()
            done = worker.stop() and not worker.running
            store.close()
            os._exit(0 if done and db.exists() else 1)
        assert os.waitpid(child, 0)[1] == 0
        assert worker.running
        say(store, 1)
        until(lambda: worker.status().done.get("learn"))


@pytest.mark.engines(*SQLITE)
def test_the_journal_outlives_a_write_that_was_refused(store: Retentive) -> None:
    """What was to be written is written the next time."""
    store.add("a fact")
    behind_its_back(store, "CREATE UNIQUE INDEX once ON access_log (memory)")
    store.search("fact")
    store.search("a fact")
    parts_of(store).journal.flush()
    assert [*parts_of(store).journal.failures] == ["journal"]
    behind_its_back(store, "DROP INDEX once")
    assert len(store.accesses()) == 2


@pytest.mark.engines("postgres")
def test_a_restricted_worker_does_its_own_namespaces_and_says_so(open_store: Open) -> None:
    everyone = open_store(namespace="bob")
    say(everyone, 1)
    alice = open_store(namespace="alice", restrict_to="alice, alice/coder", learn_after=0)
    say(alice, 1)
    with alice.worker(poll=QUICK) as worker:
        until(lambda: worker.status().done.get("learn") == 1)
        status = worker.status()
    assert (status.note, status.failures) == ("only alice, alice/coder: restrict_to", {})
    assert contents(everyone) == []


@pytest.mark.engines("postgres")
def test_where_the_lease_may_not_be_taken_it_says_so_and_waits(target: str, open_store: Open, server: Server) -> None:
    store = open_store(learn_after=0)
    say(store, 1)
    database = target.rpartition("/")[2]
    server.execute("CREATE ROLE reader LOGIN BYPASSRLS", database)
    server.execute(
        "GRANT USAGE ON SCHEMA retentive TO reader; GRANT SELECT ON ALL TABLES IN SCHEMA retentive TO reader", database
    )
    server.execute("GRANT INSERT ON retentive.commits TO reader", database)
    try:
        limited = open_store(target=server.url(database, "reader"), learn_after=0)
        worker = limited.worker(poll=QUICK)
        assert "lease" in worker.once().note
        assert worker.status().failures == {}
        limited.close()
    finally:
        store.close()
        server.execute("DROP OWNED BY reader; DROP ROLE reader", database)


@pytest.fixture(scope="module")
def fragile() -> Iterator[Server]:
    try:
        running = Server()
    except (ImportError, OSError) as error:
        missing("PostgreSQL", error)
    else:
        yield running
        running.remove()


@pytest.mark.engines("postgres")
def test_a_server_that_goes_away_is_waited_for(fragile: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "RECONNECT_SECONDS", 0.2)
    store = Retentive.open(fragile.url(), embedder="hashing", learn_after=0)
    with store.worker(poll=QUICK) as worker:
        fragile.stop()
        until(lambda: "store" in worker.failures)
        assert worker.running
        fragile.start()
        store.sessions.append("talk", "user", "I live in Porto.")
        until(lambda: worker.status().done.get("learn"))
        assert worker.status().failures == {}
    store.close()


@pytest.mark.engines("libsql")
def test_a_libsql_server_that_goes_away_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sqld_or_skip()
    monkeypatch.setattr(libsql, "RECONNECT_SECONDS", 0.2)
    server = Sqld(tmp_path)
    store = Retentive.open(server.database(), embedder="hashing", learn_after=0)
    with store.worker(poll=QUICK) as worker:
        server.stop()
        until(lambda: "store" in worker.failures)
        server.start()
        store.sessions.append("talk", "user", "I live in Porto.")
        until(lambda: worker.status().done.get("learn"))
        assert worker.status().failures == {}
    store.close()
    server.stop()


@pytest.mark.engines("postgres")
def test_stopping_does_not_wait_for_a_server_that_is_away(fragile: Server) -> None:
    store = Retentive.open(fragile.url(), embedder="hashing")
    worker: Worker = store.worker(poll=QUICK).start()
    time.sleep(0.3)
    fragile.stop()
    try:
        time.sleep(0.3)
        begun = time.monotonic()
        worker.stop(1)
        assert time.monotonic() - begun < 1.5
    finally:
        fragile.start()
        store.close()


def test_work_once_on_the_command_line(store: Retentive, run: Run) -> None:
    say(store, 1)
    parts_of(store).journal.flush()
    assert run("work", "--once") == "learned from talk 0 of default\n"
    assert run("work", "--once") == "nothing to do\n"
    assert '"done": {}' in run("work", "--once", "--json")


def test_work_once_leaves_it_to_the_one_that_is_at_it(store: Retentive, run: Run) -> None:
    say(store, 1)
    assert Leases(parts_of(store).engine, "desk-1-x").take(WORK_LEASE, 60)
    assert run("work", "--once") == "left to another worker: desk-1-x\n"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_work_in_the_foreground_ends_by_a_signal(db: Path, store: Retentive, number: signal.Signals) -> None:
    say(store, 1)
    command = [sys.executable, "-m", "retentive", "--db", str(db), "--embedder", "hashing", "work"]
    process = ForkedProgram(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    assert "Ctrl-C" in process.stderr.readline()
    until(lambda: contents(store))
    process.send_signal(number)
    out, error = process.communicate(timeout=10)
    assert (process.returncode, out, error) == (0, "learned from talk 0 of default\n", "")


def test_a_task_says_whose_it_is(open_store: Open) -> None:
    store = open_store()
    say(store.in_namespace("alice"), 1)
    told: list[tuple[Task, int]] = []
    store.worker(progress=lambda task, count: told.append((task, count))).once()
    assert told == [(Task("learn", "alice", "talk 0"), 1)]
