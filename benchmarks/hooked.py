"""A hook as Claude Code meets it: a process that is started for every prompt, JSON in, what to show the model out."""

import json
import resource
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

from benchmarks import corpus
from benchmarks.measure import ROOT, Figure, environment

RUNS = 10
KNOWN = "The user prefers PostgreSQL over MySQL for new services"
PROMPT = "Which database should I use for the new service?"
LENGTH, NEW = 200, 2  # messages of a transcript, and those that are new in it
PROGRAM = str(Path(sys.executable).with_name("retentive"))
BARE = [sys.executable, "-c", "pass"]


def figures(folder: Path, size: int, say: Callable[[str], None]) -> Iterator[Figure]:
    """Beside a bare Python."""
    from retentive import Retentive

    folder.mkdir()
    db = folder / "memory.db"
    say("building a store with the model: some minutes")
    with Retentive.open(db) as memory:
        memory.add_many([*corpus.make(size, questions=1, extra=0).texts, KNOWN])
    hook = Hook(folder, db)
    for what, event, wanted, *options in (
        ("`hook prompt`, the memory in question out", "prompt", KNOWN),
        ("the same with keywords alone", "prompt", KNOWN, "--embedder", "none"),
        ("`hook session-start`", "session-start", "About the work"),
        (f"`hook stop`, {NEW} of {LENGTH} messages new", "stop", ""),
    ):
        ours, bare = hook.spent(event, wanted, *options)
        yield Figure(f"{what}: wall, p50", "ms", ours.wall, bare.wall)
        yield Figure(f"{what}: processor, p50", "ms", ours.processor, bare.processor)


class Spent(NamedTuple):
    """Milliseconds. Those of the processor tell the same on a busy machine, but not what was done side by side."""

    wall: float
    processor: float


class Hook:
    def __init__(self, folder: Path, db: Path) -> None:
        from retentive import config

        self._folder, self._options = folder, ["--db", str(db), "--limit", "60"]
        # What is remembered of conversations goes to this folder; the model is the one that built the store.
        self._environment = {**environment(), "RETENTIVE_CACHE": config.load().cache, "XDG_DATA_HOME": str(folder)}

    def spent(self, event: str, wanted: str, *options: str) -> tuple[Spent, Spent]:
        """By it and by a bare Python; the first run brings its files into the page cache and is not counted."""
        self._transcript(LENGTH)
        runs = [(self._hook(event, wanted, *options), self._run(BARE, b"")[0]) for _ in range(RUNS + 1)][1:]
        ours, bare = zip(*runs, strict=True)
        return _median(ours), _median(bare)

    def _hook(self, event: str, wanted: str, *options: str) -> Spent:
        session = "bench" if event == "stop" else uuid.uuid4().hex  # else what was shown would not be shown again
        told = {"session_id": session, "transcript_path": str(self._file), "cwd": str(self._folder), "prompt": PROMPT}
        self._transcript(NEW)
        spent, out = self._run([PROGRAM, "hook", event, *self._options, *options], json.dumps(told).encode())
        if wanted not in out:
            raise RuntimeError(f"hook {event}: {out!r}")
        return spent

    def _run(self, command: list[str], given: bytes) -> tuple[Spent, str]:
        begun, before = time.perf_counter(), _processor()
        run = subprocess.run(command, input=given, capture_output=True, check=True, cwd=ROOT, env=self._environment)
        spent = Spent((time.perf_counter() - begun) * 1e3, (_processor() - before) * 1e3)
        return spent, run.stdout.decode()

    def _transcript(self, more: int) -> None:
        with self._file.open("a", encoding="utf-8") as file:
            for number in range(more):
                role = ("user", "assistant")[number % 2]
                message = {"role": role, "content": f"Message {number} is about the harbour"}
                file.write(json.dumps({"type": role, "uuid": uuid.uuid4().hex, "message": message}) + "\n")

    @property
    def _file(self) -> Path:
        return self._folder / "transcript.jsonl"


def _median(runs: Sequence[Spent]) -> Spent:
    return Spent(median(each.wall for each in runs), median(each.processor for each in runs))


def _processor() -> float:
    """Seconds that processes which have ended took of it."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
