"""The demo: add memories, search, correct one, search again, and print the context for a model."""

import tempfile
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from retentive import serialize
from retentive.api import Retentive
from retentive.cli import output
from retentive.cli.describe_hit import explain_score
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
_MONDAY_MESSAGES = [
    ("user", "The Atlas release failed because the migration locked the orders table"),
    ("assistant", "Noted. Shall the next release run its migrations at night?"),
    ("user", "Yes, and Anna has to sign it off before we touch Atlas again"),
]
_TUESDAY_QUESTION = "what should I know before I touch Atlas?"


def run_demo(settings: Mapping[str, Any], *, quiet: bool) -> dict[str, Any]:
    """Run the demo and return its timings and answers. Prints each step unless `quiet`."""
    with tempfile.TemporaryDirectory(prefix="retentive-demo-") as folder:
        demo = _Demo(quiet=quiet)
        opening = partial(Retentive.open, Path(folder) / "memory.db", daily_log="off", **settings)
        with demo.run_timed("opened an empty store", opening) as memory:
            demo.run(memory)
    return demo.record


class _Demo:
    def __init__(self, *, quiet: bool) -> None:
        self._print: Callable[[str], None] = (lambda _: None) if quiet else output.print_raw
        self.record: dict[str, Any] = {"steps": []}

    def run(self, memory: Retentive) -> None:
        self.run_timed("loaded the embedding model", lambda: memory.search("warm up"))
        self._print_heading("Remember")
        for item in _MEMORIES:
            self.run_timed(f"added: {item['text']}", partial(memory.add, **item))

        self._print_heading(f"Ask: {_QUESTION}")
        self._print_answer("before", self.run_timed("searched", lambda: memory.search(_QUESTION, limit=3)))

        self._print_heading("Correct it")
        added = self.run_timed(
            f"added: {_CORRECTION}", lambda: memory.add(_CORRECTION, kind="personal", slot="user.dog.name")
        )
        self._print(f"   replaced: {added.replaced[0].content}")

        self._print_heading("Ask again")
        self._print_answer("after", self.run_timed("searched", lambda: memory.search(_QUESTION, limit=3)))

        self._print_heading("Talk on Monday")
        for role, text in _MONDAY_MESSAGES:
            self.run_timed(f"{role}: {text}", partial(memory.sessions.append, "monday", role, text))

        self._print_heading(f"The context for a model asked on Tuesday: {_TUESDAY_QUESTION}")
        memory.sessions.append("tuesday", "user", _TUESDAY_QUESTION)
        self._print_context(
            self.run_timed("built", lambda: memory.context(_TUESDAY_QUESTION, session="tuesday", budget=400))
        )

    def run_timed(self, what: str, action: Callable[[], T]) -> T:
        begun = time.perf_counter()
        result = action()
        milliseconds = (time.perf_counter() - begun) * 1000
        self.record["steps"].append({"what": what, "ms": round(milliseconds, 1)})
        self._print(f"   {output.paint(f'{milliseconds:7.1f} ms', 'cyan')}  {what}")
        return result

    def _print_heading(self, text: str) -> None:
        self._print(f"\n{output.paint(text, 'bold')}")

    def _print_answer(self, name: str, found: Results) -> None:
        self.record[name] = serialize.results(found)
        for hit in found:
            self._print(f"   {output.paint(f'{hit.relevance:.2f}', 'green')}  {hit.content}")
        self._print(output.paint(f"   why the first: {explain_score(found[0])}", "dim"))

    def _print_context(self, made: Context) -> None:
        self.record["context"] = made.text
        for line in made.text.splitlines():
            self._print(f"   {line}")
        self._print(output.paint(f"   {made.tokens} tokens of {made.budget}", "dim"))
