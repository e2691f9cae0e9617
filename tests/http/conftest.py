import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from retentive import Retentive
from tests.forkserver import ForkedProgram

PROGRAM = Path(__file__).parents[1] / "programs" / "serving.py"


class Served:
    """A server of its own process, over a real socket."""

    def __init__(self, db: Path | str, **settings: Any) -> None:
        command = [sys.executable, str(PROGRAM), str(db), json.dumps(settings)]
        self.process = ForkedProgram(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
        self._told = False
        assert self.process.stderr
        first = self.process.stderr.readline()
        if "is running at" not in first:
            raise RuntimeError(first + self.process.stderr.read())
        self.url = first.split()[-1].replace("0.0.0.0", "127.0.0.1").replace("[::]", "[::1]")  # noqa: S104 - shown
        self.port = int(self.url.rpartition(":")[2])
        self.client = httpx.Client(base_url=self.url, timeout=30, trust_env=False)

    def as_(self, secret: str, namespace: str | None = None) -> dict[str, str]:
        return {"Authorization": f"Bearer {secret}"} | ({"X-Retentive-Namespace": namespace} if namespace else {})

    def tell(self, sign: int = signal.SIGTERM) -> None:
        """To end; once."""
        if not self._told:
            self._told = True
            self.process.send_signal(sign)

    def end(self) -> tuple[int, str, str]:
        """Exit code, what it printed, and what it complained about."""
        self.client.close()
        self.tell()
        out, err = self.process.communicate(timeout=30)
        return self.process.returncode, out, err


Serve = Callable[..., Served]


@pytest.fixture
def served(db: Path) -> Iterator[Serve]:
    running: list[Served] = []

    def start(**settings: Any) -> Served:
        running.append(Served(db, **settings))
        return running[-1]

    yield start
    for each in running:
        if each.process.poll() is None:
            each.end()


@pytest.fixture
def secret(db: Path) -> str:
    """Of a token for alice and all below."""
    with Retentive.open(db, embedder="hashing") as store:
        for name in ("alice", "alice/coder", "bob", "äli/ü"):
            store.in_namespace(name).add(f"The harbour of {name} is deep")
        return store.tokens.create("alice", subtree=True).secret
