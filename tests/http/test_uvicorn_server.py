"""A server stops cleanly: no new requests, running ones are finished, nothing acknowledged is lost."""

import signal
import threading
import time
from pathlib import Path

import httpx
import pytest

from retentive import Retentive
from tests.http.conftest import Serve


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGINT])
def test_what_runs_is_finished_and_the_store_is_closed(served: Serve, db: Path, sign: int) -> None:
    server = served()
    answers: list[httpx.Response] = []

    def ask() -> None:
        answers.append(httpx.post(f"{server.url}/mcp/add?seconds=1.5", content="Slow", timeout=20, trust_env=False))

    asking = threading.Thread(target=ask)
    asking.start()
    assert server.process.stdout
    assert server.process.stdout.readline() == "Slow\n"
    server.tell(sign)
    time.sleep(0.5)
    with pytest.raises(httpx.TransportError):
        httpx.get(f"{server.url}/health", trust_env=False)
    asking.join()
    code, out, err = server.end()
    assert answers[0].status_code == 200
    assert (code, out.splitlines()[-1], "Traceback" in err) == (0, "closed", False), err
    with Retentive.open(db, embedder="hashing") as store:
        assert store.get(answers[0].json()["id"]).content == "Slow"


def test_no_acknowledged_answer_is_lost_while_draining(served: Serve, db: Path) -> None:
    """Whatever began is answered, whatever was answered is kept."""
    server = served(requests_per_second=0)
    answered: dict[str, str] = {}
    ended = threading.Event()

    def load(worker: int) -> None:
        with httpx.Client(base_url=server.url, timeout=20, trust_env=False) as client:
            for number in range(10_000):
                text = f"Memory {number} of worker {worker}"
                try:
                    answer = client.post("/mcp/add?seconds=0.02", content=text)
                except httpx.TransportError:
                    return
                assert answer.status_code == 200, answer.text
                answered[text] = answer.json()["id"]
        ended.set()

    workers = [threading.Thread(target=load, args=(number,)) for number in range(8)]
    for worker in workers:
        worker.start()
    while len(answered) < 40 and any(worker.is_alive() for worker in workers):
        time.sleep(0.05)
    server.tell()
    for worker in workers:
        worker.join(30)
    code, out, err = server.end()
    assert (code, "Traceback" in err, ended.is_set()) == (0, False, False), err
    begun = {line for line in out.splitlines() if line.startswith("Memory")}
    assert len(begun) >= 40
    assert begun == {*answered}
    with Retentive.open(db, embedder="hashing") as store:
        assert all(store.get(id).content == text for text, id in answered.items())


def test_who_keeps_a_connection_open_holds_nothing_up(served: Serve) -> None:
    server = served()
    with httpx.Client(base_url=server.url, trust_env=False) as idle:
        idle.get("/health")
        begun = time.monotonic()
        assert server.end()[0] == 0
        assert time.monotonic() - begun < 5


def test_what_never_ends_is_ended(served: Serve) -> None:
    server = served(drain_seconds=1)
    with server.client.stream("GET", "/mcp/endless") as answer:
        lines = answer.iter_lines()
        assert next(lines) == "on and on"
        server.tell()
        begun = time.monotonic()
        with pytest.raises(httpx.TransportError):
            list(lines)
    code, out, _ = server.end()
    assert (code, out.splitlines()[-1]) == (0, "closed")
    assert time.monotonic() - begun < 6
