"""What assistants say does not crowd out what people said."""

from pathlib import Path

import apsw
import pytest

from retentive import Retentive
from tests.support import Open

FACT = "By the way, I keep two beehives on the roof, and the honey goes to my neighbours every autumn."


def append_talk(store: Retentive) -> None:
    """A fact in passing, in much talk of an assistant that repeats the words of the question."""
    store.sessions.append("old", "user", FACT)
    for number in range(30):
        store.sessions.append(f"s{number}", "user", f"What should I read about topic {number}, please, this evening?")
        store.sessions.append(
            f"s{number}",
            "assistant",
            f"Do you keep animals on the roof? Tip {number}: many who keep animals on the roof like beehives.",
        )


@pytest.mark.engines
def test_a_persons_words_come_before_replies_that_repeat_the_question(open_store: Open) -> None:
    store = open_store(embedder="hashing")
    append_talk(store)
    hits = store.search("What animals do I keep on the roof?", 5)
    assert hits[0].content == FACT


@pytest.mark.engines
def test_what_an_assistant_said_is_still_found(open_store: Open) -> None:
    store = open_store(embedder="hashing")
    append_talk(store)
    store.sessions.append("s3", "assistant", "I recommend the book The Art of Drystone Walling by Ferguson.")
    hits = store.search("which book about drystone walling did you recommend?", 3)
    assert "Drystone" in hits[0].content


def test_the_replies_of_an_older_store_are_known_as_such(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with Retentive.open(path, embedder="hashing") as store:
        store.sessions.append_pair("s", "Where is the key?", "It is under the mat.")
    file = apsw.Connection(str(path))
    file.execute("UPDATE chunks SET kind = 'event'; DELETE FROM migrations WHERE name LIKE '%replies%'")
    file.close()
    with Retentive.open(path, embedder="hashing"):
        pass
    file = apsw.Connection(str(path))
    kinds = [kind for (kind,) in file.execute("SELECT kind FROM chunks ORDER BY n")]
    file.close()
    assert kinds == ["event", "reply"]
