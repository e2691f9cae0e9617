"""Two servers on one file, as two clients of one person start them."""

import random
from dataclasses import dataclass, field
from pathlib import Path

import anyio
from mcp import Client

from retentive import Retentive
from tests.mcp.calls import data
from tests.mcp.client import stdio
from tests.support import Run

CALLS = 500
AT_ONCE = 4  # calls of one client under way


@dataclass(slots=True)
class Person:
    """One who keeps, asks, corrects and forgets, and remembers what was acknowledged."""

    name: str
    client: Client
    chance: random.Random
    memories: dict[str, str] = field(default_factory=dict)
    forgotten: set[str] = field(default_factory=set)
    notes: dict[str, str] = field(default_factory=dict)
    messages: list[str] = field(default_factory=list)
    calls: int = 0

    async def live(self) -> None:
        known = (self.search, self.get, self.context)
        deeds = (self.add, self.add, self.update, self.delete, self.append, self.note, *known)
        while self.calls < CALLS:
            self.calls += 1
            deed = self.chance.choice(deeds if self.memories else (self.add,))
            await deed(f"{self.name} {self.calls}")

    async def add(self, mark: str) -> None:
        content = f"Box {mark} stands in the cellar."
        kept = data(await self.client.call_tool("memory_add", {"content": content}))
        self.memories[kept["id"]] = content

    async def search(self, mark: str) -> None:
        data(await self.client.call_tool("memory_search", {"query": f"where is box {mark}?"}))

    async def get(self, _: str) -> None:
        id = self.chance.choice([*self.memories])
        (found,) = data(await self.client.call_tool("memory_get", {"ids": [id]}))["items"]
        assert found["id"] == id

    async def update(self, mark: str) -> None:
        id, content = self._taken(), f"Box {mark} was moved to the attic."
        data(await self.client.call_tool("memory_update", {"id": id, "content": content}))
        self.memories[id] = content

    async def delete(self, _: str) -> None:
        id = self._taken()
        assert data(await self.client.call_tool("memory_delete", {"ids": [id]}))["done"]
        self.forgotten.add(id)

    async def context(self, mark: str) -> None:
        data(await self.client.call_tool("memory_context", {"query": f"box {mark}", "budget": 300}))

    async def append(self, mark: str) -> None:
        said = f"Today {mark} rained."
        message = {"role": "user", "content": said}
        data(await self.client.call_tool("session_append", {"session": "weather", "messages": [message]}))
        self.messages.append(said)

    async def note(self, mark: str) -> None:
        id, text = f"{self.name}-{mark}", f"Plan {mark}"
        data(await self.client.call_tool("note", {"note_id": id, "text": text}))
        self.notes[id] = text

    def _taken(self) -> str:
        """One of ours, put out of reach of the calls beside this one."""
        return self.memories.popitem()[0]


async def live_beside(db: Path) -> list[Person]:
    async with stdio(db, "2025-11-25") as first, stdio(db, "2026-07-28") as second:
        people = [Person("Ada", first, random.Random(1)), Person("Ben", second, random.Random(2))]
        async with anyio.create_task_group() as tasks:
            for person in people * AT_ONCE:
                tasks.start_soon(person.live)
    return people


def test_nothing_acknowledged_by_either_is_lost(db: Path, run: Run) -> None:
    people = anyio.run(live_beside, db)
    with Retentive.open(str(db), embedder="hashing") as memory:
        said = {each.content for each in memory.sessions.events("weather", 10_000)}
        for person in people:
            assert person.calls == CALLS
            assert {id: memory.get(id).content for id in person.memories} == person.memories
            assert {memory.get(id).status for id in person.forgotten} <= {"forgotten"}
            assert {id: memory.notes.get(id).content for id in person.notes} == person.notes
            assert set(person.messages) <= said
        assert len(said) == sum(len(person.messages) for person in people)
    assert all(line.startswith("ok ") for line in run("doctor").splitlines())
