"""Stores with something of everything, and what is in them as an export says it."""

import io
import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from retentive import Retentive
from retentive.memories.add import make_draft
from retentive.memories.write import write_memories
from retentive.model import Replacement
from retentive.testing import parts_of


def fill(store: Retentive) -> None:
    """Every table, every status, every kind of history."""
    _remember(store)
    _talk(store)
    _record(store)
    with TemporaryDirectory() as folder:
        Path(folder, "tides.md").write_text(
            "---\ntags: [sea]\n---\n# Tides\n\nHigh at noon.\n\n## Ebb\n\nLow at six. 🌊\n"
        )
        store.files.index(folder, tags=["coast"])
    dog = store.search("dog", include="memories").hits[0].id
    store.expectations.add("what is the dog called?", dog)
    _propose(store)
    store.tokens.create("alice", name="laptop")
    other = store.in_namespace("other/place")
    other.add("Elsewhere")
    other.sessions.append("s", "user", "The same name, another place")


def _remember(store: Retentive) -> None:
    store.add(
        "The dog is called Rex", slot="user.dog.name", tags=["pets", "Läufer 犬"], context="home", kind="personal"
    )
    store.add("The dog is called Max", slot="user.dog.name", metadata={"a": [1, 2.5, None], "é": "ü"})
    store.forget(store.add("Forget me", importance=9).id, "asked")
    store.update(store.add("東京都の犬 🐕", confidence=0.3).id, content="大阪府の犬 🐕", reason="moved")
    store.add("Until the summer", expires="2031-06-01", valid_from="2020-01-01", source="import")
    store.add("Long " + "words and more words. " * 300, origin={"url": "https://example.org"})
    store.notes.put("Buy milk\nand bread", note_id="shopping")
    store.notes.put("Buy milk", note_id="shopping")
    store.purge(store.add("Nothing to see here").id, reason="private")


def _propose(store: Retentive) -> None:
    """One that is open, one that is rejected."""
    parts, tea = parts_of(store), store.add("Tea at noon 🍵").id
    for text in ("Coffee at noon", "Water at noon"):
        replacement = Replacement(tea, "same drink", f"tea, then {text}")
        write_memories(parts, [make_draft(parts, text, {})._replace(proposes=(replacement,))])
    store.proposals.reject(store.proposals.list()[0].id)


def _talk(store: Retentive) -> None:
    messages: list[Any] = [{"role": "user", "content": f"Heron {n}", "extra": {"n": n}} for n in range(30)]
    store.sessions.append_many("s", messages)
    store.sessions.append("s", "assistant", "Heron 3", speaker="Ada", time="2024-02-29T12:00:00Z")
    store.sessions.put("s", agent="coder", tags=["work"], metadata={"x": 1})
    store.sessions.set_summary("s", "About herons", upto=5, epoch=0)
    store.sessions.append("learned", "user", "Remember that my desk is blue. I live in Porto.")
    store.learn("learned")
    store.sessions.append("learned", "user", "My parrot is called Zwackelmann, remember?")
    store.forget(store.add("The user's parrot is called Zwackelmann").id)
    store.sessions.append("waiting", "user", "I work at Stripe.")
    store.sessions.put("silent")
    store.add("Of this session alone", session="s")


def _record(store: Retentive) -> None:
    anna = store.contacts.create(name="Anna Ünal", aliases=["Ann"])
    double = store.contacts.create(name="Anna U", company="Acme")
    store.projects.create(name="Ferry", primary_contact=double.id, participants=[anna.id])
    store.contacts.merge(anna.id, double.id)
    store.contacts.delete(store.contacts.create(name="Bo").id)
    skill = store.skills.create(name="Report", trigger={"type": "schedule", "cron": "0 8 * * 1"})
    store.skills.record(skill.id, "All went well")
    store.profile.get()


def exported(store: Retentive, **options: Any) -> bytes:
    target = io.BytesIO()
    store.export(target, **{"namespaces": "*", **options})
    return target.getvalue()


def lines(text: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.decode().split("\n")[:-1]]
