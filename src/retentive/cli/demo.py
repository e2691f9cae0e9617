"""The main job in one minute: remember, ask, correct, ask again, show what a model would read."""

import tempfile
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from retentive import serialize
from retentive.api import Retentive
from retentive.cli import output
from retentive.model import Context, Results

T = TypeVar("T")

_MEMORIES: list[dict[str, Any]] = [
    {"text": "The user's dog is called Rex", "kind": "personal", "slot": "user.dog.name", "tags": ["pets"]},
    {"text": "The user prefers tea to coffee in the afternoon", "kind": "preference"},
    {"text": "Project Atlas is deployed every Tuesday from the release branch", "kind": "project", "tags": ["atlas"]},
    {"text": "We decided to keep Atlas on PostgreSQL because of its row-level security", "kind": "decision"},
    {"text": "Anna Keller leads the billing team at Acme", "kind": "contact", "importance": 7},
    {"text": "The staging server restarts at 3 a.m. UTC", "kind": "pattern", "tags": ["ops"]},
]
_QUESTION = "what is the name of my pet?"
_CORRECTION = "The user's dog is called Max, not Rex"
_MONDAY = [
    ("user", "The Atlas release failed because the migration locked the orders table"),
    ("assistant", "Noted. Shall the next release run its migrations at night?"),
    ("user", "Yes, and Anna has to sign it off before we touch Atlas again"),
]
_TASK = "what should I know before I touch Atlas?"


def demo(settings: Mapping[str, Any], *, quiet: bool) -> dict[str, Any]:
    """Plays it, says so unless quiet, and gives back what was timed and answered."""
    with tempfile.TemporaryDirectory(prefix="retentive-demo-") as folder:
        play = _Play(quiet=quiet)
        opening = partial(Retentive.open, Path(folder) / "memory.db", daily_log="off", **settings)
        with play.timed("opened an empty store", opening) as memory:
            play.run(memory)
    return play.told


class _Play:
    def __init__(self, *, quiet: bool) -> None:
        self._say: Callable[[str], None] = (lambda _: None) if quiet else output.say
        self.told: dict[str, Any] = {"steps": []}

    def run(self, memory: Retentive) -> None:
        self.timed("loaded the embedding model", lambda: memory.search("warm up"))
        self._head("Remember")
        for item in _MEMORIES:
            self.timed(f"kept: {item['text']}", partial(memory.add, **item))

        self._head(f"Ask: {_QUESTION}")
        self._answer("before", self.timed("searched", lambda: memory.search(_QUESTION, limit=3)))

        self._head("Correct it")
        added = self.timed(
            f"kept: {_CORRECTION}", lambda: memory.add(_CORRECTION, kind="personal", slot="user.dog.name")
        )
        self._say(f"   replaced: {added.ended[0].content}")

        self._head("Ask again")
        self._answer("after", self.timed("searched", lambda: memory.search(_QUESTION, limit=3)))

        self._head("Talk on Monday")
        for role, text in _MONDAY:
            self.timed(f"{role}: {text}", partial(memory.sessions.append, "monday", role, text))

        self._head(f"The context for a model asked on Tuesday: {_TASK}")
        memory.sessions.append("tuesday", "user", _TASK)
        self._context(self.timed("made", lambda: memory.context(_TASK, session="tuesday", budget=400)))

    def timed(self, what: str, action: Callable[[], T]) -> T:
        begun = time.perf_counter()
        result = action()
        milliseconds = (time.perf_counter() - begun) * 1000
        self.told["steps"].append({"what": what, "ms": round(milliseconds, 1)})
        self._say(f"   {output.paint(f'{milliseconds:7.1f} ms', 'cyan')}  {what}")
        return result

    def _head(self, text: str) -> None:
        self._say(f"\n{output.paint(text, 'bold')}")

    def _answer(self, name: str, found: Results) -> None:
        self.told[name] = serialize.results(found)
        for hit in found:
            self._say(f"   {output.paint(f'{hit.score:.2f}', 'green')}  {hit.content}")
        self._say(output.paint(f"   why the first: {output.explained(found[0])}", "dim"))

    def _context(self, made: Context) -> None:
        self.told["context"] = made.text
        for line in made.text.splitlines():
            self._say(f"   {line}")
        self._say(output.paint(f"   {made.tokens} tokens of {made.budget}", "dim"))
