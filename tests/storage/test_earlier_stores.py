"""Stores that earlier versions wrote still open, and nothing in them is lost.

`stores/` has one file for each version of the schema, compressed, written by the last program that used it. Whoever
adds a migration adds a file that the program before it wrote, with the same contents as far as it has the verbs.
"""

import gzip
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from retentive import Retentive, Status
from retentive.storage.migrations import load_migrations

STORES = {int(path.name[:4]): path for path in sorted((Path(__file__).parent / "stores").glob("*.db.gz"))}
HAS_SESSIONS, HAS_EXPECTATIONS, HAS_RECORDS, HAS_FILES = 2, 9, 10, 11  # since these versions of the schema


@pytest.fixture(params=STORES)
def version(request: pytest.FixtureRequest, db: Path) -> int:
    """The version of the schema of the store that is at `db`."""
    db.touch(0o600)
    with gzip.open(STORES[request.param]) as packed, db.open("wb") as unpacked:
        shutil.copyfileobj(packed, unpacked)
    return int(request.param)


@pytest.fixture
def earlier(version: int, db: Path) -> Iterator[Retentive]:  # noqa: ARG001 - `version` put the store there
    with Retentive.open(db, embedder="hashing") as store:
        yield store


def test_the_current_version_has_a_store() -> None:
    assert max(STORES) == max(migration.number for migration in load_migrations("sqlite"))


def test_the_doctor_finds_nothing_wrong(earlier: Retentive) -> None:
    assert [finding for finding in earlier.doctor() if not finding.ok] == []


def test_memories_answer_and_what_ended_does_not(earlier: Retentive) -> None:
    assert earlier.search("who keeps bees?")[0].content == "Rosa keeps bees behind the old mill"
    dogs = [hit.content for hit in earlier.search("what is the dog called?", mode="text")]
    assert "The user's dog is called Bello" in dogs
    assert "The user's dog is called Rex" not in dogs
    assert [memory.content for memory in earlier.list(status=Status.FORGOTTEN)] == ["The gate code was painted over"]
    assert [memory.content for memory in earlier.in_namespace("work").list()] == [
        "The billing service runs on port 8443"
    ]


def test_conversations_and_notes_are_there(earlier: Retentive, version: int) -> None:
    if version < HAS_SESSIONS:
        pytest.skip("had no conversations")
    said = [event.content for event in earlier.sessions.events("monday")]
    assert said == ["The ferry to Skagen leaves at noon", "Noon it is."]
    assert earlier.search("ferry", include="events")[0].content.startswith("The ferry to Skagen")
    assert earlier.notes.get("ideas").content == "Build a kite from rice paper"


def test_expectations_still_hold(earlier: Retentive, version: int) -> None:
    if version < HAS_EXPECTATIONS:
        pytest.skip("had no expectations")
    assert [result.passed for result in earlier.expectations.run()] == [True]


def test_records_are_there(earlier: Retentive, version: int) -> None:
    if version < HAS_RECORDS:
        pytest.skip("had no records")
    assert earlier.profile.get().document["name"] == "Alma"
    assert earlier.contacts.get("Jonas Berg").role == "plumber"


def test_files_are_there(earlier: Retentive, version: int) -> None:
    if version < HAS_FILES:
        pytest.skip("had no files")
    assert "two metres" in earlier.search("tail of a kite", include="files")[0].content


def test_what_is_added_to_an_earlier_store_is_found(earlier: Retentive) -> None:
    earlier.add("The user's dog is called Momo", slot="user.dog.name")
    assert [memory.content for memory in earlier.list() if memory.slot == "user.dog.name"] == [
        "The user's dog is called Momo"
    ]
    assert [finding for finding in earlier.doctor() if not finding.ok] == []
