"""The main job in one minute: remember, ask, correct, ask again, show what a model would read."""

import tempfile
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from retentive.app import Retentive
from retentive.cli import show
from retentive.model import Results

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


def demo(settings: Mapping[str, Any]) -> int:
    with tempfile.TemporaryDirectory(prefix="retentive-demo-") as folder:
        memory = _timed("opened an empty store", lambda: Retentive.open(Path(folder) / "memory.db", **settings))
        with memory:
            _play(memory)
    return 0


def _play(memory: Retentive) -> None:
    _timed("loaded the embedding model", lambda: memory.search("warm up"))
    _head("Remember")
    for item in _MEMORIES:
        _timed(f"kept: {item['text']}", partial(memory.add, **item))

    _head(f"Ask: {_QUESTION}")
    _answer(_timed("searched", lambda: memory.search(_QUESTION, limit=3)))

    _head("Correct it")
    correction = "The user's dog is called Max, not Rex"
    added = _timed(f"kept: {correction}", lambda: memory.add(correction, kind="personal", slot="user.dog.name"))
    show.say(f"   supersedes {added.superseded}")

    _head("Ask again")
    _answer(_timed("searched", lambda: memory.search(_QUESTION, limit=3)))

    question = "what should I know before I touch Atlas?"
    _head(f"The context for a model asked: {question}")
    found = _timed("searched", lambda: memory.search(question, limit=None))
    show.say("   ## Relevant Memories")
    for hit in found:
        show.say(f"   - {hit.content} ({hit.memory.valid_from:%Y-%m-%d})")


def _answer(found: Results) -> None:
    for hit in found:
        show.say(f"   {show.paint(f'{hit.score:.2f}', 'green')}  {hit.content}")
    show.say(show.paint(f"   why the first: {show.explained(found[0])}", "dim"))


def _head(text: str) -> None:
    show.say(f"\n{show.paint(text, 'bold')}")


def _timed(what: str, action: Callable[[], T]) -> T:
    begun = time.perf_counter()
    result = action()
    show.say(f"   {show.paint(f'{(time.perf_counter() - begun) * 1000:7.1f} ms', 'cyan')}  {what}")
    return result
