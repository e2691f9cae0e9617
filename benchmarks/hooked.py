"""A hook as Claude Code meets it: a process that is started for every prompt, JSON in, what to show the model out."""

import json
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median

from benchmarks import corpus
from benchmarks.measure import ROOT, Figure, environment

RUNS = 10
KNOWN = "The user prefers PostgreSQL over MySQL for new services"
PROMPT = "Which database should I use for the new service?"
LENGTH, NEW = 200, 2  # messages of a transcript, and those that are new in it
PROGRAM = str(Path(sys.executable).with_name("retentive"))
BARE = [sys.executable, "-c", "pass"]


def figures(folder: Path, size: int, say: Callable[[str], None]) -> Iterator[Figure]:
    """Wall time beside that of a bare Python."""
    from retentive import Retentive

    folder.mkdir()
    db = folder / "memory.db"
    say("building a store with the model: some minutes")
    with Retentive.open(db) as memory:
        memory.add_many([*corpus.make(size, questions=1, extra=0).texts, KNOWN])
    hook = Hook(folder, db)
    yield Figure("`hook prompt`, the memory in question out, p50", "ms", *hook.times("prompt", KNOWN))
    yield Figure("the same by words alone, p50", "ms", *hook.times("prompt", KNOWN, "--embedder", "none"))
    yield Figure("`hook session-start`, p50", "ms", *hook.times("session-start", "About the work"))
    yield Figure(f"`hook stop`, {NEW} of {LENGTH} messages new, p50", "ms", *hook.times("stop", ""))


class Hook:
    def __init__(self, folder: Path, db: Path) -> None:
        from retentive import config

        self._folder, self._options = folder, ["--db", str(db), "--limit", "60"]
        # What is remembered of conversations goes to this folder; the model is the one that built the store.
        self._environment = {**environment(), "RETENTIVE_CACHE": config.load().cache, "XDG_DATA_HOME": str(folder)}

    def times(self, event: str, wanted: str, *options: str) -> tuple[float, float]:
        """Milliseconds; the first run of each brings its files into the page cache and is not counted."""
        self._transcript(LENGTH)
        runs = [(self._hook(event, wanted, *options), self._run(BARE, b"")[0]) for _ in range(RUNS + 1)][1:]
        return median(run[0] for run in runs) * 1e3, median(run[1] for run in runs) * 1e3

    def _hook(self, event: str, wanted: str, *options: str) -> float:
        session = "bench" if event == "stop" else uuid.uuid4().hex  # else what was shown would not be shown again
        told = {"session_id": session, "transcript_path": str(self._file), "cwd": str(self._folder), "prompt": PROMPT}
        self._transcript(NEW)
        seconds, out = self._run([PROGRAM, "hook", event, *self._options, *options], json.dumps(told).encode())
        if wanted not in out:
            raise RuntimeError(f"hook {event}: {out!r}")
        return seconds

    def _run(self, command: list[str], given: bytes) -> tuple[float, str]:
        begun = time.perf_counter()
        run = subprocess.run(command, input=given, capture_output=True, check=True, cwd=ROOT, env=self._environment)
        return time.perf_counter() - begun, run.stdout.decode()

    def _transcript(self, more: int) -> None:
        with self._file.open("a", encoding="utf-8") as file:
            for number in range(more):
                role = ("user", "assistant")[number % 2]
                message = {"role": role, "content": f"Message {number} is about the harbour"}
                file.write(json.dumps({"type": role, "uuid": uuid.uuid4().hex, "message": message}) + "\n")

    @property
    def _file(self) -> Path:
        return self._folder / "transcript.jsonl"
