"""A program that uses the library, as a type checker sees it: `make lint` checks this file with mypy, strictly.

An ignore that is not needed is an error there, so each ignore proves that the mistake beside it is found.
"""

from pathlib import Path
from typing import TYPE_CHECKING, assert_type

import pytest

from retentive import Contact, Event, Hit, Memory, Project, Retentive, Skill
from retentive.errors import Invalid


def test_what_verbs_return_is_typed(tmp_path: Path) -> None:
    with Retentive.open(tmp_path / "memory.db", embedder="hashing", min_relevance=0.0) as memory:
        assert_type(memory, Retentive)
        assert_type(memory.add("The user plays the cello", kind="personal").memory, Memory)
        results = memory.search("cello")
        assert_type(results[0], Hit)
        assert_type(results[:1], tuple[Hit, ...])
        assert_type([hit.memory for hit in results], list[Memory])
        page = memory.list()
        assert_type(page[0], Memory)
        assert_type(page[:1], tuple[Memory, ...])
        assert_type(memory.sessions.append("talk", "user", "Hello"), Event)
        assert_type(memory.contacts.create(name="Ada", email="ada@example.org"), Contact)
        assert_type(memory.contacts.list()[0], Contact)
        assert_type(memory.projects.create(name="Harbour"), Project)
        assert_type(memory.skills.create(name="Deploy", instructions="Push the button."), Skill)
        assert_type(memory.notes.put("Buy milk", note_id="shopping"), Memory)


if TYPE_CHECKING:

    def make_mistakes(memory: Retentive) -> None:
        Retentive.open("memory.db", embeder="hashing")  # type: ignore[call-arg]
        Retentive.open("memory.db", vector_weight="half")  # type: ignore[arg-type]
        Retentive.open(db="memory.db")  # type: ignore[call-arg]
        memory.add("A text", importence=3)  # type: ignore[call-arg]
        memory.search("A question", kinds="fact")  # type: ignore[call-arg]
        memory.contacts.create(name="Ada", emial="ada@example.org")  # type: ignore[call-arg]
        memory.notes.put("shopping", "Buy milk")  # type: ignore[call-arg]


def test_a_store_is_named_by_position() -> None:
    with pytest.raises(Invalid, match="its first argument") as refused:
        Retentive.open(db="memory.db")  # type: ignore[call-arg]
    assert refused.value.hint == 'Write Retentive.open("memory.db").'
