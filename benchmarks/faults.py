"""`python -m benchmarks.faults [ROUNDS]`: how often a process that writes was stopped, and what was lost.

A process adds memories and messages and prints the id of each once it is acknowledged. It is killed at a random moment,
or its file may not grow any more. Then the store is opened: everything that was acknowledged must be there, and a
check-up must find nothing. The same file goes on being used from round to round.
"""

import argparse
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from retentive import Retentive
from retentive.errors import NotFound, RetentiveError

ROOM = 300_000  # bytes by which a file may grow before its disk counts as full
LONGEST = 0.5  # seconds between a writer's first word and its end


class Result(NamedTuple):
    rounds: int
    acknowledged: int
    lost: int
    unwell: int
    """Rounds after which the check-up found something."""


def write(store: Path, key: str, room: int) -> None:
    """What the process does that is stopped."""
    if room:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        limit = store.stat().st_size + room
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    name = f"{time.time_ns():x}"
    with Retentive.open(store, embedder="hashing", integrity_key=key) as memory:
        for number in range(1_000_000):
            try:
                print(memory.add(f"Fact {number} of writer {name}").memory.id, flush=True)
                print(memory.sessions.append(name, "user", f"Message {number}").id, flush=True)
            except RetentiveError:
                return  # it said that it was not kept


def stop_often(folder: Path, rounds: int, *, is_sealed: bool = False, room: int = 0) -> Result:
    folder.mkdir()
    store, key = folder / "m.db", str(folder / "key") if is_sealed else ""
    with Retentive.open(store, embedder="hashing", integrity_key=key) as memory:
        if is_sealed:
            memory.integrity.start(key)
    acknowledged = lost = unwell = 0
    for _ in range(rounds):
        ids = _run_writer(store, key, room)
        with Retentive.open(store, embedder="hashing", integrity_key=key) as memory:
            acknowledged += len(ids)
            lost += sum(not _is_there(memory, id) for id in ids)
            unwell += not all(each.ok for each in memory.doctor(verify=is_sealed))
    return Result(rounds, acknowledged, lost, unwell)


def _run_writer(store: Path, key: str, room: int) -> list[str]:
    command = [sys.executable, "-m", "benchmarks.faults", "--write", str(store), "--key", key, "--room", str(room)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert process.stdout is not None  # noqa: S101 - it was asked for
    first = process.stdout.readline()
    if not room:
        time.sleep(random.uniform(0, LONGEST))
        process.kill()
    rest = process.stdout.read()
    process.wait()
    return [line for line in f"{first}{rest}".split("\n")[:-1] if line]


def _is_there(memory: Retentive, id: str) -> bool:
    session, _, sequence = id.rpartition("#")
    try:
        return bool(memory.sessions.events(session, 1, around=int(sequence)) if session else memory.get(id))
    except NotFound:
        return False


def results(rounds: int) -> Iterator[tuple[str, Result]]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        yield "a writer killed (kill -9) at a random moment", stop_often(folder / "killed", rounds)
        yield "the same in integrity mode", stop_often(folder / "sealed", rounds, is_sealed=True)
        yield "a file that cannot grow any more", stop_often(folder / "full", rounds, room=ROOM)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.faults", description=__doc__.splitlines()[0])
    parser.add_argument("rounds", type=int, nargs="?", default=100)
    parser.add_argument("--write", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--key", default="", help=argparse.SUPPRESS)
    parser.add_argument("--room", type=int, default=0, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.write:
        write(given.write, given.key, given.room)
        return
    print("| what was done | times | writes acknowledged | lost | check-ups that found something |")
    print("|---|---|---|---|---|")
    for what, result in results(given.rounds):
        cells = (result.rounds, result.acknowledged, result.lost, result.unwell)
        print(f"| {what} | {' | '.join(f'{each:,}' for each in cells)} |", flush=True)


if __name__ == "__main__":
    main()
