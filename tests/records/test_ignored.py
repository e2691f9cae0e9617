"""Contacts of type `ignored` are left out of searches and contexts, unless they are asked for."""

from pathlib import Path
from typing import Any

import pytest

from retentive import Retentive
from retentive.model import Contact
from tests.support import Run

pytestmark = pytest.mark.engines

SALES = "Rita Rossi"


@pytest.fixture
def rita(store: Retentive) -> Contact:
    return store.contacts.create(name=SALES, company="Megacorp", role="sales agent", type="ignored")


def _names(store: Retentive, question: str = "sales agent at Megacorp", **options: Any) -> list[str]:
    hits = store.search(question, include="contacts", **options)
    return [hit.record.name for hit in hits if isinstance(hit.record, Contact)]


@pytest.mark.parametrize("mode", ["hybrid", "text", "vector"])
def test_a_search_leaves_an_ignored_contact_out(store: Retentive, rita: Contact, mode: str) -> None:
    store.contacts.create(name="Bo Lind", company="Megacorp")
    assert _names(store, mode=mode) == ["Bo Lind"]
    assert _names(store, mode=mode) == ["Bo Lind"]  # the second question is answered by the image
    assert {*_names(store, mode=mode, ignored=True)} == {"Bo Lind", rita.name}


def test_a_search_by_a_part_of_a_word_leaves_it_out(store: Retentive, rita: Contact) -> None:
    assert _names(store, "egacor", mode="text") == []
    assert _names(store, "egacor", mode="text", ignored=True) == [rita.name]


def test_a_question_about_the_past_leaves_it_out(store: Retentive, rita: Contact) -> None:
    later = rita.updated.replace(year=rita.updated.year + 1)
    assert _names(store, as_of=later) == []
    assert _names(store, as_of=later, ignored=True) == [rita.name]


def test_a_context_leaves_it_out(store: Retentive, rita: Contact) -> None:
    assert rita.name not in store.context("who is sales agent at Megacorp?", min_relevance=0.0).text


def test_a_change_of_type_is_seen_by_the_next_search(store: Retentive, rita: Contact) -> None:
    store.contacts.update(rita.id, type="work")
    assert _names(store) == [rita.name]
    store.contacts.update(rita.id, type="ignored")
    assert _names(store) == []
    store.contacts.rollback(rita.id, 1)
    assert _names(store) == []
    store.contacts.rollback(rita.id, 2)
    assert _names(store) == [rita.name]


def test_its_own_verbs_show_it(store: Retentive, rita: Contact) -> None:
    assert store.contacts.get(SALES) == rita
    assert [*store.contacts.list()] == [rita]
    assert [*store.contacts.find("rossi")] == [rita]


def test_what_was_said_of_it_is_found(store: Retentive, rita: Contact) -> None:
    kept = store.add(f"{rita.name} called about an offer of Megacorp")
    assert [hit.id for hit in store.search("offer of Megacorp")] == [kept.id]


def test_many_ignored_contacts_crowd_out_nobody(store: Retentive) -> None:
    for number in range(60):
        store.contacts.create(name=f"Agent {number}", company="Megacorp", type="ignored")
    store.contacts.create(name="Bo Lind", company="Megacorp")
    assert _names(store, "Megacorp agent", min_relevance=0.0) == ["Bo Lind"]


def test_a_check_finds_nothing_wrong_with_it_and_a_repair_leaves_it_out(store: Retentive, rita: Contact) -> None:
    assert all(finding.ok for finding in store.doctor())
    store.repair()
    assert all(finding.ok for finding in store.doctor())
    assert _names(store) == []
    assert _names(store, ignored=True) == [rita.name]


def test_an_export_and_import_keep_it_out(store: Retentive, rita: Contact, tmp_path: Path) -> None:
    store.export(tmp_path / "all.jsonl")
    with Retentive.open(":memory:", embedder="hashing") as other:
        other.import_memories(tmp_path / "all.jsonl")
        assert _names(other) == []
        assert _names(other, ignored=True) == [rita.name]


def test_the_command_line_shows_it_on_request(run: Run) -> None:
    run("contact", "add", SALES, "--company", "Megacorp", "--type", "ignored")
    assert SALES not in run("search", "Megacorp")
    assert SALES in run("search", "Megacorp", "--ignored")
    assert SALES in run("contact", "list")
